/* SPDX-License-Identifier: BSD-3-Clause */
/* Read by recursive descent into code for a machine with a stack, which runs for every x. */
#include "user/expression.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Parentheses, signs and powers within each other; no expression needs as many. */
#define DEEPEST 100
/* Instructions for a character, at most: e is exp(1). */
#define EXPANSION 2

/* Push x, a number or pi, or compute an operation. */
struct instruction {
	enum {
		PUSH_X,
		PUSH_NUMBER,
		PUSH_PI,
		COMPUTE
	} kind;
	const char *number; /* the text goes on after it */
	const struct operation *operation;
};

struct expression {
	struct instruction *code;
	size_t length;
	size_t height;    /* of the stack, with a place for one more result */
	mpfr_prec_t bits; /* of it */
	struct interval *stack;
};

struct parser {
	const char *at;
	struct expression *expression;
	unsigned depth;
	size_t values; /* on the stack */
	const char *error, *error_at;
	bool unknown_name;
};

static void sum(struct parser *p);

static void
emit(struct parser *p, struct instruction instruction)
{
	struct expression *expression = p->expression;

	expression->code[expression->length++] = instruction;
	if (instruction.kind == COMPUTE)
		p->values -= instruction.operation->arguments;
	p->values++;
	if (p->values >= expression->height)
		expression->height = p->values + 1;
}

static void
emit_number(struct parser *p, const char *number)
{
	emit(p, (struct instruction){.kind = PUSH_NUMBER, .number = number});
}

static void
emit_operation(struct parser *p, const struct operation *operation)
{
	emit(p, (struct instruction){.kind = COMPUTE, .operation = operation});
}

static void
fail(struct parser *p, const char *at, const char *what)
{
	if (p->error == NULL) {
		p->error = what;
		p->error_at = at;
	}
}

static void
skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

/* After an error nothing is there any more. */
static bool
take(struct parser *p, char c)
{
	skip_blanks(p);
	if (p->error != NULL || *p->at != c)
		return false;
	p->at++;
	return true;
}

static bool
enter(struct parser *p, const char *at)
{
	if (++p->depth <= DEEPEST)
		return true;
	fail(p, at, "nested too deeply");
	return false;
}

/* What is between parentheses, after the first: as many as wanted, with commas between. */
static void
arguments(struct parser *p, const char *name, unsigned wanted)
{
	unsigned count = 0;

	if (!enter(p, name != NULL ? name : p->at))
		return;
	do {
		if (count++ == wanted) {
			fail(p, name, "too many arguments");
			return;
		}
		sum(p);
	} while (name != NULL && take(p, ','));
	p->depth--;
	if (!take(p, ')'))
		fail(p, p->at, "a ) is missing");
	if (count < wanted)
		fail(p, name, "too few arguments");
}

/* 1 / (1 + exp(-x)) */
static void
sigmoid(struct parser *p, const char *name, const struct operation *exponential)
{
	emit_number(p, "1");
	emit_number(p, "1");
	arguments(p, name, 1);
	emit_operation(p, operation_neg);
	emit_operation(p, exponential);
	emit_operation(p, operation_add);
	emit_operation(p, operation_div);
}

static const struct operation *
find_function(const char *word, size_t length)
{
	const struct operation *function;

	for (size_t f = 0; (function = operation_function(f)) != NULL; f++) {
		if (strlen(function->name) == length && strncmp(word, function->name, length) == 0)
			break;
	}
	return function;
}

static bool
is_word(const char *word, size_t length, const char *name)
{
	return strlen(name) == length && strncmp(word, name, length) == 0;
}

static void
call(struct parser *p, const char *word, size_t length)
{
	const struct operation *function = find_function(word, length);
	bool is_sigmoid = is_word(word, length, "sigmoid");

	if (function == NULL && !is_sigmoid) {
		fail(p, word, "an unknown name");
		p->unknown_name = true;
	} else if (!take(p, '(')) {
		fail(p, p->at, "a ( is missing");
	} else if (is_sigmoid) {
		sigmoid(p, word, find_function("exp", 3));
	} else {
		arguments(p, word, function->arguments);
		emit_operation(p, function);
	}
}

/* x, a constant, or a function. */
static void
named(struct parser *p)
{
	const char *word = p->at;
	size_t length = 0;

	while (isalnum((unsigned char)word[length]))
		length++;
	p->at += length;
	if (is_word(word, length, "x")) {
		emit(p, (struct instruction){.kind = PUSH_X});
	} else if (is_word(word, length, "pi")) {
		emit(p, (struct instruction){.kind = PUSH_PI});
	} else if (is_word(word, length, "e")) {
		emit_number(p, "1");
		emit_operation(p, find_function("exp", 3));
	} else {
		call(p, word, length);
	}
}

/* Decimal numbers alone; strtod() knows others. */
static void
number(struct parser *p)
{
	const char *start = p->at;
	char *end;

	if (start[0] == '0' && (start[1] == 'x' || start[1] == 'X'))
		fail(p, start, "numbers are decimal");
	strtod(start, &end);
	p->at = end;
	emit_number(p, start);
}

static void
primary(struct parser *p)
{
	if (take(p, '('))
		arguments(p, NULL, 1);
	else if (isdigit((unsigned char)*p->at) ||
		(*p->at == '.' && isdigit((unsigned char)p->at[1])))
		number(p);
	else if (isalpha((unsigned char)*p->at))
		named(p);
	else
		fail(p, p->at, "a number, x or a function is missing");
}

