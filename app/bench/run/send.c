/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_udp.h>

#include "check/check.h"
#include "run/run.h"

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

unsigned int
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

void
send_abandon(struct bench *bench)
{
	struct run *run = &bench->run;

	rte_pktmbuf_free_bulk(run->unsent, run->unsent_count);
	for (unsigned int u = 0; u < run->unsent_count; u++)
		in_flight_release(run->unsent_packets[u]);
	run->unsent_count = 0;
}
