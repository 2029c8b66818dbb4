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

/** Go through the formats of 16 bits. */
#define FOREACH_FORMAT_16(format)     \
	NETFC_FOREACH_FORMAT (format) \
		if (netfc_format_width(format) == 16)

/** Build a set that exists. */
static inline struct netfc_set *
must_build(const char *name)
{
	struct netfc_set *set = NULL;

	assert_int_equal(netfc_set_build(name, &set), NETFC_OK);
	assert_non_null(set);
	return set;
}

/** The format that a test's only argument names, or NULL. */
static inline const struct netfc_format *
format_argument(int argc, char **argv)
{
	const struct netfc_format *format = argc == 2 ? netfc_format_by_name(argv[1]) : NULL;

	if (format == NULL)
		fprintf(stderr, "usage: %s FORMAT\n", argv[0]);
	return format;
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
