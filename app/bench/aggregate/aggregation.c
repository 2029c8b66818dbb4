/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_random.h>

#include "aggregate/team.h"
#include "run/run.h"

/* How often workers join or leave again, and how long they do. */
#define ASK_AGAIN_MS 20
#define LEAVE_MS 2000
/* How often late results are looked for. */
#define LOOK_US 500

static int
report_no_memory(void)
{
	fprintf(stderr, PROGRAM ": --aggregate: no memory for the workers' chunks\n");
	return -1;
}

/* Worker w has the w-th address from the one that was given on, and the w-th UDP port. */
static int
make_flow(const struct team *team, unsigned int w, struct flow *flow)
{
	uint32_t last = flow_address_bytes(&team->options->flow) - 1;
	unsigned int byte = team->options->flow.src_ip[last] + w;

	*flow = team->options->flow;
	flow->src_udp = (uint16_t)(flow->src_udp + w);
	flow->src_ip[last] = (uint8_t)byte;
	if (byte <= 254 && memcmp(flow->src_ip, flow->dst_ip, IP_BYTES) != 0)
		return 0;
	fprintf(stderr,
		PROGRAM ": --src-ip: there are not %u addresses from there on, for a worker each\n",
		team->count);
	return -1;
}

static int
make_workers(struct team *team)
{
	const struct aggregate_options *options = &team->options->aggregate;

	team->workers = calloc(team->count, sizeof(*team->workers));
	if (team->workers == NULL)
		return report_no_memory();
	for (unsigned int w = 0; w < team->count; w++) {
		struct team_worker *worker = &team->workers[w];

		aggregate_member_begin(&worker->member, (uint16_t)options->job, (uint8_t)w,
			options->token, rte_rand() | 1);
		worker->slots = calloc(team->options->aggregate.slots, sizeof(*worker->slots));
		if (worker->slots == NULL)
			return report_no_memory();
		if (make_flow(team, w, &worker->flow) != 0)
			return -1;
	}
	return 0;
}

/* Of tags, if packets are to have them. */
static int
make_keys(struct team *team)
{
	const char *file = team->options->aggregate.key;
	char error[AGGREGATE_SECRET_ERROR_BYTES];

	if (file[0] == '\0')
		return 0;
	team->secret = aggregate_secret_read(file, error, sizeof(error));
	if (team->secret == NULL) {
		fprintf(stderr, PROGRAM ": --aggregate key=: %s\n", error);
		return -1;
	}
	team->keys = worker_keys_create(team->secret);
	return team->keys != NULL ? 0 : report_no_memory();
}

static int
check_bytes(const struct team *team)
{
	const struct options *options = team->options;
	uint32_t needed = worker_packet_bytes(&options->flow, (uint32_t)options->aggregate.bytes) +
		worker_keys_bytes(team->keys) - RTE_ETHER_HDR_LEN;

	if (needed <= options->mtu)
		return 0;
	fprintf(stderr,
		PROGRAM ": --aggregate bytes=%" PRIu64
			": an IPv%d packet of them has %u bytes; see --mtu\n",
		options->aggregate.bytes, options->flow.ip6 ? 6 : 4, needed);
	return -1;
}

/* As each of the switches that the workers are has them of those behind it. */
static int
make_sums(struct team *team)
{
	const struct aggregate_options *options = &team->options->aggregate;
	const struct exact_sums_config config = {
		.members = team->count,
		.first = team->first,
		.behind = (unsigned int)options->behind,
		.bytes = (uint32_t)options->bytes,
	};

	return exact_sums_create(&config, &team->chunks, &team->sums) == 0 ? 0 : report_no_memory();
}

