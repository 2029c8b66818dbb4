/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables calc: one operation, or a stream of them. */
#include <math.h>
#include <stdio.h>

#include "command.h"
#include "encoding.h"
#include "json.h"
#include "set/set.h"
#include "show/show.h"
#include "user/user.h"

int
read_op(const struct command *command, const char *text, enum netfc_op *op)
{
	if (parse_op(text, op))
		return STATUS_DONE;
	report_error("%s: no operation '%s'; expected add, sub, mul or div", command->name, text);
	return STATUS_INPUT;
}

static int
read_operand(const struct command *command, const struct netfc_format *format, const char *text,
	bool hex, uint32_t *bits)
{
	if (parse_encoding(format, text, hex, bits))
		return STATUS_DONE;
	report_error("%s: '%s' is no operand; expected %s", command->name, text,
		encoding_syntax(format, hex));
	return STATUS_INPUT;
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

static json_t *
operand_json(const struct netfc_format *format, uint32_t bits)
{
	return json_pack("{s:o, s:o}", "bits", json_word(bits, encoding_digits(format)), "value",
		encoding_json(format, bits));
}

static json_t *
result_json(const struct netfc_format *format, struct netfc_result result)
{
	return json_pack("{s:o, s:o, s:o}", "bits", json_word(result.z, encoding_digits(format)),
		"value", encoding_json(format, result.z), "flags", flags_json(result.flags));
}

json_t *
outcome_json(const struct outcome *outcome, const char *set)
{
	const struct netfc_format *format = outcome->format;
	json_t *error = isfinite(outcome->relative_error) ? json_real(outcome->relative_error)
							  : json_null();

	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:f}", "set", set, "op",
		netfc_op_name(outcome->operation.op), "x",
		operand_json(format, outcome->operation.x), "y",
		operand_json(format, outcome->operation.y), "z",
		result_json(format, outcome->netfc), "exact", result_json(format, outcome->exact),
		"relative_error", error, "accuracy", outcome->accuracy);
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

static const char usage[] =
	"Usage: netfc-tables calc [OPTION...] SET OP X Y\n"
	"       netfc-tables calc [OPTION...] FORMAT OP X [Y [Z]]\n"
	"       netfc-tables calc [OPTION...] FILE.netfcfun X\n"
	"       netfc-tables calc --stream [OPTION...] SET [OP]\n"
	"Compute X OP Y with a table set, and show how far that is from the exact result,\n"
	"rounded correctly. SET is a name, or a file: then it ends in .netfc or has a / in\n"
	"it. OP is add, sub, mul or div (or + - x /). X and Y are decimal numbers, inf, nan,\n"
	"or encodings such as 0x3c00.\n"
	"What needs no table set is computed in a FORMAT, or in that of a set: functions of\n"
	"X, such as sqrt or to_bf16; min, max and compare of X and Y; and fma, X * Y + Z.\n"
	"netfc-tables list --functions has them all. A FILE.netfcfun is a function of your\n"
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
		.meaning = "read operations from standard input, one a line: OP X Y, or X Y where "
			   "the command line has OP; answer each with a line"},
	{"hex", FIELD(hex),
		.meaning = "operands are encodings without 0x, and a stream's answers are X Y Z "
			   "FF: operands, result and exception flags in hexadecimal (with OP in "
			   "front where the input has it). Lines X Y Z F, as testfloat_gen writes "
			   "them, are understood, too: Z and F, what they expect, are skipped"},
	{"json", FIELD(json), .meaning = "print JSON; a stream's answers are one object a line"},
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
calc(const struct netfc_set *set, char **operands, int count, const struct options *options)
{
	if (options->stream)
		return calc_stream(set, count > 1 ? operands[1] : NULL, options);
	return calc_once(set, operands + 1, options);
}

static int
run_calc(int argc, char **argv)
{
	struct options options = {0};
	struct netfc_set *set;
	int first, status;
	enum options_result result = take_options(&calc_command, argc, argv, &options, &first);

	if (result != OPTIONS_RUN)
		return (int)options_exit_status(result);
	if (!options.stream && argc > first && is_user_operand(argv[first]))
		return calc_user(argv + first, argc - first, options.hex, options.json);
	if (!options.stream && argc - first > 1 &&
		(is_extended(argv[first + 1]) || is_format(argv[first])))
		return calc_extended(argv + first, argc - first, options.hex, options.json);
	if (options.stream && (argc - first < 1 || argc - first > 2))
		return wrong_operands(&calc_command, "--stream needs SET [OP]");
	if (!options.stream && argc - first != 4)
		return wrong_operands(
			&calc_command, "needs SET OP X Y, FORMAT FUNCTION X, or --stream");
	status = open_set(argv[first], &set);
	if (status != STATUS_DONE)
		return status;
	status = calc(set, argv + first, argc - first, &options);
	netfc_set_free(set);
	return status;
}

const struct command calc_command = {
	.name = "calc",
	.summary = "compute with a table set: one operation, or a stream of them",
	.usage = usage,
	.notes = notes,
	COMMAND_ROWS(rows),
	.run = run_calc,
};
