/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables show: the command line. */
#include "command.h"
#include "set/source.h"
#include "show/extended.h"
#include "show/show.h"
#include "user/user.h"

static const char help[] =
	"Usage: netfc-tables show [OPTION...] SET [TABLE [KEY...]]\n"
	"       netfc-tables show [OPTION...] FORMAT FUNCTION [X...]\n"
	"       netfc-tables show [OPTION...] FILE.netfcfun [X...]\n"
	"       netfc-tables show --walk [OPTION...] SET OP X Y\n"
	"Show a table set, a table of it, or entries of that table: keys and values both as\n"
	"bits and as what they mean. SET is a name, or a file: then it ends in .netfc or has\n"
	"a / in it. TABLE is one that the set has, such as log or mi0: show SET lists\n"
	"them. KEY is a decimal number, which may be negative, or hexadecimal with 0x in\n"
	"front.\n"
	"FUNCTION is one of netfc-tables list --functions, whose table has an entry for\n"
	"every X of the format: all are shown, or those named.\n\n"
	"  -w, --walk  walk the operation X OP Y through the stages. OP is add, sub, mul or\n"
	"              div (or + - x /); X and Y are decimal numbers, inf, nan, or encodings\n"
	"              such as 0x3c00\n"
	"      --hex   X and Y are encodings without 0x\n"
	"      --json  print JSON: every entry, where people get ranges of keys\n"
	"  -h, --help  print this\n";

/* What --help describes. */
struct options {
	bool walk, hex, json;
};

static int
walk(const struct netfc_set *set, char **operands, int count, const struct options *options)
{
	struct operation operation;
	int status;

	if (count != 3)
		return wrong_operands(&show_command, "--walk needs SET OP X Y");
	status = read_operation(
		&show_command, netfc_set_format(set), operands, options->hex, &operation);
	return status == STATUS_DONE ? show_walk(set, &operation, options->json) : status;
}

static int
show(const struct netfc_set *set, char **operands, int count, const struct options *options)
{
	if (options->walk)
		return walk(set, operands + 1, count - 1, options);
	if (count == 1)
		return show_set(set, operands[0], options->json);
	if (count == 2)
		return show_table(set, operands[1], options->json);
	return show_keys(set, operands[1], operands + 2, count - 2, options->json);
}

static int
run_show(int argc, char **argv)
{
	struct options options = {0};
	const struct flag flags[] = {{"walk", 'w', &options.walk}, {"hex", 0, &options.hex},
		{"json", 0, &options.json}, {0}};
	int first = options_first(argc, argv);
	int status = take_flags(&show_command, first, argv, flags);
	struct netfc_set *set;

	if (status != NO_MORE_OPTIONS)
		return status;
	if (first == argc)
		return wrong_operands(&show_command, "name a table set or a file");
	if (options.hex && !options.walk)
		return wrong_operands(&show_command, "--hex is for --walk");
	if (!options.walk && is_user_operand(argv[first]))
		return show_user(argv + first, argc - first, options.json);
	if (!options.walk && netfc_format_by_name(argv[first]) != NULL && argc - first > 1)
		return show_function(argv + first, argc - first, options.json);
	status = open_set(argv[first], &set);
	if (status != STATUS_DONE)
		return status;
	status = show(set, argv + first, argc - first, &options);
	netfc_set_free(set);
	return status;
}

const struct command show_command = {
	.name = "show",
	.summary = "show a table set, a table, entries, or the walk of one operation",
	.help = help,
	.run = run_show,
};
