/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables calc FORMAT OP X [Y [Z]]: what is computed without a table set. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "command.h"
#include "encoding.h"
#include "json.h"
#include "set/set.h"
#include "show/show.h"

#define FORMATS_BYTES 128
/* Bytes for what kind of number a slot holds, as text. */
#define SLOT_KIND_SIZE 48

/* ---- what slots hold ------------------------------------------------------------------------- */

#define FIXED_DIGITS 4

struct netfc_slot
format_slot(const struct netfc_format *format)
{
	return (struct netfc_slot){.format = format};
}

/* A decimal number to the nearest multiple, ties to even; it must fit. */
static bool
parse_fixed(unsigned point, const char *text, bool hex, uint32_t *bits)
{
	double number, multiple;

	if (hex || strncasecmp(text, "0x", 2) == 0)
		return parse_hex(hex ? text : text + 2, FIXED_DIGITS, bits);
	if (!decimal_read(text, &number))
		return false;
	multiple = rint(ldexp(number, (int)point));
	if (!(multiple >= INT16_MIN && multiple <= INT16_MAX))
		return false;
	*bits = (uint16_t)(int16_t)multiple;
	return true;
}

bool
parse_slot(struct netfc_slot slot, const char *text, bool hex, uint32_t *bits)
{
	if (slot.format != NULL)
		return parse_encoding(slot.format, text, hex, bits);
	return parse_fixed(slot.point, text, hex, bits);
}

int
slot_digits(struct netfc_slot slot)
{
	return slot.format != NULL ? encoding_digits(slot.format) : FIXED_DIGITS;
}

static double
fixed_value(struct netfc_slot slot, uint32_t bits)
{
	return ldexp((int16_t)bits, -(int)slot.point);
}

const char *
slot_text(struct netfc_slot slot, uint32_t bits, char *text)
{
	if (slot.format != NULL)
		return encoding_text(slot.format, bits, text);
	snprintf(text, NUMBER_SIZE, "%.12g", fixed_value(slot, bits));
	return text;
}

/* What a slot holds, such as "fp16" or "int16 / 2^8". */
static const char *
slot_kind(struct netfc_slot slot, char *text)
{
	if (slot.format != NULL)
		snprintf(text, SLOT_KIND_SIZE, "%s", netfc_format_name(slot.format));
	else if (slot.point == 0)
		snprintf(text, SLOT_KIND_SIZE, "int16");
	else
		snprintf(text, SLOT_KIND_SIZE, "int16 / 2^%u", slot.point);
	return text;
}

json_t *
slot_json(struct netfc_slot slot, uint32_t bits)
{
	return json_pack("{s:o, s:o}", "bits", json_word(bits, slot_digits(slot)), "value",
		slot.format != NULL ? encoding_json(slot.format, bits)
				    : json_real(fixed_value(slot, bits)));
}

json_t *
result_json(struct netfc_slot slot, struct netfc_result result)
{
	json_t *object = slot_json(slot, result.z);

	json_object_set_new(object, "flags", flags_json(result.flags));
	return object;
}

/* ---- functions and operations ---------------------------------------------------------------- */

bool
find_extended(const char *name, struct extended *extended)
{
	extended->function = netfc_function_by_name(name);
	extended->extra = netfc_extra_by_name(name);
	return extended->function != NULL || extended->extra != 0;
}

bool
is_extended(const char *name)
{
	struct extended extended;

	return find_extended(name, &extended);
}

/* Of any width; NULL: none has that name. */
static const struct netfc_format *
named_format(const char *name)
{
	if (strcmp(name, netfc_format_name(netfc_fp32_format())) == 0)
		return netfc_fp32_format();
	return netfc_format_by_name(name);
}

bool
is_format(const char *name)
{
	return named_format(name) != NULL;
}

/* By the name of the format or of a table set; NULL: it has neither. */
static const struct netfc_format *
find_format(const char *text)
{
	const struct netfc_format *format = named_format(text);
	struct netfc_set_id id;

	if (format != NULL)
		return format;
	return netfc_set_parse_name(text, &id) == NETFC_OK ? id.format : NULL;
}

static bool
has_extended(const struct netfc_format *format, const struct extended *extended)
{
	if (extended->function != NULL)
		return netfc_function_has_format(extended->function, format);
	return netfc_format_width(format) <= 16;
}

/* "fp16, posit16 and so on": the formats that a function or extended operation has. */
static void
list_formats(const struct extended *extended, char *text, size_t size)
{
	const struct netfc_format *format;
	size_t used = 0;

	NETFC_FOREACH_FORMAT (format) {
		used += (size_t)snprintf(text + used, size - used, "%s%s", used == 0 ? "" : ", ",
			netfc_format_name(format));
	}
	if (has_extended(netfc_fp32_format(), extended))
		snprintf(text + used, size - used, ", %s", netfc_format_name(netfc_fp32_format()));
}

