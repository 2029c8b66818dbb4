/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables calc FORMAT OP X [Y [Z]]: what is computed without a table set. */
#include "show/further.h"

#include "number.h"
#include "show/calculation.h"

bool
find_further(const char *name, struct further *further)
{
	further->function = netfc_function_by_name(name);
	further->extra = netfc_extra_by_name(name);
	return further->function != NULL || further->extra != 0;
}

bool
is_further(const char *name)
{
	struct further further;

	return find_further(name, &further);
}

int
read_format(const struct command *command, const char *text, const struct netfc_format **format)
{
	struct netfc_set_id id;

	*format = netfc_format_by_name(text);
	if (*format != NULL)
		return STATUS_DONE;
	if (netfc_set_parse_name(text, &id) == NETFC_OK) {
		*format = id.format;
		return STATUS_DONE;
	}
	complain("%s: '%s' is no format; known are fp16, posit16, bf16 and posit16_es2",
		command->name, text);
	return STATUS_INPUT;
}

/* How many operands it takes. */
static int
operand_count(const struct further *further)
{
	if (further->function != NULL)
		return 1;
	return further->extra == NETFC_FMA ? 3 : 2;
}

static int
compute(const struct further *further, struct calculation *c)
{
	if (further->function == NULL) {
		c->result = netfc_extra(
			c->format, further->extra, c->operand[0], c->operand[1], c->operand[2]);
		return STATUS_DONE;
	}
	if (netfc_function_value(further->function, c->format, c->operand[0], &c->result) ==
		NETFC_OK)
		return STATUS_DONE;
	complain("calc: %s: %s", c->op, netfc_strerror(NETFC_ERR_PRECISION));
	return STATUS_FAILED;
}

static int
not_further(const char *name)
{
	enum netfc_op op;

	if (parse_op(name, &op))
		complain("calc: %s needs a table set, such as fp16_exact", name);
	else
		complain("calc: no function or operation '%s'; netfc-tables list --functions has "
			 "all",
			name);
	return STATUS_INPUT;
}

int
calc_further(char **operands, int count, bool hex, bool json)
{
	struct calculation c = {.op = operands[1]};
	struct further further;
	int status = read_format(&calc_command, operands[0], &c.format);

	if (status != STATUS_DONE)
		return status;
	if (!find_further(c.op, &further))
		return not_further(c.op);
	c.count = operand_count(&further);
	c.from = c.to = format_slot(c.format);
	if (further.function != NULL) {
		c.from = netfc_function_argument(further.function, c.format);
		c.to = netfc_function_result(further.function, c.format);
	}
	status = calculation_read(&c, operands + 2, count - 2, hex);
	if (status == STATUS_DONE)
		status = compute(&further, &c);
	return status == STATUS_DONE ? calculation_print(&c, json) : status;
}
