/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_lcore.h>

#include "app.h"
#include "capture/trace.h"
#include "encoding.h"
#include "json.h"

#define WAIT_US 1000
#define MAX_WAITS 200

/* ---- an lcore's part ------------------------------------------------------------------------- */

static void
copy_bytes(const struct rte_mbuf *mbuf, uint32_t offset, uint32_t length, void *to)
{
	const void *bytes = rte_pktmbuf_read(mbuf, offset, length, to);

	if (bytes != to && bytes != NULL)
		memcpy(to, bytes, length);
}

static enum netfc_status
status_code(const struct netfc_hdr *header)
{
	return (header->status & ~NETFC_STATUS_REPLY) >> NETFC_STATUS_CODE_SHIFT;
}

static unsigned int
kept_lanes(const struct netfc_hdr *header)
{
	if (status_code(header) != NETFC_STATUS_OK)
		return 0;
	return RTE_MIN((unsigned int)rte_be_to_cpu_16(header->count), TRACE_LANES);
}

static void
copy_request(struct trace_slot *slot, const struct rte_mbuf *mbuf, const struct frame *frame)
{
	uint32_t offset = frame_payload_offset(frame), operand, kept, slot_bytes;

	memset(&slot->header, 0, sizeof(slot->header));
	copy_bytes(mbuf, offset,
		RTE_MIN((uint32_t)frame->payload_length, (uint32_t)sizeof(slot->header)),
		&slot->header);
	offset += (uint32_t)sizeof(slot->header);
	slot_bytes = netfc_wire_slot_bytes(slot->header.op, slot->header.format);
	operand = netfc_wire_operand_bytes(
		slot->header.op, slot->header.format, rte_be_to_cpu_16(slot->header.count));
	kept = kept_lanes(&slot->header) * slot_bytes;
	for (unsigned int o = 0; o < RTE_DIM(slot->wire); o++)
		copy_bytes(mbuf, offset + o * operand, kept, slot->wire[o]);
}

void
trace_sample(struct trace_slot *slot, uint16_t port, struct rte_mbuf **mbufs,
	const struct frame *frames, uint16_t count)
{
	/* Not always the first: bursts may be uniform. */
	uint64_t start = rte_rdtsc();

	if (slot->full)
		return;
	for (uint16_t n = 0; n < count; n++) {
		uint64_t i = (start + n) % count;

		if (!frames[i].answered)
			continue;
		copy_request(slot, mbufs[i], &frames[i]);
		slot->port = port;
		__atomic_store_n(&slot->full, true, __ATOMIC_RELEASE);
		return;
	}
}

void
trace_sample_aggregate(struct trace_slot *slot, uint16_t port,
	const struct aggregate_message *request, const struct aggregate_outcome *outcome)
{
	if (slot->full)
		return;
	trace_aggregate_keep(&slot->aggregate, request, outcome);
	slot->aggregates = true;
	slot->port = port;
	__atomic_store_n(&slot->full, true, __ATOMIC_RELEASE);
}

/* ---- the lane, stage by stage ---------------------------------------------------------------- */

static void
append_step(const struct netfc_program *program, const struct netfc_step *step,
	const struct netfc_lanes *lanes, void *arg)
{
	uint8_t fields[NETFC_STEP_WRITES];
	unsigned int count = netfc_step_writes(step, fields);
	char text[128];
	int length = snprintf(text, sizeof(text), "%s:", step->what);

	for (unsigned int f = 0; f < count && length < (int)sizeof(text); f++)
		length += snprintf(text + length, sizeof(text) - (size_t)length, " %s 0x%04" PRIx32,
			program->field_name[fields[f]], lanes->field[fields[f]][0]);
	json_array_append_new(arg, json_string(text));
}

static json_t *
lane_json(const struct trace_slot *slot, const struct netfc_set *set, unsigned int lane)
{
	const int digits = encoding_digits(netfc_set_format(set));
	json_t *object = json_object(), *stages = json_array();
	struct netfc_result result =
		netfc_walk(set, slot->header.op, slot->x[lane], slot->y[lane], append_step, stages);

	json_object_set_new(object, "lane", json_integer(lane));
	json_object_set_new(object, "x", json_word(slot->x[lane], digits));
	json_object_set_new(object, "y", json_word(slot->y[lane], digits));
	json_object_set_new(object, "stages", stages);
	json_object_set_new(object, "z", json_word(result.z, digits));
	json_object_set_new(object, "flags", json_integer(result.flags));
	return object;
}

/* How many lanes left the switch with another result than the stages give, and correctly rounded.
 */