int
read_format(const struct command *command, char **operands, const struct extended *extended,
	const struct netfc_format **format)
{
	char known[FORMATS_BYTES];
	struct netfc_set *set;

	if (is_path(operands[0], NETFC_FILE_SUFFIX)) {
		const int status = open_set(operands[0], &set);

		if (status != STATUS_DONE)
			return status;
		*format = netfc_set_format(set);
		netfc_set_free(set);
	} else {
		*format = find_format(operands[0]);
	}
	if (*format != NULL && has_extended(*format, extended))
		return STATUS_DONE;
	list_formats(extended, known, sizeof(known));
	return report_error(STATUS_INPUT, "%s: '%s' is not a format of %s; its formats are %s",
		command->name, operands[0], operands[1], known);
}

/* How many operands it takes. */
static int
operand_count(const struct extended *extended)
{
	if (extended->function != NULL)
		return 1;
	return (int)netfc_extra_operands(extended->extra);
}

static int
compute(const struct extended *extended, struct calculation *c)
{
	if (extended->function == NULL) {
		c->result = netfc_extra(
			c->format, extended->extra, c->operand[0], c->operand[1], c->operand[2]);
		return STATUS_DONE;
	}
	if (netfc_function_lanes(extended->function, c->format, c->operand, &c->result.z,
		    &c->result.flags, 1) == NETFC_OK)
		return STATUS_DONE;
	return report_error(
		STATUS_FAILED, "calc: %s: %s", c->op, netfc_strerror(NETFC_ERR_PRECISION));
}

static int
not_extended(const char *format, const char *name)
{
	enum netfc_op op;

	if (parse_op(name, &op))
		return report_error(
			STATUS_INPUT, "calc: %s needs a table set, such as %s_exact", name, format);
	return report_error(STATUS_INPUT,
		"calc: no function or operation '%s'; netfc-tables list --functions lists them all",
		name);
}

int
calc_extended(char **operands, int count, bool hex, bool json)
{
	struct calculation c = {.op = operands[1]};
	struct extended extended;
	int status;

	if (!find_extended(c.op, &extended))
		return not_extended(operands[0], c.op);
	status = read_format(&calc_command, operands, &extended, &c.format);
	if (status != STATUS_DONE)
		return status;
	c.count = operand_count(&extended);
	c.from = c.to = format_slot(c.format);
	if (extended.function != NULL) {
		c.from = netfc_function_argument(extended.function, c.format);
		c.to = netfc_function_result(extended.function, c.format);
	}
	status = calculation_read(&c, operands + 2, count - 2, hex);
	if (status == STATUS_DONE)
		status = compute(&extended, &c);
	return status == STATUS_DONE ? calculation_print(&c, json) : status;
}

static const char operand_names[CALCULATION_OPERANDS] = "xyz";

int
no_operand(const struct command *command, struct netfc_slot slot, const char *word, bool hex)
{
	return report_error(STATUS_INPUT, "%s: '%s' is not an operand; expected %s", command->name,
		word,
		slot.format != NULL ? encoding_syntax(slot.format, hex)
			: hex       ? "one to four hex digits, such as 0100"
				    : "a decimal number that fits, or bits such as 0x0100");
}

int
calculation_read(struct calculation *c, char **words, int count, bool hex)
{
	static const char *const needs[] = {"", "X", "X and Y", "X, Y and Z"};
	char text[80];

	if (count != c->count) {
		snprintf(text, sizeof(text), "%s needs %s", c->op, needs[c->count]);
		return wrong_operands(&calc_command, text);
	}
	for (int w = 0; w < count; w++) {
		if (!parse_slot(c->from, words[w], hex, &c->operand[w]))
			return no_operand(&calc_command, c->from, words[w], hex);
	}
	return STATUS_DONE;
}

static void
print_slot(char what, struct netfc_slot slot, uint32_t bits)
{
	char kind[SLOT_KIND_SIZE], number[NUMBER_SIZE];

	printf("%c   0x%0*x  %-11s  %s\n", what, slot_digits(slot), bits, slot_kind(slot, kind),
		slot_text(slot, bits, number));
}

static int
print_text(const struct calculation *c)
{
	char number[NUMBER_SIZE], flags[FLAGS_SIZE];

	printf("%s%s: %s", netfc_format_name(c->format),
		netfc_format_saturates(c->format) ? "_sat" : "", c->op);
	for (int o = 0; o < c->count; o++)
		printf(" %s", slot_text(c->from, c->operand[o], number));
	printf(" = %s\n\n", slot_text(c->to, c->result.z, number));
	for (int o = 0; o < c->count; o++)
		print_slot(operand_names[o], c->from, c->operand[o]);
	print_slot('=', c->to, c->result.z);
	printf("exceptions: %s\n", flags_text(c->result.flags, flags));
	return STATUS_DONE;
}

static int
print_object(const struct calculation *c)
{
	json_t *object =
		json_pack("{s:s, s:s}", "format", netfc_format_name(c->format), "op", c->op);

	for (int o = 0; o < c->count; o++)
		json_object_set_new(object, (char[]){operand_names[o], '\0'},
			slot_json(c->from, c->operand[o]));
	json_object_set_new(object, "result", result_json(c->to, c->result));
	return print_json(object);
}

int
calculation_print(const struct calculation *c, bool json)
{
	return json ? print_object(c) : print_text(c);
}
