/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "aggregate/aggregation.h"
#include "dpdk/worker_packet.h"
#include "load.h"

#define FIRST_UDP_PORT 40000
#define JOB 7
#define TOKEN UINT64_C(0x0123456789abcdef)
#define WARM_UP_SAMPLES 4
/* How often a reply's checksums are computed: the rest of it is compared each time. */
#define CHECKSUM_EVERY 16

/* How far workers have come with joining. */
struct joining {
	uint64_t cookie[AGGREGATE_MAX_WORKERS];
	uint64_t joined; /* bit w: all are here, says the switch */
	uint64_t session;
	unsigned int turn;
};

/* One receive queue: the workers' packets of one shard's chunks. */
struct load {
	const struct load_options *options;
	const struct chunks *chunks;
	struct app *app;
	struct load *all;           /* by queue */
	struct worker_keys *keys;   /* NULL: packets have no tags */
	struct load_counters *seen; /* by what this lcore sends */
	uint32_t own;               /* the lcore's shard, whose results it sends */
	uint32_t shard;             /* whose chunks its queue receives */
	uint32_t shard_slots;
	uint64_t begun;                      /* chunks, in groups of `ahead` */
	uint32_t turn;                       /* packets of the latest group */
	uint64_t results;                    /* of this shard; its lcore writes, another may read */
	uint64_t per_sample;                 /* TSC cycles */
	uint64_t since, busy, apart, values; /* of the sample that is being taken */
	unsigned int skipped;
	uint32_t floods;
	uint32_t bad; /* packets before the next good one */
	uint64_t made, received;
	struct rte_mbuf *queue[LOAD_QUEUE];
	bool done;
	struct joining joining;
} __rte_cache_aligned;

/* Nanoseconds that this lcore's thread has run: time in which others had the core does not count.
 */
static uint64_t
thread_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static struct flow
flow_of(const struct load *load, unsigned int worker, uint32_t shard)
{
	return (struct flow){
		.src_mac = {{0x02, 0, 0, 0, 1, (uint8_t)worker}},
		.dst_mac = load->app->port[0].endpoint.mac,
		.src_ip = {10, 0, 1, (uint8_t)worker},
		.dst_ip = {10, 0, 0, 1},
		.src_udp = (uint16_t)(FIRST_UDP_PORT + worker),
		.dst_udp = (uint16_t)(load->app->aggregation->port + shard),
	};
}

/* Number of the shard's chunk j. */
static uint32_t
number_of(const struct load *load, uint64_t j)
{
	uint64_t round = j / load->shard_slots, index = j % load->shard_slots;

	return (uint32_t)(round * load->options->slots + index * load->options->lcores +
		load->shard);
}

static void
write_join(struct load *load, unsigned int worker, struct rte_mbuf *mbuf)
{
	const struct load_options *options = load->options;
	const struct flow flow = flow_of(load, worker, 0);
	const struct aggregate_message message = {
		.op = AGGREGATE_JOIN,
		.worker = (uint8_t)worker,
		.job = JOB,
		.token = TOKEN,
		.join = {.workers = (uint8_t)options->chunks.workers,
			.slots = (uint16_t)options->slots,
			.bytes = (uint16_t)options->chunks.bytes,
			.cookie = load->joining.cookie[worker]},
	};

	worker_packet_write_short(
		mbuf, &flow, &message, worker_keys_of(load->keys, AGGREGATE_JOIN));
}

static struct aggregate_message
message_of(const struct load *load, const struct chunk *chunk, uint32_t number, unsigned int worker)
{
	return (struct aggregate_message){
		.op = chunk->op,
		.format = chunk->format,
		.worker = (uint8_t)worker,
		.count = chunk->count,
		.job = JOB,
		.id = number,
		.session = load->all[0].joining.session,
	};
}

static struct worker_body
chunk_body(const struct load *load, const struct chunk *chunk, unsigned int worker)
{
	return (struct worker_body){
		.bytes = chunk_values(chunk, worker),
		.length = chunk->bytes,
		.sum = chunk->sums[worker],
		.key = worker_keys_of(load->keys, AGGREGATE_SUM),
	};
}

static void
write_chunk(const struct load *load, uint32_t number, unsigned int worker, struct rte_mbuf *mbuf)
{
	const struct chunk *chunk = chunks_of(load->chunks, number);
	const struct flow flow = flow_of(load, worker, load->shard);
	const struct aggregate_message message = message_of(load, chunk, number, worker);
	const struct worker_body body = chunk_body(load, chunk, worker);

	worker_packet_write(mbuf, &flow, &message, &body);
}

