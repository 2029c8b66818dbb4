/* SPDX-License-Identifier: BSD-3-Clause */
/* The version, and what operations and errors are called. */
#include "internal.h"

const char *
netfc_version(void)
{
	return NETFC_VERSION;
}

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

const char *
netfc_strerror(int error)
{
	switch (error) {
	case NETFC_OK:
		return "success";
	case NETFC_ERR_NOMEM:
		return "out of memory";
	case NETFC_ERR_NAME:
		return "malformed table set name (expected <format>_k<k>, <format>_k<k>_floor, "
		       "<format>_exact, _exact_small or _sat)";
	case NETFC_ERR_FORMAT:
		return "unknown number format (known: fp16, posit16, bf16, posit16_es2; of fp32 "
		       "only fp32_exact; of fp8_e4m3 and fp8_e5m2 _exact and _sat)";
	case NETFC_ERR_SCALE:
		return "scale k out of range (powers of two from 1 to 1024 for fp16, 512 for "
		       "posit16, 128 for bf16, 256 for posit16_es2)";
	case NETFC_ERR_ARGUMENT:
		return "argument out of range";
	case NETFC_ERR_IO:
		return "input/output error";
	case NETFC_ERR_FOREIGN:
		return "not a table-set file";
	case NETFC_ERR_OLD:
		return "table-set file of an older version, build it again";
	case NETFC_ERR_NEW:
		return "table-set file of a newer version than this program reads";
	case NETFC_ERR_TRUNCATED:
		return "table-set file ends too early";
	case NETFC_ERR_TRAILING:
		return "table-set file goes on after its end";
	case NETFC_ERR_CHECKSUM:
		return "table-set file is damaged: wrong checksum";
	case NETFC_ERR_CONTENT:
		return "table-set file's tables do not fit its header";
	case NETFC_ERR_PRECISION:
		return "a table entry is too close to a rounding boundary to be certain";
	case NETFC_ERR_ORDER:
		return "table-set file's logarithms are in no order: that of a greater number is "
		       "less";
	default:
		return "unknown error";
	}
}
