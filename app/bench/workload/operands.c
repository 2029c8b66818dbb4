/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "encoding.h"
#include "text_line.h"

#define FIRST_CAPACITY 4096
#define BINARY_SUFFIX ".bin"
#define SEPARATORS " \t,;\r\n"
/* Sizes of --operands values: 10 to the power of -3 to 3. */
#define MIN_POWER (-3.)
#define POWERS 6.

/* ---- read from a file ------------------------------------------------------------------------ */

static int
add(struct operands *operands, struct pair pair)
{
	if (operands->count == operands->capacity) {
		size_t capacity = operands->capacity != 0 ? 2 * operands->capacity : FIRST_CAPACITY;
		struct pair *grown = realloc(operands->pairs, capacity * sizeof(*grown));

		if (grown == NULL)
			return -1;
		operands->pairs = grown;
		operands->capacity = capacity;
	}
	operands->pairs[operands->count++] = pair;
	return 0;
}

static int
fail(const char *path, const char *what)
{
	return REPORT("--operands '%s': %s\n", path, what);
}

static int
bad_line(const char *path, unsigned long line, const char *expected)
{
	return REPORT("--operands '%s', line %lu: expected %s\n"
		      "The name of a file with operands as on the wire ends in " BINARY_SUFFIX
		      ".\n",
		path, line, expected);
}

/* 1 if there is a pair in the line, 0 if it is empty or a comment, -1 if it is wrong. */
static int
parse_line(const char *path, unsigned long number, char *line, const struct netfc_format *format,
	struct pair *pair)
{
	char *rest, *x, *y;

	line[strcspn(line, "#")] = '\0';
	x = strtok_r(line, SEPARATORS, &rest);
	if (x == NULL)
		return 0;
	y = strtok_r(NULL, SEPARATORS, &rest);
	if (y == NULL || strtok_r(NULL, SEPARATORS, &rest) != NULL)
		return bad_line(path, number, "two operands");
	if (!parse_encoding(format, x, false, &pair->x) ||
		!parse_encoding(format, y, false, &pair->y))
		return bad_line(path, number, encoding_syntax(format, false));
	return 1;
}

static int
read_text(
	FILE *file, const char *path, const struct netfc_format *format, struct operands *operands)
{
	char line[TEXT_LINE_BYTES];
	unsigned long number = 0;
	enum text_line read;
	int result = 0;

	while (result == 0 && (read = text_line_read(file, line)) != TEXT_STOPPED) {
		struct pair pair;
		int found;

		number++;
		found = read == TEXT_LINE ? parse_line(path, number, line, format, &pair)
					  : bad_line(path, number, "a line of text");
		result = found;
		if (found > 0 && (result = add(operands, pair)) != 0)
			fail(path, strerror(ENOMEM));
	}
	return result;
}

static uint32_t
big_endian(const uint8_t *bytes, size_t width)
{
	uint32_t word = 0;

	for (size_t b = 0; b < width; b++)
		word = word << 8 | bytes[b];
	return word;
}

/* Big-endian, x and y in turn. */
static int
read_binary(
	FILE *file, const char *path, const struct netfc_format *format, struct operands *operands)
{
	const size_t width = netfc_format_width(format) / 8;
	uint8_t both[2 * sizeof(uint32_t)];
	size_t got;

	while ((got = fread(both, 1, 2 * width, file)) == 2 * width) {
		struct pair pair = {big_endian(both, width), big_endian(both + width, width)};

		if (add(operands, pair) != 0)
			return fail(path, strerror(ENOMEM));
	}
	if (got == 0)
		return 0;
	return fail(path,
		width == sizeof(uint32_t) ? "its length is not a multiple of 8 bytes (x, y)"
			: width == sizeof(uint16_t)
			? "its length is not a multiple of 4 bytes (x, y)"
			: "its length is not a multiple of 2 bytes (x, y)");
}

static int
read_file(const char *path, const struct netfc_format *format, struct operands *operands)
{
	FILE *file = fopen(path, "r");
	int result;

	if (file == NULL)
		return fail(path, strerror(errno));
	errno = 0;
	result = has_suffix(path, BINARY_SUFFIX) ? read_binary(file, path, format, operands)
						 : read_text(file, path, format, operands);
	if (result == 0 && ferror(file))
		result = fail(path, errno != 0 ? strerror(errno) : "cannot be read");
	else if (result == 0 && operands->count == 0)
		result = fail(path, "no operands in it");
	fclose(file);
	return result;
}

/* ---- drawn at random ------------------------------------------------------------------------- */

/*
 * SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014): the same
 * operands for a seed on every machine.
 */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A number of either sign and any size, each power of ten as likely as the others. */
static uint32_t
draw_value(uint64_t *state, const struct netfc_format *format)
{
	uint64_t random = next_random(state);
	double size = pow(10, MIN_POWER + POWERS * ldexp((double)(random >> 11), -53));

	return netfc_encode(format, (random & 1) != 0 ? -size : size);
}

static void
draw(struct operands *operands, const struct netfc_format *format, bool values, uint64_t seed)
{
	uint64_t state = seed;

	for (size_t p = 0; p < operands->count; p++) {
		struct pair *pair = &operands->pairs[p];

		if (values) {
			pair->x = draw_value(&state, format);
			pair->y = draw_value(&state, format);
		} else {
			const unsigned int width = netfc_format_width(format);
			const uint32_t mask = UINT32_MAX >> (32 - width);
			uint64_t random = next_random(&state);

			pair->x = (uint32_t)random & mask;
			pair->y = (uint32_t)(random >> width) & mask;
		}
	}
}

int
operands_get(const struct options *options, const struct netfc_format *format, size_t wanted,
	struct operands *operands)
{
	bool values = strcmp(options->operands, OPERANDS_VALUES) == 0;

	if (!values && strcmp(options->operands, OPERANDS_RANDOM) != 0)
		return read_file(options->operands, format, operands);
	operands->pairs = calloc(wanted, sizeof(*operands->pairs));
	if (operands->pairs == NULL)
		return REPORT("no memory for %zu pairs of operands\n", wanted);
	operands->count = wanted;
	draw(operands, format, values, options->seed);
	return 0;
}

void
operands_free(struct operands *operands)
{
	free(operands->pairs);
	*operands = (struct operands){0};
}
