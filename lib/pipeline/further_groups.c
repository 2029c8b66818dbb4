/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "further_groups.h"
#include "reply.h"

_Static_assert(UINT16_MAX >= GROUPS + FURTHER_GROUPS, "groups are numbered in 16 bits");

bool
further_is_known(const struct further_groups *further, unsigned int number)
{
	for (unsigned int format = 0; format < NETFC_SET_FORMAT_END; format++) {
		if (further->group[format][number] != 0)
			return true;
	}
	return false;
}

uint8_t
further_find(const struct further_groups *further, const char name[NETFC_FUNCTION_NAME_SIZE])
{
	for (unsigned int g = 0; g < further->count; g++) {
		if (memcmp(further->name[g], name, NETFC_FUNCTION_NAME_SIZE) == 0)
			return further->number[g];
	}
	return 0;
}

int
further_add(struct further_groups *further, unsigned int format, uint8_t number, const char *name,
	struct further_kernel *kernel)
{
	uint16_t *group = &further->group[format][number];

	if (further->count == FURTHER_GROUPS)
		return -E2BIG;
	if (*group != 0)
		return -EEXIST;
	*group = (uint16_t)(GROUPS + further->count);
	further->number[further->count] = number;
	strncpy(further->name[further->count], name, NETFC_FUNCTION_NAME_SIZE - 1);
	further->kernel[further->count++] = kernel;
	return 0;
}

int
further_add_wide(struct further_groups *further, unsigned int format, enum netfc_op op,
	struct further_kernel *kernel)
{
	int error = further_add(further, format, (uint8_t)op, "", kernel);

	if (error == 0)
		further->number[further->count - 1] = 0;
	return error;
}

void
further_clear(struct further_groups *further)
{
	for (unsigned int g = 0; g < further->count; g++)
		further_free(further->kernel[g]);
	*further = (struct further_groups){0};
}

/* The one lane of a request for a function. */
static __rte_always_inline void
run_single(const uint32_t *entries, struct vector_packet *vector)
{
	uint8_t *z = vector->slots + 2 * sizeof(uint16_t);
	const uint32_t entry = entries[load_16(vector->slots)];

	vector->changes = checksum_change(load_16(z), (uint16_t)entry);
	vector->flags = (uint8_t)(entry >> FURTHER_ENTRY_FLAGS_SHIFT);
	store_16(z, (uint16_t)entry);
}

static __rte_always_inline void
run(const struct further_kernel *kernel, struct vector_packet *vector)
{
	if (vector->count == 1 && kernel->entries != NULL)
		run_single(kernel->entries, vector);
	else
		further_run(kernel, vector);
}

uint64_t
further_groups_run(const struct further_groups *further, const struct classified *classified,
	const struct frame *frames, uint64_t *lanes, uint64_t *requests)
{
	uint64_t exceptions = 0;

	for (unsigned int p = 0; p < classified->count[CLASS_FURTHER]; p++) {
		const unsigned int packet = classified->packet[CLASS_FURTHER][p];
		const unsigned int group = classified->group[packet] - GROUPS;
		uint8_t *payload = classified->payload[packet];
		struct vector_packet vector = {
			.slots = reply_lanes(payload),
			.count = classified->lanes[packet],
		};

		run(further->kernel[group], &vector);
		reply_write(payload, &frames[packet], vector.changes, vector.flags);
		exceptions += flags_spread(vector.flags);
		*lanes += vector.count;
		requests[further->number[group]]++;
	}
	return exceptions;
}
