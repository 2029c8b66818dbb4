/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/calculation.h"

#include <stdio.h>

#include "command.h"
#include "json/number_json.h"

static const char operand_names[CALCULATION_OPERANDS] = "xyz";

int
no_operand(const struct command *command, struct netfc_slot slot, const char *word, bool hex)
{
	complain("%s: '%s' is no operand; expected %s", command->name, word,
		slot.format != NULL || hex ? operand_syntax(hex)
					   : "a decimal number that fits, or bits such as 0x0100");
	return STATUS_INPUT;
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
print_slot(char what, struct netfc_slot slot, uint16_t bits)
{
	char kind[SLOT_KIND_SIZE], number[NUMBER_SIZE];

	printf("%c   0x%04x  %-11s  %s\n", what, bits, slot_kind(slot, kind),
		slot_text(slot, bits, number));
}

static int
print_text(const struct calculation *c)
{
	char number[NUMBER_SIZE], flags[FLAGS_SIZE];

	printf("%s: %s", netfc_format_name(c->format), c->op);
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
	json_t *z = slot_json(c->to, c->result.z);

	for (int o = 0; o < c->count; o++)
		json_object_set_new(object, (char[]){operand_names[o], '\0'},
			slot_json(c->from, c->operand[o]));
	json_object_set_new(z, "flags", flags_json(c->result.flags));
	json_object_set_new(object, "result", z);
	return print_json(object);
}

int
calculation_print(const struct calculation *c, bool json)
{
	return json ? print_object(c) : print_text(c);
}