static void
write_bad(struct load *load, uint32_t number, unsigned int worker, struct rte_mbuf *mbuf)
{
	const struct chunk *chunk = chunks_of(load->chunks, number);
	const struct flow flow = flow_of(load, worker, load->shard);
	const struct aggregate_message message = message_of(load, chunk, number, worker);
	const struct worker_body body = chunk_body(load, chunk, worker);
	enum bad_packet kind = load->floods++ % BAD_PACKETS;

	bad_packet_write(kind, mbuf, &flow, &message, &body);
	load->seen->bad[kind]++;
}

/* Whether the next group may begin: no worker sends a chunk before it has that of a round ago. */
static bool
may_begin(const struct load *load)
{
	const struct load *shard = &load->all[load->shard];
	uint64_t results = __atomic_load_n(&shard->results, __ATOMIC_ACQUIRE);
	uint64_t complete = results / load->options->chunks.workers;

	return !load->done && load->begun + load->options->ahead <= complete + load->shard_slots;
}

/* The next packet; false: there is none before results have come. */
static bool
make_packet_of_chunk(struct load *load, struct rte_mbuf *mbuf)
{
	const struct load_options *options = load->options;
	uint32_t number, worker;

	if (load->turn == options->ahead * options->chunks.workers) {
		if (!may_begin(load))
			return false;
		load->begun += options->ahead;
		load->turn = 0;
	}
	worker = load->turn / options->ahead;
	number = number_of(load, load->begun - options->ahead + load->turn % options->ahead);
	if (load->bad < options->flood) {
		load->bad++;
		write_bad(load, number, worker, mbuf);
		return true;
	}
	write_chunk(load, number, worker, mbuf);
	load->seen->sent++;
	load->turn++;
	load->bad = 0;
	return true;
}

static uint64_t
all_workers(const struct load *load)
{
	return UINT64_MAX >> (64 - load->options->chunks.workers);
}

static bool
make_packet(struct load *load, struct rte_mbuf *mbuf)
{
	const struct load *first = &load->all[0];

	if (__atomic_load_n(&first->joining.joined, __ATOMIC_ACQUIRE) == all_workers(load))
		return make_packet_of_chunk(load, mbuf);
	if (load != first)
		return false;
	write_join(load, load->joining.turn++ % load->options->chunks.workers, mbuf);
	return true;
}

/* Packets wait, as in the queue of a device: in the cache that cores share, not in this core's. */
static void
fill_queue(struct load *load)
{
	while (load->made - load->received < LOAD_QUEUE) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(load->app->pool);

		if (mbuf == NULL)
			return;
		if (!make_packet(load, mbuf)) {
			rte_pktmbuf_free(mbuf);
			return;
		}
		load->queue[load->made++ % LOAD_QUEUE] = mbuf;
	}
}

static void
free_queue(struct load *load)
{
	while (load->received < load->made)
		rte_pktmbuf_free(load->queue[load->received++ % LOAD_QUEUE]);
}

static void
take_sample(struct load *load)
{
	struct load_counters *seen = load->seen;
	double seconds = (double)load->busy / (double)NS_PER_S;

	if (load->skipped < WARM_UP_SAMPLES)
		load->skipped++;
	else if (seen->samples < LOAD_SAMPLES)
		seen->rate[seen->samples++] = (double)load->values / seconds;
	load->busy = load->values = 0;
	load->done = seen->samples == LOAD_SAMPLES;
}

/* What has passed since the last callback of this kind, but for the others', is the switch's. */
static void
take_time(struct load *load, uint64_t now)
{
	if (load->since != 0)
		load->busy += now - load->since - load->apart;
	load->apart = 0;
	if (load->busy >= load->per_sample)
		take_sample(load);
}

static void
quit_when_done(struct load *load)
{
	for (uint32_t l = 0; l < load->options->lcores; l++)
		if (!__atomic_load_n(&load->all[l].done, __ATOMIC_RELAXED))
			return;
	app_quit(load->app);
}

/* A rte_rx_callback_fn: the port itself has received nothing. */
static uint16_t
receive(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t count, uint16_t most,
	void *arg)
{
	struct load *load = arg;

	(void)port, (void)queue;
	take_time(load, thread_time());
	fill_queue(load);
	for (count = 0; count < most && load->received < load->made; count++)
		mbufs[count] = load->queue[load->received++ % LOAD_QUEUE];
	if (load->done)
		quit_when_done(load);
	load->since = thread_time();
	return count;
}

