/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables calc and show with the file of a function of a user's own. */
#include <string.h>

#include "command.h"
#include "own/own.h"
#include "set/source.h"
#include "show/calculation.h"
#include "show/entries.h"

bool
is_own_operand(const char *operand)
{
	size_t length = strlen(operand), suffix = strlen(NETFC_FUNCTION_FILE_SUFFIX);

	return length > suffix &&
		strcmp(operand + length - suffix, NETFC_FUNCTION_FILE_SUFFIX) == 0;
}

static int
load(const char *path, struct netfc_own_function **function)
{
	int error = netfc_own_function_load(path, function);

	if (error == NETFC_OK)
		return STATUS_DONE;
	complain("cannot load %s: %s", path,
		error == NETFC_ERR_FOREIGN ? "not a function file" : load_error(error));
	return error == NETFC_ERR_NOMEM ? STATUS_FAILED : STATUS_INPUT;
}

int
calc_own(char **operands, int count, bool hex, bool json)
{
	struct netfc_own_function *function;
	struct calculation c = {.count = 1};
	int status = load(operands[0], &function);

	if (status != STATUS_DONE)
		return status;
	c.op = netfc_own_function_name(function);
	c.format = netfc_own_function_format(function);
	c.from = c.to = format_slot(c.format);
	status = calculation_read(&c, operands + 1, count - 1, hex);
	if (status == STATUS_DONE) {
		c.result = (struct netfc_result){netfc_own_function_z(function)[c.operand[0]],
			netfc_own_function_flags(function)[c.operand[0]]};
		status = calculation_print(&c, json);
	}
	netfc_own_function_free(function);
	return status;
}

int
show_own(char **operands, int count, bool json)
{
	struct netfc_own_function *function;
	struct entries entries;
	int status = load(operands[0], &function);

	if (status != STATUS_DONE)
		return status;
	entries.from = entries.to = format_slot(netfc_own_function_format(function));
	entries.z = netfc_own_function_z(function);
	entries.flags = netfc_own_function_flags(function);
	status = show_entries(&entries, operands + 1, count - 1, json);
	netfc_own_function_free(function);
	return status;
}
