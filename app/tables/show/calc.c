/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables calc: one operation, or a stream of them. */
#include <stdio.h>

#include "command.h"
#include "encoding.h"
#include "set/set.h"
#include "show/show.h"
#include "user/user.h"

static const char usage[] =
	"Usage: netfc-tables calc [OPTION...] SET OP X Y\n"
	"       netfc-tables calc [OPTION...] FORMAT OP X [Y [Z]]\n"
	"       netfc-tables calc [OPTION...] FILE.netfcfun X\n"
	"       netfc-tables calc --stream [OPTION...] SET [OP]\n"
	"Compute X OP Y with a table set, and show how far that is from the exact result,\n"
	"rounded correctly. SET is a name, or a file: then it ends in .netfc or has a / in\n"
	"it. OP is add, sub, mul or div (or + - x /). X and Y are decimal numbers, inf, nan,\n"
	"or encodings such as 0x3c00.\n"
	"Operations that need no table set take a FORMAT, or a SET for its format: functions\n"
	"of X, such as sqrt or to_bf16; min, max and compare of X and Y; and fma, X * Y + Z.\n"
	"netfc-tables list --functions lists them all. A FILE.netfcfun is a function of your\n"
	"own (netfc-tables build --function).\n\n";
static const char notes[] =
	"Exception flags are 1 invalid, 2 division by zero, 4 overflow, 8 underflow. Accuracy\n"
	"is the NetFC paper's: exp(-|z - exact| / |exact|).\n"
	"Example: testfloat_gen f16_add | netfc-tables calc --stream --hex fp16_exact add\n";

/* What --help describes. */
struct options {
	bool stream, hex, json;
};

#define FIELD(field) OPTION_FIELD(struct options, field)

static const struct option_row rows[] = {
	{"stream", 's', FIELD(stream),
		.meaning =
			"read operations from standard input, one per line: OP X Y, or X Y where "
			"the command line has OP; print one line for each"},
	{"hex", FIELD(hex),
		.meaning = "operands are encodings without 0x, and a stream's answers are X Y Z "
			   "FF: operands, result and exception flags in hexadecimal (with OP in "
			   "front where the input has it). Lines X Y Z F, as testfloat_gen writes "
			   "them, are accepted, too: Z and F, the expected result, are ignored"},
	{"json", FIELD(json), .meaning = "print JSON; for a stream, one object per line"},
};

static void
print_outcome_with_operands(const struct outcome *outcome, const char *set)
{
	char x[NUMBER_SIZE], y[NUMBER_SIZE], z[NUMBER_SIZE];
	int digits = encoding_digits(outcome->format);

	encoding_text(outcome->format, outcome->operation.x, x);
	encoding_text(outcome->format, outcome->operation.y, y);
	encoding_text(outcome->format, outcome->netfc.z, z);
	printf("%s: %s %s %s = %s\n\n", set, x, netfc_op_symbol(outcome->operation.op), y, z);
	printf("x       0x%0*x  %s\n", digits, outcome->operation.x, x);
	printf("y       0x%0*x  %s\n", digits, outcome->operation.y, y);
	print_outcome(outcome);
}

static int
calc_once(const struct netfc_set *set, char **operands, const struct options *options)
{
	const struct netfc_format *format = netfc_set_format(set);
	struct operation o;
	struct outcome outcome;
	struct netfc_result answer;
	int status = read_operation(&calc_command, format, operands, options->hex, &o);

	if (status != STATUS_DONE)
		return status;
	compute_lanes(set, o.op, &o.x, &o.y, &answer, 1);
	outcome = compare_result(format, &o, answer);
	if (options->json)
		return print_json(outcome_json(&outcome, netfc_set_name(set)));
	print_outcome_with_operands(&outcome, netfc_set_name(set));
	return STATUS_DONE;
}

static int
calc_stream(const struct netfc_set *set, const char *op, const struct options *options)
{
	struct stream_options stream = {.set = set, .hex = options->hex, .json = options->json};

	if (op != NULL && read_op(&calc_command, op, &stream.op) != STATUS_DONE)
		return STATUS_INPUT;
	stream.op_given = op != NULL;
	return run_stream(&stream);
}

static int
run_calc(void *taken, char **operands, int count)
{
	const struct options *options = taken;
	struct netfc_set *set;
	int status;

	if (!options->stream && count > 0 && is_user_operand(operands[0]))
		return calc_user(operands, count, options->hex, options->json);
	if (!options->stream && count > 1 && (is_extended(operands[1]) || is_format(operands[0])))
		return calc_extended(operands, count, options->hex, options->json);
	if (options->stream && (count < 1 || count > 2))
		return wrong_operands(&calc_command, "--stream needs SET [OP]");
	if (!options->stream && count != 4)
		return wrong_operands(
			&calc_command, "needs SET OP X Y, FORMAT FUNCTION X, or --stream");
	status = open_set(operands[0], &set);
	if (status != STATUS_DONE)
		return status;
	status = options->stream ? calc_stream(set, count > 1 ? operands[1] : NULL, options)
				 : calc_once(set, operands + 1, options);
	netfc_set_free(set);
	return status;
}

const struct command calc_command = {
	.name = "calc",
	.summary = "compute with a table set: one operation, or a stream of them",
	.usage = usage,
	.notes = notes,
	COMMAND_OPTIONS(rows, struct options),
	.run = run_calc,
};
