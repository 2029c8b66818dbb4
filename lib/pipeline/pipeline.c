/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_malloc.h>

#include "batch.h"
#include "further_create.h"
#include "in_place.h"
#include "mbuf_bytes.h"
#include "pipeline.h"
#include "template.h"
#include "walk.h"
#include "wide.h"

struct pipeline {
	struct classifier classifier;
	struct walk walk;
	struct vector_kernel *kernel[NETFC_FORMAT_END];
	struct vector_mixed
		*mixed;           /* NULL: each format and operation has its own kernel, or none */
	unsigned int group_lanes; /* mixed computes bursts of so many a group at the most */
	struct match_stage *match[NETFC_FORMAT_END][NETFC_MAX_TABLES];
	struct branch branch[NETFC_FORMAT_END][NETFC_BRANCHES];
	struct wide *wide; /* NULL: no set of binary32 */
};

struct pipeline_worker {
	struct pipeline_counters counters;
	const struct pipeline *pipeline;
	struct template template;
	struct classified classified;
	struct netfc_lanes lanes;
	struct batches batches;
} __rte_cache_aligned;

/* Tables too small for a match stage are arrays in every engine, like a switch's constant entries.
 */
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

/* Step by step, or through a kernel that joins the steps. */
static int
create_staged(struct pipeline *pipeline, const struct pipeline_config *config, unsigned int format)
{
	int error = create_stages(pipeline, config, format);

	if (error != 0)
		return error;
	error = vector_create(config->sets[format], pipeline->match[format], config->isa,
		config->socket_id, &pipeline->kernel[format]);
	return error == -ENOTSUP ? 0 : error;
}

/* An FPU needs a format, not the set; arrays need no stages where a kernel has all of the set. */
static int
create_format(struct pipeline *pipeline, const struct pipeline_config *config, unsigned int format)
{
	const struct netfc_set *set = config->sets[format];
	struct vector_kernel **kernel = &pipeline->kernel[format];
	int error = -ENOTSUP;

	if (config->match == MATCH_FPU)
		error = vector_fpu_create(
			netfc_set_format(set), config->isa, config->socket_id, kernel);
	else if (config->match == MATCH_DIRECT)
		error = vector_create(set, NULL, config->isa, config->socket_id, kernel);
	if (error == -ENOTSUP)
		error = create_staged(pipeline, config, format);
	for (unsigned int branch = 0; branch < NETFC_BRANCHES && error == 0; branch++) {
		if (*kernel != NULL)
			pipeline->branch[format][branch].kernel = *kernel;
		else
			link_branch(pipeline, set, branch);
	}
	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++)
		pipeline->walk.group[group_index(format, op)] =
			(struct group){&pipeline->branch[format][netfc_op_branch(op)], op};
	pipeline->walk.loaded |= UINT32_C(1) << format;
	classifier_load(&pipeline->classifier, format);
	return error;
}

/*
 * The kernel for lanes of any group takes longer for each than one of a group's own, which takes
 * longer to start. With so many lanes a group, both take as long: groups' own that are folded, and
 * others. What `lpm` has of groups' own is slower with any number of lanes.
 */
#define FOLDED_GROUP_LANES 12
#define GROUP_LANES 32

static unsigned int
choose_group_lanes(const struct pipeline *pipeline, enum match_kind match)
{
	if (match == MATCH_LPM)
		return BATCH_LANES;
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++) {
		if (pipeline->kernel[format] != NULL && !pipeline->kernel[format]->folded)
			return GROUP_LANES;
	}
	return FOLDED_GROUP_LANES;
}

/* A kernel for bursts of several formats or operations, where there is one. */
static int
create_mixed(struct pipeline *pipeline, const struct pipeline_config *config)
{
	int error = -ENOTSUP;

	pipeline->group_lanes = choose_group_lanes(pipeline, config->match);
	if (config->match == MATCH_DIRECT)
		error = vector_mixed_create(
			config->sets, NULL, config->isa, config->socket_id, &pipeline->mixed);
	else if (config->match == MATCH_LPM)
		error = vector_mixed_create(config->sets, pipeline->match, config->isa,
			config->socket_id, &pipeline->mixed);
	return error == -ENOTSUP ? 0 : error;
}

