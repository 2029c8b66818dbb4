/* SPDX-License-Identifier: BSD-3-Clause */
/* Congestion windows: by themselves, and of jobs that share the queue of a simulated link. */
#include <stdlib.h>

#include "cases.h"
#include "clock.h"
#include "window/congestion.h"

/* ---- by themselves ----------------------------------------------------------------------------
 */

/* A round trip: all that may be in flight is answered. Returns the next packet's order. */
static uint64_t
round_trip(struct congestion *congestion, uint64_t next, bool limited)
{
	const uint32_t window = congestion->window;

	for (uint32_t i = 0; i < window; i++)
		congestion_answered(congestion,
			&(const struct congestion_sample){.order = next + i,
				.next = next + window,
				.trip = 1,
				.limited = limited});
	return next + window;
}

TEST(test_growth)
{
	struct congestion congestion;
	uint64_t next = 0;

	congestion_init(&congestion, 256);
	assert_int_equal(congestion.window, 32);
	next = round_trip(&congestion, next, true);
	next = round_trip(&congestion, next, true);
	assert_in_range(congestion.window, 64, 128);
	for (int i = 0; i < 3; i++)
		next = round_trip(&congestion, next, true);
	assert_int_equal(congestion.window, 256);
	congestion_lost(&congestion, next - 1, next);
	assert_int_equal(congestion.window, 128);
	for (int i = 0; i < 10; i++)
		next = round_trip(&congestion, next, true);
	assert_in_range(congestion.window, 137, 138);
}

/* A queue that fills: it doubles no more, before anything is lost. */
TEST(test_longer_trips_end_the_doubling)
{
	struct congestion congestion;
	uint64_t next = 0;

	congestion_init(&congestion, 1024);
	for (uint64_t round = 1; round < 10; round++) {
		const uint32_t window = congestion.window;

		for (uint32_t i = 0; i < window; i++)
			congestion_answered(&congestion,
				&(const struct congestion_sample){.order = next + i,
					.next = next + window,
					.trip = round * 5 * NS_PER_MS,
					.limited = true});
		next += window;
	}
	assert_in_range(congestion.window, 64, 64 + 10);
}

TEST(test_fewer_slots_than_it_begins_with)
{
	struct congestion congestion;

	for (uint32_t most = 1; most < 40; most++) {
		congestion_init(&congestion, most);
		assert_int_equal(congestion.window, most < 32 ? most : 32);
		for (uint64_t order = 0; order < 100; order++) {
			congestion_lost(&congestion, order, order + 1);
			assert_in_range(congestion.window, 1, most);
		}
		assert_int_equal(congestion.window, most < 4 ? most : 4);
	}
}

TEST(test_what_is_not_used_says_nothing)
{
	struct congestion congestion;
	uint64_t next = 0;

	congestion_init(&congestion, 256);
	for (int i = 0; i < 10; i++)
		next = round_trip(&congestion, next, false);
	assert_int_equal(congestion.window, 32);
}

TEST(test_losses_of_one_flight_count_once)
{
	struct congestion congestion;

	congestion_init(&congestion, 32);
	for (uint64_t order = 0; order < 32; order++)
		congestion_lost(&congestion, order, 32);
	assert_int_equal(congestion.window, 16);
	congestion_lost(&congestion, 32, 40);
	assert_int_equal(congestion.window, 8);
	congestion_lost(&congestion, 39, 41);
	assert_int_equal(congestion.window, 8);
}

TEST(test_what_was_only_late)
{
	struct congestion congestion;

	congestion_init(&congestion, 32);
	for (uint64_t order = 0; order < 3; order++)
		congestion_lost(&congestion, order, 32);
	congestion_found(&congestion);
	congestion_found(&congestion);
	assert_int_equal(congestion.window, 16);
	congestion_found(&congestion);
	assert_int_equal(congestion.window, 32);
	congestion_found(&congestion);
	assert_int_equal(congestion.window, 32);
	/* A mark is never late. */
	congestion_lost(&congestion, 32, 64);
	congestion_marked(&congestion, 33, 64);
	congestion_found(&congestion);
	assert_int_equal(congestion.window, 16);
}

/* ---- of jobs that share a link ----------------------------------------------------------------
 */

#define MAX_FLOWS 4
#define MAX_PACKETS 4096 /* on the way at a time, a power of two */
#define TICKS 400000     /* each carries a packet */

struct packet {
	unsigned int flow;
	uint64_t order, sent, arrives;
	bool marked;
};

struct flow {
	struct congestion congestion;
	uint64_t from; /* the tick when it begins */
	uint64_t next;
	uint32_t in_flight;
	uint64_t carried, dropped;
};

/*
 * A link that carries a packet a tick; results come `delay` ticks later. Its queue holds `room`
 * packets, and marks those before which more than `marks` wait.
 */
