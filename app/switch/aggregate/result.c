/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "aggregate/aggregation.h"
#include "aggregate/datagram.h"
#include "checksum.h"
#include "transmit.h"

_Static_assert(sizeof(struct path) <= AGGREGATE_PATH_BYTES, "a path is kept whole");

bool
result_learn_sender(unsigned int in, const struct rte_mbuf *mbuf, const struct frame *frame,
	struct aggregate_sender *sender)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	const void *ip = bytes + frame->network_offset;
	const struct rte_udp_hdr *udp = (const void *)(bytes + frame->udp_offset);
	const uint8_t ecn = frame_ecn(mbuf, frame);
	struct path path = {
		.port = (uint16_t)in,
		.network = frame->network,
		.tag_bytes = (uint8_t)(frame->network_offset - RTE_ETHER_HDR_LEN),
		.ecn = ecn != 0 ? IP_ECN_CAPABLE : 0,
	};

	memcpy(&path.mac, bytes + RTE_ETHER_ADDR_LEN, sizeof(path.mac));
	memcpy(path.tags, bytes + 2 * RTE_ETHER_ADDR_LEN, path.tag_bytes);
	if (frame->network == FRAME_IPV4) {
		const struct rte_ipv4_hdr *ip4 = ip;

		memcpy(path.address, &ip4->dst_addr, IPV4_ADDR_BYTES);
		datagram_map_ipv4(&ip4->src_addr, sender->address);
	} else {
		const struct rte_ipv6_hdr *ip6 = ip;

		memcpy(path.address, &ip6->dst_addr, IPV6_ADDR_BYTES);
		memcpy(sender->address, &ip6->src_addr, IPV6_ADDR_BYTES);
	}
	sender->port = rte_be_to_cpu_16(udp->src_port);
	memcpy(sender->path, &path, sizeof(path));
	return ecn == IP_ECN_MARKED;
}

/* Values, zeros or nothing, and the header in front, as worker 0's. */
struct body {
	uint8_t header[AGGREGATE_HEADER_BYTES];
	uint32_t bytes;
	uint32_t sum;                   /* the share of both in the UDP checksum */
	struct aggregate_digest digest; /* if there are tags */
};

/* What is the same for all workers of a chunk. */
struct result {
	const struct aggregate_message *request;
	const struct aggregate_entry *entry;
	const struct aggregate_seal *seal;
	uint16_t udp_port; /* they were sent to, host order */
	struct body values, nothing;
};

static const struct body *
body_for(const struct result *result, uint8_t worker)
{
	return aggregate_result_kind(result->entry, worker) == AGGREGATE_ACKNOWLEDGED
		? &result->nothing
		: &result->values;
}

#define WORKER_AT offsetof(struct aggregate_hdr, worker)
_Static_assert(WORKER_AT % 2 == 0, "the first byte of a word of the checksum");

/* Header, values and tag for a worker. Returns their share of the UDP checksum. */
static uint64_t
write_result(const struct result *result, uint8_t worker, uint8_t *payload)
{
	const struct body *body = body_for(result, worker);
	const uint64_t sum = body->sum + rte_cpu_to_be_16((uint16_t)(worker << 8));
	uint8_t *tag = payload + AGGREGATE_HEADER_BYTES + body->bytes;

	memcpy(payload, body->header, AGGREGATE_HEADER_BYTES);
	payload[WORKER_AT] = worker;
	memcpy(payload + AGGREGATE_HEADER_BYTES, result->entry->result, body->bytes);
	if (result->seal->key == NULL)
		return sum;
	aggregate_tag_finish(result->seal->key, payload, result->seal->high, &body->digest, tag);
	return sum + checksum_at(body->bytes, rte_raw_cksum(tag, AGGREGATE_TAG_BYTES));
}

/* A packet for a worker: Ethernet, IP, UDP, the header of aggregations, the values. */
static void
write_packet(struct rte_mbuf *mbuf, const struct result *result, uint8_t worker,
	const struct aggregate_sender *to, const struct rte_ether_addr *mac)
{
	const struct body *body = body_for(result, worker);
	uint16_t bytes = (uint16_t)(AGGREGATE_HEADER_BYTES + body->bytes +
		aggregate_seal_bytes(result->seal));
	struct path path;
	uint64_t sum;

	memcpy(&path, to->path, sizeof(path));
	if (result->entry->marked && path.ecn != 0)
		path.ecn = IP_ECN_MARKED;
	sum = write_result(
		result, worker, rte_pktmbuf_mtod(mbuf, uint8_t *) + datagram_headers(&path));
	datagram_finish(mbuf, &path, mac, to->address, result->udp_port,
		result->entry->ports[worker], bytes, sum);
}

