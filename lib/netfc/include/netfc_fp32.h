/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_FP32_H
#define NETFC_FP32_H

/**
 * @file
 * IEEE 754 binary32: operands and results of 32 bits.
 *
 * binary32 has one table set, `fp32_exact`, whose results are correctly rounded.
 */

#include <stdint.h>

#include "netfc_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The encoding of infinity, which is also the greatest magnitude that is no NaN. */
#define NETFC_FP32_INF 0x7f800000u

/** The quiet NaN of all results that are NaN: only the top fraction bit is set. */
#define NETFC_FP32_NAN 0x7fc00000u

/** The sign bit. */
#define NETFC_FP32_SIGN 0x80000000u

/** The format: number 5, named "fp32". netfc_format_by_id() and _by_name() know those of 16 bits.
 */
NETFC_API const struct netfc_format *netfc_fp32_format(void);

#ifdef __cplusplus
}
#endif

#endif /* NETFC_FP32_H */
