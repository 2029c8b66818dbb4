/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_H
#define UNIT_H

/** @file What every unit test includes: cmocka with all it needs, and a few words of its own. */

#include <stdio.h>

#include "cases.h"
#include "internal.h"

/** Say something measured. */
#define REPORT(...) printf("# " __VA_ARGS__)

/** Go through all operations. */
#define FOREACH_OP(op) for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++)

/** A test of each `format` that a condition holds for. */
#define FORMAT_TEST_IF(name, condition)                           \
	static void name##_of(const struct netfc_format *format); \
	TEST(name)                                                \
	{                                                         \
		const struct netfc_format *format;                \
                                                                  \
		NETFC_FOREACH_FORMAT (format)                     \
			if (condition)                            \
				name##_of(format);                \
	}                                                         \
	static void name##_of(const struct netfc_format *format)

/** A test of each format, and of each of 16 bits. */
#define FORMAT_TEST(name) FORMAT_TEST_IF(name, true)
#define FORMAT_16_TEST(name) FORMAT_TEST_IF(name, netfc_format_width(format) == 16)

/** Build a set that exists. */
static inline struct netfc_set *
must_build(const char *name)
{
	struct netfc_set *set = NULL;

	assert_int_equal(netfc_set_build(name, &set), NETFC_OK);
	assert_non_null(set);
	return set;
}

/** The main() of tests whose only argument is a format, for their `format`. */
#define FORMAT_MAIN(set_up, tear_down)                                     \
	int main(int argc, char **argv)                                    \
	{                                                                  \
		format = argc == 2 ? netfc_format_by_name(argv[1]) : NULL; \
		if (format != NULL)                                        \
			return tests_run(set_up, tear_down);               \
		fprintf(stderr, "usage: %s FORMAT\n", argv[0]);            \
		return 1;                                                  \
	}

/** The next number of a fixed sequence that looks random (splitmix64). */
static inline uint64_t
next_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#endif /* UNIT_H */
