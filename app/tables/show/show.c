/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables show: what it is asked for. */
#include <string.h>

#include "command.h"
#include "number.h"
#include "show/show.h"
#include "set/source.h"

static const char help[] =
	"Usage: netfc-tables show [OPTION...] SET [TABLE [KEY...]]\n"
	"       netfc-tables show --walk [OPTION...] SET OP X Y\n"
	"Show a table set, a table of it, or entries of that table: keys and values both as\n"
	"bits and as what they mean. SET is a name, or a file: then it ends in .netfc or has\n"
	"a / in it. TABLE is one that the set has, such as log or mi0: show SET lists\n"
	"them. KEY is a decimal number, which may be negative, or hexadecimal with 0x in\n"
	"front.\n\n"
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
read_operand(const struct netfc_format *format, const char *text, bool hex, uint16_t *bits)
{
	if (hex ? parse_hex_operand(text, bits) : parse_operand(format, text, bits))
		return STATUS_DONE;
	complain("show: '%s' is no operand; expected %s", text, operand_syntax(hex));
	return STATUS_INPUT;
}

static int
walk(const struct netfc_set *set, char **operands, int count, const struct options *options)
{
	const struct netfc_format *format = netfc_set_format(set);
	enum netfc_op op;
	uint16_t x, y;

	if (count != 3)
		return wrong_operands(&show_command, "--walk needs SET OP X Y");
	if (!parse_op(operands[0], &op)) {
		complain("show: no operation '%s'; expected add, sub, mul or div", operands[0]);
		return STATUS_INPUT;
	}
	if (read_operand(format, operands[1], options->hex, &x) != STATUS_DONE ||
		read_operand(format, operands[2], options->hex, &y) != STATUS_DONE)
		return STATUS_INPUT;
	return show_walk(set, op, x, y, options->json);
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
	static const struct option longs[] = {COMMON_OPTIONS, {"walk", no_argument, NULL, 'w'},
		{"hex", no_argument, NULL, 'x'}, {0}};
	int option, status, first = options_first(argc, argv);
	struct options options = {0};
	struct netfc_set *set;

	while ((option = next_option(&show_command, first, argv, ":hw", longs)) !=
		NO_MORE_OPTIONS) {
		if (option == 'w')
			options.walk = true;
		else if (option == 'x')
			options.hex = true;
		else if (option == 'j')
			options.json = true;
		else
			return option_status(option);
	}
	if (first == argc)
		return wrong_operands(&show_command, "name a table set or a file");
	if (options.hex && !options.walk)
		return wrong_operands(&show_command, "--hex is for --walk");
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
