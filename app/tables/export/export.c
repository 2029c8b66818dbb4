/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables export: a table set as entries for the P4 programs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <aggregate_sums.h>
#include <aggregate_wire.h>

#include "command.h"
#include "export/fill/fill.h"
#include "export/write.h"
#include "json/json_value.h"
#include "set/source.h"

#define DEFAULT_PROGRAM "netfc_tna"
#define DEFAULT_AGGREGATE_PROGRAM "netfc_aggregate_tna"
#define MAX_LANES 8
#define MAX_AGGREGATE_LANES 32

static const char help[] =
	"Usage: netfc-tables export --target TARGET [OPTION...] SET\n"
	"       netfc-tables export --target TARGET [OPTION...] --aggregate KIND\n"
	"Write the table set SET, a name or a file, as entries for the programs in p4/; or those of\n"
	"the programs that aggregate, of which p4/jobs makes the jobs'.\n\n"
	"  -t, --target TARGET    bmv2: commands for simple_switch_CLI\n"
	"                         p4runtime: a WriteRequest in protobuf's text format\n"
	"                         bfrt: a Python program for Tofino's runtime shell\n"
	"                         bfrt-json: the same entries as JSON\n"
	"  -l, --layout LAYOUT    direct (default) or compact, as the program was compiled\n"
	"  -n, --lanes N          lanes that the program computes, 1 to 8 (default 1); with\n"
	"                         --aggregate 1 to 32\n"
	"  -p, --port PORT        UDP port of requests (default 20038; with --aggregate 20040)\n"
	"      --aggregate KIND   results: of a program that rounds them; sums: of one that leaves\n"
	"                         that to the workers (NETFC_SUMS, and Tofino)\n"
	"      --format FORMAT    of what is added up: fp16 (default) or int32\n"
	"  -f, --functions NAMES  functions of one number (list --functions), or files of your own,\n"
	"                         for a program with as many, NETFC_FUNCTIONS; joined by commas\n"
	"      --slowloris        the tables of a program with NETFC_SLOWLORIS, too\n"
	"      --up-to OP         fp32_exact: the last operation that the program has: sub,\n"
	"                         mul or div (default)\n"
	"      --program PROGRAM  the program's name for bfrt (default " DEFAULT_PROGRAM ",\n"
	"                         or " DEFAULT_AGGREGATE_PROGRAM ")\n"
	"  -o, --output FILE      write to FILE, and say what was written\n"
	"      --json             say it as JSON\n"
	"  -h, --help             print this\n";

/* What can be written, and how. */
static const struct target {
	const char *name;
	write_fn write;
	bool tofino;
} targets[] = {
	{"bmv2", write_bmv2, false},
	{"p4runtime", write_p4runtime, false},
	{"bfrt", write_bfrt, true},
	{"bfrt-json", write_bfrt_json, true},
};

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
	const struct target *target;
	enum p4_layout layout;
	uint16_t udp_port;
	const char *lanes;
	bool slowloris;
	const char *functions;
	enum netfc_op last_op; /* or 0: all */
	struct write_options write;
	const char *output;
	bool json;
};

static const struct target *
find_target(const char *name)
{
	for (size_t t = 0; t < sizeof(targets) / sizeof(targets[0]); t++) {
		if (strcmp(targets[t].name, name) == 0)
			return &targets[t];
	}
	report_error("export: no target '%s'; there are bmv2, p4runtime, bfrt and bfrt-json", name);
	return NULL;
}

static bool
parse_layout(const char *text, enum p4_layout *layout)
{
	if (strcmp(text, "direct") == 0)
		*layout = P4_DIRECT;
	else if (strcmp(text, "compact") == 0)
		*layout = P4_COMPACT;
	else {
		report_error("export: no layout '%s'; there are direct and compact", text);
		return false;
	}
	return true;
}

static bool
parse_kind(const char *text, enum kind *kind)
{
	if (strcmp(text, "results") == 0)
		*kind = KIND_RESULTS;
	else if (strcmp(text, "sums") == 0)
		*kind = KIND_SUMS;
	else {
		report_error("export: --aggregate takes 'results' or 'sums', not '%s'", text);
		return false;
	}
	return true;
}

static bool
parse_format(const char *text, enum aggregate_format *format)
{
	*format = aggregate_format_by_name(text);
	if (*format != 0 && aggregate_sums_has(*format))
		return true;
	report_error("export: --format takes 'fp16' or 'int32', not '%s'", text);
	return false;
}

static bool
parse_last_op(const char *text, enum netfc_op *op)
{
	static const char *const names[] = {
		[NETFC_SUB] = "sub", [NETFC_MUL] = "mul", [NETFC_DIV] = "div"};

	for (*op = NETFC_SUB; *op <= NETFC_DIV; ++*op) {
		if (strcmp(text, names[*op]) == 0)
			return true;
	}
	report_error("export: no program ends with '%s'; --up-to takes sub, mul or div", text);
	return false;
}

static bool
parse_count(const char *text, const char *what, unsigned long greatest, unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *number >= 1 &&
		*number <= greatest)
		return true;
	report_error("export: --%s takes a number from 1 to %lu, not '%s'", what, greatest, text);
	return false;
}

static bool
is_identifier(const char *text)
{
	if (text[0] != '\0' &&
		strspn(text,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			"0123456789_") == strlen(text))
		return true;
	report_error("export: '%s' is no name of a P4 program", text);
	return false;
}