static void
compare(json_t *object, const struct trace_slot *slot, const struct netfc_set *set,
	unsigned int count)
{
	const struct netfc_format *format = netfc_set_format(set);
	unsigned int unlike = 0, exact = 0;
	enum netfc_op op = slot->header.op;
	struct netfc_result answers[TRACE_LANES];

	compute_lanes(set, op, slot->x, slot->y, answers, count);
	for (unsigned int l = 0; l < count; l++) {
		unlike += answers[l].z != slot->z[l];
		exact += netfc_exact(format, op, slot->x[l], slot->y[l]).z == slot->z[l];
	}
	json_object_set_new(object, "lanes_shown", json_integer(count));
	json_object_set_new(object, "lanes_unlike_stages", json_integer(unlike));
	json_object_set_new(object, "lanes_correctly_rounded", json_integer(exact));
}

/* ---- extended operations: functions, min, max, compare, fma, names --------------------------- */

static bool
has_wide_slots(const struct trace_slot *slot)
{
	return netfc_wire_slot_bytes(slot->header.op, slot->header.format) == sizeof(uint32_t);
}

/* Of slots of 8 bits, four digits, too. */
static int
slot_digits(const struct trace_slot *slot)
{
	return has_wide_slots(slot) ? 8 : 4;
}

/* Conversions from and to binary32 have no table. */
static bool
convert_again(const struct loaded_function *function, uint32_t x, struct netfc_result *result)
{
	return netfc_function_lanes(netfc_function_by_number(function->number), function->format,
		       &x, &result->z, &result->flags, 1) == 0;
}

/* Compute a lane again. False: not possible, as a third operand was overwritten or the function is
 * gone. */
static bool
compute_again(const struct functions *functions, const struct trace_slot *slot, unsigned int lane,
	struct netfc_result *result)
{
	const unsigned int op = slot->header.op;

	if (op >= NETFC_MIN && op < NETFC_EXTRA_END && netfc_extra_operands(op) == 2) {
		*result = netfc_extra(netfc_format_by_id(slot->header.format), op,
			(uint16_t)slot->x[lane], (uint16_t)slot->y[lane], 0);
		return true;
	}
	for (unsigned int f = 0; f < functions->count; f++) {
		const struct loaded_function *function = functions->function[f];

		if (function->number != op ||
			netfc_format_id(function->format) != slot->header.format)
			continue;
		if (has_wide_slots(slot))
			return convert_again(function, slot->x[lane], result);
		*result = (struct netfc_result){
			function->z[slot->x[lane]], function->flags[slot->x[lane]]};
		return true;
	}
	return false;
}

static void
compare_extended(const struct functions *functions, const struct trace_slot *slot,
	unsigned int kept, json_t *object)
{
	unsigned int unlike = 0;

	for (unsigned int l = 0; l < kept; l++) {
		struct netfc_result again;

		if (!compute_again(functions, slot, l, &again))
			return;
		unlike += again.z != slot->z[l];
	}
	json_object_set_new(object, "lanes_unlike_stages", json_integer(unlike));
}

static json_t *
extended_lane_json(
	const struct functions *functions, const struct trace_slot *slot, unsigned int lane)
{
	const int digits = slot_digits(slot);
	json_t *object = json_object();
	struct netfc_result again;

	json_object_set_new(object, "lane", json_integer(lane));
	json_object_set_new(object, "x", json_word(slot->x[lane], digits));
	json_object_set_new(object, "y", json_word(slot->y[lane], digits));
	json_object_set_new(object, "z", json_word(slot->z[lane], digits));
	if (compute_again(functions, slot, lane, &again))
		json_object_set_new(object, "flags", json_integer(again.flags));
	return object;
}

static void
show_extended(const struct functions *functions, const struct trace_slot *slot, unsigned int kept,
	unsigned int lane, json_t *object)
{
	const unsigned int id = slot->header.format;
	const struct netfc_format *format =
		id == NETFC_FP32 ? netfc_fp32_format() : netfc_format_by_id(id);
	const int digits = slot_digits(slot);
	char name[NETFC_FUNCTION_NAME_SIZE];

	functions_name(functions, slot->header.op, name);
	json_object_set_new(object, "op", json_string(name));
	json_object_set_new(object, "format", json_string(netfc_format_name(format)));
	json_object_set_new(object, "lanes_shown", json_integer(kept));
	compare_extended(functions, slot, kept, object);
	json_object_set_new(object, "x", json_words(slot->x, kept, digits));
	json_object_set_new(object, "y", json_words(slot->y, kept, digits));
	json_object_set_new(object, "z", json_words(slot->z, kept, digits));
	json_object_set_new(object, "walk", extended_lane_json(functions, slot, lane));
}

/* ---- a request's slot ------------------------------------------------------------------------ */