struct link {
	struct flow flows[MAX_FLOWS];
	unsigned int count;
	uint64_t room, marks, delay;
	unsigned int seed;
	struct packet queue[MAX_PACKETS], back[MAX_PACKETS];
	uint64_t queue_first, queue_end, back_first, back_end;
};

static void
send_packet(struct link *link, unsigned int f, uint64_t now)
{
	struct flow *flow = &link->flows[f];
	const uint64_t waiting = link->queue_end - link->queue_first;
	const struct packet packet = {
		.flow = f, .order = flow->next++, .sent = now, .marked = waiting > link->marks};

	if (waiting < link->room) {
		link->queue[link->queue_end++ % MAX_PACKETS] = packet;
		flow->in_flight++;
		return;
	}
	flow->dropped++;
	congestion_lost(&flow->congestion, packet.order, flow->next);
}

static void
take_result(struct link *link, uint64_t now)
{
	const struct packet *packet = &link->back[link->back_first++ % MAX_PACKETS];
	struct flow *flow = &link->flows[packet->flow];

	flow->in_flight--;
	flow->carried++;
	congestion_answered(&flow->congestion,
		&(const struct congestion_sample){.order = packet->order,
			.next = flow->next,
			.trip = now - packet->sent,
			.limited = true});
	if (packet->marked)
		congestion_marked(&flow->congestion, packet->order, flow->next);
}

static void
carry(struct link *link, uint64_t now)
{
	if (link->queue_first == link->queue_end)
		return;
	link->back[link->back_end % MAX_PACKETS] = link->queue[link->queue_first++ % MAX_PACKETS];
	link->back[link->back_end++ % MAX_PACKETS].arrives = now + link->delay;
}

/* One of each flow, in an order by chance: what comes first of a tick has the queue's last place.
 */
static void
send_all(struct link *link, uint64_t now)
{
	const unsigned int first = (unsigned int)rand_r(&link->seed) % link->count;

	for (unsigned int i = 0; i < link->count; i++) {
		const unsigned int f = (first + i) % link->count;
		struct flow *flow = &link->flows[f];

		if (now >= flow->from && flow->in_flight < flow->congestion.window)
			send_packet(link, f, now);
	}
}

static void
run(struct link *link)
{
	for (uint64_t now = 0; now < TICKS; now++) {
		carry(link, now);
		while (link->back_first != link->back_end &&
			link->back[link->back_first % MAX_PACKETS].arrives <= now)
			take_result(link, now);
		send_all(link, now);
	}
}

static struct link *
link_of(uint64_t room, uint64_t marks, uint64_t delay)
{
	struct link *link = calloc(1, sizeof(*link));

	assert_non_null(link);
	link->room = room;
	link->marks = marks;
	link->delay = delay;
	link->seed = 1;
	return link;
}

static void
add_flow(struct link *link, uint32_t slots, uint64_t from)
{
	struct flow *flow = &link->flows[link->count++];

	congestion_init(&flow->congestion, slots);
	flow->from = from;
}

/* Whatever the slots and the queue: nearly all that the link carries, and few are dropped. */
TEST(test_one_job_alone)
{
	static const uint32_t slots[] = {16, 64, 256, 1024};
	static const uint64_t rooms[] = {20, 66, 200, 2000};

	for (unsigned int s = 0; s < 4; s++) {
		for (unsigned int r = 0; r < 4; r++) {
			struct link *link = link_of(rooms[r], UINT64_MAX, 8);

			add_flow(link, slots[s], 0);
			run(link);
			assert_true(link->flows[0].carried > TICKS * 97 / 100);
			assert_true(link->flows[0].dropped < TICKS / 100);
			free(link);
		}
	}
}

/* Where each has slots enough for its share, they have equal ones, whoever began. */
TEST(test_shares)
{
	static const uint32_t slots[][2] = {{256, 256}, {256, 64}, {64, 256}, {1024, 32}};

	for (unsigned int s = 0; s < 4; s++) {
		struct link *link = link_of(30, UINT64_MAX, 8);
		uint64_t all;

		add_flow(link, slots[s][0], 0);
		add_flow(link, slots[s][1], 20000);
		run(link);
		all = link->flows[0].carried + link->flows[1].carried;
		for (unsigned int f = 0; f < 2; f++)
			assert_in_range(link->flows[f].carried, all * 40 / 100, all * 60 / 100);
		free(link);
	}
}

/* A queue that marks in time drops nothing. */
TEST(test_marks)
{
	struct link *link = link_of(200, 20, 8);

	add_flow(link, 256, 0);
	add_flow(link, 256, 1000);
	run(link);
	assert_int_equal(link->flows[0].dropped + link->flows[1].dropped, 0);
	assert_true(link->flows[0].carried + link->flows[1].carried > TICKS * 97 / 100);
	free(link);
}
