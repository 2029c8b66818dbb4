/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables list: the table sets that can be built, and table-set files. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "json.h"
#include "set/set.h"
#include "show/show.h"

/* What --help describes. */
struct options {
	const char *dir;
	bool functions, json;
};

#define FIELD(field) OPTION_FIELD(struct options, field)

static const struct option_row rows[] = {
	{"dir", 'd', FIELD(dir), .value = "DIR", .meaning = "look for files in DIR"},
	{"functions", 'f', FIELD(functions),
		.meaning = "list what is computed without a table set instead"},
	{"json", FIELD(json), .meaning = "print JSON"},
};

static const char usage[] =
	"Usage: netfc-tables list [OPTION...]\n"
	"       netfc-tables list --functions [--json]\n"
	"List all table sets that can be built, and the table-set files in a folder: the one\n"
	"given, or else the one that the environment variable NETFC_TABLES_DIR names, or else\n"
	"  " NETFC_TABLES_DIR "\n\n";
static const char notes[] =
	"Files are read and their checksums compared; netfc-tables verify does more.\n";

/* A folder and its entries. */
struct folder {
	const char *path;
	bool asked_for; /* by option or environment; the compiled-in folder may be missing */
	struct dirent **entry;
	int count;
};

static int
is_set_file(const struct dirent *entry)
{
	return has_suffix(entry->d_name, NETFC_FILE_SUFFIX);
}

static int
read_folder(const char *dir, struct folder *folder)
{
	const char *environment = getenv("NETFC_TABLES_DIR");

	if (environment != NULL && environment[0] == '\0')
		environment = NULL;
	folder->path = dir != NULL ? dir : environment != NULL ? environment : NETFC_TABLES_DIR;
	folder->asked_for = dir != NULL || environment != NULL;
	folder->count = scandir(folder->path, &folder->entry, is_set_file, alphasort);
	if (folder->count >= 0 || (!folder->asked_for && errno == ENOENT))
		return STATUS_DONE;
	return report_error(STATUS_INPUT, "cannot read the folder %s%s: %s", folder->path,
		dir == NULL && environment != NULL ? " (NETFC_TABLES_DIR)" : "", strerror(errno));
}

static void
free_folder(struct folder *folder)
{
	for (int f = 0; f < folder->count; f++)
		free(folder->entry[f]);
	if (folder->count >= 0)
		free(folder->entry);
}

/* The set in a file, or what is wrong with the file. */
struct file {
	long long bytes;
	char set[NETFC_SET_NAME_SIZE]; /* empty unless it loads */
	bool misnamed;                 /* the set has another name than the file */
	const char *error;
};

static bool
is_named(const char *file, const char *set)
{
	return strlen(file) == strlen(set) + strlen(NETFC_FILE_SUFFIX) &&
		strncmp(file, set, strlen(set)) == 0;
}

static struct file
inspect(const struct folder *folder, const char *name)
{
	struct file file = {0};
	struct stat status = {0};
	struct netfc_set *set;
	char *path;
	int error;

	if (asprintf(&path, "%s/%s", folder->path, name) < 0) {
		file.error = netfc_strerror(NETFC_ERR_NOMEM);
		return file;
	}
	if (stat(path, &status) == 0)
		file.bytes = (long long)status.st_size;
	/* Nobody may write into a pipe or a device that just happens to be in the folder. */
	error = S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode) ? NETFC_ERR_FOREIGN
								    : netfc_set_load(path, &set);
	if (error == NETFC_OK) {
		strcpy(file.set, netfc_set_name(set));
		file.misnamed = !is_named(name, file.set);
		netfc_set_free(set);
	} else {
		file.error = load_error(error);
	}
	free(path);
	return file;
}

static void
print_known(void)
{
	char name[NETFC_SET_NAME_SIZE], scale[16];
	struct netfc_set_id id;

	printf("%-24s  %-12s  %5s  %s\n", "TABLE SET", "FORMAT", "K", "ROUNDING");
	for (unsigned n = 0; netfc_set_known_name(n, name); n++) {
		if (netfc_set_parse_name(name, &id) != NETFC_OK)
			continue;
		snprintf(scale, sizeof(scale), "%u", id.scale);
		printf("%-24s  %-12s  %5s  %s\n", name, netfc_format_name(id.format),
			id.scale != 0 ? scale : "-",
			id.family == NETFC_FAMILY_LOG ? rounding_name(id.rounding)
						      : "correct: results are the exact ones");
	}
}

static void
print_file(const char *name, const struct file *file)
{
	char bytes[GROUPED_SIZE];

	printf("%-30s  %12s  ", name, grouped((unsigned long long)file->bytes, bytes));
	if (file->error != NULL)
		printf("not usable: %s\n", file->error);
	else if (file->misnamed)
		printf("misnamed: holds %s\n", file->set);
	else
		puts("valid");
}

static int
print_text(const struct folder *folder)
{
	print_known();
	printf("\nFiles in %s:", folder->path);
	if (folder->count <= 0) {
		puts(folder->count < 0 ? " none, there is no such folder" : " none");
		return STATUS_DONE;
	}
	printf("\n%-30s  %12s  %s\n", "FILE", "BYTES", "STATE");
	for (int f = 0; f < folder->count; f++) {
		struct file file = inspect(folder, folder->entry[f]->d_name);

		print_file(folder->entry[f]->d_name, &file);
	}
	return STATUS_DONE;
}

static json_t *
known_json(void)
{
	json_t *known = json_array();
	char name[NETFC_SET_NAME_SIZE];
	struct netfc_set_id id;

	for (unsigned n = 0; netfc_set_known_name(n, name); n++) {
		if (netfc_set_parse_name(name, &id) == NETFC_OK)
			json_array_append_new(known,
				json_pack("{s:s, s:s, s:s, s:o, s:s}", "set", name, "format",
					netfc_format_name(id.format), "family",
					netfc_family_name(id.family), "k", scale_json(id.scale),
					"rounding", rounding_name(id.rounding)));
	}
	return known;
}

static json_t *
files_json(const struct folder *folder)
{
	json_t *files = json_array();

	for (int f = 0; f < folder->count; f++) {
		struct file file = inspect(folder, folder->entry[f]->d_name);

		json_array_append_new(files,
			json_pack("{s:o, s:I, s:s?, s:b, s:b, s:s?}", "file",
				json_text(folder->entry[f]->d_name), "bytes",
				(json_int_t)file.bytes, "set", file.error == NULL ? file.set : NULL,
				"valid", file.error == NULL, "misnamed", file.misnamed, "error",
				file.error));
	}
	return files;
}

static int
run_list(void *taken, char **operands, int count)
{
	const struct options *options = taken;
	struct folder folder = {0};
	int status;

	(void)operands;
	if (count != 0)
		return wrong_operands(&list_command, "takes no operands");
	if (options->functions)
		return list_extended(options->json);
	status = read_folder(options->dir, &folder);
	if (status != STATUS_DONE)
		return status;
	status = options->json
		? print_json(json_pack("{s:o, s:o, s:o}", "known", known_json(), "folder",
			  json_text(folder.path), "files", files_json(&folder)))
		: print_text(&folder);
	free_folder(&folder);
	return status;
}

const struct command list_command = {
	.name = "list",
	.summary = "list all table sets, and the table-set files in a folder",
	.usage = usage,
	.notes = notes,
	COMMAND_OPTIONS(rows, struct options),
	.run = run_list,
};
