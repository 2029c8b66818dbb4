/* SPDX-License-Identifier: BSD-3-Clause */
/* A run with requests: send and receive until enough was sent and all of it is answered or lost. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_prefetch.h>
#include <rte_udp.h>

#include "check/check.h"
#include "run/run.h"

/* ---- requests sent --------------------------------------------------------------------------- */

/* Write a request into a packet. */
static void
write_request(const struct workload *workload, const struct request *request, uint32_t id,
	struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint8_t *payload = frame + workload->payload_offset;
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)payload - 1;
	struct netfc_hdr *header = (struct netfc_hdr *)payload;

	memcpy(frame, request->frame, workload->frame_length);
	header->id = rte_cpu_to_be_32(id);
	udp->dgram_cksum = reply_checksum(request->frame_sum, header->id);
	mbuf->data_len = (uint16_t)workload->frame_length;
	mbuf->pkt_len = workload->frame_length;
}

static struct sent_packet *
claim(struct run *run, const struct workload *workload)
{
	struct sent_packet *packet = in_flight_claim(&run->in_flight, run->next_request);

	run->next_request = run->next_request + 1 < workload->count ? run->next_request + 1 : 0;
	return packet;
}

/* Make more packets, until there are as many as can be sent at once. */
static void
make_requests(struct bench *bench, uint64_t allowed)
{
	struct run *run = &bench->run;
	unsigned int wanted = (unsigned int)RTE_MIN(allowed, (uint64_t)BENCH_BURST);
	unsigned int have = run->unsent_count;

	if (wanted <= have)
		return;
	if (rte_pktmbuf_alloc_bulk(bench->pool, run->unsent + have, wanted - have) != 0) {
		run->counters.no_buffer++;
		return;
	}
	for (unsigned int u = have; u < wanted; u++) {
		struct sent_packet *packet = claim(run, &bench->workload);

		write_request(&bench->workload, &bench->workload.requests[packet->request],
			packet->id, run->unsent[u]);
		run->unsent_packets[u] = packet;
	}
	run->unsent_count = wanted;
}

static void
keep_unsent(struct run *run, unsigned int sent)
{
	unsigned int left = run->unsent_count - sent;

	memmove(run->unsent, run->unsent + sent, left * sizeof(run->unsent[0]));
	memmove(run->unsent_packets, run->unsent_packets + sent,
		left * sizeof(run->unsent_packets[0]));
	run->unsent_count = left;
	run->counters.refused += left;
}

/* Send requests, `allowed` with those kept; what the port does not take is kept for the next time.
 */
static unsigned int
send_requests(struct bench *bench, uint64_t allowed)
{
	struct run *run = &bench->run;
	unsigned int sent;
	uint64_t now;

	make_requests(bench, allowed);
	if (run->unsent_count == 0)
		return 0;
	now = rte_rdtsc();
	sent = rte_eth_tx_burst(
		bench->tx_port, bench->tx_queue, run->unsent, (uint16_t)run->unsent_count);
	bench->tx_queue = bench_next_queue(bench, bench->tx_queue);
	for (unsigned int u = 0; u < sent; u++)
		in_flight_sent(&run->in_flight, run->unsent_packets[u], now);
	if (sent > 0)
		run->counters.last_sent = now;
	run->counters.sent += sent;
	keep_unsent(run, sent);
	return sent;
}

/* Give up those kept. */
static void
send_abandon(struct bench *bench)
{
	struct run *run = &bench->run;

	rte_pktmbuf_free_bulk(run->unsent, run->unsent_count);
	for (unsigned int u = 0; u < run->unsent_count; u++)
		in_flight_release(run->unsent_packets[u]);
	run->unsent_count = 0;
}

/* ---- replies received, checked, counted ------------------------------------------------------ */

/* A reply to a packet that is still waited for. */
static bool
take_awaited(struct run *run, struct sent_packet *packet, uint64_t now)
{
	struct run_counters *counters = &run->counters;
	uint64_t latency = now - packet->sent_at;
	int32_t ahead = (int32_t)(packet->id - run->newest_id);

	if (latency > run->in_flight.timeout) {
		in_flight_end(&run->in_flight, packet, PACKET_LOST);
		counters->lost++;
		return false;
	}
	in_flight_end(&run->in_flight, packet, PACKET_ANSWERED);
	counters->answered++;
	counters->last_received = now;
	histogram_add(&run->latency, latency);
	if (ahead > 0) {
		run->newest_id = packet->id;
	} else {
		counters->reordered++;
		counters->reorder_extent = RTE_MAX(counters->reorder_extent, (uint32_t)-ahead);
	}
	return true;
}

static void
note_unknown(struct run *run, const struct reply *reply)
{
	const struct mismatch_example example = {.kind = MISMATCH_ID, .id = reply->id};

	mismatch_note(&run->mismatches, &example);
	run->counters.wrong++;
}

static void
take_known(struct bench *bench, struct sent_packet *packet, const struct reply *reply, uint64_t now)
{
	struct run *run = &bench->run;
	struct request *request = &bench->workload.requests[packet->request];
	bool in_time = false;

	if (packet->state == PACKET_OUTSTANDING)
		in_time = take_awaited(run, packet, now);
	else if (packet->state == PACKET_ANSWERED)
		run->counters.duplicates++;
	if (packet->state == PACKET_LOST) {
		run->counters.late++;
		packet->state = PACKET_ANSWERED;
	}
	if (!reply_is_right(&bench->workload, request, reply) &&
		reply_find_mismatches(&bench->workload, request, reply, &run->mismatches)) {
		run->counters.wrong++;
	} else if (in_time) {
		run->counters.right++;
		request->right++;
	}
}

static void
take_reply(struct bench *bench, const struct rte_mbuf *mbuf, uint64_t now)
{
	struct run *run = &bench->run;
	struct reply reply;
	struct sent_packet *packet;

	if (!reply_parse(mbuf, run->scratch, &reply)) {
		run->counters.others++;
		return;
	}
	switch (in_flight_find(&run->in_flight, reply.id, &packet)) {
	case ID_NEVER_SENT:
		note_unknown(run, &reply);
		break;
	case ID_FORGOTTEN:
		run->counters.late++;
		break;
	case ID_KNOWN:
		take_known(bench, packet, &reply, now);
		break;
	}
}

static unsigned int
receive_replies(struct bench *bench)
{
	struct rte_mbuf *mbufs[BENCH_BURST];
	uint16_t count = rte_eth_rx_burst(bench->rx_port, bench->rx_queue, mbufs, BENCH_BURST);
	uint64_t now;

	bench->rx_queue = bench_next_queue(bench, bench->rx_queue);
	if (count == 0)
		return 0;
	now = rte_rdtsc();
	bench->run.counters.received += count;
	for (uint16_t i = 0; i < count; i++) {
		if (i + 1 < count)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + 1], void *));
		take_reply(bench, mbufs[i], now);
	}
	rte_pktmbuf_free_bulk(mbufs, count);
	return count;
}

/* ---- the run --------------------------------------------------------------------------------- */

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
