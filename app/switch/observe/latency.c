/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include <rte_lcore.h>
#include <rte_malloc.h>

#include "json/json_count.h"
#include "observe/latency.h"

/* Telemetry shows 256 names at the most: there are no more buckets than that. */
#define SHOWN_PER_POWER 4
#define SHOWN_STEPS (HISTOGRAM_STEPS / SHOWN_PER_POWER)

_Static_assert(HISTOGRAM_BUCKETS / SHOWN_STEPS <= 256, "telemetry can show all buckets");

int
latency_create(struct app *app)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		struct lcore *lcore = &app->lcore[lcore_id];

		if (!app->options.latency || !lcore_works(lcore))
			continue;
		lcore->latency = rte_zmalloc_socket("latency", sizeof(*lcore->latency),
			RTE_CACHE_LINE_SIZE, (int)rte_lcore_to_socket_id(lcore_id));
		if (lcore->latency == NULL)
			return -1;
	}
	return 0;
}

void
latency_free(struct app *app)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id)
		rte_free(app->lcore[lcore_id].latency);
}

void
latency_sum(const struct app *app, struct histogram *histogram)
{
	unsigned int lcore_id;

	*histogram = (struct histogram){0};
	RTE_LCORE_FOREACH (lcore_id) {
		if (app->lcore[lcore_id].latency != NULL)
			histogram_merge(histogram, app->lcore[lcore_id].latency);
	}
}

static json_t *
buckets_object(const struct histogram *histogram)
{
	json_t *buckets = json_object();

	for (uint32_t first = 0; first < HISTOGRAM_BUCKETS; first += SHOWN_STEPS) {
		uint64_t packets = 0;
		char bound[24];

		for (uint32_t index = first; index < first + SHOWN_STEPS; index++)
			packets += histogram->bucket[index];
		if (packets == 0)
			continue;
		snprintf(
			bound, sizeof(bound), "%" PRIu64, histogram_bound(first + SHOWN_STEPS - 1));
		json_object_set_new(buckets, bound, json_count(packets));
	}
	return buckets;
}

json_t *
latency_json(const struct app *app)
{
	struct histogram histogram;
	json_t *object;

	if (!app->options.latency)
		return NULL;
	latency_sum(app, &histogram);
	object = json_object();
	json_object_set_new(object, "tsc_hz", json_count(rte_get_tsc_hz()));
	json_object_set_new(object, "count", json_count(histogram.count));
	json_object_set_new(object, "least", json_count(histogram.least));
	json_object_set_new(object, "mean",
		json_count(histogram.count != 0 ? histogram.sum / histogram.count : 0));
	json_object_set_new(object, "p50", json_count(histogram_percentile(&histogram, 0.5)));
	json_object_set_new(object, "p90", json_count(histogram_percentile(&histogram, 0.9)));
	json_object_set_new(object, "p99", json_count(histogram_percentile(&histogram, 0.99)));
	json_object_set_new(object, "p99_9", json_count(histogram_percentile(&histogram, 0.999)));
	json_object_set_new(object, "greatest", json_count(histogram.greatest));
	json_object_set_new(object, "buckets", buckets_object(&histogram));
	return object;
}
