/* SPDX-License-Identifier: BSD-3-Clause */
#include "encoding.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* No double has more significant digits. */
#define EXACT_DIGITS 767
#define EXACT_SIZE (EXACT_DIGITS + 16)

/* A number: its digits from the first that is not 0 (for zero there are none), and that digit's
 * power of 10.
 */
struct digits {
	const char *at; /* a point may be among them */
	long exponent;
};

/* Beyond all that digits in memory can make up for, one is as good as another. */
#define MAX_EXPONENT (LONG_MAX / 2)

static long
read_exponent(const char *text)
{
	long exponent = strtol(text, NULL, 10);

	if (exponent > MAX_EXPONENT)
		return MAX_EXPONENT;
	return exponent < -MAX_EXPONENT ? -MAX_EXPONENT : exponent;
}

static struct digits
read_digits(const char *text)
{
	struct digits digits = {.at = NULL, .exponent = -1};
	bool fraction = false;

	text += *text == '+' || *text == '-';
	for (; isdigit((unsigned char)*text) || *text == '.'; text++) {
		if (*text == '.') {
			fraction = true;
			continue;
		}
		if (digits.at == NULL && *text != '0')
			digits.at = text;
		if (digits.at != NULL)
			digits.exponent += !fraction;
		else
			digits.exponent -= fraction;
	}
	if (digits.at == NULL)
		digits.at = text;
	if (*text != '\0')
		digits.exponent += read_exponent(text + 1);
	return digits;
}

/* The next digit; after the last one, 0. */
static char
next_digit(const char **at)
{
	*at += **at == '.';
	return isdigit((unsigned char)**at) ? *(*at)++ : '0';
}

static bool
is_end(const char *at)
{
	return !isdigit((unsigned char)*at) && *at != '.';
}

/* Compare magnitudes: less than 0, 0, or more than 0 as |text| is less, equal or greater. */
static int
compare(const char *text, double value)
{
	char exact[EXACT_SIZE];
	struct digits a, b;

	if (isinf(value))
		return -1;
	if (value == 0)
		return !is_end(read_digits(text).at);
	snprintf(exact, sizeof(exact), "%.*e", EXACT_DIGITS - 1, value);
	a = read_digits(text);
	b = read_digits(exact);
	if (a.exponent != b.exponent)
		return a.exponent < b.exponent ? -1 : 1;
	while (!is_end(a.at) || !is_end(b.at)) {
		int difference = next_digit(&a.at) - next_digit(&b.at);

		if (difference != 0)
			return difference;
	}
	return 0;
}

static bool
is_odd(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits & 1;
}

double
round_to_odd(double nearest, int order)
{
	if (order == 0 || is_odd(nearest))
		return nearest;
	return nextafter(nearest, order > 0 ? INFINITY : -INFINITY);
}

static bool
is_infinity(const char *text)
{
	text += *text == '+' || *text == '-';
	return strcasecmp(text, "inf") == 0 || strcasecmp(text, "infinity") == 0;
}

bool
decimal_read(const char *text, double *value)
{
	char *end;
	int order;

	if (is_infinity(text)) {
		*value = *text == '-' ? -INFINITY : INFINITY;
		return true;
	}
	/* No hexadecimal floating-point numbers, no white space, no nan(...). */
	if (text[strspn(text, "0123456789+-.eE")] != '\0')
		return false;
	*value = strtod(text, &end);
	if (end == text || *end != '\0')
		return false;
	order = is_odd(*value) ? 0 : compare(text, *value);
	*value = round_to_odd(*value, signbit(*value) ? -order : order);
	return true;
}
