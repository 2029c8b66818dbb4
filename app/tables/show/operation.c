/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/operation.h"

#include "encoding.h"
#include "number.h"

int
read_op(const struct command *command, const char *text, enum netfc_op *op)
{
	if (parse_op(text, op))
		return STATUS_DONE;
	complain("%s: no operation '%s'; expected add, sub, mul or div", command->name, text);
	return STATUS_INPUT;
}

static int
read_operand(const struct command *command, const struct netfc_format *format, const char *text,
	bool hex, uint32_t *bits)
{
	if (parse_encoding(format, text, hex, bits))
		return STATUS_DONE;
	complain("%s: '%s' is no operand; expected %s", command->name, text,
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
