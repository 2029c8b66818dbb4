/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include <rte_cycles.h>

#include "run/drive.h"
#include "run/idle.h"
#include "run/receive.h"
#include "run/send.h"

/* How many packets a rate may be behind and still catch up; the rest is held back for good. */
#define CATCH_UP 1024
/* How long a port may refuse all packets, besides the timeout. */
#define STUCK_MS 2000

/* What is known of a run before it starts. Times are TSC cycles. */
struct course {
	uint64_t end;     /* 0: no limit */
	uint64_t packets; /* UINT64_MAX: no limit */
	uint64_t window;  /* with a rate: what the table of ids takes */
	double per_cycle; /* packets; 0: no rate */
	uint64_t stuck;
};

static struct course
plan(const struct bench *bench, uint64_t now)
{
	const struct options *options = &bench->options;
	double hz = (double)rte_get_tsc_hz();
	struct course course = {
		.end = options->seconds != 0 ? now + (uint64_t)(options->seconds * hz) : 0,
		.packets = options->packets != 0 ? options->packets : UINT64_MAX,
		.window = options->window,
		.per_cycle = options->rate / hz,
		.stuck = rte_get_tsc_hz() / MS_PER_S * (options->timeout_ms + STUCK_MS),
	};

	if (options->rate != 0)
		course.window = flight_capacity(&bench->run.flight);
	return course;
}

/* How many packets the rate wants to be sent now. */
static uint64_t
due(const struct course *course, struct tally *tally, uint64_t now)
{
	uint64_t total = (uint64_t)((double)(now - tally->start) * course->per_cycle) + 1;
	uint64_t behind = total - (tally->sent + tally->held_back);

	/* Ahead by no more than rounding. */
	if (behind > total)
		return 0;
	if (behind > CATCH_UP) {
		tally->held_back += behind - CATCH_UP;
		return CATCH_UP;
	}
	return behind;
}

/* How many packets may be sent now. */
static uint64_t
allowance(const struct course *course, struct run *run, uint64_t now)
{
	uint64_t allowed = course->window - RTE_MIN(course->window, run->flight.outstanding);

	allowed = RTE_MIN(allowed, course->packets - run->tally.sent);
	if (course->per_cycle != 0)
		allowed = RTE_MIN(due(course, &run->tally, now), allowed);
	return allowed;
}

/* Whether there is more to send; run->end says why if there is not. */
static bool
goes_on(struct bench *bench, const struct course *course, uint64_t now)
{
	struct run *run = &bench->run;

	if (bench_should_quit(bench))
		run->end = END_SIGNAL;
	else if (run->tally.sent >= course->packets)
		run->end = END_PACKETS;
	else if (course->end != 0 && now >= course->end)
		run->end = END_SECONDS;
	else if ((run->unsent_count > 0 || run->flight.outstanding == 0) &&
		now > run->tally.last_sent && now - run->tally.last_sent > course->stuck)
		run->end = END_STUCK;
	else
		return true;
	return false;
}

int
drive_prepare(struct bench *bench)
{
	const struct options *options = &bench->options;
	struct run *run = &bench->run;
	double timeout = options->timeout_ms / (double)MS_PER_S;
	uint64_t most = options->window;
	/* What is left of an earlier run in some queue must not look like ours. */
	uint32_t first_id = (uint32_t)rte_rdtsc();

	if (options->rate != 0)
		most = (uint64_t)(options->rate * timeout);
	run->newest_id = first_id - 1;
	if (flight_make(&run->flight, most, first_id,
		    (uint64_t)(timeout * (double)rte_get_tsc_hz())) == 0)
		return 0;
	fprintf(stderr, PROGRAM ": no memory for %" PRIu64 " packets in flight\n", most);
	return -1;
}

void
drive_run(struct bench *bench)
{
	struct run *run = &bench->run;
	uint64_t now = rte_rdtsc();
	struct course course = plan(bench, now);
	bool sending = true, yield = idle_should_yield(rte_lcore_id());

	run->tally.start = run->tally.last_sent = run->tally.last_received = now;
	while (sending || run->flight.outstanding > 0) {
		unsigned int moved = receive_replies(bench);

		now = rte_rdtsc();
		run->tally.lost += flight_expire(&run->flight, now);
		if (sending)
			sending = goes_on(bench, &course, now);
		if (sending)
			moved += send_requests(bench, allowance(&course, run, now));
		if (moved == 0)
			idle(yield);
	}
	send_abandon(bench);
}

void
drive_free(struct bench *bench)
{
	flight_free(&bench->run.flight);
}

bool
drive_adds_up(const struct bench *bench)
{
	const struct tally *tally = &bench->run.tally;
	uint64_t replies = tally->answered + tally->late + tally->duplicates +
		bench->run.mismatches.replies[MISMATCH_ID] + tally->others;

	if (tally->sent == tally->answered + tally->lost && tally->received == replies &&
		bench->buffers_lost == 0)
		return true;
	fprintf(stderr,
		PROGRAM ": packets or packet buffers are unaccounted for: %" PRIu64
			" sent, %" PRIu64 " answered, %" PRIu64 " lost, %" PRIu64
			" received, %u packet buffers missing\n",
		tally->sent, tally->answered, tally->lost, tally->received, bench->buffers_lost);
	return false;
}
