/* SPDX-License-Identifier: BSD-3-Clause */
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

static void
look_up_ends(const struct station_table *stations, struct rte_mbuf **mbufs,
	const struct frame *frames, uint16_t count, struct ends *ends)
{
	for (uint16_t i = 0; i < count; i++) {
		const struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbufs[i], void *);
		static const struct rte_ether_hdr none;

		if (unlikely(is_runt(mbufs[i])))
			ethernet = &none;
		ends->source[i] = (struct station_key){ethernet->src_addr, frames[i].vlan};
		ends->destination[i] = (struct station_key){ethernet->dst_addr, frames[i].vlan};
	}
	station_table_look_up(stations, ends->source, ends->from, count);
	station_table_look_up(stations, ends->destination, ends->to, count);
}

static void
forward_one(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf *mbuf,
	const struct ends *ends, uint16_t index, uint64_t now)
{
	const struct station_key *source = &ends->source[index];
	const struct station_key *destination = &ends->destination[index];
	uint16_t out = STATION_UNKNOWN;

	if (unlikely(is_runt(mbuf))) {
		drop(lcore, mbuf, DROP_RUNT);
		return;
	}
	if (source->vlan == RESERVED_VLAN) {
		drop(lcore, mbuf, DROP_BAD_VLAN);
		return;
	}
	if (rte_is_unicast_ether_addr(&source->mac) && !rte_is_zero_ether_addr(&source->mac))
		station_table_seen(app->stations, source, ends->from[index], (uint16_t)in, now);
	if (is_link_local(&destination->mac)) {
		drop(lcore, mbuf, DROP_LINK_LOCAL);
		return;
	}
	/* Read only now: a packet before this one may have told that the station has moved. */
	if (rte_is_unicast_ether_addr(&destination->mac) && ends->to[index] != NULL)
		out = station_port(ends->to[index]);
	if (out == STATION_UNKNOWN)
		flood(app, lcore, in, mbuf);
	else if (out == in)
		drop(lcore, mbuf, DROP_SAME_PORT);
	else
		transmit_later(app, lcore, out, mbuf);
}

void
bridge_forward(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf **mbufs,
	const struct frame *frames, uint16_t count)
{
	uint64_t now = rte_rdtsc();
	struct ends ends;

	look_up_ends(app->stations, mbufs, frames, count, &ends);
	for (uint16_t i = 0; i < count; i++)
		forward_one(app, lcore, in, mbufs[i], &ends, i, now);
	transmit_flush(app, lcore);
}
