/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_ERROR_H
#define NETFC_ERROR_H

/**
 * @file
 * Error codes of the netfc library.
 *
 * Functions that can fail return 0 on success and one of these negative values otherwise.
 */

#ifdef __cplusplus
extern "C" {
#endif

/** Marks what the shared library exports; all else is hidden. */
#define NETFC_API __attribute__((visibility("default")))

/** What can go wrong in the library. */
enum netfc_error {
	NETFC_OK = 0,
	NETFC_ERR_NOMEM = -1,      /**< out of memory */
	NETFC_ERR_NAME = -2,       /**< a table set's name that does not parse */
	NETFC_ERR_FORMAT = -3,     /**< a number format that does not exist */
	NETFC_ERR_SCALE = -4,      /**< k is no power of two, or too large for its format */
	NETFC_ERR_ARGUMENT = -5,   /**< an argument out of its documented range */
	NETFC_ERR_IO = -6,         /**< a file cannot be opened, read or written: see errno */
	NETFC_ERR_FOREIGN = -7,    /**< not a table-set file */
	NETFC_ERR_OLD = -8,        /**< a table-set file of an older version */
	NETFC_ERR_NEW = -9,        /**< a table-set file of a newer version */
	NETFC_ERR_TRUNCATED = -10, /**< a table-set file that ends too early */
	NETFC_ERR_TRAILING = -11,  /**< a table-set file with bytes after its end */
	NETFC_ERR_CHECKSUM = -12,  /**< a table-set file whose checksum is wrong */
	NETFC_ERR_CONTENT = -13,   /**< a table-set file whose tables do not fit its header */
	NETFC_ERR_PRECISION = -14, /**< an entry too close to a rounding boundary to be certain */
	NETFC_ERR_ORDER = -15,     /**< a table-set file whose logarithms are in no order */
};

/**
 * Describe an error.
 *
 * @param error one of enum netfc_error
 * @return a static English phrase without a final full stop, never NULL
 */
NETFC_API const char *netfc_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif /* NETFC_ERROR_H */
