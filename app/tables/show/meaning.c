/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "encoding.h"
#include "show/show.h"

#define LOG_WORD_BITS 16

static const struct {
	const char *table;
	enum meaning key, value;
} tables[] = {
	{"log", MEANS_NUMBER, MEANS_LOG_WORD},
	{"mi", MEANS_LOG_WORD, MEANS_MI_WORD},
	{"exp", MEANS_LOG_WORD, MEANS_NUMBER},
	{"decide", MEANS_DECIDE_KEY, MEANS_DECISION},
	{"prenorm", MEANS_NUMBER, MEANS_BITS},
};

static const struct {
	const char *field;
	enum meaning meaning;
} fields[] = {
	{"x", MEANS_NUMBER},
	{"y", MEANS_NUMBER},
	{"z", MEANS_NUMBER},
	{"y'", MEANS_NUMBER},
	{"|x|", MEANS_NUMBER},
	{"|y|", MEANS_NUMBER},
	{"|z|", MEANS_NUMBER},
	{"flags", MEANS_FLAGS},
	{"key", MEANS_DECIDE_KEY},
	{"decision", MEANS_DECISION},
	{"i", MEANS_LOG_WORD},
	{"j", MEANS_LOG_WORD},
	{"theta", MEANS_LOG_WORD},
	{"mi key", MEANS_MI_KEY},
	{"m", MEANS_MI_WORD},
	{"n", MEANS_LOG_WORD},
	{"word", MEANS_NUMBER},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum meaning
key_meaning(const struct netfc_table *table)
{
	for (size_t t = 0; t < COUNT(tables); t++) {
		if (strcmp(netfc_table_name(table), tables[t].table) == 0)
			return tables[t].key;
	}
	return MEANS_BITS;
}

static bool
is_product_key(uint32_t key)
{
	return netfc_op_branch((key >> 8 & 3) + NETFC_ADD) == NETFC_MULTIPLICATIVE;
}

enum meaning
value_meaning(const struct netfc_table *table, uint32_t index)
{
	enum meaning meaning = MEANS_BITS;

	for (size_t t = 0; t < COUNT(tables); t++) {
		if (strcmp(netfc_table_name(table), tables[t].table) == 0)
			meaning = tables[t].value;
	}
	if (meaning == MEANS_DECISION && is_product_key(index))
		meaning = MEANS_PRODUCT;
	return meaning;
}

enum meaning
field_meaning(const struct netfc_set *set, enum netfc_branch branch, unsigned field)
{
	const struct netfc_program *program = netfc_set_program(set, branch);
	enum meaning meaning = MEANS_BITS;

	for (size_t f = 0; f < COUNT(fields); f++) {
		if (strcmp(program->field_name[field], fields[f].field) == 0)
			meaning = fields[f].meaning;
	}
	if (meaning == MEANS_DECISION && branch == NETFC_MULTIPLICATIVE)
		meaning = MEANS_PRODUCT;
	return meaning;
}

int32_t
as_signed(uint32_t word, unsigned bits)
{
	uint32_t sign = UINT32_C(1) << (bits - 1);

	return (int32_t)((int64_t)((word & (2 * sign - 1)) ^ sign) - (int64_t)sign);
}

const char *
class_name(const struct netfc_format *format, unsigned class)
{
	switch (class) {
	case NETFC_ZERO:
		return "zero";
	case NETFC_FINITE:
		return "finite";
	case NETFC_INF:
		return "inf";
	default:
		return netfc_format_is_posit(format) ? "NaR" : "NaN";
	}
}

static void
log_word_text(const struct netfc_set *set, uint32_t word, char *text)
{
	int32_t number = as_signed(word, LOG_WORD_BITS);
	unsigned k = netfc_set_scale(set);

	snprintf(text, MEANING_SIZE, "%d/%u = %.7g", (int)number, k, (double)number / k);
}

static void
mi_word_text(const struct netfc_set *set, uint32_t word, char *text)
{
	if (word == NETFC_NO_RESULT)
		snprintf(text, MEANING_SIZE, "no result: z = +0");
	else
		log_word_text(set, word, text);
}

static const char *
page_name(const struct netfc_set *set, uint32_t page)
{
	const struct netfc_table *mi = netfc_set_find_table(set, "mi");

	return mi != NULL ? netfc_table_page_name(mi, page) : "?";
}

static void
mi_key_text(const struct netfc_set *set, uint32_t word, char *text)
{
	char theta[MEANING_SIZE];

	log_word_text(set, word, theta);
	snprintf(text, MEANING_SIZE, "%s, %.100s", page_name(set, word >> LOG_WORD_BITS), theta);
}

static void
decide_key_text(const struct netfc_set *set, uint32_t key, char *text)
{
	static const char *const compare[] = {"<", "=", ">", "?"};
	const struct netfc_format *format = netfc_set_format(set);

	snprintf(text, MEANING_SIZE, "%s, x: %c %s, y': %c %s, |x| %s |y|",
		netfc_op_name((key >> 8 & 3) + NETFC_ADD), key >> 3 & 1 ? '-' : '+',
		class_name(format, key >> 6 & 3), key >> 2 & 1 ? '-' : '+',
		class_name(format, key >> 4 & 3), compare[key & 3]);
}

static void
decision_text(const struct netfc_set *set, uint32_t word, bool product, char *text)
{
	char number[NUMBER_SIZE], flags[FLAGS_SIZE];

	switch (netfc_decide_source(word)) {
	case NETFC_FROM_STAGES:
		product = product || netfc_set_find_table(set, "mi") == NULL;
		snprintf(text, MEANING_SIZE, "z is computed, with %s%sthe sign %c",
			product ? "" : page_name(set, netfc_decide_page(word)),
			product ? "" : " and ", netfc_decide_sign(word) ? '-' : '+');
		break;
	case NETFC_FROM_X:
		snprintf(text, MEANING_SIZE, "z = x");
		break;
	case NETFC_FROM_Y:
		snprintf(text, MEANING_SIZE, "z = y'");
		break;
	default:
		encoding_text(netfc_set_format(set), decided_encoding(netfc_set_format(set), word),
			number);
		flags_text((uint8_t)netfc_decide_flags(word), flags);
		snprintf(text, MEANING_SIZE, "z = %s%s%s", number,
			netfc_decide_flags(word) ? ", " : "",
			netfc_decide_flags(word) ? flags : "");
	}
}

/* The lowest bits of a word, as many as a number has: steps on the way have wider words. */
static uint32_t
number_in(const struct netfc_set *set, uint32_t word)
{
	return word & UINT32_MAX >> (32 - netfc_format_width(netfc_set_format(set)));
}

int
meaning_digits(const struct netfc_set *set, enum meaning meaning)
{
	return meaning == MEANS_NUMBER ? encoding_digits(netfc_set_format(set)) : 4;
}

const char *
meaning_text(const struct netfc_set *set, enum meaning meaning, uint32_t word, char *text)
{
	text[0] = '\0';
	switch (meaning) {
	case MEANS_NUMBER:
		encoding_text(netfc_set_format(set), number_in(set, word), text);
		break;
	case MEANS_LOG_WORD:
		log_word_text(set, word, text);
		break;
	case MEANS_MI_WORD:
		mi_word_text(set, word, text);
		break;
	case MEANS_MI_KEY:
		mi_key_text(set, word, text);
		break;
	case MEANS_DECIDE_KEY:
		decide_key_text(set, word, text);
		break;
	case MEANS_DECISION:
	case MEANS_PRODUCT:
		decision_text(set, word, meaning == MEANS_PRODUCT, text);
		break;
	case MEANS_FLAGS:
		flags_text((uint8_t)word, text);
		break;
	case MEANS_BITS:
		break;
	}
	return text;
}

/* What words mean, for programs. */

static json_t *
log_word_json(const struct netfc_set *set, uint32_t word)
{
	return json_real((double)as_signed(word, 16) / netfc_set_scale(set));
}

static json_t *
mi_key_json(const struct netfc_set *set, uint32_t word)
{
	return json_pack(
		"{s:i, s:o}", "page", (int)(word >> 16), "theta", log_word_json(set, word));
}

static json_t *
decide_key_json(const struct netfc_set *set, uint32_t key)
{
	static const char *const compare[] = {"less", "equal", "greater", "none"};
	const struct netfc_format *format = netfc_set_format(set);

	return json_pack("{s:s, s:s, s:s, s:b, s:b, s:s}", "op",
		netfc_op_name((key >> 8 & 3) + NETFC_ADD), "class_x",
		class_name(format, key >> 6 & 3), "class_y", class_name(format, key >> 4 & 3),
		"x_negative", (int)(key >> 3 & 1), "y_negative", (int)(key >> 2 & 1), "compare",
		compare[key & 3]);
}

static json_t *
decision_json(const struct netfc_set *set, uint32_t word, bool product)
{
	static const char *const source[] = {"stages", "x", "y", "constant"};
	json_t *object = json_pack("{s:s}", "source", source[netfc_decide_source(word)]);

	if (netfc_decide_source(word) == NETFC_FROM_STAGES) {
		if (!product && netfc_set_find_table(set, "mi") != NULL)
			json_object_set_new(object, "page", json_integer(netfc_decide_page(word)));
		json_object_set_new(object, "negative", json_boolean(netfc_decide_sign(word)));
	} else if (netfc_decide_source(word) == NETFC_FROM_CONSTANT) {
		const struct netfc_format *format = netfc_set_format(set);

		json_object_set_new(
			object, "z", encoding_json(format, decided_encoding(format, word)));
		json_object_set_new(object, "flags", flags_json((uint8_t)netfc_decide_flags(word)));
	}
	return object;
}

json_t *
meaning_json(const struct netfc_set *set, enum meaning meaning, uint32_t word)
{
	switch (meaning) {
	case MEANS_NUMBER:
		return encoding_json(netfc_set_format(set), number_in(set, word));
	case MEANS_MI_WORD:
		return word == NETFC_NO_RESULT ? json_string("no result")
					       : log_word_json(set, word);
	case MEANS_LOG_WORD:
		return log_word_json(set, word);
	case MEANS_MI_KEY:
		return mi_key_json(set, word);
	case MEANS_DECIDE_KEY:
		return decide_key_json(set, word);
	case MEANS_DECISION:
	case MEANS_PRODUCT:
		return decision_json(set, word, meaning == MEANS_PRODUCT);
	case MEANS_FLAGS:
		return flags_json((uint8_t)word);
	case MEANS_BITS:
		break;
	}
	return json_null();
}