int
team_create(struct bench *bench, struct team *team)
{
	const struct aggregate_options *options = &bench->options.aggregate;
	const struct chunks_config config = {
		.workers = bench_aggregate_all_workers(options),
		.bytes = bench_aggregate_value_bytes(options),
		.formats = options->formats,
		.into = options->into,
		.ops = options->ops,
		.kinds = options->kinds,
		.any_length = options->length == LENGTH_ANY,
		.owned = options->results == RESULTS_TO_ONE,
		.count = (unsigned int)options->different,
		.seed = bench->options.seed,
	};
	uint64_t seed = bench->options.seed + 1;

	team->options = &bench->options;
	team->bench = bench;
	team->count = (unsigned int)options->workers;
	team->all = config.workers;
	team->first = bench_aggregate_first_worker(options);
	team->seed = next_random(&seed);
	team->retry = options->retry * rte_get_tsc_hz() / MS_PER_S;
	impair_init(&team->outward, options->loss, options->duplicate, options->reorder,
		next_random(&seed), bench->pool);
	impair_init(&team->inward, options->loss, options->duplicate, options->reorder,
		next_random(&seed), bench->pool);
	if (make_keys(team) != 0 || check_bytes(team) != 0 || make_workers(team) != 0)
		return -1;
	if (chunks_create(&config, &team->chunks) != 0)
		return report_no_memory();
	return options->behind == 0 ? 0 : make_sums(team);
}

struct aggregate_member_times
team_times(void)
{
	const uint64_t pause = rte_get_tsc_hz() / MS_PER_S * ASK_AGAIN_MS;

	return (struct aggregate_member_times){
		.ask = pause,
		.ask_most = pause,
		.wait = pause,
		.wait_most = pause,
		.leave = pause,
		.leave_most = pause,
		.leaves = LEAVE_MS / ASK_AGAIN_MS,
	};
}

static bool
all_are(const struct team *team, enum aggregate_member_state state)
{
	for (unsigned int w = 0; w < team->count; w++)
		if (team->workers[w].member.state != state)
			return false;
	return true;
}

/* Join or leave, until all have, or for so long. */
static bool
ask_all(struct team *team, enum aggregate_member_state end, uint64_t ms)
{
	uint64_t now = rte_rdtsc(), deadline = now + rte_get_tsc_hz() / MS_PER_S * ms;
	bool leave = end == AGGREGATE_MEMBER_NONE, yield = idle_should_yield(rte_lcore_id());

	while (!all_are(team, end) && (leave || team->fatal_reason == 0) && now < deadline &&
		(leave || !bench_should_quit(team->bench))) {
		for (unsigned int w = 0; w < team->count && team_can_send(team); w++)
			team_send_short(team, w, now);
		if (team_flush(team) + team_receive(team, now) == 0)
			idle(yield);
		now = rte_rdtsc();
	}
	return all_are(team, end);
}

static bool
join_all(struct team *team)
{
	const struct aggregate_member_times times = team_times();

	for (unsigned int w = 0; w < team->count; w++)
		aggregate_member_ask(&team->workers[w].member, &times, rte_rdtsc());
	return ask_all(team, AGGREGATE_MEMBER_JOINED, team->options->aggregate.give_up * MS_PER_S);
}

static void
leave_all(struct team *team)
{
	const struct aggregate_member_times times = team_times();

	for (unsigned int w = 0; w < team->count; w++)
		aggregate_member_leave(
			&team->workers[w].member, &times, AGGREGATE_REASON_NONE, rte_rdtsc());
	ask_all(team, AGGREGATE_MEMBER_NONE, LEAVE_MS);
}

/* The number of chunks that all have to send, once it is known. */
static void
set_end(struct team *team)
{
	for (unsigned int w = 0; w < team->count; w++)
		if (w == 0 || team->workers[w].next > team->end)
			team->end = team->workers[w].next;
}

static void
look_at_time(struct team *team, uint64_t now)
{
	const struct options *options = team->options;
	double hz = (double)rte_get_tsc_hz();
	struct run *run = &team->bench->run;

	if (run->end != END_PACKETS)
		return;
	if (bench_should_quit(team->bench))
		run->end = END_SIGNAL;
	else if (options->seconds != 0 && (double)(now - team->start) > options->seconds * hz)
		run->end = END_SECONDS;
	else
		return;
	set_end(team);
}

