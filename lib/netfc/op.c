/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "internal.h"

static const struct {
	const char *name, *symbol;
} ops[] = {
	[NETFC_ADD] = {"add", "+"},
	[NETFC_SUB] = {"sub", "-"},
	[NETFC_MUL] = {"mul", "x"},
	[NETFC_DIV] = {"div", "/"},
};

static bool
is_op(unsigned op)
{
	return op >= NETFC_ADD && op <= NETFC_DIV;
}

const char *
netfc_op_name(unsigned op)
{
	return is_op(op) ? ops[op].name : NULL;
}

const char *
netfc_op_symbol(unsigned op)
{
	return is_op(op) ? ops[op].symbol : NULL;
}

enum netfc_branch
netfc_op_branch(enum netfc_op op)
{
	return op >= NETFC_MUL ? NETFC_MULTIPLICATIVE : NETFC_ADDITIVE;
}
