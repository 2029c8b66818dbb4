/* SPDX-License-Identifier: BSD-3-Clause */
/* Which packets are requests that a P4 program computes, and the status of those that are not. */

#include <string.h>

#include "export/fill/fill.h"

/* The keys before a table's own. */
static const struct p4_key keys[REQUEST_KEYS] = {
	[REQUEST_PORT] = {"port", 16, P4_TERNARY},
	[REQUEST_MAGIC] = {"magic", 16, P4_TERNARY},
	[REQUEST_VERSION] = {"version", 8, P4_TERNARY},
	[REQUEST_OP] = {"op", 8, P4_TERNARY},
	[REQUEST_FORMAT] = {"format", 8, P4_TERNARY},
	[REQUEST_REPLY] = {"reply", 1, P4_TERNARY},
};

struct p4_table *
p4_add_request_table(struct p4_program *program, const struct p4_table *pattern)
{
	struct p4_table table = *pattern;

	memcpy(table.key, keys, sizeof(keys));
	return p4_add_table(program, &table);
}

struct p4_entry
p4_request_entry(uint16_t udp_port)
{
	return (struct p4_entry){
		.value = {[REQUEST_PORT] = udp_port, [REQUEST_MAGIC] = NETFC_MAGIC},
		.mask = {[REQUEST_PORT] = 0xffff, [REQUEST_MAGIC] = 0xffff, [REQUEST_REPLY] = 1},
	};
}

void
p4_add_request(struct p4_table *table, struct p4_entry entry, enum request_priority priority,
	unsigned action, uint32_t arg)
{
	entry.action = (uint8_t)action;
	entry.priority = (uint16_t)priority;
	entry.arg[0] = arg;
	p4_add_entry(table, &entry);
}

/* ---- requests to compute --------------------------------------------------------------------- */

/* Whether all entries are there. */
#define REQUEST_LOADED REQUEST_KEYS

/* The table's actions. */
enum request_action {
	ACTION_COMPUTE,
	ACTION_QUERY,
	ACTION_ERROR,
	ACTION_EVALUATE /* in programs with functions */
};

static const struct p4_table request_pattern = {
	.instance = {"request"},
	.shared = true,
	.key = {[REQUEST_LOADED] = {"loaded", 1, P4_TERNARY}},
	.action = {[ACTION_COMPUTE] = {.name = "compute"},
		[ACTION_QUERY] = {.name = "query"},
		[ACTION_ERROR] = {.name = "refuse", .param = {{"code", 3}}},
		[ACTION_EVALUATE] = {.name = "evaluate", .param = {{"function", 4}}}},
};

/* An operation in this format and in others. Nothing is computed before all entries are there. */
static void
add_op(struct p4_table *table, struct p4_entry entry, uint32_t op, unsigned format,
	enum request_action action)
{
	struct p4_entry good;

	p4_match(&entry, table, REQUEST_OP, op);
	good = entry;
	p4_match(&good, table, REQUEST_FORMAT, format);
	p4_match(&good, table, REQUEST_LOADED, 1);
	if (action != ACTION_QUERY || format == NETFC_FP16)
		p4_add_request(table, good, PASSES_ALL, action, entry.arg[0]);
	p4_add_request(table, entry, NO_FORMAT, ACTION_ERROR, NETFC_STATUS_FORMAT);
}

/* The functions' tables are numbered from 1 on. */
static void
add_functions(struct p4_table *table, struct p4_entry entry, const struct p4_functions *functions,
	unsigned format)
{
	for (unsigned f = 0; f < functions->count; f++) {
		entry.arg[0] = f + 1;
		add_op(table, entry, functions->function[f].number, format, ACTION_EVALUATE);
	}
}

