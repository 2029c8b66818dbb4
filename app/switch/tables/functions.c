/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "program.h"
#include "tables/tables.h"

static const char no_number[] =
	"there are 63 numbers for functions of one's own (193 to 255), and all are taken";

static int
fail(FILE *errors, const char *what, int error)
{
	return REPORT_TO(errors, "function '%s': %s\n", what,
		error == NETFC_ERR_IO ? strerror(errno) : netfc_strerror(error));
}

static int
refuse(FILE *errors, const char *name, const char *why)
{
	return REPORT_TO(errors, "function '%s': %s\n", name, why);
}

static void
list_known_functions(FILE *errors)
{
	const struct netfc_function *function;

	fprintf(errors, "Known functions:");
	for (unsigned int f = 0; (function = netfc_function_known(f)) != NULL; f++)
		fprintf(errors, "%s%s", f % 8 == 0 ? "\n  " : " ", netfc_function_name(function));
	fprintf(errors,
		"\n'" FUNCTIONS_ALL "' is all of them. A function of your own is named by its "
		"file, NAME" NETFC_FUNCTION_FILE_SUFFIX "\n");
}

static struct loaded_function *
find(const struct functions *functions, const char *name, const struct netfc_format *format)
{
	for (unsigned int f = 0; f < functions->count; f++) {
		struct loaded_function *function = functions->function[f];

		if (strcmp(function->name, name) == 0 &&
			(format == NULL || function->format == format))
			return function;
	}
	return NULL;
}

static const struct loaded_function *
find_number(const struct functions *functions, unsigned int number)
{
	for (unsigned int f = 0; f < functions->count; f++) {
		if (functions->function[f]->number == number)
			return functions->function[f];
	}
	return NULL;
}

static bool
contains(const struct functions *functions, const struct loaded_function *function)
{
	for (unsigned int f = 0; f < functions->count; f++) {
		if (functions->function[f] == function)
			return true;
	}
	return false;
}

static void
free_function(struct loaded_function *function)
{
	if (function == NULL)
		return;
	free(function->path);
	free(function);
}

void
functions_name(
	const struct functions *functions, unsigned int number, char name[NETFC_FUNCTION_NAME_SIZE])
{
	const struct netfc_function *known = netfc_function_by_number(number);
	const char *found = known != NULL ? netfc_function_name(known) : netfc_extra_name(number);
	const struct loaded_function *loaded;

	if (number == NETFC_OP_QUERY)
		found = "query";
	else if (number == NETFC_OP_NAME)
		found = "name";
	loaded = find_number(functions, number);
	if (found == NULL && loaded != NULL)
		found = loaded->name;
	if (found != NULL)
		snprintf(name, NETFC_FUNCTION_NAME_SIZE, "%s", found);
	else
		snprintf(name, NETFC_FUNCTION_NAME_SIZE, "%u", number);
}

void
functions_leave(struct functions *functions, const struct functions *kept)
{
	unsigned int count = 0;

	for (unsigned int f = 0; f < functions->count; f++) {
		if (!contains(kept, functions->function[f]))
			functions->function[count++] = functions->function[f];
	}
	functions->count = count;
}

void
functions_free(struct functions *functions, const struct functions *kept)
{
	functions_leave(functions, kept);
	for (unsigned int f = 0; f < functions->count; f++)
		free_function(functions->function[f]);
	*functions = (struct functions){0};
}

/* Takes the function, unless it fails. */
static int
add(struct functions *functions, struct loaded_function *function, FILE *errors)
{
	if (find(functions, function->name, function->format) != NULL)
		return REPORT_TO(errors, "function '%s' is given twice for %s\n", function->name,
			netfc_format_name(function->format));
	if (functions->count == RTE_DIM(functions->function))
		return refuse(errors, function->name, "there are too many functions");
	functions->function[functions->count++] = function;
	return 0;
}

static int
build_known(const struct netfc_function *known, const struct netfc_format *format,
	struct functions *functions, FILE *errors)
{
	struct loaded_function *function = calloc(1, sizeof(*function));
	int error = NETFC_ERR_NOMEM;

	if (function != NULL) {
		strcpy(function->name, netfc_function_name(known));
		function->number = (uint8_t)netfc_function_number(known);
		function->format = format;
		error = netfc_function_slot_bits(known, format) <= 16
			? netfc_function_table(known, format, function->z, function->flags)
			: NETFC_OK;
	}
	if (error != NETFC_OK) {
		free_function(function);
		return fail(errors, netfc_function_name(known), error);
	}
	if (add(functions, function, errors) == 0)
		return 0;
	free_function(function);
	return -1;
}

/* A function of the library, for all formats of the table sets. */
static int
add_known(const struct netfc_function *known, const struct sets *sets, const struct functions *used,
	struct functions *functions, FILE *errors)
{
	for (unsigned int id = 0; id < NETFC_SET_FORMAT_END; id++) {
		struct loaded_function *shared;
		const struct netfc_format *format;
		int result;

		if (sets->by_format[id] == NULL)
			continue;
		format = netfc_set_format(sets->by_format[id]);
		if (!netfc_function_has_format(known, format))
			continue;
		shared = find(used, netfc_function_name(known), format);
		result = shared != NULL ? add(functions, shared, errors)
					: build_known(known, format, functions, errors);
		if (result != 0)
			return -1;
	}
	return 0;
}

