/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets for the switch and for others, sound and damaged: the same answers, drops and counters,
 * byte for byte, whether they come in one segment or several, in a burst or one by one.
 */
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#include <rte_arp.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "cases.h"
#include "checksum.h"
#include "eal.h"
#include "endpoint/endpoint.h"
#include "packets.h"
#include "pipeline_fixture.h"

#define ROUNDS 400
#define MAX_LANES 40
#define MAX_PADDING 20
#define FRAME_BYTES (PACKET_HEADERS + MAX_LANES * NETFC_LANE_BYTES + MAX_PADDING)
#define IP_AT 14
#define UDP_AT 34

static const char *const sets[] = {"fp16_k1024", "bf16_k128"};
static const struct rte_ether_addr mac = {{2, 0, 0, 0, 0, 9}};

enum kind {
	SOUND,
	NO_CHECKSUM,
	PARTIAL_CHECKSUM,
	OF_OTHERS,
	ANSWERED_OR_FORWARDED, /* the first that is no request that is computed */
	WRONG_CHECKSUM = ANSWERED_OR_FORWARDED,
	WRONG_IP_CHECKSUM,
	WRONG_VERSION_AND_CHECKSUM,
	FLIPPED,
	ARP,
	PING,
	KINDS,
};

struct sent {
	enum kind kind;
	uint32_t length;
	uint8_t bytes[FRAME_BYTES] __rte_aligned(2);
};

/* One of the ways in which the packets come. */
struct way {
	struct pipeline_worker *worker;
	struct rte_mbuf *mbuf[PIPELINE_BURST];
	struct frame frame[PIPELINE_BURST];
	enum verdict verdict[PIPELINE_BURST];
	enum drop_reason reason[PIPELINE_BURST];
};

static struct pipeline_fixture fixture;
static struct endpoint endpoint;
static uint64_t seed = 1;

static uint32_t
below(uint32_t end)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % end;
}

static void
write_request(struct sent *sent)
{
	uint16_t x[MAX_LANES], y[MAX_LANES];
	const uint16_t lanes = (uint16_t)(1 + below(MAX_LANES));

	for (unsigned int l = 0; l < lanes; l++) {
		x[l] = (uint16_t)below(65536);
		y[l] = (uint16_t)below(65536);
	}
	packet_write(sent->bytes, NETFC_ADD + below(4), below(2) == 0 ? NETFC_FP16 : NETFC_BF16,
		lanes, x, y);
	memset(sent->bytes, 4, 12);
	sent->length = packet_length(lanes);
}

static void
write_arp(struct sent *sent)
{
	struct rte_arp_hdr *arp = (void *)(sent->bytes + IP_AT);

	sent->bytes[13] = RTE_ETHER_TYPE_ARP & 0xff;
	*arp = (struct rte_arp_hdr){
		.arp_hardware = RTE_BE16(RTE_ARP_HRD_ETHER),
		.arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4),
		.arp_hlen = RTE_ETHER_ADDR_LEN,
		.arp_plen = sizeof(rte_be32_t),
		.arp_opcode = RTE_BE16(RTE_ARP_OP_REQUEST),
		.arp_data.arp_sip = RTE_BE32(RTE_IPV4(10, 0, 0, 1)),
		.arp_data.arp_tip = RTE_BE32(RTE_IPV4(10, 0, 0, 2)),
	};
}

static void
write_ping(struct sent *sent)
{
	struct rte_ipv4_hdr *ip = (void *)(sent->bytes + IP_AT);
	struct rte_icmp_hdr *icmp = (void *)(sent->bytes + UDP_AT);

	ip->next_proto_id = IPPROTO_ICMP;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	*icmp = (struct rte_icmp_hdr){.icmp_type = ICMP_ECHO};
	icmp->icmp_cksum = (uint16_t)~rte_raw_cksum(icmp, sent->length - UDP_AT);
}

