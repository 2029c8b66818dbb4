/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_ether.h>

#include "forward/fdb.h"
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
	struct rte_mbuf *copy = rte_pktmbuf_clone(mbuf, lcore->pool);

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
	unsigned int last = in;

	for (unsigned int out = 0; out < app->port_count; out++) {
		if (out == in || unlikely(port_is_gone(&app->port[out])))
			continue;
		if (last != in)
			send_copy(app, lcore, last, mbuf);
		last = out;
	}
	if (likely(last != in))
		transmit_later(app, lcore, last, mbuf);
	else
		drop(lcore, mbuf, DROP_PORT_GONE);
}

/* Sources and destinations of a burst's packets, looked up together. */
struct ends {
	struct fdb_key source[PIPELINE_BURST], destination[PIPELINE_BURST];
	struct fdb_entry *from[PIPELINE_BURST], *to[PIPELINE_BURST];
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
static inline struct fdb_key
key_of(const struct rte_ether_addr *mac, uint16_t vlan)
{
	const uint64_t in_place = RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN ? (uint64_t)vlan << 48 : vlan;
	const uint64_t mask = rte_cpu_to_be_64(UINT64_C(0xffffffffffff0000));
	struct fdb_key key;
	uint64_t word;

	memcpy(&word, mac, sizeof(word));
	word = (word & mask) | in_place;
	memcpy(&key, &word, sizeof(key));
	return key;
}

static void
look_up_ends(const struct fdb *fdb, struct rte_mbuf **mbufs, const struct frame *frames,
	uint16_t count, struct ends *ends)
{
	for (uint16_t i = 0; i < count; i++) {
		const struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbufs[i], void *);
		static const struct rte_ether_hdr none;

		if (unlikely(is_runt(mbufs[i])))
			ethernet = &none;
		ends->source[i] = key_of(&ethernet->src_addr, frames[i].vlan);
		ends->destination[i] = key_of(&ethernet->dst_addr, frames[i].vlan);
	}
	fdb_lookup(fdb, ends->source, ends->from, count);
	fdb_lookup(fdb, ends->destination, ends->to, count);
}

/* What the packets of a burst have in common. */
struct forward_context {
	struct app *app;
	struct lcore *lcore;
	unsigned int in;
	uint64_t now, refresh; /* TSC cycles */
};

/* Packets, one after the other in a burst, to stations behind a port. */
static void
forward_to(const struct forward_context *context, unsigned int out, struct rte_mbuf *const *mbufs,
	uint16_t count)
{
	if (likely(out != context->in)) {
		transmit_burst_later(context->app, context->lcore, out, mbufs, count);
		return;
	}
	for (uint16_t i = 0; i < count; i++)
		drop(context->lcore, mbufs[i], DROP_SAME_PORT);
}

/* Whether a MAC address is that of one of the ports: the switch is there, and no station. */
static bool
is_own(const struct app *app, const struct rte_ether_addr *mac)
{
	for (unsigned int p = 0; p < app->port_count; p++) {
		const struct port *port = &app->port[p];

		if (port->owns_mac && rte_is_same_ether_addr(&port->endpoint.mac, mac))
			return true;
	}
	return false;
}

static bool
may_be_station(const struct app *app, const struct rte_ether_addr *mac)
{
	return rte_is_unicast_ether_addr(mac) && !rte_is_zero_ether_addr(mac) && !is_own(app, mac);
}

/*
 * A packet whose source or destination is unknown. That includes every invalid one, as the FDB has
 * only stations.
 */
static __rte_noinline void
forward_unknown(const struct forward_context *context, struct rte_mbuf *mbuf,
	const struct ends *ends, uint16_t index)
{
	const struct fdb_key *source = &ends->source[index];
	const struct fdb_key *destination = &ends->destination[index];
	const uint16_t port = (uint16_t)context->in;

	if (is_runt(mbuf)) {
		drop(context->lcore, mbuf, DROP_RUNT);
		return;
	}
	if (source->vlan == RESERVED_VLAN) {
		drop(context->lcore, mbuf, DROP_BAD_VLAN);
		return;
	}
	if (ends->from[index] != NULL)
		fdb_entry_seen(ends->from[index], port, context->now, context->refresh);
	else if (may_be_station(context->app, &source->mac))
		fdb_report_new(context->app->fdb, source, port);
	if (is_link_local(&destination->mac))
		drop(context->lcore, mbuf, DROP_LINK_LOCAL);
	else if (ends->to[index] != NULL)
		forward_to(context, fdb_entry_port(ends->to[index]), &mbuf, 1);
	else if (is_own(context->app, &destination->mac))
		drop(context->lcore, mbuf, DROP_NO_SERVICE);
	else
		flood(context->app, context->lcore, context->in, mbuf);
}

void
bridge_forward(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf **mbufs,
	const struct frame *frames, uint16_t count)
{
	const struct forward_context context = {
		.app = app,
		.lcore = lcore,
		.in = in,
		.now = rte_rdtsc(),
		.refresh = fdb_refresh(app->fdb),
	};
	struct ends ends;
	unsigned int out = in;
	uint16_t first = 0; /* of those that go to the port `out` */

	look_up_ends(app->fdb, mbufs, frames, count, &ends);
	for (uint16_t i = 0; i < count; i++) {
		if (unlikely(ends.from[i] == NULL || ends.to[i] == NULL)) {
			forward_to(&context, out, mbufs + first, (uint16_t)(i - first));
			forward_unknown(&context, mbufs[i], &ends, i);
			first = (uint16_t)(i + 1);
			continue;
		}
		fdb_entry_seen(ends.from[i], (uint16_t)in, context.now, context.refresh);
		/* Only now: a packet before this one may have shown that it has moved. */
		if (likely(fdb_entry_port(ends.to[i]) == out))
			continue;
		forward_to(&context, out, mbufs + first, (uint16_t)(i - first));
		out = fdb_entry_port(ends.to[i]);
		first = i;
	}
	forward_to(&context, out, mbufs + first, (uint16_t)(count - first));
	transmit_flush(app, lcore);
}
