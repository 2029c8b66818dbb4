/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables export: a table set as entries for the P4 programs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <aggregate_registers.h>
#include <aggregate_wire.h>

#include "command.h"
#include "export/fill/fill.h"
#include "export/p4_table.h"
#include "json.h"
#include "set/set.h"

#define DEFAULT_PROGRAM "netfc_tna"
#define DEFAULT_AGGREGATE_PROGRAM "netfc_aggregate_tna"
#define MAX_LANES 8
#define MAX_FP8_LANES 40
#define MAX_AGGREGATE_LANES 32
#define MAX_AGGREGATE_FP8_LANES 64

static const char usage[] =
	"Usage: netfc-tables export --target TARGET [OPTION...] SET\n"
	"       netfc-tables export --target TARGET [OPTION...] --aggregate KIND\n"
	"Write the table set SET, a name or a file, as entries for the programs in p4/; or the\n"
	"entries of the programs that aggregate, except those of jobs, which p4/jobs makes.\n\n";

/* What can be written, and how. */
static const struct target {
	write_fn write;
	bool tofino;
} targets[] = {
	{write_bmv2, false},
	{write_p4runtime, false},
	{write_bfrt, true},
	{write_bfrt_json, true},
};

#define TARGETS (sizeof(targets) / sizeof(targets[0]))

/* What is exported: a table set, or what an aggregating program sends. */
enum kind {
	KIND_SET,
	KIND_RESULTS,
	KIND_SUMS,
};

/* The command line; 0 and NULL: the default. */
struct request {
	enum kind kind;
	enum aggregate_format format; /* of what is added up, or 0 */
	unsigned int target;          /* index, or TARGETS */
	enum p4_layout layout;
	uint16_t udp_port;
	bool slowloris;
	const char *functions;
	enum netfc_op last_op; /* or 0: all */
	struct write_options write;
	const char *output;
	bool json;
};

#define FIELD(field) OPTION_FIELD(struct request, field)

/* An option_parse. */
static int
take_identifier(FILE *errors, const char *option, const char *text, void *field)
{
	if (text[0] == '\0' ||
		strspn(text,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			"0123456789_") != strlen(text))
		return option_refuse(errors, option, text, "the name of a P4 program");
	*(const char **)field = text;
	return 0;
}

static const char *const target_names[TARGETS] = {"bmv2", "p4runtime", "bfrt", "bfrt-json"};
static const char *const layout_names[] = {[P4_DIRECT] = "direct", [P4_COMPACT] = "compact"};
static const char *const kind_names[] = {"results", "sums"};
static const char *const op_names[] = {"sub", "mul", "div"};
static const char *const format_names[] = {
	[AGGREGATE_FP16 - AGGREGATE_FP16] = "fp16",
	[AGGREGATE_INT32 - AGGREGATE_FP16] = "int32",
	[AGGREGATE_FP8_E4M3 - AGGREGATE_FP16] = "fp8_e4m3",
};

/* What depends on another option has no default here. */
static const struct option_row rows[] = {
	{"target", 't', FIELD(target), OPTION_NAMES(target_names, TARGETS),
		.meaning = "entries as commands for simple_switch_CLI; as a WriteRequest in "
			   "protobuf's text format; as a Python program for Tofino's runtime "
			   "shell; as JSON for it"},
	{"layout", 'l', FIELD(layout), OPTION_NAMES(layout_names, P4_DIRECT),
		.meaning = "layout that the program was compiled for"},
	{"lanes", 'n', FIELD(write.lanes), OPTION_RANGE(1, MAX_AGGREGATE_FP8_LANES, 0),
		.value = "N",
		.meaning = "lanes that the program computes, 1 to 8 (default 1); of fp8 an even "
			   "number, 2 to 40 (default 2); with --aggregate 1 to 32 (default 1), of "
			   "fp8_e4m3 a multiple of 4 up to 64 (default 4)"},
	{"port", 'p', FIELD(udp_port), OPTION_RANGE(1, UINT16_MAX, 0), .value = "PORT",
		.meaning = "UDP port of requests (default 20038; with --aggregate 20040)"},
	{"aggregate", FIELD(kind), OPTION_NAMES(kind_names, KIND_SET), .first_name = KIND_RESULTS,
		.meaning =
			"entries of a program that rounds the results of aggregations; or of one "
			"that leaves that to the workers (NETFC_SUMS, and Tofino)"},
	{"format", FIELD(format), OPTION_NAMES(format_names, 0), .first_name = AGGREGATE_FP16,
		.meaning = "format of the values (default fp16)"},
	{"functions", 'f', FIELD(functions), .value = "NAMES",
		.meaning = "functions of one number (list --functions), or files of your own, "
			   "separated by commas, for a program with as many (NETFC_FUNCTIONS)"},
	{"slowloris", FIELD(slowloris),
		.meaning = "also write the tables of a program with NETFC_SLOWLORIS"},
	{"up-to", FIELD(last_op), OPTION_NAMES(op_names, 0), .first_name = NETFC_SUB,
		.meaning = "fp32_exact: the last operation that the program has (default div)"},
	{"program", FIELD(write.program), .value = "PROGRAM", .parse = take_identifier,
		.meaning = "the program's name for bfrt (default " DEFAULT_PROGRAM
			   "; with --aggregate " DEFAULT_AGGREGATE_PROGRAM ")"},
	{"output", 'o', FIELD(output), .value = "FILE",
		.meaning = "write to FILE, and report its contents"},
	{"json", FIELD(json), .meaning = "report as JSON"},
};