static void
damage(struct sent *sent)
{
	struct rte_ipv4_hdr *ip = (void *)(sent->bytes + IP_AT);
	struct rte_udp_hdr *udp = (void *)(sent->bytes + UDP_AT);

	switch (sent->kind) {
	case NO_CHECKSUM:
		udp->dgram_cksum = 0;
		break;
	case PARTIAL_CHECKSUM:
		udp->dgram_cksum = rte_ipv4_phdr_cksum(ip, 0);
		break;
	case OF_OTHERS:
		ip->dst_addr = RTE_BE32(RTE_IPV4(10, 0, 0, 7));
		udp->dgram_cksum = (uint16_t)below(65536);
		break;
	case WRONG_CHECKSUM:
		udp->dgram_cksum ^= RTE_BE16(0x0100);
		break;
	case WRONG_IP_CHECKSUM:
		ip->hdr_checksum ^= RTE_BE16(0x0100);
		break;
	case WRONG_VERSION_AND_CHECKSUM:
		sent->bytes[PACKET_HEADERS - 10] ^= 0x10;
		break;
	case FLIPPED:
		for (unsigned int n = below(3); n < 3; n++)
			sent->bytes[below(sent->length)] ^= (uint8_t)(1u << below(8));
		break;
	case ARP:
		write_arp(sent);
		break;
	case PING:
		write_ping(sent);
		break;
	default:
		break;
	}
}

static void
write_packet(struct sent *sent)
{
	memset(sent, 0, sizeof(*sent));
	sent->kind = (enum kind)below(KINDS);
	write_request(sent);
	damage(sent);
	sent->length += below(2) == 0 ? below(MAX_PADDING) : 0;
}

/* ---- the ways -------------------------------------------------------------------------------- */

static void
receive(struct way *way, const struct sent *sent, bool cut)
{
	for (unsigned int i = 0; i < PIPELINE_BURST; i++) {
		way->mbuf[i] = packet_of(fixture.pool, sent[i].bytes, sent[i].length,
			cut ? 1 + below(83) : FRAME_BYTES);
		assert_non_null(way->mbuf[i]);
	}
}

static void
process(struct way *way, uint16_t at_once)
{
	const struct pipeline_gate gate = {endpoint_admit, &endpoint};

	for (uint16_t i = 0; i < PIPELINE_BURST; i = (uint16_t)(i + at_once))
		pipeline_process_admitted(
			way->worker, &gate, way->mbuf + i, way->frame + i, at_once);
	for (unsigned int i = 0; i < PIPELINE_BURST; i++) {
		way->reason[i] = DROP_REASON_COUNT;
		way->verdict[i] =
			endpoint_handle(&endpoint, way->mbuf[i], &way->frame[i], &way->reason[i]);
	}
}

static void
assert_same(const struct way *way, const struct way *expected)
{
	for (unsigned int i = 0; i < PIPELINE_BURST; i++) {
		uint8_t bytes[FRAME_BYTES], wanted[FRAME_BYTES];

		assert_int_equal(way->verdict[i], expected->verdict[i]);
		assert_int_equal(way->reason[i], expected->reason[i]);
		assert_int_equal(way->mbuf[i]->pkt_len, expected->mbuf[i]->pkt_len);
		rte_mbuf_sanity_check(way->mbuf[i], 1);
		packet_bytes(way->mbuf[i], bytes);
		packet_bytes(expected->mbuf[i], wanted);
		assert_memory_equal(bytes, wanted, way->mbuf[i]->pkt_len);
	}
	assert_memory_equal(pipeline_worker_counters(way->worker),
		pipeline_worker_counters(expected->worker), sizeof(struct pipeline_counters));
}

/* ---- what has to become of them -------------------------------------------------------------- */