static void
read_operand(const struct trace_slot *slot, unsigned int operand, uint32_t *to)
{
	const uint32_t slot_bytes = netfc_wire_slot_bytes(slot->header.op, slot->header.format);
	const uint8_t *bytes = slot->wire[operand];

	for (unsigned int l = 0; l < TRACE_LANES; l++) {
		to[l] = 0;
		for (uint32_t b = 0; b < slot_bytes; b++)
			to[l] = to[l] << 8 | *bytes++;
	}
}

static void
to_host_order(struct trace_slot *slot)
{
	slot->header.count = rte_be_to_cpu_16(slot->header.count);
	slot->header.id = rte_be_to_cpu_32(slot->header.id);
	read_operand(slot, 0, slot->x);
	read_operand(slot, 1, slot->y);
	read_operand(slot, 2, slot->z);
}

static json_t *
place_json(const struct trace_slot *slot, unsigned int lcore_id)
{
	json_t *object = json_object();

	json_object_set_new(object, "lcore", json_integer(lcore_id));
	json_object_set_new(object, "port", json_integer(slot->port));
	return object;
}

static json_t *
aggregate_json(const struct trace_slot *slot, unsigned int lcore_id)
{
	json_t *object = place_json(slot, lcore_id);

	trace_aggregate_show(&slot->aggregate, object);
	return object;
}

static json_t *
header_json(const struct trace_slot *slot, unsigned int lcore_id)
{
	const struct netfc_hdr *header = &slot->header;
	json_t *object = place_json(slot, lcore_id);

	json_object_set_new(object, "id", json_integer(header->id));
	json_object_set_new(object, "status", json_string(json_statuses[status_code(header)].name));
	json_object_set_new(object, "flags", json_integer(header->status & 0xf));
	json_object_set_new(object, "lanes", json_integer(header->count));
	return object;
}

static json_t *
slot_json(const struct app *app, struct trace_slot *slot, unsigned int lcore_id, unsigned int lane)
{
	unsigned int kept = kept_lanes(&slot->header);
	const struct netfc_set *set;
	json_t *object;
	int digits;

	if (lane >= RTE_MAX(kept, 1u))
		return NULL;
	to_host_order(slot);
	object = header_json(slot, lcore_id);
	if (kept == 0)
		return object;
	if (netfc_op_name(slot->header.op) == NULL) {
		show_extended(&app->functions, slot, kept, lane, object);
		return object;
	}
	set = app->sets.by_format[slot->header.format];
	digits = encoding_digits(netfc_set_format(set));
	json_object_set_new(object, "set", json_string(netfc_set_name(set)));
	json_object_set_new(object, "op", json_string(netfc_op_name(slot->header.op)));
	compare(object, slot, set, kept);
	json_object_set_new(object, "x", json_words(slot->x, kept, digits));
	json_object_set_new(object, "y", json_words(slot->y, kept, digits));
	json_object_set_new(object, "z", json_words(slot->z, kept, digits));
	json_object_set_new(object, "walk", lane_json(slot, set, lane));
	return object;
}

/* ---- asking for it --------------------------------------------------------------------------- */

/* Give every lcore a slot, or take them all back: when that returns, no lcore uses one. */
static void
hand_out(struct app *app, struct trace_slot *slots)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id)
		__atomic_store_n(&app->lcore[lcore_id].trace,
			slots != NULL ? &slots[lcore_id] : NULL, __ATOMIC_RELEASE);
	if (slots == NULL)
		rte_rcu_qsbr_synchronize(app->qsbr, RTE_QSBR_THRID_INVALID);
}

/* The lcore whose slot is full, or RTE_MAX_LCORE. */
static unsigned int
find_full(const struct trace_slot *slots)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		if (__atomic_load_n(&slots[lcore_id].full, __ATOMIC_ACQUIRE))
			return lcore_id;
	}
	return RTE_MAX_LCORE;
}

json_t *
trace_json(struct app *app, unsigned int lane)
{
	struct trace_slot *slots = calloc(RTE_MAX_LCORE, sizeof(*slots));
	unsigned int full = RTE_MAX_LCORE;
	json_t *object = NULL;

	if (slots == NULL)
		return NULL;
	hand_out(app, slots);
	for (unsigned int waits = 0; waits < MAX_WAITS && full == RTE_MAX_LCORE; waits++) {
		rte_delay_us_sleep(WAIT_US);
		full = find_full(slots);
	}
	hand_out(app, NULL);
	if (full != RTE_MAX_LCORE)
		object = slots[full].aggregates ? aggregate_json(&slots[full], full)
						: slot_json(app, &slots[full], full, lane);
	free(slots);
	return object;
}
