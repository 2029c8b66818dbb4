/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>

#include "batch.h"
#include "checksum.h"
#include "slots.h"

/* Answer a plain request. Returns its exception flags. */
static uint8_t
answer_plain(const struct slice *slice, const uint16_t *z, const uint8_t *flags)
{
	uint8_t *slots =
		slice->udp + PLAIN_LANES - PLAIN_UDP + 2 * sizeof(uint16_t) * (size_t)slice->count;
	uint64_t changes = slots_replace_few(slots, z, slice->count);
	uint8_t any = slots_flags_few(flags, slice->count);

	plain_reply(slice->udp, slice->frame, changes, request_status_ok(any));
	return any;
}

static void
answer_slices(const struct batch *batch, struct batch_run *run)
{
	uint64_t exceptions = 0;

	for (unsigned int s = 0; s < batch->slice_count; s++) {
		const struct slice *slice = &batch->slice[s];
		const uint16_t *z = &batch->z[SLOTS_MARGIN + slice->at];
		const uint8_t *flags = &batch->flags[SLOTS_MARGIN + slice->at];

		if (unlikely(slice->udp == NULL))
			request_write_lanes(slice->request, slice->first, z, flags, slice->count);
		else
			exceptions += flags_spread(answer_plain(slice, z, flags));
	}
	run->exceptions += exceptions;
}

void
batch_run(struct batch *batch, struct batch_run *run)
{
	branch_run(batch->branch, &run->lanes, batch->op, batch->x, batch->y,
		batch->z + SLOTS_MARGIN, batch->flags + SLOTS_MARGIN, batch->lane_count);
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