static int
add_all(const struct sets *sets, const struct functions *used, struct functions *functions,
	FILE *errors)
{
	const struct netfc_function *known;

	for (unsigned int f = 0; (known = netfc_function_known(f)) != NULL; f++) {
		if (add_known(known, sets, used, functions, errors) != 0)
			return -1;
	}
	return 0;
}

/* The first number that neither these nor those have; 0: there is none. */
static uint8_t
free_number(const struct functions *these, const struct functions *those)
{
	for (unsigned int n = USER_FUNCTION_FIRST; n <= UINT8_MAX; n++) {
		if (find_number(these, n) == NULL && find_number(those, n) == NULL)
			return (uint8_t)n;
	}
	return 0;
}

/* The number that functions of that name have already; 0: none. */
static uint8_t
number_of(const struct functions *functions, const char *name)
{
	for (unsigned int f = 0; f < functions->count; f++) {
		const struct loaded_function *function = functions->function[f];

		if (function->number != 0 && strcmp(function->name, name) == 0)
			return function->number;
	}
	return 0;
}

/* Users' functions keep the numbers that their names have in use. */
static void
keep_numbers(struct functions *functions, const struct functions *used)
{
	for (unsigned int f = 0; f < functions->count; f++) {
		struct loaded_function *function = functions->function[f];

		if (function->number == 0)
			function->number = number_of(used, function->name);
	}
}

/*
 * The others get the number of their name, or the first that is free, if possible also of those in
 * use, which clients may still ask for.
 */
static int
give_numbers(struct functions *functions, const struct functions *used, FILE *errors)
{
	for (unsigned int f = 0; f < functions->count; f++) {
		struct loaded_function *function = functions->function[f];

		if (function->number == 0)
			function->number = number_of(functions, function->name);
		if (function->number == 0)
			function->number = free_number(functions, used);
		if (function->number == 0)
			function->number = free_number(functions, functions);
		if (function->number == 0)
			return refuse(errors, function->path, no_number);
	}
	return 0;
}

static int
add_own(const struct netfc_user_function *own, const char *path, struct functions *functions,
	FILE *errors)
{
	struct loaded_function *function = calloc(1, sizeof(*function));

	if (function != NULL)
		function->path = strdup(path);
	if (function == NULL || function->path == NULL) {
		free_function(function);
		return fail(errors, path, NETFC_ERR_NOMEM);
	}
	strcpy(function->name, netfc_user_function_name(own));
	function->format = netfc_user_function_format(own);
	memcpy(function->z, netfc_user_function_z(own), sizeof(function->z));
	memcpy(function->flags, netfc_user_function_flags(own), sizeof(function->flags));
	if (add(functions, function, errors) == 0)
		return 0;
	free_function(function);
	return -1;
}

static int
load_own(const char *path, struct functions *functions, FILE *errors)
{
	struct netfc_user_function *own;
	int error = netfc_user_function_load(path, &own), result;

	if (error == NETFC_ERR_FOREIGN)
		return refuse(errors, path, "the file holds no function");
	if (error != NETFC_OK)
		return fail(errors, path, error);
	result = add_own(own, path, functions, errors);
	netfc_user_function_free(own);
	return result;
}

static int
load_item(const char *item, const struct sets *sets, const struct functions *used,
	struct functions *functions, FILE *errors)
{
	const struct netfc_function *known = netfc_function_by_name(item);

	if (known != NULL)
		return add_known(known, sets, used, functions, errors);
	if (strcmp(item, FUNCTIONS_ALL) == 0)
		return add_all(sets, used, functions, errors);
	if (is_path(item, NETFC_FUNCTION_FILE_SUFFIX))
		return load_own(item, functions, errors);
	if (netfc_extra_by_name(item) != 0)
		return refuse(errors, item, "needs no table: every switch computes it");
	refuse(errors, item, "there is no function of that name");
	list_known_functions(errors);
	return -1;
}

int
functions_load(const char *names, const struct sets *sets, const struct functions *used,
	struct functions *functions, FILE *errors)
{
	char *items = strdup(names), *rest = items, *item;
	int result = 0;

	if (items == NULL)
		return fail(errors, names, NETFC_ERR_NOMEM);
	while (result == 0 && (item = strsep(&rest, ",")) != NULL)
		result = load_item(item, sets, used, functions, errors);
	free(items);
	if (result != 0)
		return -1;
	keep_numbers(functions, used);
	return give_numbers(functions, used, errors);
}

int
functions_share_others(const struct functions *used, struct functions *functions, FILE *errors)
{
	for (unsigned int f = 0; f < used->count; f++) {
		struct loaded_function *function = used->function[f];
		const struct loaded_function *added = find_number(functions, function->number);

		if (find(functions, function->name, function->format) != NULL)
			continue;
		/* A user function, for which only a number in use was left. */
		if (added != NULL && strcmp(added->name, function->name) != 0)
			return refuse(errors, added->path, no_number);
		if (add(functions, function, errors) != 0)
			return -1;
	}
	return 0;
}

int
functions_follow(const struct sets *sets, const struct functions *used, struct functions *functions,
	FILE *errors)
{
	int result = 0;

	for (unsigned int f = 0; f < used->count && result == 0; f++) {
		struct loaded_function *function = used->function[f];

		if (function->path != NULL)
			result = add(functions, function, errors);
		else if (find(functions, function->name, NULL) == NULL)
			result = add_known(netfc_function_by_name(function->name), sets, used,
				functions, errors);
	}
	return result;
}
