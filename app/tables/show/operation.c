/* SPDX-License-Identifier: BSD-3-Clause */
/* One operation X OP Y: read, beside the exact result, and walked through the stages. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "encoding.h"
#include "json.h"
#include "show/show.h"

int
read_op(const struct command *command, const char *text, enum netfc_op *op)
{
	if (parse_op(text, op))
		return STATUS_DONE;
	return report_error(STATUS_INPUT, "%s: no operation '%s'; expected add, sub, mul or div",
		command->name, text);
}

static int
read_operand(const struct command *command, const struct netfc_format *format, const char *text,
	bool hex, uint32_t *bits)
{
	if (parse_encoding(format, text, hex, bits))
		return STATUS_DONE;
	return report_error(STATUS_INPUT, "%s: '%s' is not an operand; expected %s", command->name,
		text, encoding_syntax(format, hex));
}

int
read_operation(const struct command *command, const struct netfc_format *format,
	char *const words[3], bool hex, struct operation *operation)
{
	int status = read_op(command, words[0], &operation->op);

	if (status == STATUS_DONE)
		status = read_operand(command, format, words[1], hex, &operation->x);
	if (status == STATUS_DONE)
		status = read_operand(command, format, words[2], hex, &operation->y);
	return status;
}

struct outcome
compare_result(const struct netfc_format *format, const struct operation *operation,
	struct netfc_result netfc)
{
	struct outcome outcome = {.format = format, .operation = *operation, .netfc = netfc};
	double z = netfc_decode(format, netfc.z), exact;

	outcome.exact = netfc_exact(format, operation->op, operation->x, operation->y);
	exact = netfc_decode(format, outcome.exact.z);
	if (z == exact || (isnan(z) && isnan(exact)))
		outcome.relative_error = 0;
	else
		outcome.relative_error = fabs(z - exact) / fabs(exact);
	outcome.accuracy = isnan(outcome.relative_error) ? 0 : exp(-outcome.relative_error);
	return outcome;
}

json_t *
outcome_json(const struct outcome *outcome, const char *set)
{
	const struct netfc_slot slot = format_slot(outcome->format);
	json_t *error = isfinite(outcome->relative_error) ? json_real(outcome->relative_error)
							  : json_null();

	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:f}", "set", set, "op",
		netfc_op_name(outcome->operation.op), "x", slot_json(slot, outcome->operation.x),
		"y", slot_json(slot, outcome->operation.y), "z", result_json(slot, outcome->netfc),
		"exact", result_json(slot, outcome->exact), "relative_error", error, "accuracy",
		outcome->accuracy);
}

static void
print_result(const char *what, const struct netfc_format *format, struct netfc_result result)
{
	char number[NUMBER_SIZE], flags[FLAGS_SIZE];

	printf("%-7s 0x%0*x  %-16s exceptions: %s\n", what, encoding_digits(format), result.z,
		encoding_text(format, result.z, number), flags_text(result.flags, flags));
}

void
print_outcome(const struct outcome *outcome)
{
	print_result("NetFC", outcome->format, outcome->netfc);
	print_result("exact", outcome->format, outcome->exact);
	if (isnan(outcome->relative_error))
		printf("error   undefined, accuracy 0 %%\n");
	else
		printf("error   %.3g relative, accuracy %.4f %%\n", outcome->relative_error,
			100 * outcome->accuracy);
}

/* ---- netfc-tables show --walk: step by step -------------------------------------------------- */

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
