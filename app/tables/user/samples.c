/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command.h"
#include "encoding.h"
#include "text_line.h"
#include "user/expression.h"
#include "user/samples.h"

/* ---- an expression's values, correctly rounded into a format --------------------------------- */

/* The precisions that values are computed in: from the first to the last, each four times the one
 * before. */
#define EVALUATE_FIRST_BITS 96
#define EVALUATE_LAST_BITS 1536

/* The value of an expression in a format. */
struct rounded {
	uint16_t z;
	/* The value before it was rounded, as a double rounded to odd; of a limit, z. */
	double value;
	bool pole;
};

/*
 * Ziv's strategy: a value is computed to more and more bits until all that it may be is rounded to
 * the same encoding, with the same exception flags.
 */

/* A double that the format rounds as it rounds the number next to the bound. */
static double
bound_value(mpfr_srcptr bound, bool open, int inside)
{
	double value = mpfr_get_d(bound, MPFR_RNDN);
	int order = mpfr_cmp_d(bound, value);

	return round_to_odd(value, order == 0 && open ? inside : order);
}

/* The same encodings, in which what is too large is no number, and so tells an overflow. */
static const struct netfc_format *
unsaturated(const struct netfc_format *format)
{
	return netfc_format_by_id(netfc_format_id(format));
}

/* Whether all numbers of an interval are one in the format, and tell the same flags. */
static bool
is_decided(
	const struct interval *interval, const struct netfc_format *format, struct rounded *result)
{
	double low, high;

	if (interval->kind != INTERVAL_REAL)
		return false;
	low = bound_value(interval->low, interval->low_open, 1);
	high = bound_value(interval->high, interval->high_open, -1);
	result->z = netfc_encode(format, low);
	result->value = low;
	return netfc_encode(unsaturated(format), low) == netfc_encode(unsaturated(format), high) &&
		(low == 0) == (high == 0) && isinf(low) == isinf(high);
}

/* How an evaluation ends. */
enum evaluation {
	EVALUATED,
	EVALUATION_NAN,
	EVALUATION_LIMIT, /* NaN, but at an infinity there may be a limit */
	EVALUATION_UNDECIDED,
};

static enum evaluation
evaluate_at(struct expression *expression, const struct netfc_format *format, mpfr_srcptr x,
	bool settle, struct rounded *result)
{
	for (mpfr_prec_t bits = EVALUATE_FIRST_BITS; bits <= EVALUATE_LAST_BITS; bits *= 4) {
		struct precision precision = {bits, settle && bits == EVALUATE_LAST_BITS};
		struct expression_value value = expression_compute(expression, x, precision);

		result->pole = value.pole;
		if (value.interval->kind == INTERVAL_NAN)
			return value.has_limit ? EVALUATION_LIMIT : EVALUATION_NAN;
		if (is_decided(value.interval, format, result))
			return EVALUATED;
	}
	return EVALUATION_UNDECIDED;
}

/* What the values of greater and greater numbers are in the format, if that is one and the same. */
static enum evaluation
evaluate_limit(struct expression *expression, const struct netfc_format *format, int sign,
	struct rounded *result)
{
	static const mpfr_exp_t exponents[] = {1 << 10, 1 << 20, 1 << 28};
	enum evaluation evaluation = EVALUATED;
	struct rounded one;
	mpfr_t x;

	mpfr_init2(x, MPFR_PREC_MIN);
	for (unsigned e = 0; e < sizeof(exponents) / sizeof(exponents[0]); e++) {
		mpfr_set_si_2exp(x, sign, exponents[e], MPFR_RNDN);
		if (evaluate_at(expression, format, x, false, &one) != EVALUATED ||
			(e > 0 && one.z != result->z))
			evaluation = EVALUATION_NAN;
		*result = one;
	}
	result->value = netfc_decode(format, result->z);
	result->pole = false;
	mpfr_clear(x);
	return evaluation;
}

/*
 * Evaluate an expression at an encoding other than NaN: NaN where it has no value; at infinities,
 * its limit where it has none. False if not even the last precision tells the value.
 */
static bool
evaluate(struct expression *expression, const struct netfc_format *format, uint16_t x,
	struct rounded *result)
{
	double argument = netfc_decode(format, x);
	enum evaluation evaluation;
	mpfr_t value;

	mpfr_init2(value, EVALUATE_FIRST_BITS);
	mpfr_set_d(value, argument, MPFR_RNDN);
	evaluation = evaluate_at(expression, format, value, true, result);
	mpfr_clear(value);
	if (evaluation == EVALUATION_LIMIT && isinf(argument))
		evaluation = evaluate_limit(expression, format, argument < 0 ? -1 : 1, result);
	if (evaluation == EVALUATION_NAN || evaluation == EVALUATION_LIMIT)
		*result = (struct rounded){netfc_nan(format), NAN, false};
	return evaluation != EVALUATION_UNDECIDED;
}

/* ---- values from a file or an expression ----------------------------------------------------- */

#define BLANKS " \t\r\n"
/* The most words of a line that are looked at. */
#define MAX_WORDS 3