void
p4_request_tables(const struct netfc_set *set, uint16_t udp_port, enum netfc_op last_op,
	const struct p4_functions *functions, struct p4_program *program)
{
	struct p4_table *table = p4_add_request_table(program, &request_pattern);
	unsigned format = netfc_format_id(netfc_set_format(set));
	struct p4_entry entry = p4_request_entry(udp_port);

	p4_add_request(table, entry, NO_VERSION, ACTION_ERROR, NETFC_STATUS_VERSION);
	p4_match(&entry, table, REQUEST_VERSION, NETFC_WIRE_VERSION);
	p4_add_request(table, entry, NO_OP, ACTION_ERROR, NETFC_STATUS_OP);
	for (unsigned op = NETFC_ADD; op <= last_op; op++)
		add_op(table, entry, op, format, ACTION_COMPUTE);
	add_op(table, entry, NETFC_OP_QUERY, format, ACTION_QUERY);
	if (functions != NULL)
		add_functions(table, entry, functions, format);
}

/* ---- the last entry: the program that all entries are for ------------------------------------ */

/* As p4/include/sizes.p4 numbers programs. */

/* Four bits each, the layout's last one for the detector. */
enum program_shift {
	SHIFT_LANES = 0,
	SHIFT_SCALE = 4,
	SHIFT_FORMAT = 8,
	SHIFT_LAYOUT = 12,
	SHIFT_DETECTOR = 15,
};

enum program_layout {
	LAYOUT_DIRECT = 1,
	LAYOUT_COMPACT = 2,
	LAYOUT_EXACT = 3,
};

static uint32_t
layout_number(const struct netfc_set *set, enum p4_layout layout)
{
	if (netfc_set_family(set) != NETFC_FAMILY_LOG)
		return LAYOUT_EXACT;
	return layout == P4_COMPACT ? LAYOUT_COMPACT : LAYOUT_DIRECT;
}

/* log2 of k where logarithms and powers are split, which takes tables for one k; fp32: the last op.
 */
static uint32_t
scale_number(const struct netfc_set *set, enum p4_layout layout, enum netfc_op last_op)
{
	if (netfc_format_width(netfc_set_format(set)) == 32)
		return last_op;
	if (layout_number(set, layout) != LAYOUT_COMPACT ||
		netfc_format_is_posit(netfc_set_format(set)))
		return 0;
	return (uint32_t)__builtin_ctz(netfc_set_scale(set));
}

void
p4_program_table(uint32_t number, struct p4_program *program)
{
	static const struct p4_table pattern = {
		.instance = {"loaded"},
		.shared = true,
		.key = {{"program", 16, P4_EXACT}},
		.action = {{.name = "complete"}},
	};

	p4_add_exact(p4_add_table(program, &pattern), &number, NULL);
}

void
p4_loaded_table(const struct netfc_set *set, enum p4_layout layout, bool slowloris,
	enum netfc_op last_op, unsigned lanes, struct p4_program *program)
{
	uint32_t format = (uint32_t)netfc_format_id(netfc_set_format(set));

	p4_program_table(layout_number(set, layout) << SHIFT_LAYOUT |
			(uint32_t)slowloris << SHIFT_DETECTOR | format << SHIFT_FORMAT |
			scale_number(set, layout, last_op) << SHIFT_SCALE | lanes << SHIFT_LANES,
		program);
}

/* ---- functions: x, z and its flags ----------------------------------------------------------- */

static void
fill(struct p4_table *table, const struct p4_function *function)
{
	for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES; x++)
		p4_add_exact(table, &x, P4_WORDS(function->z[x], function->flags[x]));
}

void
p4_function_tables(const struct p4_functions *functions, struct p4_program *program)
{
	static const char *const names[P4_MAX_FUNCTIONS] = {
		"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8"};

	for (unsigned f = 0; f < functions->count; f++)
		fill(p4_add_table(program,
			     &(struct p4_table){
				     .instance = {names[f]},
				     .control = "function",
				     .key = {{"x", 16, P4_EXACT}},
				     .action = {{"result", {{"value", 16}, {"flags", 4}}}},
			     }),
			&functions->function[f]);
}