static const char *
layout_name(const struct request *request)
{
	if (request->kind != KIND_SET)
		return request->kind == KIND_SUMS ? "sums" : "results";
	return request->layout == P4_DIRECT ? "direct" : "compact";
}

static int
report(const struct request *request, const struct p4_program *program)
{
	unsigned tables;
	size_t entries = p4_entry_count(program, request->write.lanes, &tables);
	char text[GROUPED_SIZE];

	if (request->json)
		return print_json(json_pack("{s:s, s:s, s:s, s:i, s:i, s:I, s:o}", "set",
			request->write.set_name, "target", target_names[request->target], "layout",
			layout_name(request), "lanes", (int)request->write.lanes, "tables",
			(int)tables, "entries", (json_int_t)entries, "file",
			json_text(request->output)));
	printf("%s: wrote %s, %s entries in %u tables\n", request->write.set_name, request->output,
		grouped(entries, text), tables);
	return STATUS_DONE;
}

static int
write_file(const struct request *request, const struct p4_program *program)
{
	FILE *stream = fopen(request->output, "w");
	bool failed;

	if (stream != NULL) {
		targets[request->target].write(stream, program, &request->write);
		failed = ferror(stream) != 0;
		failed = fclose(stream) != 0 || failed;
		if (!failed)
			return report(request, program);
	}
	return report_error(STATUS_FAILED, "cannot write %s: %s", request->output, strerror(errno));
}

static int
write_program(const struct request *request, const struct p4_program *program)
{
	if (!p4_complete(program))
		return out_of_memory();
	if (request->output != NULL)
		return write_file(request, program);
	targets[request->target].write(stdout, program, &request->write);
	return STATUS_DONE;
}

/*
 * The lanes of a program, fp8's in pairs, of which chunks have whole words; NULL, or what is wrong
 * with them.
 */
static const char *
fill_in_lanes(struct request *request, bool pairs)
{
	const unsigned step = !pairs ? 1 : request->kind == KIND_SET ? 2 : 4;
	const unsigned most = request->kind == KIND_SET
		? (pairs ? MAX_FP8_LANES : MAX_LANES)
		: (pairs ? MAX_AGGREGATE_FP8_LANES : MAX_AGGREGATE_LANES);

	if (request->write.lanes == 0)
		request->write.lanes = step;
	if (request->write.lanes <= most && request->write.lanes % step == 0)
		return NULL;
	if (request->kind == KIND_SET)
		return pairs ? "--lanes: of fp8, an even number from 2 to 40" : "--lanes: 1 to 8";
	return pairs ? "--lanes: of fp8_e4m3, a multiple of 4 up to 64" : "--lanes: 1 to 32";
}

/* All tables of the program; NULL, or why the set cannot have them. */
static const char *
fill_program(const struct request *request, const struct netfc_set *set,
	const struct p4_functions *functions, struct p4_program *program)
{
	const unsigned width = netfc_format_width(netfc_set_format(set));
	const bool wide = width == 32;
	const enum netfc_op last_op = request->last_op != 0 ? request->last_op : NETFC_DIV;
	const char *reason;

	if (width == 8 && functions != NULL)
		return "programs of fp8 have no functions (--functions)";
	if (request->last_op != 0 && !wide)
		return "only programs of fp32_exact have fewer operations (--up-to)";
	p4_request_tables(set, request->udp_port, last_op, functions, program);
	if (functions != NULL)
		p4_function_tables(functions, program);
	if (width == 8)
		reason = p4_fp8_tables(set, request->layout, program);
	else if (wide)
		reason = p4_fp32_tables(set, request->layout, last_op, program);
	else if (netfc_set_family(set) == NETFC_FAMILY_LOG)
		reason = p4_log_tables(set, request->layout, program);
	else
		reason = p4_exact_tables(set, request->layout, program);
	if (reason == NULL && request->slowloris)
		reason = p4_slowloris_tables(set, program);
	p4_loaded_table(
		set, request->layout, request->slowloris, last_op, request->write.lanes, program);
	return reason;
}

