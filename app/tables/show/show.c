/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables show: the command line. */

#include <stdio.h>
#include <string.h>

#include "command.h"
#include "set/set.h"
#include "show/show.h"
#include "user/user.h"

static const char usage[] =
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
	"every X of the format: all are shown, or those named. FORMAT may be a SET that has\n"
	"no table of that name.\n\n";

/* What --help describes. */
struct options {
	bool walk, hex, json;
};

#define FIELD(field) OPTION_FIELD(struct options, field)

static const struct option_row rows[] = {
	{"walk", 'w', FIELD(walk),
		.meaning = "walk the operation X OP Y through the stages. OP is add, sub, mul or "
			   "div (or + - x /); X and Y are decimal numbers, inf, nan, or encodings "
			   "such as 0x3c00"},
	{"hex", FIELD(hex), .meaning = "X and Y are encodings without 0x"},
	{"json", FIELD(json), .meaning = "print JSON: every entry instead of ranges of keys"},
};

/* netfc-tables show SET: the set's description. */

static void
print_log_properties(const struct netfc_set *set)
{
	unsigned k = netfc_set_scale(set);
	int guard = netfc_format_guard(netfc_set_format(set)), scaled_guard = guard * (int)k;

	printf("  k         %u: a log word w stands for 2^(w/%u)\n", k, k);
	printf("  rounding  %s\n",
		netfc_set_rounding(set) == NETFC_FLOOR ? "floor: down, as in the paper"
						       : "nearest");
	printf("  guard     %d: a sum is its larger operand where |theta| > %d*%u = %d\n", guard,
		guard, k, scaled_guard);
}

static void
print_properties(const struct netfc_set *set, const char *operand)
{
	const struct netfc_format *format = netfc_set_format(set);
	bool file = is_path(operand, NETFC_FILE_SUFFIX);

	printf("%s%s%s\n", netfc_set_name(set), file ? ", loaded from " : "", file ? operand : "");
	printf("  format    %s: %s\n", netfc_format_name(format), netfc_format_title(format));
	if (netfc_set_family(set) == NETFC_FAMILY_LOG)
		print_log_properties(set);
	else
		puts("  results   correctly rounded: to the nearest, ties to even");
}

static void
print_page(const struct netfc_table *table, unsigned page)
{
	char entries[GROUPED_SIZE], occur[GROUPED_SIZE];
	unsigned key_bits = netfc_table_key_bits(table);

	printf("  %-7s %7u%s %9u%s %9s %9s %7u  %s\n", netfc_table_page_name(table, page), key_bits,
		netfc_table_key_signed(table) ? "s" : " ", netfc_table_value_bits(table),
		netfc_table_value_signed(table) ? "s" : " ", grouped(1ull << key_bits, entries),
		grouped(count_keys(table, page, false), occur), netfc_table_copies(table),
		netfc_table_is_match(table) ? "match stage" : "direct index");
}

static void
print_tables(const struct netfc_set *set)
{
	const struct netfc_table *table;

	printf("\n  %-7s %8s %10s %9s %9s %7s  %s\n", "TABLE", "KEY BITS", "VALUE BITS", "ENTRIES",
		"EVER USED", "COPIES", "WHERE");
	for (unsigned t = 0; (table = netfc_set_table(set, t)) != NULL; t++) {
		for (unsigned page = 0; page < netfc_table_pages(table); page++)
			print_page(table, page);
	}
	puts("  (s: signed, two's complement)");
}

static void
print_program(const struct netfc_set *set, enum netfc_op op, const char *ops)
{
	const struct netfc_program *program = netfc_set_op_program(set, op);

	printf("\n  Stages of %s:\n", ops);
	for (unsigned s = 0; s < program->step_count; s++)
		printf("  %4u  %s\n", s + 1, program->step[s].what);
}

