/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables show --walk: one operation, step by step. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "json.h"
#include "show/show.h"
#include "encoding.h"

/* The state of a walk. */
struct walk {
	const struct netfc_set *set;
	enum netfc_branch branch;
	unsigned steps;
	json_t *json; /* the steps, or NULL to print them */
};

static bool
overrules_stages(enum meaning meaning, uint32_t word)
{
	return (meaning == MEANS_DECISION || meaning == MEANS_PRODUCT) &&
		netfc_decide_source(word) != NETFC_FROM_STAGES;
}

static void
print_field(
	const struct walk *walk, const struct netfc_program *program, unsigned field, uint32_t word)
{
	enum meaning meaning = field_meaning(walk->set, walk->branch, field);
	char bits[16], text[MEANING_SIZE];

	snprintf(bits, sizeof(bits), "0x%0*x", meaning_digits(walk->set, meaning), (unsigned)word);
	printf("       %-9s %-10s %s%s\n", program->field_name[field], bits,
		meaning_text(walk->set, meaning, word, text),
		overrules_stages(meaning, word) ? ", whatever the stages compute" : "");
}

static void
print_step(const struct walk *walk, const struct netfc_program *program,
	const struct netfc_step *step, const struct netfc_lanes *lanes)
{
	uint8_t fields[NETFC_STEP_WRITES];
	unsigned count = netfc_step_writes(step, fields);

	printf("%3u. %s\n", walk->steps, step->what);
	for (unsigned n = 0; n < count; n++)
		print_field(walk, program, fields[n], lanes->field[fields[n]][0]);
}

static void
append_step(const struct walk *walk, const struct netfc_program *program,
	const struct netfc_step *step, const struct netfc_lanes *lanes)
{
	uint8_t written[NETFC_STEP_WRITES];
	unsigned count = netfc_step_writes(step, written);
	json_t *fields = json_array();

	for (unsigned n = 0; n < count; n++) {
		unsigned field = written[n];
		uint32_t word = lanes->field[field][0];
		enum meaning meaning = field_meaning(walk->set, walk->branch, field);

		json_array_append_new(fields,
			json_pack("{s:s, s:o, s:o}", "name", program->field_name[field], "bits",
				json_word(word, meaning_digits(walk->set, meaning)), "means",
				meaning_json(walk->set, meaning, word)));
	}
	json_array_append_new(
		walk->json, json_pack("{s:s, s:o}", "what", step->what, "fields", fields));
}

static void
take_step(const struct netfc_program *program, const struct netfc_step *step,
	const struct netfc_lanes *lanes, void *arg)
{
	struct walk *walk = arg;

	walk->steps++;
	if (walk->json != NULL)
		append_step(walk, program, step, lanes);
	else
		print_step(walk, program, step, lanes);
}

static void
print_operands(const struct netfc_set *set, const struct operation *o)
{
	const struct netfc_format *format = netfc_set_format(set);
	char x_text[NUMBER_SIZE], y_text[NUMBER_SIZE];

	encoding_text(format, o->x, x_text);
	encoding_text(format, o->y, y_text);
	printf("%s: %s %s %s\n\n", netfc_set_name(set), x_text, netfc_op_symbol(o->op), y_text);
	printf("  0. operands\n");
	printf("       %-9s 0x%0*x     %s\n", "x", encoding_digits(format), o->x, x_text);
	printf("       %-9s 0x%0*x     %s\n", "y", encoding_digits(format), o->y, y_text);
}

int
show_walk(const struct netfc_set *set, const struct operation *o, bool json)
{
	struct walk walk = {.set = set, .branch = netfc_op_branch(o->op)};
	struct netfc_result result;
	struct outcome outcome;
	json_t *object;

	if (json)
		walk.json = json_array();
	else
		print_operands(set, o);
	result = netfc_walk(set, o->op, o->x, o->y, take_step, &walk);
	outcome = compare_result(netfc_set_format(set), o, result);
	if (!json) {
		putchar('\n');
		print_outcome(&outcome);
		return STATUS_DONE;
	}
	object = outcome_json(&outcome, netfc_set_name(set));
	json_object_set_new(object, "steps", walk.json);
	return print_json(object);
}
