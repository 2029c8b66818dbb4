/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static const char *counted;
static const uint64_t *counter;

void
fuzz_fail(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	abort();
}

const uint8_t *
fuzz_bytes(struct fuzz_input *input, size_t *length)
{
	const uint8_t *bytes = input->at;

	if (*length > input->left)
		*length = input->left;
	input->at += *length;
	input->left -= *length;
	return bytes;
}

static uint32_t
read_number(struct fuzz_input *input, size_t bytes)
{
	const uint8_t *at = fuzz_bytes(input, &bytes);
	uint32_t number = 0;

	for (size_t b = 0; b < bytes; b++)
		number = number << 8 | at[b];
	return number;
}

uint8_t
fuzz_byte(struct fuzz_input *input)
{
	return (uint8_t)read_number(input, 1);
}

uint16_t
fuzz_word(struct fuzz_input *input)
{
	return (uint16_t)read_number(input, 2);
}

uint32_t
fuzz_long(struct fuzz_input *input)
{
	return read_number(input, 4);
}

static void
print_count(void)
{
	fprintf(stderr, "%" PRIu64 " %s\n", *counter, counted);
}

void
fuzz_count_at_exit(const char *what, const uint64_t *count)
{
	counted = what;
	counter = count;
	atexit(print_count);
}
