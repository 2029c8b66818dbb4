/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of the aggregating programs, p4/include/aggregate: requests, and what values add. */
#include <aggregate_registers.h>
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

enum request_action {
	ACTION_CHUNK,
	ACTION_JOIN,
	ACTION_LEAVE,
	ACTION_REFUSE
};

static const struct p4_table request_pattern = {
	.instance = {"request"},
	.shared = true,
	.action = {[ACTION_CHUNK] = {.name = "chunk"},
		[ACTION_JOIN] = {.name = "join"},
		[ACTION_LEAVE] = {.name = "leave"},
		[ACTION_REFUSE] = {.name = "refuse", .param = {{"code", 3}}}},
};

static void
add_op(struct p4_table *table, struct p4_entry entry, unsigned op, enum request_action action,
	enum aggregate_format format)
{
	p4_match(&entry, table, REQUEST_OP, op);
	if (action == ACTION_CHUNK) {
		p4_add_request(table, entry, NO_FORMAT, ACTION_REFUSE, NETFC_STATUS_FORMAT);
		p4_match(&entry, table, REQUEST_FORMAT, format);
	}
	p4_add_request(table, entry, PASSES_ALL, action, NETFC_STATUS_OK);
}

static void
request_table(const struct p4_aggregation *what, uint16_t udp_port, struct p4_program *program)
{
	struct p4_table *table = p4_add_request_table(program, &request_pattern);
	struct p4_entry entry = p4_request_entry(udp_port);

	p4_add_request(table, entry, NO_VERSION, ACTION_REFUSE, NETFC_STATUS_VERSION);
	p4_match(&entry, table, REQUEST_VERSION, NETFC_WIRE_VERSION);
	p4_add_request(table, entry, NO_OP, ACTION_REFUSE, NETFC_STATUS_OP);
	add_op(table, entry, AGGREGATE_SUM, ACTION_CHUNK, what->format);
	if (what->sums)
		add_op(table, entry, AGGREGATE_MEAN, ACTION_CHUNK, what->format);
	add_op(table, entry, AGGREGATE_JOIN, ACTION_JOIN, what->format);
	add_op(table, entry, AGGREGATE_LEAVE, ACTION_LEAVE, what->format);
}

/* ---- values ---------------------------------------------------------------------------------- */

#define FRACTION_BITS 10
#define FRACTION_MASK 0x3ffu
#define INFINITY_BITS 0x7c00u
#define SIGN 0x8000u
#define HIGH 0x4000u /* of an exponent: it is 16 or more */

/* What a value adds to one of its two integers; which one, the program knows. */
static int32_t
part_of(uint32_t x)
{
	uint32_t exponent = (x & INFINITY_BITS) >> FRACTION_BITS;
	int32_t significand =
		(int32_t)((x & FRACTION_MASK) | (uint32_t)(exponent != 0) << FRACTION_BITS);
	uint32_t shift = (x & HIGH) != 0 ? exponent - 16 : exponent - (exponent != 0);

	if ((x & ~SIGN) > INFINITY_BITS)
		return AGGREGATE_SUMS_NAN;
	if ((x & ~SIGN) == INFINITY_BITS)
		return AGGREGATE_SUMS_INF;
	if (x == SIGN)
		return AGGREGATE_SUMS_MINUS_ZERO;
	return ((x & SIGN) != 0 ? -significand : significand) * (1 << shift);
}

/* The same of fp8_e4m3, which has one. */
static int32_t
part_of_fp8_e4m3(uint32_t x)
{
	uint32_t exponent = x >> 3 & 0xf;
	int32_t significand = (int32_t)((x & 7) | (uint32_t)(exponent != 0) << 3);
	int32_t part = significand * (1 << (exponent - (exponent != 0)));

	if ((x & 0x7f) == 0x7f)
		return AGGREGATE_SUMS_NAN;
	if (x == 0x80)
		return AGGREGATE_SUMS_MINUS_ZERO;
	return (x & 0x80) != 0 ? -part : part;
}

static void
part_table(enum aggregate_format format, struct p4_program *program)
{
	static const struct p4_table fp16_pattern = {
		.instance = {"part"},
		.outer = "IngressPipe",
		.key = {{"x", 16, P4_EXACT}},
		.action = {{"set", {{"part", 32}}}},
	};
	static const struct p4_table fp8_pattern = {
		.instance = {"even.part", "odd.part"},
		.outer = "IngressPipe",
		.lanes = 2,
		.key = {{"x", 8, P4_EXACT}},
		.action = {{"set", {{"part", 32}}}},
	};
	const bool fp16 = format == AGGREGATE_FP16;
	struct p4_table *table = p4_add_table(program, fp16 ? &fp16_pattern : &fp8_pattern);
	const uint32_t last = p4_low_bits(table->key[0].bits);

	for (uint32_t x = 0; x <= last; x++)
		p4_add_word(table, x, (uint32_t)(fp16 ? part_of(x) : part_of_fp8_e4m3(x)));
}

/* ---- all ------------------------------------------------------------------------------------- */

void
p4_aggregate_tables(
	const struct p4_aggregation *what, uint16_t udp_port, struct p4_program *program)
{
	unsigned layout = what->sums ? LAYOUT_SUMS : LAYOUT_RESULTS;

	request_table(what, udp_port, program);
	if (what->parts && what->format != AGGREGATE_INT32)
		part_table(what->format, program);
	p4_program_table(
		layout << SHIFT_LAYOUT | (unsigned)what->format << SHIFT_FORMAT | what->lanes,
		program);
}
