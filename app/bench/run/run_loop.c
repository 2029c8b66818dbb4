/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include <rte_cycles.h>

#include "run/run.h"

/* How many packets a rate may be behind and still catch up; the rest is held back for good. */
#define CATCH_UP 1024
/* How long a port may refuse all packets, in addition to the timeout. */
#define STUCK_MS 2000

/* The limits of a run. Times are TSC cycles. */
struct limits {
	uint64_t end;     /* 0: no limit */
	uint64_t packets; /* UINT64_MAX: no limit */
	uint64_t window;  /* packets in flight; with a rate, as many as their table takes */
	double per_cycle; /* packets; 0: no rate */
	uint64_t stuck;
};

static struct limits
find_limits(const struct bench *bench, uint64_t now)
{
	const struct options *options = &bench->options;
	double hz = (double)rte_get_tsc_hz();
	struct limits limits = {
		.end = options->seconds != 0 ? now + (uint64_t)(options->seconds * hz) : 0,
		.packets = options->packets != 0 ? options->packets : UINT64_MAX,
		.window = options->window,
		.per_cycle = options->rate / hz,
		.stuck = rte_get_tsc_hz() / MS_PER_S * (options->timeout_ms + STUCK_MS),
	};

	if (options->rate != 0)
		limits.window = in_flight_capacity(&bench->run.in_flight);
	return limits;
}

/* How many packets are to be sent now to keep the rate. */
static uint64_t
packets_due(const struct limits *limits, struct run_counters *counters, uint64_t now)
{
	uint64_t total = (uint64_t)((double)(now - counters->start) * limits->per_cycle) + 1;
	uint64_t behind = total - (counters->sent + counters->held_back);

	/* Ahead by no more than rounding. */
	if (behind > total)
		return 0;
	if (behind > CATCH_UP) {
		counters->held_back += behind - CATCH_UP;
		return CATCH_UP;
	}
	return behind;
}

/* How many packets may be sent now. */
static uint64_t
packets_allowed(const struct limits *limits, struct run *run, uint64_t now)
{
	uint64_t allowed = limits->window - RTE_MIN(limits->window, run->in_flight.outstanding);

	allowed = RTE_MIN(allowed, limits->packets - run->counters.sent);
	if (limits->per_cycle != 0)
		allowed = RTE_MIN(packets_due(limits, &run->counters, now), allowed);
	return allowed;
}

/* Whether there is more to send; run->end says why if there is not. */
static bool
is_sending(struct bench *bench, const struct limits *limits, uint64_t now)
{
	struct run *run = &bench->run;

	if (bench_should_quit(bench))
		run->end = END_SIGNAL;
	else if (run->counters.sent >= limits->packets)
		run->end = END_PACKETS;
	else if (limits->end != 0 && now >= limits->end)
		run->end = END_SECONDS;
	else if ((run->unsent_count > 0 || run->in_flight.outstanding == 0) &&
		now > run->counters.last_sent && now - run->counters.last_sent > limits->stuck)
		run->end = END_STUCK;
	else
		return true;
	return false;
}

int
run_loop_prepare(struct bench *bench)
{
	const struct options *options = &bench->options;
	struct run *run = &bench->run;
	double timeout = options->timeout_ms / (double)MS_PER_S;
	uint64_t most = options->window;
	/* Replies to an earlier run that are still in a queue must not match ours. */
	uint32_t first_id = (uint32_t)rte_rdtsc();

	if (options->rate != 0)
		most = (uint64_t)(options->rate * timeout);
	run->newest_id = first_id - 1;
	if (in_flight_create(&run->in_flight, most, first_id,
		    (uint64_t)(timeout * (double)rte_get_tsc_hz())) == 0)
		return 0;
	return REPORT("no memory for %" PRIu64 " packets in flight\n", most);
}

void
run_loop(struct bench *bench)
{
	struct run *run = &bench->run;
	uint64_t now = rte_rdtsc();
	struct limits limits = find_limits(bench, now);
	bool sending = true, yield = idle_should_yield(rte_lcore_id());

	run->counters.start = run->counters.last_sent = run->counters.last_received = now;
	while (sending || run->in_flight.outstanding > 0) {
		unsigned int moved = receive_replies(bench);

		now = rte_rdtsc();
		run->counters.lost += in_flight_expire(&run->in_flight, now);
		if (sending)
			sending = is_sending(bench, &limits, now);
		if (sending)
			moved += send_requests(bench, packets_allowed(&limits, run, now));
		if (moved == 0)
			idle(yield);
	}
	send_abandon(bench);
}

void
run_loop_free(struct bench *bench)
{
	in_flight_free(&bench->run.in_flight);
}

bool
run_loop_adds_up(const struct bench *bench)
{
	const struct run_counters *counters = &bench->run.counters;
	uint64_t replies = counters->answered + counters->late + counters->duplicates +
		bench->run.mismatches.replies[MISMATCH_ID] + counters->others;

	if (counters->sent == counters->answered + counters->lost &&
		counters->received == replies && bench->buffers_lost == 0)
		return true;
	fprintf(stderr,
		PROGRAM ": packets or packet buffers are unaccounted for: %" PRIu64
			" sent, %" PRIu64 " answered, %" PRIu64 " lost, %" PRIu64
			" received, %u packet buffers missing\n",
		counters->sent, counters->answered, counters->lost, counters->received,
		bench->buffers_lost);
	return false;
}