static bool
is_nan(const struct samples *samples, uint16_t bits)
{
	return netfc_classify(samples->format, bits) == NETFC_NAN;
}

static bool
is_finite(const struct samples *samples, uint16_t bits)
{
	enum netfc_class class = netfc_classify(samples->format, bits);

	return class == NETFC_ZERO || class == NETFC_FINITE;
}

/* Below it, results of IEEE formats have fewer digits, and posits do not go on. */
static double
least_normal(const struct netfc_format *format)
{
	if (netfc_format_is_posit(format))
		return netfc_decode(format, 1);
	/* The exponent field's lowest bit alone. */
	return netfc_decode(format, netfc_encode(format, 2) - netfc_encode(format, 1));
}

/* Beyond it, posits do not go on. */
static double
greatest(const struct netfc_format *format)
{
	return netfc_format_is_posit(format) ? netfc_decode(format, 0x7fff) : INFINITY;
}

static void
keep_error(struct samples *samples, uint16_t x, uint16_t z, double value)
{
	double error = fabs(netfc_decode(samples->format, z) - value) / fabs(value);

	samples->has_error = true;
	if (netfc_classify(samples->format, z) != NETFC_FINITE || !(error >= samples->error) ||
		fabs(value) < least_normal(samples->format) ||
		fabs(value) > greatest(samples->format))
		return;
	samples->error = error;
	samples->worst = x;
}

/* Whether z is what the format has for infinite values; of an encoding, value is NaN. */
static bool
is_too_large(const struct samples *samples, uint16_t z, double value)
{
	const struct netfc_format *format = unsaturated(samples->format);
	const enum netfc_class class =
		netfc_classify(format, isnan(value) ? z : netfc_encode(format, value));

	return class == NETFC_INF || (class == NETFC_NAN && !isnan(value));
}

/* The flags by the definitions of netfc_arith.h; zero only where the exact value is. */
static uint8_t
flags_of(const struct samples *samples, uint16_t x, uint16_t z, double value, bool pole)
{
	const bool too_large = is_too_large(samples, z, value);

	if (is_nan(samples, x))
		return 0;
	if (pole && is_finite(samples, x) && too_large)
		return NETFC_DIVBYZERO;
	if (is_nan(samples, z) && !too_large)
		return NETFC_INVALID;
	if (is_finite(samples, x) && too_large)
		return NETFC_OVERFLOW;
	if (netfc_classify(samples->format, z) == NETFC_ZERO && !isnan(value) && value != 0)
		return NETFC_UNDERFLOW;
	return 0;
}

/* Take the value at x as a number that has been rounded to z. */
static void
take_value(struct samples *samples, uint16_t x, uint16_t z, double value, bool pole)
{
	samples->given[x] = true;
	samples->z[x] = z;
	samples->flags[x] = flags_of(samples, x, z, value, pole);
	if (isfinite(value) && value != 0)
		keep_error(samples, x, z, value);
}

/* Where the lines of a file go. */
struct lines {
	const char *path;
	unsigned long number; /* of the line at hand */
	bool pairs;
	uint32_t next; /* lines that count so far */
	struct samples *samples;
};

static int
bad_line(const struct lines *lines, const char *what, const char *word)
{
	return report_error(STATUS_INPUT, "build: %s, line %lu: %s%s%.60s%s", lines->path,
		lines->number, what, word != NULL ? ": '" : "", word != NULL ? word : "",
		word != NULL ? "'" : "");
}

static bool
is_encoding(const char *word)
{
	return strncasecmp(word, "0x", 2) == 0;
}

/* The value of a word: a number, whose rounding is then known, or an encoding. */
static int
take_word(const struct lines *lines, uint16_t x, const char *word)
{
	struct samples *samples = lines->samples;
	double value = NAN;
	uint32_t z;

	if (!parse_encoding(samples->format, word, false, &z))
		return bad_line(lines, "neither a number nor an encoding", word);
	if (!is_encoding(word))
		decimal_read(word, &value);
	take_value(samples, x, (uint16_t)z, value, !isfinite(value));
	return STATUS_DONE;
}

static int
take_pair(const struct lines *lines, const char *first, const char *second)
{
	double number;
	uint32_t x;

	if (!parse_encoding(lines->samples->format, first, false, &x))
		return bad_line(lines, "x is neither a number nor an encoding", first);
	if (decimal_read(first, &number) && number != netfc_decode(lines->samples->format, x))
		return bad_line(lines, "x is not a number of the format", first);
	if (lines->samples->given[x])
		return bad_line(lines, "x is given twice", first);
	return take_word(lines, (uint16_t)x, second);
}

static int
take_words(struct lines *lines, char *const words[MAX_WORDS], unsigned count)
{
	if (lines->next == 0)
		lines->pairs = count == 2;
	if (count != (lines->pairs ? 2u : 1u))
		return bad_line(lines,
			lines->pairs ? "expected x and a value" : "expected one value", NULL);
	if (lines->next++ >= samples_entries(lines->samples))
		return bad_line(lines, "more values than there are encodings of x", NULL);
	if (lines->pairs)
		return take_pair(lines, words[0], words[1]);
	return take_word(lines, (uint16_t)(lines->next - 1), words[0]);
}

