/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables show FORMAT FUNCTION [X...] and list --functions. */

#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "encoding.h"
#include "show/show.h"

int
show_function(char **operands, int count, bool json)
{
	const struct netfc_format *format;
	struct extended extended;
	int status;

	if (!find_extended(operands[1], &extended) || extended.function == NULL)
		return report_error(STATUS_INPUT,
			"show: '%s' is not a function; netfc-tables list --functions lists them all",
			operands[1]);
	status = read_format(&show_command, operands, &extended, &format);
	if (status != STATUS_DONE)
		return status;
	return show_entries(&(struct entries){netfc_function_argument(extended.function, format),
				    netfc_function_result(extended.function, format), format,
				    extended.function, NULL},
		operands + 2, count - 2, json);
}

/* The operations that are no functions of one number, as text. */
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
		return "x * y + z, rounded once";
	}
	return NULL;
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
list_extended(bool json)
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

static int
entry_at(const struct entries *entries, uint32_t x, struct netfc_result *result)
{
	int error = NETFC_OK;

	if (entries->function != NULL)
		error = netfc_function_lanes(
			entries->function, entries->format, &x, &result->z, &result->flags, 1);
	else
		*result = (struct netfc_result){netfc_user_function_z(entries->own)[x],
			netfc_user_function_flags(entries->own)[x]};
	if (error == NETFC_OK)
		return STATUS_DONE;
	return report_error(STATUS_FAILED, "show: %s: %s", netfc_function_name(entries->function),
		netfc_strerror(error));
}

static void
print_entry(const struct entries *entries, uint32_t x, struct netfc_result result)
{
	char from[NUMBER_SIZE], to[NUMBER_SIZE], flags[FLAGS_SIZE];

	printf("0x%0*x  %-16s -> 0x%0*x  %s%s%s\n", slot_digits(entries->from), x,
		slot_text(entries->from, x, from), slot_digits(entries->to), result.z,
		slot_text(entries->to, result.z, to), result.flags != 0 ? ", " : "",
		result.flags != 0 ? flags_text(result.flags, flags) : "");
}

static int
show_keys_of(const struct entries *entries, const uint32_t *keys, uint32_t count, bool json)
{
	json_t *array = json ? json_array() : NULL;

	for (uint32_t k = 0; k < count; k++) {
		const uint32_t x = keys != NULL ? keys[k] : k;
		struct netfc_result result;

		if (entry_at(entries, x, &result) != STATUS_DONE) {
			json_decref(array);
			return STATUS_FAILED;
		}
		if (json)
			json_array_append_new(array,
				json_pack("{s:o, s:o}", "x", slot_json(entries->from, x), "result",
					result_json(entries->to, result)));
		else
			print_entry(entries, x, result);
	}
	return json ? print_json(array) : STATUS_DONE;
}

static int
read_keys(const struct entries *entries, char **words, int count, uint32_t *keys)
{
	for (int w = 0; w < count; w++) {
		if (!parse_slot(entries->from, words[w], false, &keys[w]))
			return no_operand(&show_command, entries->from, words[w], false);
	}
	return STATUS_DONE;
}

static int
show_some(const struct entries *entries, char **words, int count, bool json)
{
	uint32_t *keys = malloc((size_t)count * sizeof(*keys));
	int status;

	if (keys == NULL)
		return out_of_memory();
	status = read_keys(entries, words, count, keys);
	if (status == STATUS_DONE)
		status = show_keys_of(entries, keys, (uint32_t)count, json);
	free(keys);
	return status;
}

int
show_entries(const struct entries *entries, char **words, int count, bool json)
{
	if (count > 0)
		return show_some(entries, words, count, json);
	if (slot_digits(entries->from) > 4)
		return wrong_operands(
			&show_command, "binary32 has too many numbers to show all: name some X");
	return show_keys_of(entries, NULL, UINT32_C(1) << 4 * slot_digits(entries->from), json);
}
