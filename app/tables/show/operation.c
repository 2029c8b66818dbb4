/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>

#include "encoding.h"
#include "json.h"
#include "show/show.h"

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
