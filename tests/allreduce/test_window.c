/* SPDX-License-Identifier: BSD-3-Clause */
/* What a window sends again, and when: losses are replayed, without a socket, in a time of its own.
 */
#include <stdlib.h>

#include <aggregate_digits.h>

#include "cases.h"
#include "clock.h"
#include "window/window.h"

#define TRIP NS_PER_MS
#define SLOTS 128
#define MOST_PACKETS 65536
#define MOST_AT_ONCE 64

struct replay;

/* How long a packet and its result take; NEVER: one of them is lost. */
typedef uint64_t (*trip_of)(struct replay *replay, uint32_t chunk, unsigned int times);

struct packet {
	uint32_t chunk;
	uint64_t sent, due; /* ns; `due`: the result, NEVER when it has come */
};

struct replay {
	struct calls calls;
	struct call call;
	struct window window;
	struct netfc_allreduce_stats stats;
	trip_of trip;
	unsigned int parts; /* of a chunk of exact sums; 0: they are values */
	uint64_t now;
	uint64_t free;                    /* ns: when the link is */
	unsigned int times[MOST_PACKETS]; /* that a chunk was sent */
	struct packet packet[MOST_PACKETS];
	unsigned int packets, begin; /* those before are done with */
	uint32_t random;
};

static struct replay *
replay_new(uint64_t chunks, trip_of trip)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	struct rtt rtt;

	assert_non_null(replay);
	replay->trip = trip;
	replay->now = NS_PER_S;
	replay->random = 1;
	TAILQ_INIT(&replay->calls.queue);
	replay->call = (struct call){.chunks = chunks, .left = chunks};
	replay->window = (struct window){.calls = &replay->calls,
		.stats = &replay->stats,
		.of = 1,
		.slots = SLOTS,
		.channels = 1};
	rtt_init(&rtt, NS_PER_MS, NS_PER_S);
	rtt_sample(&rtt, TRIP);
	assert_true(window_init(&replay->window, &rtt));
	calls_append(&replay->calls, &replay->call);
	window_extend(&replay->window);
	return replay;
}

static void
replay_free(struct replay *replay)
{
	window_free(&replay->window);
	free(replay);
}

static void
send_one(struct replay *replay, uint32_t chunk)
{
	const uint64_t trip = replay->trip(replay, chunk, replay->times[chunk]++);

	assert_in_range(replay->packets, 0, MOST_PACKETS - 1);
	replay->packet[replay->packets++] = (struct packet){.chunk = chunk,
		.sent = replay->now,
		.due = trip == NEVER ? NEVER : replay->now + trip};
}

static void
send_all(struct replay *replay)
{
	struct channel *channel = replay->window.channel;
	const uint32_t most = replay->parts == 0 ? MOST_AT_ONCE : 1;
	uint32_t count;

	while ((count = channel_may_send(channel, most)) > 0) {
		channel_head(channel, 0)->part = replay->parts;
		for (uint32_t i = 0; i < count; i++)
			send_one(replay, (uint32_t)channel_head(channel, i)->chunk);
		channel_sent(channel, count, replay->now);
	}
}

/* All results that have come. */
static void
receive_all(struct replay *replay)
{
	struct channel *channel = replay->window.channel;
	struct evidence evidence = {.now = replay->now};

	for (unsigned int i = replay->begin; i < replay->packets; i++) {
		struct packet *packet = &replay->packet[i];
		struct slot *slot = channel_find(channel, packet->chunk);

		if (packet->due > replay->now)
			continue;
		packet->due = NEVER;
		if (slot == NULL)
			channel_answered_again(channel, packet->chunk);
		else if (channel_answered(channel, slot, &evidence) != NULL)
			TAILQ_REMOVE(&replay->calls.queue, &replay->call, in_queue);
	}
	channel_learn(channel, &evidence);
}

