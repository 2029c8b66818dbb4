/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXPECTED_H
#define EXPECTED_H

/**
 * @file
 * What the entries of the paper's tables are by the specification, from MPFR. The logarithms are
 * computed once for all sets of a format.
 */

#include "naive.h"
#include "precise.h"

/** R(k * log), the log word of a logarithm. */
int32_t expected_word(const struct netfc_set_id *id, struct precise log);

/** log2 of the value of a magnitude; of the power of two after all numbers for infinity. */
struct precise expected_log(uint32_t magnitude);

/** log2(1 + sign * 2^(-t/k)), t > 0; 0 or a hair below it where a log word is the same. */
struct precise expected_log_one(const struct netfc_set_id *id, int sign, uint32_t t);

/** mi1 and mi2 where the specification has no logarithm. */
struct precise expected_same_log(const struct netfc_set_id *id);

/** log2 of the least number that the expTable encodes as more than `magnitude`. */
struct precise expected_threshold(const struct netfc_set_id *id, uint32_t magnitude);

/** Whether 2^(n/k) is encoded as more than `magnitude`. */
bool expected_above(const struct netfc_set_id *id, int32_t n, uint32_t magnitude);

/** Build each known set of a format and hand it to a test. */
void for_each_set(const struct netfc_format *format, void (*test)(const struct netfc_set *set));

/** A test of each `set` of `format`. */
#define SET_TEST(name)                                      \
	static void name##_of(const struct netfc_set *set); \
	TEST(name)                                          \
	{                                                   \
		for_each_set(format, name##_of);            \
	}                                                   \
	static void name##_of(const struct netfc_set *set)

#endif /* EXPECTED_H */
