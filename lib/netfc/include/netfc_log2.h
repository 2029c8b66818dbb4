/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_LOG2_H
#define NETFC_LOG2_H

/**
 * @file
 * Logarithms of integers, such as counters, by longest-prefix match: the leading one and a few bits
 * below it determine the log word.
 */

#include <stddef.h>
#include <stdint.h>

#include "netfc_prefix.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Maximum number of bits after the binary point of a logarithm. */
#define NETFC_LOG2_MAX_BITS 32

/**
 * The logarithm of an integer: 2^bits * log2(value), rounded to nearest. Computed in integers, so
 * that it does not depend on the C library.
 *
 * @param value at least 1
 * @param bits 0..NETFC_LOG2_MAX_BITS
 */
NETFC_API uint64_t netfc_log2(uint64_t value, unsigned bits);

/**
 * The prefixes that look up the logarithm of a 32-bit integer: one for each combination of the
 * leading one and the `below` bits after it. All integers of a prefix share netfc_log2() of the
 * middle one, which is off by less than 2^(bits - below) * 0.73 + 1/2 for any of them. Zero has no
 * logarithm and no prefix.
 *
 * @param below 0..31
 * @param bits 0..26, of the logarithms
 * @param prefixes where the prefixes go, keys of 32 bits in ascending order; free() them
 * @param count how many there are: 2^(below + 1) - 1 + (31 - below) * 2^below
 * @return 0, NETFC_ERR_ARGUMENT (below or bits out of range) or
 *   NETFC_ERR_NOMEM
 */
NETFC_API int
netfc_log2_prefixes(unsigned below, unsigned bits, struct netfc_prefix **prefixes, size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* NETFC_LOG2_H */