/* When a result comes, or the window wants to look. */
static uint64_t
next_event(struct replay *replay)
{
	uint64_t next = channel_due(replay->window.channel);

	while (replay->begin < replay->packets && replay->packet[replay->begin].due == NEVER)
		replay->begin++;
	for (unsigned int i = replay->begin; i < replay->packets; i++) {
		if (replay->packet[i].due < next)
			next = replay->packet[i].due;
	}
	return next;
}

/* Until all is done, or for so long. */
static void
replay_run(struct replay *replay, uint64_t ns)
{
	const uint64_t end = replay->now + ns;

	send_all(replay);
	while (replay->call.left > 0 || replay->begin < replay->packets) {
		const uint64_t next = next_event(replay);

		if (next > end)
			return;
		replay->now = next > replay->now ? next : replay->now;
		receive_all(replay);
		if (channel_due(replay->window.channel) <= replay->now)
			channel_look(replay->window.channel, replay->now);
		send_all(replay);
	}
}

/* When a chunk was sent for the second time, after the first, ns. */
static uint64_t
time_until_again(const struct replay *replay, uint32_t chunk)
{
	uint64_t first = 0;

	for (unsigned int i = 0; i < replay->packets; i++) {
		if (replay->packet[i].chunk != chunk)
			continue;
		if (first != 0)
			return replay->packet[i].sent - first;
		first = replay->packet[i].sent;
	}
	return NEVER;
}

static uint64_t
all_arrive(struct replay *replay, uint32_t chunk, unsigned int times)
{
	(void)replay;
	(void)chunk;
	(void)times;
	return TRIP;
}

TEST(test_nothing_lost)
{
	struct replay *replay = replay_new(5000, all_arrive);

	replay_run(replay, NS_PER_S);
	assert_int_equal(replay->call.left, 0);
	assert_int_equal(replay->stats.sent, 5000);
	assert_int_equal(replay->stats.retransmitted, 0);
	assert_int_equal(replay->stats.timeouts, 0);
	assert_int_equal(replay->window.channel->congestion.window, SLOTS);
	replay_free(replay);
}

#define LOST 1000

/* Packets follow one another on a link. */
static uint64_t
in_turn(struct replay *replay)
{
	replay->free = (replay->free > replay->now ? replay->free : replay->now) + NS_PER_US;
	return replay->free - replay->now + TRIP;
}

static uint64_t
one_is_lost(struct replay *replay, uint32_t chunk, unsigned int times)
{
	return chunk == LOST && times == 0 ? NEVER : in_turn(replay);
}

/* Those after it show it: no time-out is waited for. */
TEST(test_overtaken)
{
	struct replay *replay = replay_new(5000, one_is_lost);

	replay_run(replay, NS_PER_S);
	assert_int_equal(replay->call.left, 0);
	assert_int_equal(replay->stats.retransmitted, 1);
	assert_int_equal(replay->times[LOST], 2);
	assert_int_equal(replay->stats.timeouts, 0);
	assert_in_range(time_until_again(replay, LOST), TRIP, 3 * TRIP);
	replay_free(replay);
}

/* Nothing comes after it: the time shows it. */
TEST(test_last_lost)
{
	struct replay *replay = replay_new(LOST + 1, one_is_lost);

	replay_run(replay, NS_PER_S);
	assert_int_equal(replay->call.left, 0);
	assert_int_equal(replay->stats.retransmitted, 1);
	assert_int_equal(replay->stats.timeouts, 1);
	assert_in_range(time_until_again(replay, LOST), TRIP, 4 * TRIP);
	replay_free(replay);
}

static uint64_t
some_overtake_others(struct replay *replay, uint32_t chunk, unsigned int times)
{
	(void)times;
	return in_turn(replay) + (chunk % 10 == 0 ? 8 * NS_PER_US : 0);
}

TEST(test_reordered)
{
	struct replay *replay = replay_new(5000, some_overtake_others);

	replay_run(replay, NS_PER_S);
	assert_int_equal(replay->call.left, 0);
	assert_int_equal(replay->stats.retransmitted, 0);
	replay_free(replay);
}

