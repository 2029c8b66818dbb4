/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/trace_further.h"
#include "json/json_word.h"

/* All operands and results have 16 bits. */
#define DIGITS 4

/* Compute a lane again. False: it cannot be known (fma's z has been overwritten), or any more. */
static bool
compute_again(const struct functions *functions, const struct trace_slot *slot, unsigned int lane,
	struct netfc_result *result)
{
	const unsigned int op = slot->header.op;

	if (op >= NETFC_MIN && op < NETFC_FMA) {
		*result = netfc_extra(netfc_format_by_id(slot->header.format), op,
			(uint16_t)slot->x[lane], (uint16_t)slot->y[lane], 0);
		return true;
	}
	for (unsigned int f = 0; f < functions->count; f++) {
		const struct loaded_function *function = functions->function[f];

		if (function->number != op ||
			netfc_format_id(function->format) != slot->header.format)
			continue;
		*result = (struct netfc_result){
			function->z[slot->x[lane]], function->flags[slot->x[lane]]};
		return true;
	}
	return false;
}

static void
compare(const struct functions *functions, const struct trace_slot *slot, unsigned int kept,
	json_t *object)
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
lane_json(const struct functions *functions, const struct trace_slot *slot, unsigned int lane)
{
	json_t *object = json_object();
	struct netfc_result again;

	json_object_set_new(object, "lane", json_integer(lane));
	json_object_set_new(object, "x", json_word(slot->x[lane], DIGITS));
	json_object_set_new(object, "y", json_word(slot->y[lane], DIGITS));
	json_object_set_new(object, "z", json_word(slot->z[lane], DIGITS));
	if (compute_again(functions, slot, lane, &again))
		json_object_set_new(object, "flags", json_integer(again.flags));
	return object;
}

void
trace_further_show(const struct functions *functions, const struct trace_slot *slot,
	unsigned int kept, unsigned int lane, json_t *object)
{
	const struct netfc_format *format = netfc_format_by_id(slot->header.format);
	char name[NETFC_FUNCTION_NAME_SIZE];

	functions_name(functions, slot->header.op, name);
	json_object_set_new(object, "op", json_string(name));
	json_object_set_new(object, "format", json_string(netfc_format_name(format)));
	json_object_set_new(object, "lanes_shown", json_integer(kept));
	compare(functions, slot, kept, object);
	json_object_set_new(object, "x", json_words(slot->x, kept, DIGITS));
	json_object_set_new(object, "y", json_words(slot->y, kept, DIGITS));
	json_object_set_new(object, "z", json_words(slot->z, kept, DIGITS));
	json_object_set_new(object, "walk", lane_json(functions, slot, lane));
}