static json_t *
tables_json(const struct netfc_set *set)
{
	json_t *tables = json_array();
	const struct netfc_table *table;

	for (unsigned t = 0; (table = netfc_set_table(set, t)) != NULL; t++) {
		for (unsigned page = 0; page < netfc_table_pages(table); page++)
			json_array_append_new(tables,
				json_pack("{s:s, s:s, s:i, s:i, s:b, s:b, s:i, s:i, s:b}", "table",
					netfc_table_page_name(table, page), "of",
					netfc_table_name(table), "key_bits",
					(int)netfc_table_key_bits(table), "value_bits",
					(int)netfc_table_value_bits(table), "key_signed",
					netfc_table_key_signed(table), "value_signed",
					netfc_table_value_signed(table), "occurring_keys",
					(int)count_keys(table, page, false), "copies",
					(int)netfc_table_copies(table), "match",
					netfc_table_is_match(table)));
	}
	return tables;
}

static json_t *
program_json(const struct netfc_set *set, enum netfc_op op)
{
	const struct netfc_program *program = netfc_set_op_program(set, op);
	json_t *steps = json_array();

	for (unsigned s = 0; s < program->step_count; s++)
		json_array_append_new(steps, json_string(program->step[s].what));
	return steps;
}

/* Whether quotients have a program of their own. */
static bool
divides_apart(const struct netfc_set *set)
{
	return netfc_set_op_program(set, NETFC_DIV) != netfc_set_op_program(set, NETFC_MUL);
}

static int
show_set_json(const struct netfc_set *set)
{
	const struct netfc_format *format = netfc_set_format(set);
	json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:o}", "set",
		netfc_set_name(set), "format", netfc_format_name(format), "title",
		netfc_format_title(format), "family", netfc_family_name(netfc_set_family(set)), "k",
		scale_json(netfc_set_scale(set)), "rounding",
		rounding_name(netfc_set_rounding(set)), "guard",
		netfc_set_family(set) == NETFC_FAMILY_LOG ? json_integer(netfc_format_guard(format))
							  : json_null(),
		"tables", tables_json(set), "stages_add_sub", program_json(set, NETFC_ADD));

	if (divides_apart(set)) {
		json_object_set_new(object, "stages_mul", program_json(set, NETFC_MUL));
		json_object_set_new(object, "stages_div", program_json(set, NETFC_DIV));
	} else {
		json_object_set_new(object, "stages_mul_div", program_json(set, NETFC_MUL));
	}
	return print_json(object);
}

static int
show_set(const struct netfc_set *set, const char *operand, bool json)
{
	if (json)
		return show_set_json(set);
	print_properties(set, operand);
	print_tables(set);
	print_program(set, NETFC_ADD, "add and sub");
	print_program(set, NETFC_MUL, divides_apart(set) ? "mul" : "mul and div");
	if (divides_apart(set))
		print_program(set, NETFC_DIV, "div");
	return STATUS_DONE;
}

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
	if (!has_table(set, operands[1]) && netfc_function_by_name(operands[1]) != NULL)
		return show_function(operands, count, options->json);
	if (count == 2)
		return show_table(set, operands[1], options->json);
	return show_keys(set, operands[1], operands + 2, count - 2, options->json);
}

static int
run_show(void *taken, char **operands, int count)
{
	const struct options *options = taken;
	struct netfc_set *set;
	int status;

	if (count == 0)
		return wrong_operands(&show_command, "name a table set or a file");
	if (options->hex && !options->walk)
		return wrong_operands(&show_command, "--hex is for --walk");
	if (!options->walk && is_user_operand(operands[0]))
		return show_user(operands, count, options->json);
	if (!options->walk && count > 1 && is_format(operands[0]))
		return show_function(operands, count, options->json);
	status = open_set(operands[0], &set);
	if (status != STATUS_DONE)
		return status;
	status = show(set, operands, count, options);
	netfc_set_free(set);
	return status;
}

const struct command show_command = {
	.name = "show",
	.summary = "show a table set, a table, entries, or the walk of one operation",
	.usage = usage,
	COMMAND_OPTIONS(rows, struct options),
	.run = run_show,
};