/* -x^2 is -(x^2), and 2^-x is allowed; 2^3^4 is 2^(3^4). */
static void
factor(struct parser *p)
{
	if (!enter(p, p->at))
		return;
	if (take(p, '-')) {
		factor(p);
		emit_operation(p, operation_neg);
	} else if (take(p, '+')) {
		factor(p);
	} else {
		primary(p);
		if (take(p, '^')) {
			factor(p);
			emit_operation(p, operation_pow);
		}
	}
	p->depth--;
}

static void
product(struct parser *p)
{
	bool times;

	factor(p);
	while ((times = take(p, '*')) || take(p, '/')) {
		factor(p);
		emit_operation(p, times ? operation_mul : operation_div);
	}
}

static void
sum(struct parser *p)
{
	bool plus;

	product(p);
	while ((plus = take(p, '+')) || take(p, '-')) {
		product(p);
		emit_operation(p, plus ? operation_add : operation_sub);
	}
}

static struct expression *
allocate(const char *text)
{
	struct expression *expression = calloc(1, sizeof(*expression));

	if (expression == NULL)
		return NULL;
	expression->code = calloc(strlen(text) + 1, EXPANSION * sizeof(*expression->code));
	if (expression->code != NULL)
		return expression;
	free(expression);
	return NULL;
}

static bool
allocate_stack(struct expression *expression)
{
	expression->stack = calloc(expression->height, sizeof(*expression->stack));
	if (expression->stack == NULL)
		return false;
	expression->bits = MPFR_PREC_MIN;
	for (size_t s = 0; s < expression->height; s++)
		interval_init(&expression->stack[s], expression->bits);
	return true;
}

struct expression *
expression_read(const char *text, struct expression_error *error)
{
	struct parser p = {.at = text, .expression = allocate(text)};

	/* The range of exponents is the thread's; the widest is that of all 16-bit formats' e^x but
	 * bf16's. */
	mpfr_set_emin(mpfr_get_emin_min());
	mpfr_set_emax(mpfr_get_emax_max());
	*error = (struct expression_error){.what = "out of memory"};
	if (p.expression == NULL)
		return NULL;
	sum(&p);
	skip_blanks(&p);
	if (*p.at != '\0')
		fail(&p, p.at, "an operator is missing");
	if (p.error == NULL && allocate_stack(p.expression)) {
		error->what = NULL;
		return p.expression;
	}
	if (p.error != NULL)
		*error = (struct expression_error){
			p.error, (unsigned)(p.error_at - text), p.unknown_name};
	expression_free(p.expression);
	return NULL;
}

void
expression_free(struct expression *expression)
{
	if (expression == NULL)
		return;
	for (size_t s = 0; s < expression->height && expression->stack != NULL; s++)
		interval_clear(&expression->stack[s]);
	mpfr_free_cache();
	free(expression->stack);
	free(expression->code);
	free(expression);
}

void
expression_print_names(FILE *stream)
{
	const struct operation *function;

	fputs("There are x, pi, e, and the functions", stream);
	for (size_t f = 0; (function = operation_function(f)) != NULL; f++)
		fprintf(stream, " %s,", function->name);
	fputs(" and sigmoid.\n", stream);
}

static void
set_bits(struct expression *expression, mpfr_prec_t bits)
{
	for (size_t s = 0; s < expression->height && bits != expression->bits; s++)
		interval_set_bits(&expression->stack[s], bits);
	expression->bits = bits;
}

static void
push(const struct instruction *instruction, mpfr_srcptr x, struct interval *result)
{
	mpfr_t value;
	int ternary;

	mpfr_init2(value, mpfr_get_prec(result->low));
	if (instruction->kind == PUSH_X)
		ternary = mpfr_set(value, x, MPFR_RNDN);
	else if (instruction->kind == PUSH_PI)
		ternary = mpfr_const_pi(value, MPFR_RNDN);
	else
		ternary = mpfr_strtofr(value, instruction->number, NULL, 10, MPFR_RNDN);
	interval_set(result, value, ternary);
	mpfr_clear(value);
}

static bool
is_finite(const struct interval *interval)
{
	return interval->kind == INTERVAL_REAL && !mpfr_inf_p(interval->low) &&
		!mpfr_inf_p(interval->high);
}

/* What an operation says of the whole: results without bounds of finite numbers, and undefined
 * ones. */
static void
note(struct expression_value *value, const struct operation *operation,
	const struct interval *arguments, const struct interval *result)
{
	bool finite = true, real = true;

	for (unsigned n = 0; n < operation->arguments; n++) {
		finite = finite && is_finite(&arguments[n]);
		real = real && arguments[n].kind == INTERVAL_REAL;
	}
	if (finite && interval_is_exact(result) && mpfr_inf_p(result->low))
		value->pole = true;
	if (real && result->kind == INTERVAL_NAN && operation->shape != SHAPE_SUM &&
		operation->shape != SHAPE_PRODUCT && operation->shape != SHAPE_QUOTIENT)
		value->has_limit = false;
}

struct expression_value
expression_compute(struct expression *expression, mpfr_srcptr x, struct precision precision)
{
	struct expression_value value = {.has_limit = true};
	struct interval *top = expression->stack; /* where the next result goes */

	set_bits(expression, precision.bits);
	for (size_t i = 0; i < expression->length; i++) {
		const struct instruction *instruction = &expression->code[i];
		unsigned count = 0;

		if (instruction->kind == COMPUTE) {
			count = instruction->operation->arguments;
			interval_compute(instruction->operation, top - count, top);
			note(&value, instruction->operation, top - count, top);
			interval_swap(top - count, top);
		} else {
			push(instruction, x, top);
		}
		top -= count;
		if (precision.settle)
			interval_settle(top);
		top++;
	}
	value.interval = expression->stack;
	return value;
}
