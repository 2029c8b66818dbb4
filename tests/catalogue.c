/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything that C has a list of: formats, operations, codes, reasons and counters, a row a line,
 * columns separated by tabs. tests/integration/test_catalogue.py compares all other lists with it.
 */
#include <stddef.h>
#include <stdio.h>

#include <netfc.h>
#include <netfc_wire.h>

#include "aggregate.h"
#include "aggregate_registers.h"
#include "counters.h"
#include "slowloris.h"

#define NUMBER(name) printf("number\t%s\t%d\n", #name, (int)(name));

/* A field of a header: its name, offset and bytes. */
#define FIELD(header, name)                                                      \
	printf(#header "\t%s\t%zu\t%zu\n", #name, offsetof(struct header, name), \
		sizeof(((struct header *)NULL)->name));

#define CODE(symbol, value, name, meaning) printf("code\t%d\t%s\t%s\n", value, name, meaning);
#define REASON(symbol, value, name, meaning) printf("reason\t%d\t%s\t%s\n", value, name, meaning);
#define ABSENCE(symbol, value, name, meaning) printf("absence\t%d\t%s\t%s\n", value, name, meaning);
#define ACTION(symbol, name, send, reason, meaning) printf("action\t%s\t%s\n", #name, meaning);
#define JOB_COUNTER(name, meaning) printf("job_counter\t%s\t%s\n", #name, meaning);
#define TAKEN(symbol, name, meaning) printf("taken\t%s\t%s\n", name, meaning);
#define DROP(symbol, name, meaning) printf("drop\t%s\t%s\n", name, meaning);
#define PACKET_COUNTER(name, meaning) printf("packet_counter\t%s\t%s\n", #name, meaning);
#define DEVICE_COUNTER(name, field, meaning) printf("device_counter\t%s\t%s\n", #name, meaning);
#define SLOWLORIS_COUNTER(name, meaning) printf("slowloris_counter\t%s\t%s\n", #name, meaning);

static void
print_numbers(void)
{
	NUMBER(NETFC_UDP_PORT)
	NUMBER(NETFC_MAGIC)
	NUMBER(NETFC_WIRE_VERSION)
	NUMBER(NETFC_OP_QUERY)
	NUMBER(NETFC_OP_NAME)
	NUMBER(NETFC_NAME_LANES)
	NUMBER(NETFC_STATUS_REPLY)
	NUMBER(NETFC_STATUS_CODE_SHIFT)
	NUMBER(NETFC_INVALID)
	NUMBER(NETFC_DIVBYZERO)
	NUMBER(NETFC_OVERFLOW)
	NUMBER(NETFC_UNDERFLOW)
	NUMBER(AGGREGATE_UDP_PORT)
	NUMBER(AGGREGATE_STATUS_CODE)
	NUMBER(AGGREGATE_MISSING)
	NUMBER(AGGREGATE_ROUNDED)
	NUMBER(AGGREGATE_SUMS)
	NUMBER(AGGREGATE_ACKNOWLEDGED)
	NUMBER(AGGREGATE_ZEROS)
	NUMBER(AGGREGATE_OWNER)
	NUMBER(AGGREGATE_DIGITS)
	NUMBER(AGGREGATE_MAX_PARTS)
	NUMBER(AGGREGATE_FEATURE_LABELS)
	NUMBER(AGGREGATE_FEATURE_LEAF)
	NUMBER(AGGREGATE_FEATURE_ZEROS)
	NUMBER(AGGREGATE_FEATURE_DIVISORS)
	NUMBER(AGGREGATE_MAX_DIVISOR)
	NUMBER(AGGREGATE_DIVISOR_BYTES)
	NUMBER(AGGREGATE_LABELLED)
	NUMBER(AGGREGATE_OF_ZEROS)
	NUMBER(AGGREGATE_LABEL_BYTES)
	NUMBER(AGGREGATE_MAX_LEVELS)
	NUMBER(AGGREGATE_MAX_TREE_WORKERS)
	NUMBER(AGGREGATE_ABSENCE_LEVEL)
	NUMBER(AGGREGATE_PART_BYTES)
	NUMBER(AGGREGATE_SUMS_WORKERS)
	NUMBER(AGGREGATE_SUMS_INF)
	NUMBER(AGGREGATE_SUMS_NAN)
	NUMBER(AGGREGATE_SUMS_MINUS_ZERO)
}

