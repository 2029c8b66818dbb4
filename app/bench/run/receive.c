/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_cycles.h>
#include <rte_prefetch.h>

#include "run/receive.h"
#include "check/reply.h"

/* A reply to a packet that is still waited for. */
static bool
take_awaited(struct run *run, struct slot *slot, uint64_t now)
{
	struct tally *tally = &run->tally;
	uint64_t latency = now - slot->sent_at;
	int32_t ahead = (int32_t)(slot->id - run->newest_id);

	if (latency > run->flight.timeout) {
		flight_end(&run->flight, slot, SLOT_LOST);
		tally->lost++;
		return false;
	}
	flight_end(&run->flight, slot, SLOT_ANSWERED);
	tally->answered++;
	tally->last_received = now;
	histogram_add(&run->latency, latency);
	if (ahead > 0) {
		run->newest_id = slot->id;
	} else {
		tally->reordered++;
		tally->reorder_extent = RTE_MAX(tally->reorder_extent, (uint32_t)-ahead);
	}
	return true;
}

static void
note_unknown(struct run *run, const struct reply *reply)
{
	const struct mismatch_example example = {.kind = MISMATCH_ID, .id = reply->id};

	mismatch_note(&run->mismatches, &example);
	run->tally.wrong++;
}

static void
take_known(struct bench *bench, struct slot *slot, const struct reply *reply, uint64_t now)
{
	struct run *run = &bench->run;
	struct card *card = &bench->deck.cards[slot->card];
	bool in_time = false;

	if (slot->state == SLOT_OUTSTANDING)
		in_time = take_awaited(run, slot, now);
	else if (slot->state == SLOT_ANSWERED)
		run->tally.duplicates++;
	if (slot->state == SLOT_LOST) {
		run->tally.late++;
		slot->state = SLOT_ANSWERED;
	}
	if (!reply_is_right(&bench->deck, card, reply) &&
		reply_find_mismatches(&bench->deck, card, reply, &run->mismatches)) {
		run->tally.wrong++;
	} else if (in_time) {
		run->tally.right++;
		card->right++;
	}
}

static void
take_reply(struct bench *bench, const struct rte_mbuf *mbuf, uint64_t now)
{
	struct run *run = &bench->run;
	struct reply reply;
	struct slot *slot;

	if (!reply_parse(mbuf, run->scratch, &reply)) {
		run->tally.others++;
		return;
	}
	switch (flight_find(&run->flight, reply.id, &slot)) {
	case FLIGHT_NEVER:
		note_unknown(run, &reply);
		break;
	case FLIGHT_FORGOTTEN:
		run->tally.late++;
		break;
	case FLIGHT_KNOWN:
		take_known(bench, slot, &reply, now);
		break;
	}
}

unsigned int
receive_replies(struct bench *bench)
{
	struct rte_mbuf *mbufs[BENCH_BURST];
	uint16_t count = rte_eth_rx_burst(bench->rx_port, 0, mbufs, BENCH_BURST);
	uint64_t now;

	if (count == 0)
		return 0;
	now = rte_rdtsc();
	bench->run.tally.received += count;
	for (uint16_t i = 0; i < count; i++) {
		if (i + 1 < count)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + 1], void *));
		take_reply(bench, mbufs[i], now);
	}
	rte_pktmbuf_free_bulk(mbufs, count);
	return count;
}
