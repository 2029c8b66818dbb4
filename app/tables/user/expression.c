/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By recursive descent, computed while it is read: an expression is short, and 65,536 times that is
 * nothing.
 */
#include "user/expression.h"

#include <ctype.h>
#include <fenv.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Parentheses, signs and powers within each other; no expression needs as many. */
#define DEEPEST 100
#define MOST_ARGUMENTS 2

struct parser {
	const char *at;
	double x;
	unsigned depth;
	const char *error, *error_at;
};

static double sum(struct parser *p);

/* IEEE 754-2019's maximum and minimum, which C has from C23 on: -0 is less than +0, NaN counts. */
static double
greater(double x, double y)
{
	if (isnan(x) || isnan(y))
		return NAN;
	if (x == y)
		return signbit(x) ? y : x;
	return x > y ? x : y;
}

static double
lesser(double x, double y)
{
	return -greater(-x, -y);
}

static double
sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

static const struct {
	const char *name;
	double (*of_one)(double x);
	double (*of_two)(double x, double y);
} functions[] = {
	{"abs", fabs, NULL},
	{"acos", acos, NULL},
	{"asin", asin, NULL},
	{"atan", atan, NULL},
	{"atan2", NULL, atan2},
	{"cbrt", cbrt, NULL},
	{"ceil", ceil, NULL},
	{"cos", cos, NULL},
	{"cosh", cosh, NULL},
	{"erf", erf, NULL},
	{"erfc", erfc, NULL},
	{"exp", exp, NULL},
	{"exp2", exp2, NULL},
	{"expm1", expm1, NULL},
	{"floor", floor, NULL},
	{"hypot", NULL, hypot},
	{"ln", log, NULL},
	{"log10", log10, NULL},
	{"log1p", log1p, NULL},
	{"log2", log2, NULL},
	{"max", NULL, greater},
	{"min", NULL, lesser},
	{"pow", NULL, pow},
	{"round", rint, NULL},
	{"sigmoid", sigmoid, NULL},
	{"sin", sin, NULL},
	{"sinh", sinh, NULL},
	{"sqrt", sqrt, NULL},
	{"tan", tan, NULL},
	{"tanh", tanh, NULL},
	{"trunc", trunc, NULL},
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

const char *
expression_functions(void)
{
	return "abs, acos, asin, atan, atan2, cbrt, ceil, cos, cosh, erf, erfc, exp, exp2, expm1, "
	       "floor, hypot, ln, log10, log1p, log2, max, min, pow, round, sigmoid, sin, sinh, "
	       "sqrt, tan, tanh, trunc";
}

static double
fail(struct parser *p, const char *at, const char *what)
{
	if (p->error == NULL) {
		p->error = what;
		p->error_at = at;
	}
	return NAN;
}

static void
skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool
take(struct parser *p, char c)
{
	skip_blanks(p);
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

static double
in_parentheses(struct parser *p)
{
	double value;

	if (++p->depth > DEEPEST)
		return fail(p, p->at, "nested too deeply");
	value = sum(p);
	p->depth--;
	if (p->error == NULL && !take(p, ')'))
		return fail(p, p->at, "a ) is missing");
	return value;
}

/* The arguments of a function, behind its parenthesis. */
static double
call(struct parser *p, size_t f, const char *name)
{
	double argument[MOST_ARGUMENTS] = {0};
	unsigned wanted = functions[f].of_one != NULL ? 1 : 2, count = 0;

	if (++p->depth > DEEPEST)
		return fail(p, name, "nested too deeply");
	do {
		if (count == wanted)
			return fail(p, name, "too many arguments");
		argument[count++] = sum(p);
	} while (p->error == NULL && take(p, ','));
	p->depth--;
	if (p->error != NULL)
		return NAN;
	if (!take(p, ')'))
		return fail(p, p->at, "a ) is missing");
	if (count < wanted)
		return fail(p, name, "too few arguments");
	return wanted == 1 ? functions[f].of_one(argument[0])
			   : functions[f].of_two(argument[0], argument[1]);
}

static bool
is_word(const char *word, size_t length, const char *name)
{
	return strlen(name) == length && strncmp(word, name, length) == 0;
}

/* x, a constant, or a function. */
static double
named(struct parser *p)
{
	const char *word = p->at;
	size_t length = 0;

	while (isalnum((unsigned char)word[length]))
		length++;
	p->at += length;
	if (is_word(word, length, "x"))
		return p->x;
	if (is_word(word, length, "pi"))
		return M_PI;
	if (is_word(word, length, "e"))
		return M_E;
	for (size_t f = 0; f < FUNCTIONS; f++) {
		if (!is_word(word, length, functions[f].name))
			continue;
		return take(p, '(') ? call(p, f, word) : fail(p, p->at, "a ( is missing");
	}
	return fail(p, word, "an unknown name");
}

/* Decimal numbers alone; strtod() knows others. */
static double
number(struct parser *p)
{
	const char *start = p->at;
	char *end;
	double value;

	if (start[0] == '0' && (start[1] == 'x' || start[1] == 'X'))
		return fail(p, start, "numbers are decimal");
	value = strtod(start, &end);
	p->at = end;
	return value;
}

static double
primary(struct parser *p)
{
	skip_blanks(p);
	if (take(p, '('))
		return in_parentheses(p);
	if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
		return number(p);
	if (isalpha((unsigned char)*p->at))
		return named(p);
	return fail(p, p->at, "a number, x or a function is missing");
}

/* -x^2 is -(x^2), and 2^-x is allowed; 2^3^4 is 2^(3^4). */
static double
factor(struct parser *p)
{
	double value;

	if (++p->depth > DEEPEST)
		return fail(p, p->at, "nested too deeply");
	if (take(p, '-')) {
		value = -factor(p);
	} else if (take(p, '+')) {
		value = factor(p);
	} else {
		value = primary(p);
		if (p->error == NULL && take(p, '^'))
			value = pow(value, factor(p));
	}
	p->depth--;
	return value;
}

static double
product(struct parser *p)
{
	double value = factor(p);

	while (p->error == NULL) {
		if (take(p, '*'))
			value *= factor(p);
		else if (take(p, '/'))
			value /= factor(p);
		else
			break;
	}
	return value;
}

static double
sum(struct parser *p)
{
	double value = product(p);

	while (p->error == NULL) {
		if (take(p, '+'))
			value += product(p);
		else if (take(p, '-'))
			value -= product(p);
		else
			break;
	}
	return value;
}

struct expression_value
expression_evaluate(const char *text, double x)
{
	struct parser p = {.at = text, .x = x};
	struct expression_value result = {0};

	feclearexcept(FE_DIVBYZERO);
	result.value = sum(&p);
	result.pole = fetestexcept(FE_DIVBYZERO) != 0;
	skip_blanks(&p);
	if (p.error == NULL && *p.at != '\0')
		fail(&p, p.at, "an operator is missing");
	result.error = p.error;
	if (p.error != NULL)
		result.at = (unsigned)(p.error_at - text);
	return result;
}
