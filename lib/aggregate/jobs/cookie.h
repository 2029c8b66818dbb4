/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COOKIE_H
#define COOKIE_H

/**
 * @file
 * Cookies and sessions: unguessable numbers, checked without stored state.
 *
 * SipHash-2-4 (Aumasson and Bernstein, 2012) with a secret key: made for short untrusted inputs;
 * Linux uses it for SYN cookies. Neither the C library nor DPDK has an unforgeable keyed hash; CRC
 * and Toeplitz hashes are linear.
 */

#include "aggregate_table.h"

/** SipHash-2-4 of bytes; the key's halves are read as little-endian. */
uint64_t
aggregate_siphash(const uint8_t key[AGGREGATE_KEY_BYTES], const uint8_t *bytes, size_t length);

/** What a cookie is valid for: one process of one sender, and one place in one job that has not
 * ended since. */
struct cookie_subject {
	const struct aggregate_sender *sender;
	uint64_t token;
	uint64_t incarnation; /**< of the process */
	uint32_t ended;       /**< how many jobs of that number and token have ended */
	uint32_t serial;      /**< who has the place */
	uint16_t job;
	uint8_t worker;
};

/** The cookie at that time. */
uint64_t cookie_make(
	const struct aggregate_limits *limits, const struct cookie_subject *subject, uint64_t now);

/** Whether it is a valid cookie, of this period or the one before. */
bool cookie_is_good(const struct aggregate_limits *limits, const struct cookie_subject *subject,
	uint64_t now, uint64_t cookie);

/** The session of a job, never 0. Other generations since the start differ, except by chance. */
uint64_t cookie_session(const struct aggregate_limits *limits, uint64_t generation);

/** The incarnation in a job's joins of the parent, never 0: other starts differ, except by chance.
 */
uint64_t cookie_incarnation(const struct aggregate_limits *limits, uint64_t generation);

/** A hash of a job's number and token, the index of a counter. */
uint64_t cookie_job_hash(const struct aggregate_limits *limits, uint16_t job, uint64_t token);

#endif /* COOKIE_H */