/* binary32: groups further to those of 16 bits. */
static int
create_wide(struct pipeline *pipeline, const struct pipeline_config *config)
{
	int error = wide_create(config->sets[NETFC_FP32], config->match, config->isa,
		config->socket_id, &pipeline->wide);

	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV && error == 0; op++)
		error = further_add_wide(
			&pipeline->walk.further, NETFC_FP32, op, wide_kernel(pipeline->wide, op));
	pipeline->walk.loaded |= UINT32_C(1) << NETFC_FP32;
	return error;
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
	pipeline->walk.udp_port = config->udp_port;
	pipeline->walk.queries = config->queries;
	classifier_init(
		&pipeline->classifier, config->udp_port, config->isa, &pipeline->walk.further);
	for (unsigned int format = 0; format < NETFC_FORMAT_END && error == 0; format++) {
		if (config->sets[format] != NULL)
			error = create_format(pipeline, config, format);
	}
	if (error == 0)
		error = create_mixed(pipeline, config);
	if (error == 0)
		error = further_create(&pipeline->walk.further, config);
	if (error == 0 && config->sets[NETFC_FP32] != NULL)
		error = create_wide(pipeline, config);
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
	vector_mixed_free(pipeline->mixed);
	further_clear(&pipeline->walk.further);
	wide_free(pipeline->wide);
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++) {
		vector_free(pipeline->kernel[format]);
		for (unsigned int t = 0; t < NETFC_MAX_TABLES; t++)
			match_free(pipeline->match[format][t]);
	}
	rte_free(pipeline);
}

const char *
pipeline_kernel(const struct pipeline *pipeline, unsigned int format)
{
	if (format == NETFC_FP32)
		return pipeline->wide != NULL ? wide_description(pipeline->wide) : NULL;
	return pipeline->kernel[format] != NULL ? pipeline->kernel[format]->description : NULL;
}

