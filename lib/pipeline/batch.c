/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>

#include "batch.h"

void
batch_run(struct batch *batch, const struct branch *branch)
{
	struct netfc_lanes *lanes = &batch->lanes;

	if (batch->lane_count == 0)
		return;
	for (unsigned int s = 0; s < branch->stage_count; s++) {
		const struct stage *stage = &branch->stage[s];
		const struct netfc_step *step = stage->step;

		if (stage->match != NULL)
			match_lookup(stage->match, lanes->field[step->a], lanes->field[step->dst],
				batch->lane_count);
		else
			netfc_step_run(step, lanes, batch->lane_count);
	}
	for (unsigned int s = 0; s < batch->slice_count; s++) {
		const struct slice *slice = &batch->slice[s];

		request_write_lanes(slice->request, slice->first, lanes, slice->at, slice->count);
	}
	batch->lane_count = 0;
	batch->slice_count = 0;
}

void
batch_add(struct batch *batch, const struct branch *branch, struct request *request)
{
	for (uint32_t first = 0; first < request->count;) {
		uint32_t room = NETFC_BATCH - batch->lane_count;
		uint32_t count = RTE_MIN(room, request->count - first);

		request_read_lanes(request, first, &batch->lanes, batch->lane_count, count);
		batch->slice[batch->slice_count++] = (struct slice){
			.request = request,
			.first = first,
			.at = (uint16_t)batch->lane_count,
			.count = (uint16_t)count,
		};
		batch->lane_count += count;
		first += count;
		if (batch->lane_count == NETFC_BATCH)
			batch_run(batch, branch);
	}
}