static void
print_headers(void)
{
	FIELD(netfc_hdr, magic)
	FIELD(netfc_hdr, version)
	FIELD(netfc_hdr, op)
	FIELD(netfc_hdr, format)
	FIELD(netfc_hdr, status)
	FIELD(netfc_hdr, count)
	FIELD(netfc_hdr, id)
	FIELD(aggregate_hdr, job)
	FIELD(aggregate_hdr, worker)
	FIELD(aggregate_hdr, reason)
	FIELD(aggregate_hdr, session)
	FIELD(aggregate_join_wire, workers)
	FIELD(aggregate_join_wire, shards)
	FIELD(aggregate_join_wire, slots)
	FIELD(aggregate_join_wire, bytes)
	FIELD(aggregate_join_wire, least)
	FIELD(aggregate_join_wire, cookie)
	FIELD(aggregate_join_wire, incarnation)
	FIELD(aggregate_place_wire, levels)
	FIELD(aggregate_place_wire, decided)
	FIELD(aggregate_place_wire, zero)
	FIELD(aggregate_place_wire, workers)
	FIELD(aggregate_place_wire, below)
	FIELD(aggregate_level, members)
	FIELD(aggregate_level, index)
}

static void
print_format(const struct netfc_format *format)
{
	unsigned number = netfc_format_id(format);

	printf("format\t%u\t%s\t%s\t%u\t%u\n", number, netfc_format_name(format),
		netfc_format_title(format), netfc_format_width(format),
		3 * netfc_wire_slot_bytes(NETFC_ADD, number));
}

static void
print_formats(void)
{
	const struct netfc_format *format;

	NETFC_FOREACH_FORMAT (format)
		print_format(format);
	print_format(netfc_fp32_format());
	for (unsigned number = 0; number <= UINT8_MAX; number++) {
		if (aggregate_is_format(number))
			printf("aggregate_format\t%u\t%s\t%u\n", number,
				aggregate_format_name(number), aggregate_value_bytes(number));
		else if (aggregate_format_name(number) != NULL)
			printf("aggregate_pair\t%u\t%s\t%u\n", number,
				aggregate_format_name(number),
				aggregate_result_value_bytes(number));
	}
}

static void
print_operations(void)
{
	for (unsigned op = 0; op <= UINT8_MAX; op++) {
		const struct netfc_function *function = netfc_function_by_number(op);

		if (netfc_op_name(op) != NULL)
			printf("op\t%u\t%s\t%s\n", op, netfc_op_name(op), netfc_op_symbol(op));
		if (netfc_extra_name(op) != NULL)
			printf("extended_op\t%u\t%s\n", op, netfc_extra_name(op));
		if (function != NULL)
			printf("function\t%u\t%s\n", op, netfc_function_name(function));
		if (aggregate_op_name(op) != NULL)
			printf("aggregate_op\t%u\t%s\n", op, aggregate_op_name(op));
	}
}

int
main(void)
{
	print_numbers();
	print_headers();
	print_formats();
	print_operations();
	NETFC_STATUS_CODES(CODE)
	AGGREGATE_REASONS(REASON)
	AGGREGATE_ABSENCES(ABSENCE)
	AGGREGATE_ACTIONS(ACTION)
	AGGREGATE_JOB_COUNTERS(JOB_COUNTER)
	TAKEN_REASONS(TAKEN)
	DROP_REASONS(DROP)
	PACKET_COUNTERS(PACKET_COUNTER)
	DEVICE_COUNTERS(DEVICE_COUNTER)
	SLOWLORIS_WORKER_COUNTERS(SLOWLORIS_COUNTER)
	SLOWLORIS_COUNTERS(SLOWLORIS_COUNTER)
	return 0;
}
