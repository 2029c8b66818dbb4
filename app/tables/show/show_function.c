/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables show FORMAT FUNCTION [X...] and list --functions. */
#include <stdio.h>
#include <stdlib.h>

#include "show/entries.h"
#include "show/further.h"

/* A table of the function itself. */
struct table {
	uint16_t z[NETFC_FUNCTION_ENTRIES];
	uint8_t flags[NETFC_FUNCTION_ENTRIES];
};

static int
show_filled(const struct netfc_function *function, const struct netfc_format *format,
	struct table *table, char **words, int count, bool json)
{
	const struct entries entries = {netfc_function_argument(function, format),
		netfc_function_result(function, format), table->z, table->flags};

	if (netfc_function_table(function, format, table->z, table->flags) == NETFC_OK)
		return show_entries(&entries, words, count, json);
	complain(
		"show: %s: %s", netfc_function_name(function), netfc_strerror(NETFC_ERR_PRECISION));
	return STATUS_FAILED;
}

int
show_function(char **operands, int count, bool json)
{
	const struct netfc_format *format;
	struct further further;
	struct table *table;
	int status = read_format(&show_command, operands[0], &format);

	if (status != STATUS_DONE)
		return status;
	if (!find_further(operands[1], &further) || further.function == NULL) {
		complain("show: '%s' is no function; netfc-tables list --functions has all",
			operands[1]);
		return STATUS_INPUT;
	}
	table = malloc(sizeof(*table));
	if (table == NULL) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	status = show_filled(further.function, format, table, operands + 2, count - 2, json);
	free(table);
	return status;
}

/* The operations that are no functions of one number, for people. */
static const char *
extra_meaning(enum netfc_extra_op op)
{
	switch (op) {
	case NETFC_MIN:
		return "the lesser of x and y; NaN if one is";
	case NETFC_MAX:
		return "the greater of x and y; NaN if one is";
	case NETFC_COMPARE:
		return "-1, 0 or 1 as x is less than, equal to or greater than y";
	case NETFC_FMA:
	default:
		return "x * y + z, rounded once";
	}
}

static int
print_list(void)
{
	const struct netfc_function *function;

	printf("%-16s  %s\n", "OF X", "MEANING");
	for (unsigned f = 0; (function = netfc_function_known(f)) != NULL; f++)
		printf("%-16s  %s\n", netfc_function_name(function),
			netfc_function_meaning(function));
	printf("\n%-16s  %s\n", "OF X AND Y, Z", "MEANING");
	for (enum netfc_extra_op op = NETFC_MIN; op < NETFC_EXTRA_END; op++)
		printf("%-16s  %s\n", netfc_extra_name(op), extra_meaning(op));
	return STATUS_DONE;
}

int
list_further(bool json)
{
	const struct netfc_function *function;
	json_t *functions, *operations;

	if (!json)
		return print_list();
	functions = json_array();
	operations = json_array();
	for (unsigned f = 0; (function = netfc_function_known(f)) != NULL; f++)
		json_array_append_new(functions,
			json_pack("{s:s, s:i, s:s}", "name", netfc_function_name(function),
				"number", (int)netfc_function_number(function), "meaning",
				netfc_function_meaning(function)));
	for (enum netfc_extra_op op = NETFC_MIN; op < NETFC_EXTRA_END; op++)
		json_array_append_new(operations,
			json_pack("{s:s, s:i, s:s}", "name", netfc_extra_name(op), "number",
				(int)op, "meaning", extra_meaning(op)));
	return print_json(
		json_pack("{s:o, s:o}", "functions", functions, "operations", operations));
}