static void
take_join(struct load *load, const struct aggregate_message *message)
{
	struct joining *joining = &load->all[0].joining;

	if (message->reason == AGGREGATE_REASON_COOKIE) {
		joining->cookie[message->worker] = message->join.cookie;
	} else if (message->code == 0) {
		joining->session = aggregate_granted_session(message);
		if (load->keys != NULL && joining->joined == 0)
			worker_keys_set_session(load->keys, JOB, joining->session);
		__atomic_store_n(&joining->joined, joining->joined | UINT64_C(1) << message->worker,
			__ATOMIC_RELEASE);
	} else if (message->reason != AGGREGATE_REASON_WAITING) {
		load->seen->wrong++;
	}
}

static bool
is_right(const struct load *load, const struct worker_reply *reply)
{
	const struct aggregate_message *message = &reply->message;
	const struct chunk *chunk = chunks_of(load->chunks, message->id);
	const struct flow flow = flow_of(load, message->worker, load->own);

	return message->op == chunk->op && message->format == chunk->format &&
		message->count == chunk->count && message->job == JOB &&
		message->session == load->all[0].joining.session &&
		message->worker < load->chunks->workers && reply->dst_udp == flow.src_udp &&
		reply->src_udp == flow.dst_udp &&
		memcmp(reply->dst_ip, flow.src_ip, sizeof(rte_be32_t)) == 0 &&
		worker_keys_verify(load->keys, reply) &&
		(!load->options->add ||
			(message->flags == chunk->flags &&
				memcmp(message->values, chunk->result, chunk->bytes) == 0));
}

static void
take_reply(struct load *load, const struct rte_mbuf *mbuf)
{
	struct load_counters *seen = load->seen;
	bool look_twice = seen->results % CHECKSUM_EVERY == 0;
	struct worker_reply reply;

	if (!worker_packet_read(mbuf, look_twice, &reply)) {
		seen->other++;
	} else if (reply.message.op == AGGREGATE_JOIN) {
		take_join(load, &reply.message);
	} else if (reply.message.code != 0) {
		seen->refusals++;
	} else {
		seen->results++;
		load->values += reply.message.count;
		seen->values += reply.message.count;
		if (!is_right(load, &reply) || !reply.sound)
			seen->wrong++;
		__atomic_store_n(&load->results, load->results + 1, __ATOMIC_RELEASE);
	}
}

/* A rte_tx_callback_fn: the port frees the packets. */
static uint16_t
look_at_sent(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t count, void *arg)
{
	struct load *load = arg;
	uint64_t start = thread_time();

	(void)port, (void)queue;
	for (uint16_t i = 0; i < count; i++)
		take_reply(load, mbufs[i]);
	load->apart += thread_time() - start;
	return count;
}

/* Receive queue q is polled by lcore q in turn, whose shard is q, and who sends from queue q. */
static int
add_load(struct load *load, uint32_t q)
{
	const struct load_options *options = load->options;
	uint16_t port = load->app->port[0].id;

	load->own = q;
	load->shard = options->handed_over ? (q + 1) % options->lcores : q;
	load->shard_slots = options->slots / options->lcores;
	load->turn = options->ahead * options->chunks.workers;
	load->per_sample =
		(uint64_t)(options->seconds / (LOAD_SAMPLES + WARM_UP_SAMPLES) * (double)NS_PER_S);
	if (rte_eth_add_rx_callback(port, (uint16_t)q, receive, load) != NULL &&
		rte_eth_add_tx_callback(port, (uint16_t)q, look_at_sent, load) != NULL)
		return 0;
	fprintf(stderr, "cannot add callbacks to port %u\n", port);
	return -1;
}

int
load_run(struct app *app, const struct load_options *options, const struct chunks *chunks,
	void (*poll_run)(struct app *app), struct load_counters *counters)
{
	struct load *loads = aligned_alloc(RTE_CACHE_LINE_SIZE, options->lcores * sizeof(*loads));
	const struct aggregate_secret *secret = app->aggregation->secret;
	struct worker_keys *keys = secret == NULL ? NULL : worker_keys_create(secret);

	if (loads == NULL || (secret != NULL && keys == NULL)) {
		worker_keys_free(keys);
		free(loads);
		return -1;
	}
	memset(loads, 0, options->lcores * sizeof(*loads));
	for (uint32_t q = 0; q < options->lcores; q++) {
		loads[q].options = options;
		loads[q].chunks = chunks;
		loads[q].app = app;
		loads[q].all = loads;
		loads[q].keys = keys;
		loads[q].seen = &counters[q];
		if (add_load(&loads[q], q) != 0) {
			worker_keys_free(keys);
			free(loads);
			return -1;
		}
	}
	poll_run(app);
	for (uint32_t q = 0; q < options->lcores; q++)
		free_queue(&loads[q]);
	worker_keys_free(keys);
	free(loads);
	return 0;
}
