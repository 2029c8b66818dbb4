/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_udp.h>

#include "check/reply.h"
#include "run/send.h"

/* Make a packet of a card. */
static void
write_request(const struct deck *deck, const struct card *card, uint32_t id, struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint8_t *payload = frame + deck->payload_offset;
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)payload - 1;
	struct netfc_hdr *header = (struct netfc_hdr *)payload;

	memcpy(frame, card->request, deck->frame_length);
	header->id = rte_cpu_to_be_32(id);
	udp->dgram_cksum = reply_checksum(card->request_sum, header->id);
	mbuf->data_len = (uint16_t)deck->frame_length;
	mbuf->pkt_len = deck->frame_length;
}

static struct slot *
claim(struct run *run, const struct deck *deck)
{
	struct slot *slot = flight_claim(&run->flight, run->next_card);

	run->next_card = run->next_card + 1 < deck->count ? run->next_card + 1 : 0;
	return slot;
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
		run->tally.no_buffer++;
		return;
	}
	for (unsigned int u = have; u < wanted; u++) {
		struct slot *slot = claim(run, &bench->deck);

		write_request(
			&bench->deck, &bench->deck.cards[slot->card], slot->id, run->unsent[u]);
		run->unsent_slots[u] = slot;
	}
	run->unsent_count = wanted;
}

static void
keep_unsent(struct run *run, unsigned int sent)
{
	unsigned int left = run->unsent_count - sent;

	memmove(run->unsent, run->unsent + sent, left * sizeof(run->unsent[0]));
	memmove(run->unsent_slots, run->unsent_slots + sent, left * sizeof(run->unsent_slots[0]));
	run->unsent_count = left;
	run->tally.refused += left;
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
	sent = rte_eth_tx_burst(bench->tx_port, 0, run->unsent, (uint16_t)run->unsent_count);
	for (unsigned int u = 0; u < sent; u++)
		flight_sent(&run->flight, run->unsent_slots[u], now);
	if (sent > 0)
		run->tally.last_sent = now;
	run->tally.sent += sent;
	keep_unsent(run, sent);
	return sent;
}

void
send_abandon(struct bench *bench)
{
	struct run *run = &bench->run;

	rte_pktmbuf_free_bulk(run->unsent, run->unsent_count);
	for (unsigned int u = 0; u < run->unsent_count; u++)
		flight_release(run->unsent_slots[u]);
	run->unsent_count = 0;
}