static uint64_t
one_is_late(struct replay *replay, uint32_t chunk, unsigned int times)
{
	return in_turn(replay) + (chunk == LOST && times == 0 ? TRIP / 2 * 3 : 0);
}

/* It was sent again for nothing: there was no congestion, and time-outs become longer. */
TEST(test_late)
{
	struct replay *replay = replay_new(LOST + 200, one_is_late);
	const struct channel *channel = replay->window.channel;

	replay_run(replay, NS_PER_S);
	assert_int_equal(replay->call.left, 0);
	assert_int_equal(replay->times[LOST], 2);
	assert_int_equal(replay->stats.retransmitted, 1);
	assert_int_equal(channel->rtt.stretch, 1);
	assert_int_equal(channel->congestion.window, SLOTS);
	replay_free(replay);
}

static uint64_t
none_arrives(struct replay *replay, uint32_t chunk, unsigned int times)
{
	(void)replay;
	(void)chunk;
	(void)times;
	return NEVER;
}

#define SECONDS 60

/* Packets sent in the last second. */
static unsigned int
sent_at_last(const struct replay *replay)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < replay->packets; i++)
		count += replay->packet[i].sent > SECONDS * NS_PER_S;
	return count;
}

/* Four are sent at a time, the newest and the oldest in turn, ever more slowly. */
TEST(test_silence)
{
	struct replay *replay = replay_new(5000, none_arrives);

	replay_run(replay, SECONDS * NS_PER_S);
	assert_int_equal(replay->stats.sent, 32);
	assert_int_equal(replay->stats.retransmitted, 4 * replay->stats.timeouts);
	assert_int_equal(replay->packet[32].chunk, 28);
	assert_int_equal(replay->packet[36].chunk, 0);
	assert_in_range(replay->packet[32].sent - NS_PER_S, TRIP, 4 * TRIP);
	assert_in_range(sent_at_last(replay), 28, 36);
	replay_free(replay);
}

/* The window counts packets, which fill queues, whatever they are parts of. */
TEST(parts_of_exact_sums_count_as_packets)
{
	for (unsigned int parts = 1; parts <= 64; parts++) {
		struct replay *replay = replay_new(5000, none_arrives);

		replay->parts = parts;
		replay_run(replay, 0);
		assert_int_equal(replay->stats.sent, (32 + parts - 1) / parts);
		replay_free(replay);
	}
}

/* All slots are used where nothing is lost, and hardly more than a chunk where everything is. */
TEST(a_window_of_exact_sums_follows_the_queue)
{
	struct replay *replay = replay_new(5000, all_arrive);
	struct congestion *congestion = &replay->window.channel->congestion;

	replay->parts = 8;
	replay_run(replay, NS_PER_S);
	assert_int_equal(replay->call.left, 0);
	assert_int_equal(congestion->window, 8 * SLOTS);
	for (uint64_t order = 5000; order < 5100; order++)
		congestion_lost(congestion, order, order + 1);
	assert_int_equal(congestion->window, 4);
	replay_free(replay);
}

/* What the slots of values can't use is no window for a loss to halve. */
TEST(a_loss_of_values_halves_what_they_use)
{
	struct replay *replay = replay_new(5000, all_arrive);
	struct channel *channel = replay->window.channel;

	replay->parts = 8;
	replay_run(replay, NS_PER_S);
	replay->parts = 0;
	replay->call = (struct call){.chunks = 5000, .left = 5000};
	calls_append(&replay->calls, &replay->call);
	window_extend(&replay->window);
	replay_run(replay, NS_PER_S);
	assert_int_equal(replay->call.left, 0);
	congestion_lost(&channel->congestion, channel->orders, channel->orders + 1);
	assert_int_equal(channel->congestion.window, SLOTS / 2);
	replay_free(replay);
}

