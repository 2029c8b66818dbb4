/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "batch.h"
#include "ones.h"
#include "pipeline.h"

/* Operations on lanes. */
#define OPS 4
#define BATCHES (NETFC_FORMAT_END * OPS)

_Static_assert((int)PIPELINE_BURST <= ONES_MAX, "a burst has more packets than ones");

/* So many packets a kernel computes where they are at once. */
#define AT_ONCE 8

/* How many packets ahead bytes are fetched. */
#define PREFETCH 4

struct pipeline {
	struct plain_shape plain;
	bool queries; /* they are answered by somebody else */
	uint16_t udp_port;
	uint32_t loaded; /* a bit per format */
	struct vector_kernel *kernel[NETFC_FORMAT_END];
	struct match_stage *match[NETFC_FORMAT_END][NETFC_MAX_TABLES];
	struct branch branch[NETFC_FORMAT_END][NETFC_BRANCHES];
};

/* Take packets of a run. */
typedef uint16_t (*take_fn)(struct pipeline_worker *worker, struct rte_mbuf **mbufs,
	struct frame *frames, uint16_t count);

struct pipeline_worker {
	struct pipeline_counters counters;
	const struct pipeline *pipeline;
	struct plain_like like; /* the last plain request, and what becomes of those like it */
	take_fn take;
	unsigned int index;   /* of the batch, or of the ones, that they belong to */
	uint32_t filled_ones; /* with requests, a bit each */
	uint32_t filled;      /* batches with lanes, a bit each */
	struct batch_run run;
	struct request request[PIPELINE_BURST];
	struct ones ones[BATCHES];
	struct batch batch[BATCHES];
} __rte_cache_aligned;

static unsigned int
batch_index(unsigned int format, enum netfc_op op)
{
	return format * OPS + (op - NETFC_ADD);
}

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
		pipeline->plain.batch[format * PLAIN_CODES + op] =
			(uint8_t)(batch_index(format, op) + 1);
	pipeline->loaded |= UINT32_C(1) << format;
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
	pipeline->udp_port = config->udp_port;
	pipeline->queries = config->queries;
	plain_describe(&pipeline->plain, config->udp_port);
	for (unsigned int format = 0; format < NETFC_FORMAT_END && error == 0; format++) {
		if (config->sets[format] != NULL)
			error = create_format(pipeline, config, format);
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
		vector_free(pipeline->kernel[format]);
		for (unsigned int t = 0; t < NETFC_MAX_TABLES; t++)
			match_free(pipeline->match[format][t]);
	}
	rte_free(pipeline);
}

const char *
pipeline_kernel(const struct pipeline *pipeline, unsigned int format)
{
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
	plain_like_none(&worker->like);
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++) {
		for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++) {
			unsigned int index = batch_index(format, op);

			worker->batch[index].op = worker->ones[index].op = op;
			worker->batch[index].branch = worker->ones[index].branch =
				&pipeline->branch[format][netfc_op_branch(op)];
		}
	}
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

/*
 * Plain requests mostly come in runs of those that are alike, which need no more than being
 * recognised. A run goes on from burst to burst. Each way takes the packets up to the first that is
 * not of the run, in a loop of its own, and returns how many.
 */
static __rte_always_inline bool
goes_on(const struct pipeline_worker *worker, struct rte_mbuf **mbufs, uint16_t at, uint16_t count)
{
	if (at + PREFETCH < count)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[at + PREFETCH], void *));
	return at < count && plain_is_like(&worker->like, mbufs[at]);
}

static uint16_t
take_ones(struct pipeline_worker *worker, struct rte_mbuf **mbufs, struct frame *frames,
	uint16_t count)
{
	struct ones *ones = &worker->ones[worker->index];
	unsigned int gathered = ones->count;
	uint16_t at = 0;

	for (; goes_on(worker, mbufs, at, count); at++) {
		frames[at] = worker->like.frame;
		ones_add(ones, gathered + at,
			rte_pktmbuf_mtod_offset(mbufs[at], uint8_t *, PLAIN_UDP), &frames[at]);
	}
	ones->count = gathered + at;
	worker->filled_ones |= UINT32_C(1) << worker->index;
	return at;
}

static uint16_t
take_few(struct pipeline_worker *worker, struct rte_mbuf **mbufs, struct frame *frames,
	uint16_t count)
{
	struct batch *batch = &worker->batch[worker->index];
	const unsigned int lanes = worker->like.count;
	uint16_t at = 0;

	for (; goes_on(worker, mbufs, at, count); at++) {
		frames[at] = worker->like.frame;
		batch_add_plain(batch, &worker->run,
			rte_pktmbuf_mtod_offset(mbufs[at], uint8_t *, PLAIN_UDP), lanes,
			&frames[at]);
	}
	worker->filled |= UINT32_C(1) << worker->index;
	return at;
}