static bool
take_option(struct request *request, int option)
{
	unsigned long number = 0;
	bool good = true;

	switch (option) {
	case 't':
		request->target = find_target(optarg);
		return request->target != NULL;
	case 'l':
		return parse_layout(optarg, &request->layout);
	case 'n':
		request->lanes = optarg;
		return true;
	case 'p':
		good = parse_count(optarg, "port", UINT16_MAX, &number);
		request->udp_port = (uint16_t)number;
		return good;
	case 'P':
		request->write.program = optarg;
		return is_identifier(optarg);
	case 'f':
		request->functions = optarg;
		return true;
	case 'A':
		return parse_kind(optarg, &request->kind);
	case 'F':
		return parse_format(optarg, &request->format);
	case 'S':
		request->slowloris = true;
		return true;
	case 'U':
		return parse_last_op(optarg, &request->last_op);
	case 'o':
		request->output = optarg;
		return true;
	default:
		request->json = true;
		return true;
	}
}

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
			request->write.set_name, "target", request->target->name, "layout",
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
		request->target->write(stream, program, &request->write);
		failed = ferror(stream) != 0;
		failed = fclose(stream) != 0 || failed;
		if (!failed)
			return report(request, program);
	}
	report_error("cannot write %s: %s", request->output, strerror(errno));
	return STATUS_FAILED;
}

static int
write_program(const struct request *request, const struct p4_program *program)
{
	if (!p4_complete(program)) {
		report_error("out of memory");
		return STATUS_FAILED;
	}
	if (request->output != NULL)
		return write_file(request, program);
	request->target->write(stdout, program, &request->write);
	return STATUS_DONE;
}

/* All tables of the program; NULL, or why the set cannot have them. */
static const char *
fill_program(const struct request *request, const struct netfc_set *set,
	const struct p4_functions *functions, struct p4_program *program)
{
	const bool wide = netfc_format_width(netfc_set_format(set)) == 32;
	const enum netfc_op last_op = request->last_op != 0 ? request->last_op : NETFC_DIV;
	const char *reason;

	if (netfc_format_width(netfc_set_format(set)) == 8)
		return "there is no P4 program of 8 bits";
	if (request->last_op != 0 && !wide)
		return "only programs of fp32_exact have fewer operations (--up-to)";
	p4_request_tables(set, request->udp_port, last_op, functions, program);
	if (functions != NULL)
		p4_function_tables(functions, program);
	if (wide)
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
	reason = fill_program(request, set, functions, &program);
	if (reason == NULL) {
		status = write_program(request, &program);
	} else {
		report_error("cannot export %s: %s", netfc_set_name(set), reason);
		status = STATUS_INPUT;
	}
	p4_free(&program);
	free(functions);
	return status;
}

static int
export_aggregate(struct request *request)
{
	const struct p4_aggregation what = {
		.sums = request->kind == KIND_SUMS,
		.parts = request->target->tofino,
		.format = request->format,
		.lanes = request->write.lanes,
	};
	struct p4_program program = {0};
	int status;

	if (request->kind == KIND_RESULTS && request->target->tofino) {
		report_error("export: programs for Tofino do not round: --aggregate sums");
		return STATUS_INPUT;
	}
	request->write.set_name =
		request->format == AGGREGATE_INT32 ? "aggregation of int32" : "aggregation";
	p4_aggregate_tables(&what, request->udp_port, &program);
	status = write_program(request, &program);
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

/* What was not said, and lanes, whose number depends on what is exported. */
static bool
fill_in(struct request *request)
{
	const bool aggregate = request->kind != KIND_SET;
	unsigned long lanes = 1;

	if (request->lanes != NULL &&
		!parse_count(request->lanes, "lanes", aggregate ? MAX_AGGREGATE_LANES : MAX_LANES,
			&lanes))
		return false;
	request->write.lanes = (unsigned)lanes;
	if (request->format == 0)
		request->format = AGGREGATE_FP16;
	if (request->udp_port == 0)
		request->udp_port = aggregate ? AGGREGATE_UDP_PORT : NETFC_UDP_PORT;
	if (request->write.program == NULL)
		request->write.program = aggregate ? DEFAULT_AGGREGATE_PROGRAM : DEFAULT_PROGRAM;
	return true;
}

static int
run_export(int argc, char **argv)
{
	static const struct option longs[] = {COMMON_OPTIONS,
		{"target", required_argument, NULL, 't'}, {"layout", required_argument, NULL, 'l'},
		{"lanes", required_argument, NULL, 'n'}, {"port", required_argument, NULL, 'p'},
		{"program", required_argument, NULL, 'P'}, {"slowloris", no_argument, NULL, 'S'},
		{"functions", required_argument, NULL, 'f'},
		{"aggregate", required_argument, NULL, 'A'},
		{"format", required_argument, NULL, 'F'}, {"up-to", required_argument, NULL, 'U'},
		{"output", required_argument, NULL, 'o'}, {0}};
	struct request request = {0};
	int option;

	while ((option = next_option(&export_command, argc, argv, ":ht:l:n:p:f:o:", longs)) !=
		NO_MORE_OPTIONS) {
		if (option == 'h' || option == '?')
			return option_status(option);
		if (!take_option(&request, option))
			return STATUS_INPUT;
	}
	if (request.kind != KIND_SET && argc != optind)
		return wrong_operands(&export_command, "--aggregate takes no table set");
	if (request.kind == KIND_SET && request.format != 0)
		return wrong_operands(&export_command, "--format needs --aggregate");
	if (request.kind == KIND_SET && argc - optind != 1)
		return wrong_operands(&export_command, "name one table set");
	if (request.target == NULL)
		return wrong_operands(&export_command, "--target is needed");
	if (request.json && request.output == NULL)
		return wrong_operands(&export_command, "--json needs --output");
	if (!fill_in(&request))
		return STATUS_INPUT;
	return request.kind == KIND_SET ? export_file(&request, argv[optind])
					: export_aggregate(&request);
}

const struct command export_command = {
	.name = "export",
	.summary = "write a table set as entries for the P4 programs",
	.help = help,
	.run = run_export,
};
