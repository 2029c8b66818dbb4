/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of the aggregating programs, p4/include/aggregate, but those of their jobs. */
#include <aggregate_wire.h>

#include "export/fill/fill.h"

/* As p4/include/aggregate/sizes.p4 numbers programs. */
enum {
	LAYOUT_SUMS = 4,
	LAYOUT_RESULTS = 5,
	SHIFT_FORMAT = 8,
	SHIFT_LAYOUT = 12,
};

/* ---- requests -------------------------------------------------------------------------------- */

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

enum request_action {
	ACTION_CHUNK,
	ACTION_JOIN,
	ACTION_LEAVE,
	ACTION_REFUSE
};

static const struct p4_table request_shape = {
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
	.action = {[ACTION_CHUNK] = {.name = "chunk"},
		[ACTION_JOIN] = {.name = "join"},
		[ACTION_LEAVE] = {.name = "leave"},
		[ACTION_REFUSE] = {.name = "refuse", .param_count = 1, .param = {{"code", 3}}}},
};

/* Priorities: the protocol checks version, operation and format in this order. */
enum request_priority {
	PASSES_ALL,
	NO_FORMAT,
	NO_OP,
	NO_VERSION
};

static void
match(struct p4_entry *entry, enum request_key key, uint32_t value)
{
	entry->value[key] = value;
	entry->mask[key] = p4_low_bits(request_shape.key[key].bits);
}

static void
add_request(struct p4_table *table, struct p4_entry entry, enum request_priority priority,
	enum request_action action, enum netfc_status code)
{
	entry.action = (uint8_t)action;
	entry.priority = (uint16_t)priority;
	entry.arg[0] = code;
	p4_add_entry(table, &entry);
}

/* An operation, before and after all entries are there. */
static void
add_op(struct p4_table *table, struct p4_entry entry, unsigned op, enum request_action action)
{
	struct p4_entry good;

	match(&entry, KEY_OP, op);
	good = entry;
	match(&good, KEY_LOADED, 1);
	if (action == ACTION_CHUNK)
		match(&good, KEY_FORMAT, AGGREGATE_FP16);
	add_request(table, good, PASSES_ALL, action, NETFC_STATUS_OK);
	add_request(table, entry, NO_FORMAT, ACTION_REFUSE, NETFC_STATUS_FORMAT);
}

static void
request_table(bool sums, uint16_t udp_port, struct p4_program *program)
{
	struct p4_table *table = p4_add_table(program, &request_shape);
	struct p4_entry entry = {
		.value = {[KEY_PORT] = udp_port, [KEY_MAGIC] = NETFC_MAGIC},
		.mask = {[KEY_PORT] = 0xffff, [KEY_MAGIC] = 0xffff, [KEY_REPLY] = 1},
	};

	add_request(table, entry, NO_VERSION, ACTION_REFUSE, NETFC_STATUS_VERSION);
	match(&entry, KEY_VERSION, NETFC_WIRE_VERSION);
	add_request(table, entry, NO_OP, ACTION_REFUSE, NETFC_STATUS_OP);
	add_op(table, entry, AGGREGATE_SUM, ACTION_CHUNK);
	if (sums)
		add_op(table, entry, AGGREGATE_MEAN, ACTION_CHUNK);
	add_op(table, entry, AGGREGATE_JOIN, ACTION_JOIN);
	add_op(table, entry, AGGREGATE_LEAVE, ACTION_LEAVE);
}

/* ---- all ------------------------------------------------------------------------------------- */

void
p4_aggregate_tables(bool sums, uint16_t udp_port, unsigned lanes, struct p4_program *program)
{
	request_table(sums, udp_port, program);
	p4_program_table((sums ? LAYOUT_SUMS : LAYOUT_RESULTS) << SHIFT_LAYOUT |
			AGGREGATE_FP16 << SHIFT_FORMAT | lanes,
		program);
}
