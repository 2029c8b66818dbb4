/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_cycles.h>
#include <rte_prefetch.h>

#include "run/run.h"
#include "check/check.h"

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

unsigned int
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