/* Cut off what does not count; gives the expression if the line is one. */
static const char *
expression_of(char *line)
{
	char *comment = strchr(line, '#'), *start;

	if (comment != NULL)
		*comment = '\0';
	start = line + strspn(line, BLANKS);
	if (strncmp(start, "f(x)", 4) != 0)
		return NULL;
	start += 4 + strspn(start + 4, BLANKS);
	return *start == '=' ? start + 1 : NULL;
}

static int
take_line(struct lines *lines, char *line, char **expression)
{
	char *words[MAX_WORDS], *rest = NULL;
	const char *found = expression_of(line);
	unsigned count = 0;

	if (found != NULL && lines->next == 0 && *expression == NULL) {
		*expression = strdup(found);
		return *expression != NULL ? STATUS_DONE : STATUS_FAILED;
	}
	for (char *word = strtok_r(line, BLANKS, &rest); word != NULL && count < MAX_WORDS;
		word = strtok_r(NULL, BLANKS, &rest))
		words[count++] = word;
	if (count == 0)
		return STATUS_DONE;
	if (*expression != NULL)
		return bad_line(lines, "there is more than the expression", words[0]);
	return take_words(lines, words, count);
}

static int
read_lines(FILE *file, struct lines *lines, char **expression)
{
	char line[TEXT_LINE_BYTES];
	int status = STATUS_DONE;
	enum text_line read;

	errno = 0;
	while (status == STATUS_DONE && (read = text_line_read(file, line)) != TEXT_STOPPED) {
		lines->number++;
		status = read == TEXT_LINE ? take_line(lines, line, expression)
					   : bad_line(lines, TEXT_LINE_NONE, NULL);
	}
	if (status != STATUS_DONE || !ferror(file))
		return status;
	return report_error(
		STATUS_FAILED, "build: cannot read %s: %s", lines->path, strerror(errno));
}

/* Every x must have a value; NaN has one of its own. */
static int
check_all_given(const struct lines *lines)
{
	struct samples *samples = lines->samples;
	char entries[GROUPED_SIZE];
	unsigned missing = 0;
	uint16_t first = 0;

	for (uint32_t x = samples_entries(samples); x-- > 0;) {
		if (samples->given[x])
			continue;
		samples->z[x] = netfc_nan(samples->format);
		if (lines->pairs && is_nan(samples, (uint16_t)x))
			continue;
		missing++;
		first = (uint16_t)x;
	}
	if (missing == 0)
		return STATUS_DONE;
	return report_error(STATUS_INPUT,
		"build: %s: %u of %s values are missing, the first that of x = 0x%0*x", lines->path,
		missing, grouped(samples_entries(samples), entries),
		encoding_digits(samples->format), first);
}

int
samples_read(const char *path, struct samples *samples)
{
	struct lines lines = {.path = path, .samples = samples};
	FILE *file = fopen(path, "r");
	char *expression = NULL;
	int status;

	if (file == NULL)
		return report_error(
			STATUS_INPUT, "build: cannot read %s: %s", path, strerror(errno));
	status = read_lines(file, &lines, &expression);
	fclose(file);
	if (status == STATUS_DONE)
		status = expression != NULL ? samples_evaluate(expression, samples)
					    : check_all_given(&lines);
	free(expression);
	return status;
}

static int
take_rounded(const char *text, struct expression *expression, struct samples *samples, uint16_t x)
{
	struct rounded result = {netfc_nan(samples->format), NAN, false};
	char number[NUMBER_SIZE];

	if (!is_nan(samples, x) && !evaluate(expression, samples->format, x, &result))
		return report_error(STATUS_INPUT,
			"build: %d bits do not tell the value of '%s' at x = %s (0x%0*x); write "
			"it in another way, or give values in place of an expression",
			EVALUATE_LAST_BITS, text, encoding_text(samples->format, x, number),
			encoding_digits(samples->format), x);
	take_value(samples, x, result.z, result.value, result.pole);
	return STATUS_DONE;
}

static int
bad_expression(const char *text, const struct expression_error *error)
{
	report_error(
		STATUS_INPUT, "build: '%s', character %u: %s", text, error->at + 1, error->what);
	if (error->unknown_name)
		expression_print_names(stderr);
	return STATUS_INPUT;
}

int
samples_evaluate(const char *text, struct samples *samples)
{
	struct expression_error error;
	struct expression *expression = expression_read(text, &error);
	int status = STATUS_DONE;

	if (expression == NULL)
		return bad_expression(text, &error);
	for (uint32_t x = 0; x < samples_entries(samples) && status == STATUS_DONE; x++)
		status = take_rounded(text, expression, samples, (uint16_t)x);
	expression_free(expression);
	return status;
}

void
samples_count(struct samples *samples)
{
	for (uint32_t x = 0; x < samples_entries(samples); x++) {
		for (unsigned bit = 0; bit < 4; bit++)
			samples->exceptions[bit] += samples->flags[x] >> bit & 1;
	}
}
