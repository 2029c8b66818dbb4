/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COOKIE_H
#define COOKIE_H

/**
 * @file
 * Cookies: who can tell one can receive at the address that it sends from.
 *
 * SipHash-2-4 (Aumasson and Bernstein, 2012) with a secret key: made for short inputs from
 * strangers, and what Linux has for its SYN cookies. Neither the C library nor DPDK has a keyed
 * hash that can't be forged; CRC and Toeplitz hashes are linear.
 */

#include "aggregate_table.h"

/** SipHash-2-4 of bytes; the key's halves are read as little-endian. */
uint64_t
aggregate_siphash(const uint8_t key[AGGREGATE_KEY_BYTES], const uint8_t *bytes, size_t length);

/** The cookie for a join at that time. */
uint64_t
aggregate_cookie(const struct aggregate_limits *limits, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now);

/** Whether a join has a cookie of this period or the one before. */
bool aggregate_cookie_is_good(const struct aggregate_limits *limits,
	const struct aggregate_message *request, const struct aggregate_sender *sender,
	uint64_t now);

#endif /* COOKIE_H */
