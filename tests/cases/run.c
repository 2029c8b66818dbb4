/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "cases.h"

/* The linker's: where the section begins and ends. */
extern const struct test_case *const __start_test_cases[];
extern const struct test_case *const __stop_test_cases[];

static int
compare_lines(const void *a, const void *b)
{
	const struct test_case *const *first = a, *const *second = b;

	return (int)(*first)->line - (int)(*second)->line;
}

int
tests_run(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	size_t count = (size_t)(__stop_test_cases - __start_test_cases);
	const struct test_case **cases = calloc(count, sizeof(*cases));
	struct CMUnitTest *tests = calloc(count, sizeof(*tests));
	int failed;

	if (cases == NULL || tests == NULL)
		abort();
	for (size_t i = 0; i < count; i++)
		cases[i] = __start_test_cases[i];
	qsort(cases, count, sizeof(*cases), compare_lines);
	for (size_t i = 0; i < count; i++)
		tests[i] = cases[i]->test;
	failed = _cmocka_run_group_tests("tests", tests, count, set_up, tear_down);
	free(cases);
	free(tests);
	return failed;
}