static int
export_set(struct request *request, const struct netfc_set *set)
{
	struct p4_program program = {0};
	struct p4_functions *functions = NULL;
	const char *reason;
	int status = STATUS_DONE;

	if (request->functions != NULL)
		status = p4_functions_open(request->functions, netfc_set_format(set), &functions);
	if (status != STATUS_DONE)
		return status;
	request->write.set_name = netfc_set_name(set);
	reason = fill_in_lanes(request, netfc_format_width(netfc_set_format(set)) == 8);
	if (reason == NULL)
		reason = fill_program(request, set, functions, &program);
	if (reason == NULL) {
		status = write_program(request, &program);
	} else {
		status = report_error(
			STATUS_INPUT, "cannot export %s: %s", netfc_set_name(set), reason);
	}
	p4_free(&program);
	free(functions);
	return status;
}

static const char *
fill_aggregation(struct request *request, struct p4_program *program)
{
	const char *reason = fill_in_lanes(request, request->format == AGGREGATE_FP8_E4M3);
	const struct p4_aggregation what = {
		.sums = request->kind == KIND_SUMS,
		.parts = targets[request->target].tofino,
		.format = request->format,
		.lanes = request->write.lanes,
	};

	if (reason == NULL && request->kind == KIND_RESULTS && what.parts)
		reason = "programs for Tofino do not round: --aggregate sums";
	if (reason == NULL)
		p4_aggregate_tables(&what, request->udp_port, program);
	return reason;
}

static int
export_aggregate(struct request *request)
{
	struct p4_program program = {0};
	const char *reason = fill_aggregation(request, &program);
	int status = STATUS_INPUT;

	request->write.set_name = request->format == AGGREGATE_FP16 ? "aggregation"
		: request->format == AGGREGATE_INT32                ? "aggregation of int32"
								    : "aggregation of fp8_e4m3";
	if (reason == NULL)
		status = write_program(request, &program);
	else
		report_error(STATUS_INPUT, "export: %s", reason);
	p4_free(&program);
	return status;
}

static int
export_file(struct request *request, const char *name)
{
	struct netfc_set *set;
	int status = open_set(name, &set);

	if (status != STATUS_DONE)
		return status;
	status = export_set(request, set);
	netfc_set_free(set);
	return status;
}

/* What was not given, and depends on what is exported. */
static void
fill_in(struct request *request)
{
	const bool aggregate = request->kind != KIND_SET;

	if (request->format == 0)
		request->format = AGGREGATE_FP16;
	if (request->udp_port == 0)
		request->udp_port = aggregate ? AGGREGATE_UDP_PORT : NETFC_UDP_PORT;
	if (request->write.program == NULL)
		request->write.program = aggregate ? DEFAULT_AGGREGATE_PROGRAM : DEFAULT_PROGRAM;
}

/* What is wrong with options and operands together; NULL: nothing. */
static const char *
find_conflict(const struct request *request, int operands)
{
	if (request->kind != KIND_SET && operands != 0)
		return "--aggregate takes no table set";
	if (request->kind == KIND_SET && request->format != 0)
		return "--format needs --aggregate";
	if (request->kind == KIND_SET && operands != 1)
		return "name one table set";
	if (request->target == TARGETS)
		return "--target is needed";
	if (request->json && request->output == NULL)
		return "--json needs --output";
	return NULL;
}

static int
run_export(void *options, char **operands, int count)
{
	struct request *request = options;
	const char *conflict = find_conflict(request, count);

	if (conflict != NULL)
		return wrong_operands(&export_command, conflict);
	fill_in(request);
	return request->kind == KIND_SET ? export_file(request, operands[0])
					 : export_aggregate(request);
}

const struct command export_command = {
	.name = "export",
	.summary = "write a table set as entries for the P4 programs",
	.usage = usage,
	COMMAND_OPTIONS(rows, struct request),
	.run = run_export,
};
