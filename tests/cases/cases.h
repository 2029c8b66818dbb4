/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CASES_H
#define CASES_H

/**
 * @file
 * What every test in C includes: cmocka with all it needs, and tests that need no list of them. A
 * program runs all that it is linked from, in the order of their lines; its main() is in main.c,
 * unless it has its own.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** A test, and where it stands. */
struct test_case {
	unsigned int line;
	struct CMUnitTest test;
};

/** A test that has something made before it and taken down after it; NULL: nothing. */
#define TEST_WITH(name, set_up, tear_down)                                   \
	static void name(void **state);                                      \
	static const struct test_case name##_case = {                        \
		__LINE__, {#name, name, set_up, tear_down, NULL}};           \
	static const struct test_case *const name##_entry                    \
		__attribute__((used, section("test_cases"))) = &name##_case; \
	static void name(void **state __attribute__((unused)))

/** A test. */
#define TEST(name) TEST_WITH(name, NULL, NULL)

/** Run all tests, with something around them; NULL: nothing. Returns how many have failed. */
int tests_run(CMFixtureFunction set_up, CMFixtureFunction tear_down);

#endif /* CASES_H */
