/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of several workers and shards before queues of a few packets, which what is sent again
 * overflows as well: simulated, in a time of its own.
 */
#include <stdlib.h>

#include <aggregate_wire.h>

#include "cases.h"
#include "clock.h"
#include "window/window.h"

#define MOST_WORKERS 8
#define CHANNELS 4
#define SLOTS 64
#define CALLS 3
#define CHUNKS 12 /* of a call */
#define PACKET (50 * NS_PER_US)
#define MOST_PACKETS 4096
#define SEEDS 300

struct worker {
	struct calls calls;
	struct call call;
	struct window window;
	struct netfc_allreduce_stats stats;
	uint64_t begin, delay; /* ns */
	uint64_t free[2];      /* ns: when its link is, to the switch and from it */
	unsigned int done;     /* calls */
};

struct packet {
	uint64_t due;
	unsigned int worker;
	bool is_result;
	uint32_t chunk;
};

struct network {
	struct worker worker[MOST_WORKERS];
	unsigned int workers, room; /* packets that may wait for a link */
	uint64_t now;
	uint32_t here[CALLS * CHUNKS]; /* workers whose values of a chunk the switch has */
	struct packet packet[MOST_PACKETS];
	unsigned int packets;
	unsigned int seed;
};

static uint64_t
draw(struct network *network, uint64_t most)
{
	return (uint64_t)rand_r(&network->seed) % most;
}

static void
begin_call(struct worker *worker)
{
	worker->call = (struct call){.chunks = CHUNKS, .left = CHUNKS};
	calls_append(&worker->calls, &worker->call);
	window_extend(&worker->window);
}

static void
make_worker(struct network *network, struct worker *worker)
{
	struct rtt rtt;

	rtt_init(&rtt, NS_PER_MS, NS_PER_S);
	worker->begin = draw(network, 3 * NS_PER_S);
	worker->delay = draw(network, draw(network, 4) == 0 ? 50 * NS_PER_MS : NS_PER_MS / 2);
	TAILQ_INIT(&worker->calls.queue);
	worker->window = (struct window){.calls = &worker->calls,
		.stats = &worker->stats,
		.of = 1,
		.slots = SLOTS,
		.channels = CHANNELS};
	assert_true(window_init(&worker->window, &rtt));
	begin_call(worker);
}

static struct network *
network_of(unsigned int seed)
{
	struct network *network = calloc(1, sizeof(*network));

	assert_non_null(network);
	network->seed = seed;
	network->workers = 2 + (unsigned int)draw(network, MOST_WORKERS - 1);
	network->room = 2 + (unsigned int)draw(network, 3);
	for (unsigned int w = 0; w < network->workers; w++)
		make_worker(network, &network->worker[w]);
	return network;
}

static void
network_free(struct network *network)
{
	for (unsigned int w = 0; w < network->workers; w++)
		window_free(&network->worker[w].window);
	free(network);
}

/* By a worker's link, whose queue may have no room. */
static void
send_packet(struct network *network, unsigned int w, uint32_t chunk, bool is_result)
{
	struct worker *worker = &network->worker[w];
	uint64_t *free_at = &worker->free[is_result];
	const uint64_t start = *free_at > network->now ? *free_at : network->now;

	if (start - network->now >= network->room * PACKET)
		return;
	*free_at = start + PACKET;
	assert_in_range(network->packets, 0, MOST_PACKETS - 1);
	network->packet[network->packets++] = (struct packet){
		*free_at + worker->delay + draw(network, 2 * NS_PER_US), w, is_result, chunk};
}

static void
look(struct network *network, unsigned int w)
{
	struct window *window = &network->worker[w].window;
	uint32_t count;

	for (unsigned int s = 0; s < CHANNELS; s++) {
		if (channel_due(&window->channel[s]) <= network->now)
			channel_look(&window->channel[s], network->now);
	}
	for (unsigned int s = 0; s < CHANNELS; s++) {
		struct channel *channel = &window->channel[s];

		while ((count = channel_may_send(channel, SLOTS)) > 0) {
			for (uint32_t i = 0; i < count; i++)
				send_packet(network, w, (uint32_t)channel_head(channel, i)->chunk,
					false);
			channel_sent(channel, count, network->now);
		}
	}
}

static void
take_result(struct network *network, unsigned int w, uint32_t chunk)
{
	struct worker *worker = &network->worker[w];
	struct channel *channel =
		&worker->window.channel[aggregate_shard_of(chunk, SLOTS, CHANNELS)];
	struct slot *slot = channel_find(channel, chunk);
	struct evidence evidence = {.now = network->now};

	if (slot == NULL) {
		channel_answered_again(channel, chunk);
	} else if (channel_answered(channel, slot, &evidence) != NULL) {
		TAILQ_REMOVE(&worker->calls.queue, &worker->call, in_queue);
		if (++worker->done < CALLS)
			begin_call(worker);
	}
	channel_learn(channel, &evidence);
	look(network, w);
}

/* The switch sends the result when all are here, and to who asks again. */
static void
take_request(struct network *network, unsigned int w, uint32_t chunk)
{
	const uint32_t all = (1u << network->workers) - 1;
	const bool again = network->here[chunk] == all;

	network->here[chunk] |= 1u << w;
	for (unsigned int other = 0; other < network->workers; other++) {
		if (network->here[chunk] == all && (other == w || !again))
			send_packet(network, other, chunk, true);
	}
}

static void
take_packet(struct network *network, unsigned int i)
{
	const struct packet packet = network->packet[i];

	network->packet[i] = network->packet[--network->packets];
	network->now = packet.due;
	(packet.is_result ? take_result : take_request)(network, packet.worker, packet.chunk);
}

/* When a worker has to look; it has not begun before its time. */
static uint64_t
next_look(const struct network *network, unsigned int w)
{
	const struct worker *worker = &network->worker[w];
	uint64_t next = NEVER;

	if (worker->stats.sent == 0)
		return worker->begin;
	for (unsigned int s = 0; s < CHANNELS; s++) {
		const uint64_t due = channel_due(&worker->window.channel[s]);

		next = due < next ? due : next;
	}
	return next > network->now ? next : network->now;
}

/* Whatever comes next. False: nothing does any more. */
static bool
step(struct network *network)
{
	unsigned int earliest = 0, i = 0;
	uint64_t next = NEVER, due = NEVER;

	for (unsigned int w = 0; w < network->workers; w++) {
		if (next_look(network, w) < next) {
			next = next_look(network, w);
			earliest = w;
		}
	}
	for (unsigned int p = 0; p < network->packets; p++) {
		if (network->packet[p].due < due) {
			due = network->packet[p].due;
			i = p;
		}
	}
	if (due <= next && due != NEVER) {
		take_packet(network, i);
	} else if (next != NEVER) {
		network->now = next;
		look(network, earliest);
	}
	return due != NEVER || next != NEVER;
}

/* What is sent again at the same times again and again would be lost each time. */
TEST(every_job_goes_on_however_short_the_queues_are)
{
	for (unsigned int seed = 1; seed <= SEEDS; seed++) {
		struct network *network = network_of(seed);

		while (network->now < 600 * NS_PER_S && step(network))
			continue;
		for (unsigned int w = 0; w < network->workers; w++)
			assert_int_equal(network->worker[w].done, CALLS);
		network_free(network);
	}
}