/* In a packet that is new, or NULL: there was none. */
static void
send_to_worker(struct app *app, struct lcore *lcore, const struct result *result, uint8_t worker,
	const struct aggregate_sender *to, struct rte_mbuf *mbuf)
{
	struct path path;

	lcore->counters.copies++;
	if (unlikely(mbuf == NULL)) {
		lcore->counters.drops[DROP_NO_MBUF]++;
		return;
	}
	memcpy(&path, to->path, sizeof(path));
	write_packet(mbuf, result, worker, to, &app->port[path.port].endpoint.mac);
	lcore->counters.answers++;
	transmit_later(app, lcore, path.port, mbuf);
}

/*
 * To all workers except `but`, if that is one. Packets are taken from the pool in bulk, so that
 * their cache misses overlap.
 */
static void
send_to_workers(struct app *app, struct lcore *lcore, const struct result *result,
	const struct aggregate_outcome *outcome, uint8_t but)
{
	const unsigned int workers = outcome->workers, count = workers - (but < workers);
	struct rte_mbuf *mbufs[AGGREGATE_MAX_WORKERS];
	const bool all = rte_pktmbuf_alloc_bulk(lcore->pool, mbufs, count) == 0;
	unsigned int used = 0;

	for (uint8_t w = 0; w < workers; w++)
		if (w != but)
			send_to_worker(app, lcore, result, w,
				aggregate_worker_sender(lcore->shard->state, outcome->index, w),
				all ? mbufs[used++] : rte_pktmbuf_alloc(lcore->pool));
}

static void
read_body(struct body *body, const struct app *app, const struct result *result, uint8_t kind,
	uint32_t bytes)
{
	const struct aggregate_entry *entry = result->entry;

	aggregate_build_result(body->header, result->request, 0, kind, entry->flags, NULL, 0);
	body->bytes = bytes;
	body->sum = rte_raw_cksum(body->header, sizeof(body->header));
	body->sum += app->port[0].endpoint.checksum(entry->result, bytes);
	if (result->seal->key != NULL)
		aggregate_tag_digest(result->seal->key, entry->result, bytes, &body->digest);
}

static void
read_result(struct result *result, const struct app *app, const struct lcore *lcore,
	const struct aggregate_message *request, const struct aggregate_entry *entry,
	const struct aggregate_seal *seal)
{
	const struct aggregation *aggregation = app->aggregation;

	result->request = request;
	result->entry = entry;
	result->seal = seal;
	result->udp_port = (uint16_t)(aggregation->port + (lcore->shard - aggregation->shard));
	if (request->code == NETFC_STATUS_OK && entry->zero)
		read_body(&result->values, app, result, AGGREGATE_ZEROS, 0);
	else if (request->code == NETFC_STATUS_OK)
		read_body(&result->values, app, result, AGGREGATE_ROUNDED,
			request->count * aggregate_result_value_bytes(request->format));
	if (request->owner != 0 || request->count == 0 || request->code != NETFC_STATUS_OK)
		read_body(&result->nothing, app, result, AGGREGATE_ACKNOWLEDGED, 0);
}

bool
result_fits_request(
	const struct aggregate_message *request, const struct aggregate_outcome *outcome)
{
	return !outcome->no_values &&
		outcome->bytes == aggregate_result_bytes(outcome->entry, request->worker);
}

void
result_send(struct app *app, struct lcore *lcore, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome, const struct aggregate_seal *seal,
	uint8_t *payload)
{
	bool in_place = result_fits_request(request, outcome);
	struct result result;

	read_result(&result, app, lcore, request, outcome->entry, seal);
	if (in_place)
		write_result(&result, request->worker, payload);
	send_to_workers(
		app, lcore, &result, outcome, in_place ? request->worker : outcome->workers);
}

void
result_hand_down(struct app *app, struct lcore *lcore, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome)
{
	struct aggregate_seal seal;
	struct result result;

	aggregate_leaf_seal(lcore->shard->state, outcome, &seal);
	read_result(&result, app, lcore, request, outcome->entry, &seal);
	send_to_workers(app, lcore, &result, outcome, outcome->workers);
}

void
result_send_separately(struct app *app, struct lcore *lcore,
	const struct aggregate_message *request, const struct aggregate_outcome *outcome,
	const struct aggregate_seal *seal, const struct aggregate_sender *sender)
{
	struct result result;

	read_result(&result, app, lcore, request, outcome->entry, seal);
	send_to_worker(
		app, lcore, &result, request->worker, sender, rte_pktmbuf_alloc(lcore->pool));
}
