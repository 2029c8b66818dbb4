/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_VERSION_H
#define NETFC_VERSION_H

/**
 * @file
 * The version of the library.
 */

#include "netfc_error.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The version of the library that runs, which may be another than that of the headers.
 *
 * @return a static string such as "0.2.0"
 */
NETFC_API const char *netfc_version(void);

#ifdef __cplusplus
}
#endif

#endif /* NETFC_VERSION_H */
