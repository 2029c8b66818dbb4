/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include "tables/tables.h"
#include "program.h"

#define DIR_VARIABLE "NETFC_TABLES_DIR"

static int
fail(FILE *errors, const char *what, int error)
{
	return REPORT_TO(errors, "table set '%s': %s\n", what,
		error == NETFC_ERR_IO ? strerror(errno) : netfc_strerror(error));
}

static void
list_known_sets(FILE *errors)
{
	const struct netfc_format *format;
	char exact[NETFC_SET_NAME_SIZE];
	struct netfc_set_id id;

	fprintf(errors, "Known table sets, k a power of two:\n");
	NETFC_FOREACH_FORMAT (format) {
		const char *name = netfc_format_name(format);
		unsigned int scale = netfc_format_max_scale(format);

		if (scale == 0)
			continue;
		fprintf(errors, "  %s_k1 ... %s_k%u, %s_k1_floor ... %s_k%u_floor\n", name, name,
			scale, name, name, scale);
	}
	fprintf(errors, "Correctly rounded ones:\n");
	for (unsigned int n = 0; netfc_set_known_name(n, exact); n++) {
		if (netfc_set_parse_name(exact, &id) == NETFC_OK && id.family != NETFC_FAMILY_LOG)
			fprintf(errors, "  %s\n", exact);
	}
}

static int
keep(struct sets *sets, struct netfc_set *set, const char *origin, FILE *errors)
{
	unsigned int format = netfc_format_id(netfc_set_format(set));

	if (sets->by_format[format] != NULL) {
		REPORT_TO(errors, "--tables: %s and %s are both for %s: load one set per format\n",
			netfc_set_name(sets->by_format[format]), netfc_set_name(set),
			netfc_format_name(netfc_set_format(set)));
		netfc_set_free(set);
		return -1;
	}
	sets->by_format[format] = set;
	sets->origin[format] = strdup(origin);
	return sets->origin[format] != NULL ? 0 : fail(errors, origin, NETFC_ERR_NOMEM);
}

static int
load_file(struct sets *sets, const char *path, const char *name, FILE *errors)
{
	struct netfc_set *set;
	int error = netfc_set_load(path, &set);

	if (error != NETFC_OK)
		return fail(errors, path, error);
	if (name != NULL && strcmp(netfc_set_name(set), name) != 0) {
		REPORT_TO(errors, "table set '%s': file %s holds %s\n", name, path,
			netfc_set_name(set));
		netfc_set_free(set);
		return -1;
	}
	return keep(sets, set, path, errors);
}

/* Load the file of a named set; 1 if the folder has none. */
static int
load_from(struct sets *sets, const char *dir, const char *name, FILE *errors)
{
	char *path;
	int result = 1;

	if (asprintf(&path, "%s/%s" NETFC_FILE_SUFFIX, dir, name) < 0)
		return fail(errors, name, NETFC_ERR_NOMEM);
	if (access(path, F_OK) == 0)
		result = load_file(sets, path, name, errors);
	free(path);
	return result;
}

static int
build(struct sets *sets, const char *name, FILE *errors)
{
	struct netfc_set *set;
	int error = netfc_set_build(name, &set);

	return error == NETFC_OK ? keep(sets, set, "built", errors) : fail(errors, name, error);
}

/* A name determines every bit of a set, so it does not matter where or whether it has a file.
 */
static int
load_named(struct sets *sets, const char *dir, const char *name, FILE *errors)
{
	const char *const dirs[] = {dir, NETFC_TABLES_DIR};
	struct netfc_set_id id;
	int error = netfc_set_parse_name(name, &id);

	if (error != NETFC_OK) {
		fail(errors, name, error);
		list_known_sets(errors);
		return -1;
	}
	for (unsigned int d = 0; d < RTE_DIM(dirs); d++) {
		int result = dirs[d] != NULL ? load_from(sets, dirs[d], name, errors) : 1;

		if (result <= 0)
			return result;
	}
	return build(sets, name, errors);
}

static int
check_dir(const char *dir, const char *given_by, FILE *errors)
{
	struct stat status;

	if (stat(dir, &status) != 0)
		return REPORT_TO(errors, "%s '%s': %s\n", given_by, dir, strerror(errno));
	if (!S_ISDIR(status.st_mode))
		return REPORT_TO(errors, "%s '%s': not a folder\n", given_by, dir);
	return 0;
}

/* The folder that the user names, if any. */
static int
find_dir(const struct options *options, const char **dir, FILE *errors)
{
	*dir = options->tables_dir;
	if (*dir != NULL)
		return check_dir(*dir, "--tables-dir", errors);
	*dir = getenv(DIR_VARIABLE);
	if (*dir != NULL && **dir == '\0')
		*dir = NULL;
	return *dir != NULL ? check_dir(*dir, DIR_VARIABLE, errors) : 0;
}

int
sets_load(const struct options *options, struct sets *sets, FILE *errors)
{
	char *items, *rest, *item;
	const char *dir;
	int result = 0;

	if (find_dir(options, &dir, errors) != 0)
		return -1;
	items = strdup(options->tables);
	if (items == NULL)
		return fail(errors, options->tables, NETFC_ERR_NOMEM);
	rest = items;
	while (result == 0 && (item = strsep(&rest, ",")) != NULL)
		result = is_path(item, NETFC_FILE_SUFFIX) ? load_file(sets, item, NULL, errors)
							  : load_named(sets, dir, item, errors);
	free(items);
	return result;
}

void
sets_free(struct sets *sets)
{
	for (unsigned int format = 0; format < NETFC_SET_FORMAT_END; format++) {
		netfc_set_free(sets->by_format[format]);
		free(sets->origin[format]);
	}
	*sets = (struct sets){{NULL}, {NULL}};
}
