/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "reached.h"

#define MAX_KINDS 1024
#define NAME_BYTES 64

/* Of one input: libFuzzer clears these before each, and reads them after it. */
static uint8_t by_input[MAX_KINDS] __attribute__((used, section("__libfuzzer_extra_counters")));

/* Kinds are kept in the order in which they were expected; the first is none. */
static bool ever[MAX_KINDS];
static char names[MAX_KINDS][NAME_BYTES];
static uint16_t kind_of[REACHED_NUMBERS];
static uint16_t end = 1;

/* libFuzzer calls exit(): only another end of the process has a status of its own. */
static void
fail_unless_all(void)
{
	unsigned int missing = 0;

	for (unsigned int kind = 1; kind < end; kind++) {
		if (ever[kind])
			continue;
		fprintf(stderr, "never reached: %s\n", names[kind]);
		missing++;
	}
	fprintf(stderr, "%u of %u kinds reached\n", end - 1 - missing, end - 1u);
	if (missing > 0)
		_exit(EXIT_FAILURE);
}

void
reached_init(int argc, char **argv)
{
	for (int a = 1; a < argc; a++) {
		if (strcmp(argv[a], "--reach-all") == 0)
			atexit(fail_unless_all);
	}
}

void
reached_expect(unsigned int number, const char *name, ...)
{
	va_list arguments;
	int length;

	FUZZ_CHECK(number < REACHED_NUMBERS && kind_of[number] == 0 && end < MAX_KINDS);
	va_start(arguments, name);
	length = vsnprintf(names[end], NAME_BYTES, name, arguments);
	va_end(arguments);
	FUZZ_CHECK(length > 0 && length < NAME_BYTES);
	kind_of[number] = end++;
}

void
reached(unsigned int number)
{
	unsigned int kind;

	FUZZ_CHECK(number < REACHED_NUMBERS);
	kind = kind_of[number];
	if (kind == 0)
		return;
	ever[kind] = true;
	by_input[kind] = 1;
}
