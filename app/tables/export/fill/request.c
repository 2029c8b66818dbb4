/* SPDX-License-Identifier: BSD-3-Clause */
/* Which packets are requests that a P4 program computes, and the status of those that are not. */
#include "export/fill/fill.h"
#include "export/fill/request_priority.h"

/* The table's keys. */
enum request_key {
	KEY_PORT,
	KEY_MAGIC,
	KEY_VERSION,
	KEY_OP,
	KEY_FORMAT,
	KEY_REPLY,
	KEY_LOADED,
	REQUEST_KEYS
};

/* The table's actions. */
enum request_action {
	ACTION_COMPUTE,
	ACTION_QUERY,
	ACTION_ERROR,
	ACTION_EVALUATE /* in programs with functions */
};

static const struct p4_table shape = {
	.instance = {"request"},
	.shared = true,
	.key_count = REQUEST_KEYS,
	.key = {[KEY_PORT] = {"port", 16, P4_TERNARY},
		[KEY_MAGIC] = {"magic", 16, P4_TERNARY},
		[KEY_VERSION] = {"version", 8, P4_TERNARY},
		[KEY_OP] = {"op", 8, P4_TERNARY},
		[KEY_FORMAT] = {"format", 8, P4_TERNARY},
		[KEY_REPLY] = {"reply", 1, P4_TERNARY},
		[KEY_LOADED] = {"loaded", 1, P4_TERNARY}},
	.action_count = 4,
	.action = {[ACTION_COMPUTE] = {.name = "compute"},
		[ACTION_QUERY] = {.name = "query"},
		[ACTION_ERROR] = {.name = "refuse", .param_count = 1, .param = {{"code", 3}}},
		[ACTION_EVALUATE] = {.name = "evaluate",
			.param_count = 1,
			.param = {{"function", 4}}}},
};

static void
refuse(struct p4_table *table, struct p4_entry entry, enum request_priority priority,
	enum netfc_status code)
{
	entry.action = ACTION_ERROR;
	entry.priority = (uint16_t)priority;
	entry.arg[0] = code;
	p4_add_entry(table, &entry);
}

/* An operation in this format and in others. Nothing is computed before all entries are there. */
static void
add_op(struct p4_table *table, struct p4_entry entry, uint32_t op, unsigned format,
	enum request_action action)
{
	struct p4_entry good;

	p4_match(&entry, &shape, KEY_OP, op);
	good = entry;
	good.action = (uint8_t)action;
	p4_match(&good, &shape, KEY_FORMAT, format);
	p4_match(&good, &shape, KEY_LOADED, 1);
	if (action != ACTION_QUERY || format == NETFC_FP16)
		p4_add_entry(table, &good);
	refuse(table, entry, NO_FORMAT, NETFC_STATUS_FORMAT);
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
	struct p4_table *table = p4_add_table(program, &shape);
	unsigned format = netfc_format_id(netfc_set_format(set));
	struct p4_entry entry = {
		.value = {[KEY_PORT] = udp_port, [KEY_MAGIC] = NETFC_MAGIC},
		.mask = {[KEY_PORT] = 0xffff, [KEY_MAGIC] = 0xffff, [KEY_REPLY] = 1},
		.priority = PASSES_ALL,
	};

	refuse(table, entry, NO_VERSION, NETFC_STATUS_VERSION);
	p4_match(&entry, &shape, KEY_VERSION, NETFC_WIRE_VERSION);
	refuse(table, entry, NO_OP, NETFC_STATUS_OP);
	for (unsigned op = NETFC_ADD; op <= last_op; op++)
		add_op(table, entry, op, format, ACTION_COMPUTE);
	add_op(table, entry, NETFC_OP_QUERY, format, ACTION_QUERY);
	if (functions != NULL)
		add_functions(table, entry, functions, format);
}