struct pipeline_worker *
pipeline_worker_create(const struct pipeline *pipeline, int socket_id)
{
	struct pipeline_worker *worker;

	worker = rte_zmalloc_socket(
		"pipeline_worker", sizeof(*worker), RTE_CACHE_LINE_SIZE, socket_id);
	if (worker == NULL)
		return NULL;
	worker->pipeline = pipeline;
	template_clear(&worker->template);
	batch_clear(&worker->batches);
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
count_exceptions(struct pipeline_counters *counters, uint64_t exceptions)
{
	for (unsigned int bit = 0; bit < RTE_DIM(counters->exceptions); bit++)
		counters->exceptions[bit] += exceptions >> 16 * bit & UINT16_MAX;
}

/* Requests of operations further to the four. Returns their exceptions. */
static uint64_t
compute_further(struct pipeline_worker *worker, const struct frame *frames,
	const struct classified *classified)
{
	struct pipeline_counters *counters = &worker->counters;

	counters->netfc_packets += classified->count[CLASS_FURTHER];
	counters->errors[NETFC_STATUS_OK] += classified->count[CLASS_FURTHER];
	return further_groups_run(&worker->pipeline->walk.further, classified, frames,
		&counters->lanes, counters->further);
}

/* The packets that are no matter for the fast path. Returns their exceptions. */
static uint64_t
walk_packets(struct pipeline_worker *worker, struct rte_mbuf **mbufs, struct frame *frames,
	const struct classified *classified)
{
	struct pipeline_counters *counters = &worker->counters;
	uint64_t exceptions = 0;

	for (unsigned int p = 0; p < classified->count[CLASS_WALK]; p++) {
		const unsigned int packet = classified->packet[CLASS_WALK][p];
		const struct walked walked = walk_packet(
			&worker->pipeline->walk, mbufs[packet], &frames[packet], &worker->lanes);

		if (!walked.answered)
			continue;
		counters->netfc_packets++;
		counters->errors[walked.code]++;
		counters->lanes += walked.lanes;
		if (walked.code == NETFC_STATUS_OK && walked.op > NETFC_DIV &&
			walked.op != NETFC_OP_NAME)
			counters->further[walked.op]++;
		exceptions += flags_spread(walked.flags);
	}
	return exceptions;
}

/* Classify a burst's first packet alone, for the template. */
static void
learn_first(struct pipeline_worker *worker, struct rte_mbuf **mbufs, struct frame *frames,
	struct classified *classified)
{
	classify(&worker->pipeline->classifier, mbufs, frames, 0, 1, classified);
	template_learn(&worker->template, mbufs, frames, 0, 1, classified);
	classified_clear(classified);
}

/*
 * Classify a burst. One that starts as the last one ended is compared with the template first, and
 * one that seems to be all alike becomes it.
 */
static void
sort_burst(struct pipeline_worker *worker, struct rte_mbuf **mbufs, struct frame *frames,
	unsigned int count, struct classified *classified)
{
	unsigned int alike;

	classified_clear(classified);
	alike = template_classify(&worker->template, mbufs, frames, count, classified);
	if (likely(alike == count))
		return;
	if (alike == 0 && count > 1 && template_is_likely(mbufs, count)) {
		learn_first(worker, mbufs, frames, classified);
		alike = template_classify(&worker->template, mbufs, frames, count, classified);
	}
	if (alike < count)
		classify(&worker->pipeline->classifier, mbufs, frames, alike, count, classified);
}

/* NULL: lanes are computed group by group. */
static const struct vector_mixed *
choose_mixed(const struct pipeline *pipeline, const struct gathered *gathered)
{
	const unsigned int differ = gathered_differ(gathered);
	/* No fewer than there are. */
	const unsigned int groups = 1u << __builtin_popcount(differ);

	if (differ == 0 || gathered->lanes > groups * pipeline->group_lanes)
		return NULL;
	return pipeline->mixed;
}

/* Requests that are no matter for the general walk. Returns their exceptions. */
static uint64_t
compute(struct pipeline_worker *worker, const struct frame *frames, struct classified *classified)
{
	const struct pipeline *pipeline = worker->pipeline;
	const struct group *groups = pipeline->walk.group;
	const struct vector_mixed *mixed = choose_mixed(pipeline, &classified->gathered);
	uint64_t *lanes = &worker->counters.lanes;
	uint64_t exceptions;

	*lanes += batch_gather(&worker->batches, classified, mixed != NULL);
	batch_run(&worker->batches, groups, mixed, &worker->lanes);
	exceptions = batch_scatter(&worker->batches, classified, frames, mixed != NULL);
	return exceptions + in_place_run(groups, classified, frames, lanes);
}

void
pipeline_process(struct pipeline_worker *worker, struct rte_mbuf **mbufs, struct frame *frames,
	uint16_t count)
{
	struct pipeline_counters *counters = &worker->counters;
	struct classified *classified = &worker->classified;
	uint64_t exceptions = 0;
	unsigned int requests;

	sort_burst(worker, mbufs, frames, count, classified);
	in_place_defer(worker->pipeline->walk.group, classified);
	requests = classified->count[CLASS_SINGLE] + classified->count[CLASS_LANES_8] +
		classified->count[CLASS_LANES_16] + classified->count[CLASS_IN_PLACE];
	counters->netfc_packets += requests;
	counters->errors[NETFC_STATUS_OK] += requests;
	if (requests > 0)
		exceptions = compute(worker, frames, classified);
	if (classified->count[CLASS_FURTHER] > 0)
		exceptions += compute_further(worker, frames, classified);
	exceptions += walk_packets(worker, mbufs, frames, classified);
	count_exceptions(counters, exceptions);
}

uint32_t
pipeline_query_destination(struct rte_mbuf *mbuf, const struct frame *frame)
{
	const uint32_t offset = frame_payload_offset(frame) + (uint32_t)sizeof(struct netfc_hdr);
	const packet_word *address;
	uint16_t copy[2];

	/* x holds the high half, y the low one. */
	address = rte_pktmbuf_read(mbuf, offset, sizeof(copy), copy);
	return (uint32_t)rte_be_to_cpu_16(address[0]) << 16 | rte_be_to_cpu_16(address[1]);
}

void
pipeline_answer_query(struct pipeline_worker *worker, struct rte_mbuf *mbuf, struct frame *frame,
	const struct pipeline_answer *answer)
{
	const struct walk *walk = &worker->pipeline->walk;
	struct request request;

	request_parse(mbuf, frame, walk->udp_port, walk->loaded, &walk->further, &request);
	request_write_answer(&request, answer->ratio, answer->connections, answer->bytes);
	frame->query = false;
	frame->answered = true;
	request_finish(&request, NETFC_STATUS_OK);
	worker->counters.netfc_packets++;
	worker->counters.errors[NETFC_STATUS_OK]++;
}