/* Every result is here, and every bad packet has gone. */
static bool
is_done(const struct team *team)
{
	if (team->flood_due >= 1 || team->unsent_count > 0)
		return false;
	for (unsigned int w = 0; w < team->count; w++)
		if (team->workers[w].next < team->end || team->workers[w].waiting > 0)
			return false;
	return true;
}

static void
exchange_chunks(struct team *team)
{
	uint64_t now = rte_rdtsc(), look = now, pause = rte_get_tsc_hz() / US_PER_S * LOOK_US;
	uint64_t give_up = team->options->aggregate.give_up * rte_get_tsc_hz();
	bool yield = idle_should_yield(rte_lcore_id());

	team->start = team->last_result = now;
	while (!is_done(team) && team->fatal_reason == 0 && team->failure == NULL) {
		unsigned int moved = team_receive(team, now);

		moved += team_send_chunks(team, now);
		if (now >= look) {
			moved += team_send_again(team, now);
			look_at_time(team, now);
			look = now + pause;
		}
		moved += team_flush(team);
		if (moved == 0)
			idle(yield);
		now = rte_rdtsc();
		if (now > team->last_result && now - team->last_result > give_up)
			team->failure = "no result any more; did the switch end?";
	}
}

void
team_run(struct team *team)
{
	const struct options *options = team->options;
	uint64_t chunks = options->aggregate.chunks;

	team->end = chunks != 0 ? (uint32_t)chunks : UINT32_MAX;
	team->bench->run.end = END_PACKETS;
	if (!join_all(team) && team->fatal_reason == 0)
		team->failure = team->counters.answers == 0
			? "no answer to the joins; is the switch running, with --aggregate and "
			  "that --address?"
			: "not all workers could join";
	if (team->failure == NULL && team->fatal_reason == 0)
		exchange_chunks(team);
	if (team->counters.answers > 0)
		leave_all(team);
	team->counters.chunks = team->counters.results / team->count;
	team_abandon(team);
}

void
team_free(struct team *team)
{
	for (unsigned int w = 0; team->workers != NULL && w < team->count; w++)
		free(team->workers[w].slots);
	free(team->workers);
	exact_sums_free(&team->sums);
	worker_keys_free(team->keys);
	aggregate_secret_free(team->secret);
	chunks_free(&team->chunks);
}

/* Packets that were made are sent, lost on the way, or were left behind at the end. */
static bool
adds_up(const struct team *team)
{
	const struct team_counters *counters = &team->counters;
	const struct impair *in = &team->inward, *out = &team->outward;
	uint64_t made = counters->requests + counters->parts + counters->retries + counters->joins +
		counters->leaves + counters->bad + out->duplicates;
	uint64_t taken = counters->results + counters->repeated + counters->answers +
		counters->refused + counters->forged + counters->others;

	return made == counters->sent + out->lost + team->abandoned_out &&
		counters->received + in->duplicates == taken + in->lost + team->abandoned_in &&
		team->bench->buffers_lost == 0;
}

bool
team_went_well(const struct team *team)
{
	const struct team_counters *counters = &team->counters;
	bool sums_up = adds_up(team);

	if (team->fatal_reason != 0)
		fprintf(stderr, PROGRAM ": the switch refuses the workers: %s\n",
			aggregate_reason_name(team->fatal_reason));
	if (team->failure != NULL)
		fprintf(stderr, PROGRAM ": %s\n", team->failure);
	if (!sums_up)
		fprintf(stderr,
			PROGRAM ": packets or packet buffers are unaccounted for: %" PRIu64
				" sent, %" PRIu64 " received, %u packet buffers missing\n",
			counters->sent, counters->received, team->bench->buffers_lost);
	return sums_up && team->fatal_reason == 0 && team->failure == NULL &&
		counters->wrong == 0 && counters->right == counters->results &&
		counters->results == counters->requests;
}
