/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables build: a table set as a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "command.h"
#include "json.h"
#include "set/set.h"
#include "user/user.h"

static const char usage[] =
	"Usage: netfc-tables build [OPTION...] NAME\n"
	"       netfc-tables build --function NAME (--from FILE | --expression TEXT) [OPTION...]\n"
	"Build the table set NAME and write it to NAME.netfc in the current folder.\n"
	"With --function, build your own function of one number instead, and write it to\n"
	"NAME.netfcfun.\n"
	"An existing file is replaced as a whole or left unchanged.\n\n";
static const char notes[] = "netfc-tables list names all table sets.\n";

/* What --help describes. */
struct options {
	struct user_options user; /* function: NULL, or build that */
	const char *output, *dir;
	bool quiet, json;
};

#define FIELD(field) OPTION_FIELD(struct options, field)

static const struct option_row rows[] = {
	{"output", 'o', FIELD(output), .value = "FILE", .meaning = "write to FILE instead"},
	{"dir", 'd', FIELD(dir), .value = "DIR", .meaning = "write to the folder DIR instead"},
	{"quiet", 'q', FIELD(quiet), .meaning = "print nothing but errors"},
	{"json", FIELD(json), .meaning = "report as JSON"},
	{"function", 'f', FIELD(user.function), .value = "NAME",
		.meaning = "build the function NAME: lower-case letters, digits and underscores; "
			   "not one that reads as a conversion, such as to_q16"},
	{"format", FIELD(user.format), .value = "FORMAT",
		.meaning =
			"format of x and f(x): fp16, posit16, bf16, posit16_es2, fp8_e4m3, fp8_e5m2, or "
			"one that saturates, fp8_e4m3_sat or fp8_e5m2_sat (default fp16)"},
	{"from", FIELD(user.from), .value = "FILE",
		.meaning = "f's values, one per line: all, in the order of the encodings of x; "
			   "or pairs of x and f(x); decimal numbers, inf, nan, or encodings such "
			   "as 0x3c00. Or an expression: f(x) = ..."},
	{"expression", FIELD(user.expression), .value = "TEXT",
		.meaning = "an expression such as 'x / (1 + exp(-x))', rounded once"},
};

/* What was done, for the report. */
struct report {
	const struct netfc_set *set;
	const char *path;
	long long bytes;
	unsigned long entries;
	double milliseconds;
	bool has_margin; /* entries are rounded real numbers */
	struct netfc_margin margin;
};

static double
milliseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static unsigned long
count_entries(const struct netfc_set *set)
{
	unsigned long entries = 0;

	for (unsigned t = 0; t < netfc_set_table_count(set); t++)
		entries += netfc_table_size(netfc_set_table(set, t));
	return entries;
}

static char *
output_path(const struct options *options, const char *name, const char *suffix)
{
	char *path = NULL;
	int length;

	if (options->output != NULL)
		return strdup(options->output);
	if (options->dir != NULL)
		length = asprintf(&path, "%s/%s%s", options->dir, name, suffix);
	else
		length = asprintf(&path, "%s%s", name, suffix);
	return length < 0 ? NULL : path;
}

static int
save_set(const void *set, const char *path)
{
	return netfc_set_save(set, path);
}

static int
save_function(const void *function, const char *path)
{
	return netfc_user_function_save(function, path);
}

/* Regular files are replaced; a device or a pipe must not be. */
static int
write_file(const char *path, int (*save)(const void *object, const char *path), const void *object,
	long long *bytes)
{
	struct stat status;
	int error;

	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return report_error(STATUS_INPUT,
			"cannot write %s: it exists and is not a regular file; name another", path);
	error = save(object, path);
	if (error == NETFC_OK && stat(path, &status) != 0)
		error = NETFC_ERR_IO;
	if (error != NETFC_OK)
		return report_error(STATUS_FAILED, "cannot write %s: %s%s", path, load_error(error),
			error == NETFC_ERR_IO && errno == ENOENT ? "; create its folder first"
								 : "");
	*bytes = (long long)status.st_size;
	return STATUS_DONE;
}

