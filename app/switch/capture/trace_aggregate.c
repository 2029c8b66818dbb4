/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

static unsigned int
kept_values(const struct aggregate_message *request)
{
	return RTE_MIN((unsigned int)request->count, TRACE_VALUES);
}

void
trace_aggregate_keep(struct trace_aggregate *kept, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome)
{
	const struct aggregate_entry *entry = outcome->entry;

	kept->request = *request;
	kept->action = outcome->action;
	kept->reason = outcome->reason;
	kept->absence = outcome->absence;
	kept->has_result = outcome->action != AGGREGATE_REFUSAL_DOWN &&
		(aggregate_action_send(outcome->action) == AGGREGATE_SEND_RESULTS ||
			outcome->action == AGGREGATE_REPEATED);
	if (request->values != NULL)
		memcpy(kept->x, request->values,
			kept_values(request) * aggregate_value_bytes(request->format));
	if (entry == NULL || entry->state == AGGREGATE_EMPTY || entry->chunk != request->id)
		return;
	kept->workers = outcome->workers;
	kept->seen = entry->seen;
	if (!kept->has_result)
		return;
	kept->flags = entry->flags;
	memcpy(kept->z, entry->result,
		kept_values(request) * aggregate_result_value_bytes(request->format));
}

static json_t *
values_json(const struct aggregate_message *request, unsigned int value_bytes, const uint8_t *bytes)
{
	json_t *array = json_array();

	for (unsigned int v = 0; v < kept_values(request); v++) {
		uint64_t value = 0;
		char text[24];

		for (unsigned int b = 0; b < value_bytes; b++)
			value = value << 8 | bytes[v * value_bytes + b];
		snprintf(text, sizeof(text), "0x%0*" PRIx64, (int)(2 * value_bytes), value);
		json_array_append_new(array, json_string(text));
	}
	return array;
}

static json_t *
missing_json(const struct trace_aggregate *kept)
{
	json_t *array = json_array();

	for (unsigned int w = 0; w < kept->workers; w++) {
		if ((kept->seen >> w & 1) == 0)
			json_array_append_new(array, json_integer(w));
	}
	return array;
}

/* What a packet of exact sums has of them; digits themselves are not kept. */
static json_t *
part_json(const struct aggregate_part *part)
{
	return json_pack("{si si si si si si sb}", "part", part->number, "parts", part->parts,
		"first", part->first, "lanes", part->lanes, "lowest", part->lowest, "width",
		part->width, "marks", part->marks != NULL);
}

/* Of a join in a tree: each switch above, from below, by its members and which of them is meant. */
static json_t *
place_json(const struct aggregate_place *place)
{
	const unsigned int levels = RTE_MIN(place->levels, (unsigned int)AGGREGATE_MAX_LEVELS);
	json_t *members = json_array(), *index = json_array();

	for (unsigned int l = 0; l < levels; l++) {
		json_array_append_new(members, json_integer(place->level[l].members));
		json_array_append_new(index, json_integer(place->level[l].index));
	}
	return json_pack("{sI so so}", "workers", (json_int_t)place->workers, "members", members,
		"index", index);
}

static void
show_chunk(const struct trace_aggregate *kept, json_t *object)
{
	const struct aggregate_message *request = &kept->request;

	json_object_set_new(object, "format", json_string(aggregate_format_name(request->format)));
	json_object_set_new(object, "values", json_integer(request->count));
	if (kept->workers > 0) {
		json_object_set_new(object, "workers", json_integer(kept->workers));
		json_object_set_new(object, "missing", missing_json(kept));
	}
	if (request->owner != 0)
		json_object_set_new(
			object, "owner", json_integer(request->owner - AGGREGATE_OWNER));
	if (request->values != NULL)
		json_object_set_new(object, "x",
			values_json(request, aggregate_value_bytes(request->format), kept->x));
	if (aggregate_has_digits(request))
		json_object_set_new(object, "digits", part_json(&request->part));
	if (!kept->has_result)
		return;
	json_object_set_new(object, "flags", json_integer(kept->flags));
	json_object_set_new(object, "z",
		values_json(request, aggregate_result_value_bytes(request->format), kept->z));
}

void
trace_aggregate_show(const struct trace_aggregate *kept, json_t *object)
{
	const struct aggregate_message *request = &kept->request;

	json_object_set_new(object, "id", json_integer(request->id));
	json_object_set_new(object, "op", json_string(aggregate_op_name(request->op)));
	json_object_set_new(object, "job", json_integer(request->job));
	json_object_set_new(object, "worker", json_integer(request->worker));
	json_object_set_new(object, "action", json_string(aggregate_action_name(kept->action)));
	json_object_set_new(object, "reason", json_string(aggregate_reason_name(kept->reason)));
	if (kept->action == AGGREGATE_STALLED)
		json_object_set_new(
			object, "absence", json_string(aggregate_absence_name(kept->absence)));
	if (aggregate_place_is_there(&request->join.place))
		json_object_set_new(object, "place", place_json(&request->join.place));
	if (aggregate_is_chunk(request->op))
		show_chunk(kept, object);
}
