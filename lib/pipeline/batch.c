/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>

#include "batch.h"
#include "checksum.h"
#include "slots.h"

/* Answer a plain request, whose lanes are all there. */
static void
answer_plain(const struct slice *slice, const struct batch *batch, struct batch_run *run)
{
	const uint16_t *z = &batch->z[slice->at];
	uint8_t *slots = slice->udp + PLAIN_LANES - PLAIN_UDP + 4 * (uint32_t)slice->count;
	uint8_t flags = batch->flags[slice->at];
	uint64_t changes;

	if (likely(slice->count == 1)) {
		packet_word *slot = (packet_word *)slots;

		changes = checksum_change(*slot, *z);
		*slot = *z;
	} else {
		changes = slots_replace(slots, z, slice->count);
		for (unsigned int l = 1; l < slice->count; l++)
			flags |= batch->flags[slice->at + l];
	}
	request_reply(slice->udp, slice->frame, changes, request_status_ok(flags));
	run->exceptions += batch_spread_flags(flags);
}

void
batch_run(struct batch *batch, struct batch_run *run)
{
	branch_run(batch->branch, &run->lanes, batch->op, batch->x, batch->y, batch->z,
		batch->flags, batch->lane_count);
	for (unsigned int s = 0; s < batch->slice_count; s++) {
		const struct slice *slice = &batch->slice[s];

		if (likely(slice->udp != NULL))
			answer_plain(slice, batch, run);
		else
			request_write_lanes(slice->request, slice->first, &batch->z[slice->at],
				&batch->flags[slice->at], slice->count);
	}
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
