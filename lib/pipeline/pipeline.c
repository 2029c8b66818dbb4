/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "batch.h"
#include "pipeline.h"

struct pipeline {
	uint16_t udp_port;
	uint32_t loaded; /* a bit per format */
	struct match_stage *match[NETFC_FORMAT_END][NETFC_MAX_TABLES];
	struct branch branch[NETFC_FORMAT_END][NETFC_BRANCHES];
};

struct pipeline_worker {
	struct pipeline_counters counters;
	const struct pipeline *pipeline;
	struct request request[PIPELINE_BURST];
	struct batch batch[NETFC_FORMAT_END][NETFC_BRANCHES];
} __rte_cache_aligned;

/* Tables too small for a match stage are arrays in every room, like a switch's constant entries. */
static int
create_stages(struct pipeline *pipeline, const struct pipeline_config *config, unsigned int format)
{
	const struct netfc_set *set = config->sets[format];

	for (unsigned int t = 0; t < netfc_set_table_count(set); t++) {
		const struct netfc_table *table = netfc_set_table(set, t);
		enum match_kind kind = netfc_table_is_match(table) ? config->match : MATCH_DIRECT;
		int error =
			match_create(kind, table, config->socket_id, &pipeline->match[format][t]);

		if (error != 0)
			return error;
	}
	return 0;
}

static void
link_branch(struct pipeline *pipeline, const struct netfc_set *set, enum netfc_branch branch)
{
	const struct netfc_program *program = netfc_set_program(set, branch);
	unsigned int format = netfc_format_id(netfc_set_format(set));
	struct branch *linked = &pipeline->branch[format][branch];

	linked->stage_count = program->step_count;
	for (unsigned int s = 0; s < program->step_count; s++) {
		const struct netfc_step *step = &program->step[s];

		linked->stage[s].step = step;
		if (step->kind == NETFC_STEP_LOOKUP)
			linked->stage[s].match = pipeline->match[format][step->table];
	}
}

int
pipeline_create(const struct pipeline_config *config, struct pipeline **result)
{
	struct pipeline *pipeline;
	int error = 0;

	pipeline = rte_zmalloc_socket(
		"pipeline", sizeof(*pipeline), RTE_CACHE_LINE_SIZE, config->socket_id);
	if (pipeline == NULL)
		return -ENOMEM;
	pipeline->udp_port = config->udp_port;
	for (unsigned int format = 0; format < NETFC_FORMAT_END && error == 0; format++) {
		if (config->sets[format] == NULL)
			continue;
		error = create_stages(pipeline, config, format);
		pipeline->loaded |= UINT32_C(1) << format;
		for (unsigned int branch = 0; branch < NETFC_BRANCHES; branch++)
			link_branch(pipeline, config->sets[format], branch);
	}
	if (error != 0) {
		pipeline_free(pipeline);
		return error;
	}
	*result = pipeline;
	return 0;
}

void
pipeline_free(struct pipeline *pipeline)
{
	if (pipeline == NULL)
		return;
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++) {
		for (unsigned int t = 0; t < NETFC_MAX_TABLES; t++)
			match_free(pipeline->match[format][t]);
	}
	rte_free(pipeline);
}

struct pipeline_worker *
pipeline_worker_create(const struct pipeline *pipeline, int socket_id)
{
	struct pipeline_worker *worker;

	worker = rte_zmalloc_socket(
		"pipeline_worker", sizeof(*worker), RTE_CACHE_LINE_SIZE, socket_id);
	if (worker != NULL)
		worker->pipeline = pipeline;
	return worker;
}

void
pipeline_worker_free(struct pipeline_worker *worker)
{
	rte_free(worker);
}

const struct pipeline_counters *
pipeline_worker_counters(const struct pipeline_worker *worker)
{
	return &worker->counters;
}

static void
refuse(struct pipeline_worker *worker, struct request *request, enum netfc_status code)
{
	request_finish(request, code);
	worker->counters.errors[code]++;
}

/* Find the requests of a burst: refuse the wrong ones, gather the lanes of the others. */
static unsigned int
gather(struct pipeline_worker *worker, struct rte_mbuf **mbufs, struct frame *frames,
	uint16_t count)
{
	const struct pipeline *pipeline = worker->pipeline;
	unsigned int requests = 0;

	for (uint16_t i = 0; i < count; i++) {
		struct request *request = &worker->request[requests];
		enum netfc_branch branch;
		int code;

		if (i + 1 < count)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + 1], void *));
		frame_parse(mbufs[i], &frames[i]);
		frames[i].netfc_port = frames[i].udp && frames[i].udp_port == pipeline->udp_port;
		code = request_parse(
			mbufs[i], &frames[i], pipeline->udp_port, pipeline->loaded, request);
		if (code < 0)
			continue;
		frames[i].answered = true;
		worker->counters.netfc_packets++;
		if (code != NETFC_STATUS_OK) {
			refuse(worker, request, (enum netfc_status)code);
			continue;
		}
		branch = netfc_op_branch(request->op);
		batch_add(&worker->batch[request->format][branch],
			&pipeline->branch[request->format][branch], request);
		worker->counters.lanes += request->count;
		requests++;
	}
	return requests;
}

static void
count_exceptions(struct pipeline_counters *counters, uint8_t flags)
{
	for (unsigned int bit = 0; bit < RTE_DIM(counters->exceptions); bit++)
		counters->exceptions[bit] += flags >> bit & 1;
}

void
pipeline_process(struct pipeline_worker *worker, struct rte_mbuf **mbufs, struct frame *frames,
	uint16_t count)
{
	unsigned int requests = gather(worker, mbufs, frames, count);

	if (requests == 0)
		return;
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++) {
		for (unsigned int branch = 0; branch < NETFC_BRANCHES; branch++)
			batch_run(&worker->batch[format][branch],
				&worker->pipeline->branch[format][branch]);
	}
	for (unsigned int r = 0; r < requests; r++) {
		request_finish(&worker->request[r], NETFC_STATUS_OK);
		count_exceptions(&worker->counters, worker->request[r].flags);
	}
	worker->counters.errors[NETFC_STATUS_OK] += requests;
}
