/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>

#include "batch.h"
#include "checksum.h"
#include "slots.h"

/* So few lanes are faster done one by one than by a call. */
#define FEW 8

/* Answer a plain request. Returns its exception flags. */
static uint8_t
answer_plain(const struct slice *slice, const struct batch *batch)
{
	uint8_t *slots =
		slice->udp + PLAIN_LANES - PLAIN_UDP + 2 * sizeof(uint16_t) * (size_t)slice->count;
	const uint16_t *z = &batch->z[slice->at];
	uint32_t changes = 0;
	uint8_t flags = 0;

	if (slice->count < FEW) {
		packet_word *to = (packet_word *)slots;

		for (unsigned int l = 0; l < slice->count; l++) {
			changes += checksum_change(to[l], z[l]);
			to[l] = z[l];
		}
	} else {
		changes = slots_replace(slots, z, slice->count);
	}

	for (unsigned int l = 0; l < slice->count; l++)
		flags |= batch->flags[slice->at + l];
	plain_reply(slice->udp, slice->frame, changes, request_status_ok(flags));
	return flags;
}

static void
answer_slices(const struct batch *batch, struct batch_run *run)
{
	uint64_t exceptions = 0;

	for (unsigned int s = 0; s < batch->slice_count; s++) {
		const struct slice *slice = &batch->slice[s];
		uint8_t flags = 0;

		if (unlikely(slice->udp == NULL))
			request_write_lanes(slice->request, slice->first, &batch->z[slice->at],
				&batch->flags[slice->at], slice->count);
		else
			flags = answer_plain(slice, batch);
		exceptions += flags_spread(flags);
	}
	run->exceptions += exceptions;
}

void
batch_run(struct batch *batch, struct batch_run *run)
{
	branch_run(batch->branch, &run->lanes, batch->op, batch->x, batch->y, batch->z,
		batch->flags, batch->lane_count);
	answer_slices(batch, run);
	batch->lane_count = 0;
	batch->slice_count = 0;
}

void
batch_add(struct batch *batch, struct batch_run *run, struct request *request)
{
	for (uint32_t first = 0; first < request->count;) {
		uint32_t room = NETFC_BATCH - batch->lane_count;
		uint32_t count = RTE_MIN(room, request->count - first);

		request_read_lanes(request, first, &batch->x[batch->lane_count],
			&batch->y[batch->lane_count], count);
		batch->slice[batch->slice_count++] = (struct slice){
			.request = request,
			.first = first,
			.at = (uint16_t)batch->lane_count,
			.count = (uint16_t)count,
		};
		batch->lane_count += count;
		first += count;
		if (batch->lane_count == NETFC_BATCH)
			batch_run(batch, run);
	}
}