/* A kernel computes packets where they are, a few at a time while they are in the cache. */
static uint16_t
take_many(struct pipeline_worker *worker, struct rte_mbuf **mbufs, struct frame *frames,
	uint16_t count)
{
	const struct batch *batch = &worker->batch[worker->index];
	struct vector_packet packets[AT_ONCE];
	uint16_t at = 0;

	count = RTE_MIN(count, AT_ONCE);
	for (; goes_on(worker, mbufs, at, count); at++) {
		frames[at] = worker->like.frame;
		packets[at].slots = rte_pktmbuf_mtod_offset(mbufs[at], uint8_t *, PLAIN_LANES);
		packets[at].count = worker->like.count;
	}
	vector_run_packets(batch->branch->kernel, batch->op, packets, at);
	for (uint16_t p = 0; p < at; p++) {
		plain_reply(packets[p].slots - (PLAIN_LANES - PLAIN_UDP), &frames[p],
			packets[p].changes, request_status_ok(packets[p].flags));
		worker->run.exceptions += flags_spread(packets[p].flags);
	}
	return at;
}

/* Start a run; false if its first packet is not plain, or only stages can compute so many lanes. */
static __rte_noinline bool
start_run(struct pipeline_worker *worker, const struct rte_mbuf *mbuf)
{
	const struct plain_like *like = &worker->like;
	unsigned int index = plain_learn(&worker->pipeline->plain, mbuf, &worker->like);

	if (index-- == 0)
		return false;
	worker->index = index;
	if (like->count == 1 && like->status == 0)
		worker->take = take_ones;
	else if (like->count < SLOTS_FEW)
		worker->take = take_few;
	else
		worker->take = take_many;
	if (worker->take != take_many || worker->batch[index].branch->kernel != NULL)
		return true;
	plain_like_none(&worker->like);
	return false;
}

/* Whatever a packet is: parse it, refuse a wrong request, gather a right one's lanes. */
static bool
take_any(struct pipeline_worker *worker, struct rte_mbuf *mbuf, struct frame *frame,
	struct request *request)
{
	const struct pipeline *pipeline = worker->pipeline;
	unsigned int index;
	int code;

	frame_parse(mbuf, frame);
	frame->netfc_port = frame->udp && frame->udp_port == pipeline->udp_port;
	code = request_parse(mbuf, frame, pipeline->udp_port, pipeline->loaded, request);
	if (code < 0)
		return false;
	if (code == NETFC_STATUS_QUERY && pipeline->queries && request->count == 1) {
		frame->query = true;
		return false;
	}
	frame->answered = true;
	worker->counters.netfc_packets++;
	if (code != NETFC_STATUS_OK) {
		request_finish(request, (enum netfc_status)code);
		worker->counters.errors[code]++;
		return false;
	}
	index = batch_index(request->format, request->op);
	batch_add(&worker->batch[index], &worker->run, request);
	worker->filled |= UINT32_C(1) << index;
	worker->counters.lanes += request->count;
	return true;
}

/*
 * Take the requests of a burst. Returns how many are in worker->request, to be finished once all
 * batches have been run; the plain ones are finished with their batches.
 */
static unsigned int
gather(struct pipeline_worker *worker, struct rte_mbuf **mbufs, struct frame *frames,
	uint16_t count)
{
	unsigned int requests = 0, plain = 0, lanes = 0;

	for (uint16_t at = 0; at < count;) {
		uint16_t some;

		if (!plain_is_like(&worker->like, mbufs[at]) && !start_run(worker, mbufs[at])) {
			requests += take_any(
				worker, mbufs[at], &frames[at], &worker->request[requests]);
			at++;
			continue;
		}
		some = worker->take(worker, mbufs + at, frames + at, (uint16_t)(count - at));
		plain += some;
		lanes += some * worker->like.count;
		at = (uint16_t)(at + some);
	}
	worker->counters.netfc_packets += plain;
	worker->counters.errors[NETFC_STATUS_OK] += plain + requests;
	worker->counters.lanes += lanes;
	return requests;
}

static void
run_batches(struct pipeline_worker *worker)
{
	for (; worker->filled_ones != 0; worker->filled_ones &= worker->filled_ones - 1)
		worker->run.exceptions +=
			ones_run(&worker->ones[rte_bsf32(worker->filled_ones)], &worker->run.lanes);
	for (; worker->filled != 0; worker->filled &= worker->filled - 1) {
		struct batch *batch = &worker->batch[rte_bsf32(worker->filled)];

		if (batch->lane_count > 0)
			batch_run(batch, &worker->run);
	}
}

void
pipeline_process(struct pipeline_worker *worker, struct rte_mbuf **mbufs, struct frame *frames,
	uint16_t count)
{
	unsigned int requests = gather(worker, mbufs, frames, count);

	run_batches(worker);
	for (unsigned int r = 0; r < requests; r++) {
		request_finish(&worker->request[r], NETFC_STATUS_OK);
		worker->run.exceptions += flags_spread(worker->request[r].flags);
	}
	count_exceptions(&worker->counters, worker->run.exceptions);
	worker->run.exceptions = 0;
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
	const struct pipeline *pipeline = worker->pipeline;
	struct request request;

	request_parse(mbuf, frame, pipeline->udp_port, pipeline->loaded, &request);
	request_write_answer(&request, answer->ratio, answer->connections, answer->bytes);
	frame->query = false;
	frame->answered = true;
	request_finish(&request, NETFC_STATUS_OK);
	worker->counters.netfc_packets++;
	worker->counters.errors[NETFC_STATUS_OK]++;
}
