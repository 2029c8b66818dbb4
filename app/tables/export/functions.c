/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/p4_table.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "set/set.h"
#include "user/user.h"

#define OWN_FIRST 193

static int
take_known(const char *name, const struct netfc_format *format, struct p4_function *function)
{
	const struct netfc_function *known = netfc_function_by_name(name);
	int error;

	if (known == NULL)
		return report_error(STATUS_INPUT,
			"export: no function '%s'; netfc-tables list --functions has all names, "
			"and a function of your own is named by its file, NAME%s",
			name, NETFC_FUNCTION_FILE_SUFFIX);
	strcpy(function->name, name);
	function->number = netfc_function_number(known);
	error = netfc_function_table(known, format, function->z, function->flags);
	if (error == NETFC_OK)
		return STATUS_DONE;
	return report_error(STATUS_FAILED, "export: function '%s': %s", name, load_error(error));
}

static int
copy_own(const char *path, const struct netfc_user_function *own, const struct netfc_format *format,
	struct p4_function *function)
{
	if (netfc_user_function_format(own) != format)
		return report_error(STATUS_INPUT,
			"export: function '%s' is one of %s, and the table set of %s", path,
			netfc_format_name(netfc_user_function_format(own)),
			netfc_format_name(format));
	strcpy(function->name, netfc_user_function_name(own));
	memcpy(function->z, netfc_user_function_z(own), sizeof(function->z));
	memcpy(function->flags, netfc_user_function_flags(own), sizeof(function->flags));
	return STATUS_DONE;
}

static int
take_own(const char *path, const struct netfc_format *format, unsigned number,
	struct p4_function *function)
{
	struct netfc_user_function *own;
	int error = netfc_user_function_load(path, &own), status;

	if (error != NETFC_OK)
		return report_error(
			STATUS_INPUT, "export: function '%s': %s", path, load_error(error));
	function->number = number;
	status = copy_own(path, own, format, function);
	netfc_user_function_free(own);
	return status;
}

static bool
is_twice(const struct p4_functions *functions)
{
	const struct p4_function *last = &functions->function[functions->count - 1];

	for (unsigned f = 0; f + 1 < functions->count; f++) {
		if (strcmp(functions->function[f].name, last->name) == 0) {
			report_error(
				STATUS_INPUT, "export: function '%s' is given twice", last->name);
			return true;
		}
	}
	return false;
}

/* Those of a user's own are numbered in their order, as by the switch. */
static int
take(struct p4_functions *functions, const char *name, const struct netfc_format *format,
	unsigned *own)
{
	struct p4_function *function = &functions->function[functions->count];
	int status;

	if (functions->count == P4_MAX_FUNCTIONS)
		return report_error(STATUS_INPUT, "export: a program has %u functions at the most",
			P4_MAX_FUNCTIONS);
	status = is_user_operand(name) ? take_own(name, format, OWN_FIRST + *own, function)
				       : take_known(name, format, function);
	if (status != STATUS_DONE)
		return status;
	functions->count++;
	*own += is_user_operand(name);
	return is_twice(functions) ? STATUS_INPUT : STATUS_DONE;
}

int
p4_functions_open(
	const char *list, const struct netfc_format *format, struct p4_functions **functions)
{
	char *names = strdup(list), *rest = names, *name;
	int status = STATUS_DONE;
	unsigned own = 0;

	*functions = calloc(1, sizeof(**functions));
	if (names == NULL || *functions == NULL)
		status = out_of_memory();
	while (status == STATUS_DONE && (name = strsep(&rest, ",")) != NULL)
		status = take(*functions, name, format, &own);
	free(names);
	if (status != STATUS_DONE) {
		free(*functions);
		*functions = NULL;
	}
	return status;
}
