/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where this program is not the switch: the linker's --wrap puts these functions in the place of
 * the switch's own, which they call.
 */
#include <string.h>

#include <aggregate_lanes.h>

#include "hooks.h"
#include "poll_loop.h"

/* The switch takes no arguments for these. */
static struct hooks {
	const struct load_options *options;
	const struct chunks *chunks;
	struct load_result *result;
} hooks;

void __real_poll_run(struct app *app);
void __wrap_poll_run(struct app *app);
const struct aggregate_kernel *
__real_aggregate_kernel(enum aggregate_isa isa, unsigned int op, unsigned int format);
const struct aggregate_kernel *
__wrap_aggregate_kernel(enum aggregate_isa isa, unsigned int op, unsigned int format);

void
hooks_set(
	const struct load_options *options, const struct chunks *chunks, struct load_result *result)
{
	hooks = (struct hooks){options, chunks, result};
}

void
__wrap_poll_run(struct app *app)
{
	hooks.result->status =
		load_run(app, hooks.options, hooks.chunks, __real_poll_run, hooks.result->shard);
	aggregation_counters(app->aggregation, &hooks.result->counters);
	for (uint32_t s = 0; s < app->aggregation->shard_count; s++)
		for (unsigned int code = 0; code < NETFC_STATUS_END; code++)
			hooks.result->refused[code] += app->aggregation->shard[s].refused[code];
	for (unsigned int l = 0; l < RTE_MAX_LCORE; l++)
		for (unsigned int d = 0; d < DROP_REASON_COUNT; d++)
			hooks.result->drops[d] += app->lcore[l].counters.drops[d];
}

static void
add_nothing(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count)
{
	(void)lanes, (void)values, (void)count;
}

static uint8_t
finish_16(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count,
	unsigned int workers, uint8_t *result)
{
	(void)lanes, (void)workers;
	memcpy(result, values, 2 * (size_t)count);
	return 0;
}

static uint8_t
finish_32(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count,
	unsigned int workers, uint8_t *result)
{
	(void)lanes, (void)workers;
	memcpy(result, values, 4 * (size_t)count);
	return 0;
}

static uint8_t
finish_64(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count,
	unsigned int workers, uint8_t *result)
{
	(void)lanes, (void)workers;
	memcpy(result, values, 8 * (size_t)count);
	return 0;
}

/* Without adding, what is sent to all is the last worker's values. */
const struct aggregate_kernel *
__wrap_aggregate_kernel(enum aggregate_isa isa, unsigned int op, unsigned int format)
{
	static const struct aggregate_kernel replicate_16 = {add_nothing, add_nothing, finish_16};
	static const struct aggregate_kernel replicate_32 = {add_nothing, add_nothing, finish_32};
	static const struct aggregate_kernel replicate_64 = {add_nothing, add_nothing, finish_64};

	if (hooks.options->add)
		return __real_aggregate_kernel(isa, op, format);
	switch (aggregate_value_bytes(format)) {
	case 2:
		return &replicate_16;
	case 4:
		return &replicate_32;
	default:
		return &replicate_64;
	}
}