static void
assert_answer(const struct way *way, unsigned int i)
{
	uint8_t bytes[FRAME_BYTES] __rte_aligned(2);
	const struct rte_ipv4_hdr *ip = (const void *)(bytes + IP_AT);

	packet_bytes(way->mbuf[i], bytes);
	assert_int_equal(way->verdict[i], VERDICT_ANSWER);
	assert_memory_equal(bytes + RTE_ETHER_ADDR_LEN, &mac, sizeof(mac));
	assert_int_equal(ip->src_addr, RTE_BE32(RTE_IPV4(10, 0, 0, 2)));
	assert_int_equal(ip->dst_addr, RTE_BE32(RTE_IPV4(10, 0, 0, 1)));
	assert_int_equal(rte_ipv4_cksum(ip), 0);
	assert_true((packet_status(bytes) & NETFC_STATUS_REPLY) != 0);
	assert_true(packet_checksum_is_right(bytes));
}

/* Returns whether it has to be computed. */
static bool
check(const struct way *way, const struct sent *sent, unsigned int i)
{
	switch (sent->kind) {
	case SOUND:
	case NO_CHECKSUM:
	case PARTIAL_CHECKSUM:
		assert_answer(way, i);
		break;
	case OF_OTHERS:
		assert_int_equal(way->verdict[i], VERDICT_FORWARD);
		assert_true(way->frame[i].answered);
		break;
	case WRONG_CHECKSUM:
	case WRONG_IP_CHECKSUM:
	case WRONG_VERSION_AND_CHECKSUM:
		assert_int_equal(way->verdict[i], VERDICT_DROP);
		assert_int_equal(way->reason[i], DROP_MALFORMED);
		break;
	case ARP:
	case PING:
		assert_int_equal(way->verdict[i], VERDICT_ANSWER);
		break;
	default:
		break;
	}
	return sent->kind < ANSWERED_OR_FORWARDED;
}

static void
check_burst(const struct way *way, const struct sent *sent)
{
	static uint64_t counted;
	uint64_t computed = 0, now = pipeline_worker_counters(way->worker)->netfc_packets;

	for (unsigned int i = 0; i < PIPELINE_BURST; i++) {
		computed += check(way, &sent[i], i);
		/* What has been flipped may be sound, or for others. */
		computed += sent[i].kind == FLIPPED && way->frame[i].answered;
	}
	assert_int_equal(now - counted, computed);
	counted = now;
}

TEST(segments_and_bursts_make_no_difference)
{
	static struct sent sent[PIPELINE_BURST];
	struct way whole = {.worker = fixture.worker}, cut = {0}, single = {0};

	cut.worker = pipeline_worker_create(fixture.pipeline, SOCKET_ID_ANY);
	single.worker = pipeline_worker_create(fixture.pipeline, SOCKET_ID_ANY);
	assert_true(cut.worker != NULL && single.worker != NULL);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			write_packet(&sent[i]);
		receive(&whole, sent, false);
		receive(&cut, sent, true);
		receive(&single, sent, false);
		process(&whole, PIPELINE_BURST);
		process(&cut, PIPELINE_BURST);
		process(&single, 1);
		check_burst(&whole, sent);
		assert_same(&cut, &whole);
		assert_same(&single, &whole);
		rte_pktmbuf_free_bulk(whole.mbuf, PIPELINE_BURST);
		rte_pktmbuf_free_bulk(cut.mbuf, PIPELINE_BURST);
		rte_pktmbuf_free_bulk(single.mbuf, PIPELINE_BURST);
		assert_int_equal(rte_mempool_in_use_count(fixture.pool), 0);
	}
	pipeline_worker_free(cut.worker);
	pipeline_worker_free(single.worker);
}

static int
set_up(void **state)
{
	struct addresses addresses = {0};

	(void)state;
	assert_int_equal(addresses_add(&addresses, "10.0.0.2"), 0);
	endpoint_init(&endpoint, &addresses, 0, &mac);
	fixture_set_up(&fixture, sets, RTE_DIM(sets));
	fixture_create_pipeline(&fixture);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	fixture_tear_down(&fixture);
	return 0;
}

int
main(void)
{
	return start_lcores(1) == 0 ? tests_run(set_up, tear_down) : 1;
}
