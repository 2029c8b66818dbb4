/* SPDX-License-Identifier: BSD-3-Clause */
#include "branch.h"
#include "slots.h"

static void
run_stages(const struct branch *branch, struct netfc_lanes *lanes, unsigned int count)
{
	for (unsigned int s = 0; s < branch->stage_count; s++) {
		const struct stage *stage = &branch->stage[s];
		const struct netfc_step *step = stage->step;

		if (stage->match != NULL)
			match_lookup(stage->match, lanes->field[step->a], lanes->field[step->dst],
				count);
		else
			netfc_step_run(step, lanes, count);
	}
}

void
group_run(const struct group *group, struct netfc_lanes *lanes, const uint16_t *x,
	const uint16_t *y, uint16_t *z, uint8_t *flags, unsigned int count)
{
	const struct branch *branch = group->branch;

	if (branch->kernel != NULL) {
		vector_run_lanes(branch->kernel, group->op, x, y, z, flags, count);
		return;
	}
	slots_read(x, lanes->field[NETFC_X], count);
	slots_read(y, lanes->field[NETFC_Y], count);
	for (unsigned int l = 0; l < count; l++)
		lanes->field[NETFC_OP][l] = group->op - NETFC_ADD;
	run_stages(branch, lanes, count);
	slots_write(lanes->field[NETFC_Z], z, count);
	for (unsigned int l = 0; l < count; l++)
		flags[l] = (uint8_t)lanes->field[NETFC_FLAGS][l];
}