/* Who knows whom it waits for goes on asking. */
TEST(test_silence_of_a_late_worker)
{
	struct replay *replay = replay_new(5000, none_arrives);

	replay->window.late = true;
	replay_run(replay, SECONDS * NS_PER_S);
	assert_in_range(sent_at_last(replay), 4 * 28, 4 * 36);
	replay_free(replay);
}

static uint64_t
one_in_ten_is_lost(struct replay *replay, uint32_t chunk, unsigned int times)
{
	(void)chunk;
	(void)times;
	replay->random = replay->random * 1664525 + 1013904223;
	return replay->random >> 16 < UINT16_MAX / 10 ? NEVER : in_turn(replay);
}

/* All get there, and few are sent that were not lost. */
TEST(test_many_lost)
{
	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct replay *replay = replay_new(3000, one_in_ten_is_lost);

		replay->random = seed;
		replay_run(replay, 60 * NS_PER_S);
		assert_int_equal(replay->call.left, 0);
		assert_int_equal(replay->stats.sent, 3000);
		assert_in_range(replay->stats.retransmitted, 200, 600);
		replay_free(replay);
	}
}

/* How often a chunk's parts have to be sent until all have passed a queue for so many at a time. */
static unsigned int
times_until_all_pass(unsigned int all, unsigned int room)
{
	const uint64_t whole = all == 64 ? UINT64_MAX : (UINT64_C(1) << all) - 1;
	uint64_t passed = 0;
	uint32_t times = 0;

	for (; passed != whole; times++) {
		const unsigned int parts = parts_to_send(all, times);

		assert_in_range(times, 0, 1000);
		for (unsigned int i = 0; i < parts && i < room; i++)
			passed |= UINT64_C(1) << aggregate_part_in_turn(all, times, i);
	}
	return times;
}

/* However short a queue is, and then the last part goes, for whose sake the result comes again. */
TEST(all_parts_pass_a_short_queue)
{
	for (unsigned int all = 1; all <= 64; all++) {
		for (unsigned int room = 1; room <= all; room++)
			assert_in_range(times_until_all_pass(all, room), 1, 10 + 8 * all / room);
		for (uint32_t times = 1; times < 100; times += 2)
			assert_int_equal(aggregate_part_in_turn(all, times, 0), all - 1);
	}
}

/* How often, if of a hundred packets so many are lost, whichever. */
static unsigned int
times_until_all_arrive(unsigned int all, int lost, unsigned int *seed)
{
	uint64_t missing = all == 64 ? UINT64_MAX : (UINT64_C(1) << all) - 1;
	uint32_t times = 0;

	for (; missing != 0; times++) {
		const unsigned int parts = parts_to_send(all, times);

		assert_in_range(times, 0, 1000);
		for (unsigned int i = 0; i < parts; i++)
			if (rand_r(seed) % 100 >= lost)
				missing &= ~(UINT64_C(1) << aggregate_part_in_turn(all, times, i));
	}
	return times;
}

/* What is missing is anywhere, and the time-out becomes longer each time. */
TEST(parts_that_are_lost_at_random_are_soon_sent_again)
{
	unsigned int seed = 1;

	for (unsigned int all = 1; all <= 64; all++)
		for (unsigned int n = 0; n < 200; n++) {
			assert_in_range(times_until_all_arrive(all, 1, &seed), 1, 8);
			assert_in_range(times_until_all_arrive(all, 20, &seed), 1, 24);
		}
}

/* Nothing twice at a time: first all, then all again. */
TEST(parts_are_sent_once_at_a_time)
{
	for (unsigned int all = 1; all <= 64; all++) {
		for (uint32_t times = 0; times < 100; times++) {
			const unsigned int parts = parts_to_send(all, times);
			uint64_t sent = 0;

			for (unsigned int i = 0; i < parts; i++)
				sent |= UINT64_C(1) << aggregate_part_in_turn(all, times, i);
			assert_int_equal(__builtin_popcountll(sent), parts);
			assert_true(parts == all || (times > 1 && parts >= 4));
		}
	}
}
