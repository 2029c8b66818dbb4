/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_ether.h>

#include "forward/bridge.h"
#include "transmit.h"

/* IEEE 802.1Q, table 9-2. */
#define RESERVED_VLAN 0xfff

/* 01-80-C2-00-00-00 to -0F stay on their link (IEEE 802.1Q, table 8-1). */
static bool
is_link_local(const struct rte_ether_addr *mac)
{
	static const uint8_t reserved[5] = {0x01, 0x80, 0xc2, 0x00, 0x00};

	return memcmp(mac->addr_bytes, reserved, sizeof(reserved)) == 0 &&
		mac->addr_bytes[5] <= 0x0f;
}

static void
drop(struct lcore *lcore, struct rte_mbuf *mbuf, enum drop_reason reason)
{
	lcore->counters.drops[reason]++;
	rte_pktmbuf_free(mbuf);
}

/* A copy shares the packet's bytes, which nobody changes any more. */
static void
send_copy(struct app *app, struct lcore *lcore, unsigned int out, struct rte_mbuf *mbuf)
{
	struct rte_mbuf *copy = rte_pktmbuf_clone(mbuf, app->pool);

	lcore->counters.copies++;
	if (copy == NULL)
		lcore->counters.drops[DROP_NO_MBUF]++;
	else
		transmit_later(app, lcore, out, copy);
}

/* To all ports but the one it came from: copies to all, the packet itself to the last. */
static void
flood(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf *mbuf)
{
	unsigned int last = app->port_count - 1;

	last -= last == in;
	for (unsigned int out = 0; out < last; out++) {
		if (out != in)
			send_copy(app, lcore, out, mbuf);
	}
	transmit_later(app, lcore, last, mbuf);
}

/* A burst's stations, looked up together. */
struct ends {
	struct station_key source[PIPELINE_BURST], destination[PIPELINE_BURST];
	struct station *from[PIPELINE_BURST], *to[PIPELINE_BURST];
};

static bool
is_runt(const struct rte_mbuf *mbuf)
{
	return rte_pktmbuf_data_len(mbuf) < sizeof(struct rte_ether_hdr);
}

/*
 * The key of an address in an Ethernet header, where 2 bytes follow it. Made as one word, since a
 * word that is read soon after it was stored in pieces has to wait for them.
 */
static inline struct station_key
key_of(const struct rte_ether_addr *mac, uint16_t vlan)
{
	const uint64_t in_place = RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN ? (uint64_t)vlan << 48 : vlan;
	const uint64_t mask = rte_cpu_to_be_64(UINT64_C(0xffffffffffff0000));
	struct station_key key;
	uint64_t word;

	memcpy(&word, mac, sizeof(word));
	word = (word & mask) | in_place;
	memcpy(&key, &word, sizeof(key));
	return key;
}

static void
look_up_ends(const struct station_table *stations, struct rte_mbuf **mbufs,
	const struct frame *frames, uint16_t count, struct ends *ends)
{
	for (uint16_t i = 0; i < count; i++) {
		const struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbufs[i], void *);
		static const struct rte_ether_hdr none;

		if (unlikely(is_runt(mbufs[i])))
			ethernet = &none;
		ends->source[i] = key_of(&ethernet->src_addr, frames[i].vlan);
		ends->destination[i] = key_of(&ethernet->dst_addr, frames[i].vlan);
	}
	station_table_look_up(stations, ends->source, ends->from, count);
	station_table_look_up(stations, ends->destination, ends->to, count);
}

/* A packet's way is decided; what a burst's packets have in common. */
struct passage {
	struct app *app;
	struct lcore *lcore;
	unsigned int in;
	uint64_t now, refresh; /* TSC cycles */
};

static void
forward_to(const struct passage *passage, struct rte_mbuf *mbuf, const struct station *to)
{
	/* Read only now: a packet before this one may have told that the station has moved. */
	const uint16_t out = station_port(to);

	if (likely(out != passage->in))
		transmit_later(passage->app, passage->lcore, out, mbuf);
	else
		drop(passage->lcore, mbuf, DROP_SAME_PORT);
}

/*
 * A packet with an end that is not known: only stations are, so that this is where all others come,
 * and what has no ends.
 */
static __rte_noinline void
forward_unknown(const struct passage *passage, struct rte_mbuf *mbuf, const struct ends *ends,
	uint16_t index)
{
	const struct station_key *source = &ends->source[index];
	const struct station_key *destination = &ends->destination[index];
	const uint16_t port = (uint16_t)passage->in;

	if (is_runt(mbuf)) {
		drop(passage->lcore, mbuf, DROP_RUNT);
		return;
	}
	if (source->vlan == RESERVED_VLAN) {
		drop(passage->lcore, mbuf, DROP_BAD_VLAN);
		return;
	}
	if (ends->from[index] != NULL)
		station_seen(ends->from[index], port, passage->now, passage->refresh);
	else if (rte_is_unicast_ether_addr(&source->mac) && !rte_is_zero_ether_addr(&source->mac))
		station_table_announce(passage->app->stations, source, port);
	if (is_link_local(&destination->mac))
		drop(passage->lcore, mbuf, DROP_LINK_LOCAL);
	else if (ends->to[index] != NULL)
		forward_to(passage, mbuf, ends->to[index]);
	else
		flood(passage->app, passage->lcore, passage->in, mbuf);
}

void
bridge_forward(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf **mbufs,
	const struct frame *frames, uint16_t count)
{
	const struct passage passage = {
		.app = app,
		.lcore = lcore,
		.in = in,
		.now = rte_rdtsc(),
		.refresh = station_table_refresh(app->stations),
	};
	struct ends ends;

	look_up_ends(app->stations, mbufs, frames, count, &ends);
	for (uint16_t i = 0; i < count; i++) {
		if (unlikely(ends.from[i] == NULL || ends.to[i] == NULL)) {
			forward_unknown(&passage, mbufs[i], &ends, i);
			continue;
		}
		station_seen(ends.from[i], (uint16_t)in, passage.now, passage.refresh);
		forward_to(&passage, mbufs[i], ends.to[i]);
	}
	transmit_flush(app, lcore);
}