static json_t *
margin_json(const struct report *report)
{
	const struct netfc_margin *margin = &report->margin;

	if (!report->has_margin)
		return json_null();
	return json_pack("{s:f, s:f, s:f, s:f}", "log_error", margin->log_error, "log_distance",
		margin->log_distance, "exp_error", margin->exp_error, "exp_distance",
		margin->exp_distance);
}

static int
report_json(const struct report *report)
{
	return print_json(json_pack("{s:s, s:o, s:I, s:I, s:f, s:o}", "set",
		netfc_set_name(report->set), "file", json_text(report->path), "bytes",
		(json_int_t)report->bytes, "entries", (json_int_t)report->entries, "milliseconds",
		report->milliseconds, "margin", margin_json(report)));
}

static int
report_text(const struct report *report)
{
	char bytes[GROUPED_SIZE], entries[GROUPED_SIZE];

	printf("%s: wrote %s, %s bytes, %s entries, in %.0f ms\n", netfc_set_name(report->set),
		report->path, grouped((unsigned long long)report->bytes, bytes),
		grouped(report->entries, entries), report->milliseconds);
	if (!report->has_margin) {
		puts("Every entry is the result of integer arithmetic.");
		return STATUS_DONE;
	}
	printf("Every entry is certain: it was computed with an error below the distance to the "
	       "nearest\nrounding boundary (log, mi: %.1e < %.1e log words; exp: %.1e < %.1e, "
	       "relative).\n",
		report->margin.log_error, report->margin.log_distance, report->margin.exp_error,
		report->margin.exp_distance);
	return STATUS_DONE;
}

static int
write_and_report(const struct options *options, const struct netfc_set *set, double started)
{
	struct report report = {.set = set, .entries = count_entries(set)};
	char *path = output_path(options, netfc_set_name(set), NETFC_FILE_SUFFIX);
	int status;

	if (path == NULL)
		return out_of_memory();
	report.path = path;
	status = write_file(path, save_set, set, &report.bytes);
	report.milliseconds = milliseconds_now() - started;
	report.has_margin = netfc_set_margin(set, &report.margin) == NETFC_OK;
	if (status == STATUS_DONE) {
		if (options->json)
			status = report_json(&report);
		else if (!options->quiet)
			status = report_text(&report);
	}
	free(path);
	return status;
}

static int
report_function(const struct options *options, const struct user_report *report)
{
	if (options->json)
		return user_report_json(report);
	if (!options->quiet)
		user_report_text(report);
	return STATUS_DONE;
}

static int
build_function(const struct options *options, double started)
{
	struct user_report report = {0};
	char *path = output_path(options, options->user.function, NETFC_FUNCTION_FILE_SUFFIX);
	int status;

	if (path == NULL)
		return out_of_memory();
	report.path = path;
	status = user_build(&options->user, &report);
	if (status == STATUS_DONE)
		status = write_file(path, save_function, report.function, &report.bytes);
	report.milliseconds = milliseconds_now() - started;
	if (status == STATUS_DONE)
		status = report_function(options, &report);
	user_report_free(&report);
	free(path);
	return status;
}

static int
run_build(void *taken, char **operands, int count)
{
	const struct options *options = taken;
	struct netfc_set *set;
	double started = milliseconds_now();
	int status;

	if (options->output != NULL && options->dir != NULL)
		return wrong_operands(&build_command, "--output and --dir exclude each other");
	if (options->user.function != NULL && count == 0)
		return build_function(options, started);
	if (count != 1 || options->user.function != NULL)
		return wrong_operands(&build_command, "name one table set, or a --function");
	if (options->user.format != NULL || options->user.from != NULL ||
		options->user.expression != NULL)
		return wrong_operands(
			&build_command, "--format, --from and --expression are for a --function");
	status = build_set(operands[0], &set);
	if (status != STATUS_DONE)
		return status;
	status = write_and_report(options, set, started);
	netfc_set_free(set);
	return status;
}

const struct command build_command = {
	.name = "build",
	.summary = "build a table set and write it to a file",
	.usage = usage,
	.notes = notes,
	COMMAND_OPTIONS(rows, struct options),
	.run = run_build,
};
