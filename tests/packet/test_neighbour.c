/* SPDX-License-Identifier: BSD-3-Clause */
/* A neighbour is asked for, found, found again when it moves, and not forged. */
#include <string.h>

#include <rte_arp.h>
#include <rte_ip.h>

#include "cases.h"
#include "endpoint/neighbour.h"

#define HZ 1000u /* ticks are milliseconds */
#define PORT 3   /* index of the port; its id is 1 more */

static const struct rte_ether_addr switch_mac = {{2, 0, 0, 0, 0, 1}};
static const struct rte_ether_addr mac_a = {{2, 0, 0, 0, 0, 0xa}}, mac_b = {{2, 0, 0, 0, 0, 0xb}};

/* A frame and the packet buffer around it. */
struct packet {
	struct rte_mbuf mbuf;
	uint8_t bytes[256];
	struct frame frame;
};

static void
wrap(struct packet *packet, uint16_t length)
{
	packet->mbuf = (struct rte_mbuf){.buf_addr = packet->bytes,
		.buf_len = sizeof(packet->bytes),
		.nb_segs = 1,
		.data_len = length,
		.pkt_len = length};
	frame_parse(&packet->mbuf, &packet->frame);
}

static struct neighbour
new_neighbour(const char *address, const char *own)
{
	struct neighbour neighbour = {.hz = HZ};

	assert_true(address_read(address, &neighbour.address));
	assert_true(address_read(own, &neighbour.own));
	return neighbour;
}

static struct neighbour
new_ipv4(void)
{
	return new_neighbour("192.0.2.9", "192.0.2.1");
}

/* The question as a packet. */
static void
ask(const struct neighbour *neighbour, struct packet *packet)
{
	memset(packet->bytes, 0xee, sizeof(packet->bytes));
	wrap(packet, neighbour_write_question(neighbour, &switch_mac, packet->bytes));
}

/* What the host at a MAC address replies to an ARP question. */
static void
answer_arp(struct packet *packet, const struct rte_ether_addr *mac)
{
	struct rte_arp_hdr *arp = (void *)(packet->bytes + RTE_ETHER_HDR_LEN);
	rte_be32_t asked = arp->arp_data.arp_tip;

	arp->arp_opcode = RTE_BE16(RTE_ARP_OP_REPLY);
	arp->arp_data.arp_tip = arp->arp_data.arp_sip;
	arp->arp_data.arp_sip = asked;
	arp->arp_data.arp_sha = *mac;
}

static bool
take(struct neighbour *neighbour, const struct packet *packet, uint64_t now)
{
	return neighbour_take_answer(neighbour, &packet->mbuf, &packet->frame, PORT, PORT + 1, now);
}

/* An ARP reply from a MAC address arrives. */
static bool
hear(struct neighbour *neighbour, const struct rte_ether_addr *mac, uint64_t now)
{
	struct packet packet;

	ask(neighbour, &packet);
	answer_arp(&packet, mac);
	return take(neighbour, &packet, now);
}

static void
assert_at(const struct neighbour *neighbour, const struct rte_ether_addr *mac)
{
	struct neighbour_place place;

	assert_true(neighbour_find(neighbour, &place));
	assert_memory_equal(&place.mac, mac, sizeof(*mac));
	assert_int_equal(place.port, PORT);
}

TEST(it_is_asked_for_once_a_second_until_it_answers)
{
	struct neighbour neighbour = new_ipv4();
	struct neighbour_place place;
	unsigned int questions = 0;

	for (uint64_t now = 1; now <= 10 * HZ; now++)
		questions += neighbour_poll(&neighbour, now, 0, 0);
	assert_int_equal(questions, 10);
	assert_true(neighbour_is_gone(&neighbour));
	assert_false(neighbour_find(&neighbour, &place));
	assert_true(hear(&neighbour, &mac_a, 10 * HZ));
	assert_at(&neighbour, &mac_a);
	assert_false(neighbour_poll(&neighbour, 11 * HZ, 0, 0));
	assert_false(neighbour_is_gone(&neighbour));
	assert_int_equal(neighbour.counters.questions, 10);
	assert_int_equal(neighbour.counters.answers, 1);
	assert_int_equal(neighbour.counters.moves, 0);
}

TEST(it_is_asked_for_again_each_half_minute)
{
	struct neighbour neighbour = new_ipv4();
	unsigned int questions = 0;

	for (uint64_t now = 1; now <= 95 * HZ; now++) {
		if (!neighbour_poll(&neighbour, now, 0, 0))
			continue;
		questions++;
		assert_true(hear(&neighbour, &mac_a, now));
	}
	assert_int_equal(questions, 4);
	/* What it sends proves as much. */
	for (uint64_t now = 95 * HZ; now <= 200 * HZ; now++)
		assert_false(neighbour_poll(&neighbour, now, now, now));
}

TEST(a_silent_one_is_asked_for_and_forgotten)
{
	struct neighbour neighbour = new_ipv4();
	uint64_t now;
	unsigned int questions = 0;

	assert_true(neighbour_poll(&neighbour, 1, 0, 0));
	assert_true(hear(&neighbour, &mac_a, 1));
	assert_false(neighbour_poll(&neighbour, 5 * HZ, 0, 2));
	/* Something is sent, and nothing comes. */
	for (now = 5 * HZ; !neighbour_is_gone(&neighbour); now += HZ / 10) {
		if (questions < NEIGHBOUR_TRIES)
			assert_at(&neighbour, &mac_a);
		questions += neighbour_poll(&neighbour, now, 5 * HZ, 2);
	}
	assert_int_equal(questions, NEIGHBOUR_TRIES + 1);
	assert_true(hear(&neighbour, &mac_a, now));
	assert_at(&neighbour, &mac_a);
}

TEST(one_that_moved_is_found_again)
{
	struct neighbour neighbour = new_ipv4();

	assert_true(neighbour_poll(&neighbour, 1, 0, 0));
	assert_true(hear(&neighbour, &mac_a, 1));
	assert_false(neighbour_poll(&neighbour, 5 * HZ, 4 * HZ, 4 * HZ));
	assert_true(neighbour_poll(&neighbour, 6 * HZ + 1, 5 * HZ, 4 * HZ));
	assert_true(hear(&neighbour, &mac_b, 6 * HZ + 1));
	assert_at(&neighbour, &mac_b);
	assert_int_equal(neighbour.counters.moves, 1);
	assert_int_equal(neighbour.counters.disbelieved, 0);
}

TEST(an_answer_with_a_vlan_tag_is_named)
{
	struct neighbour neighbour = new_ipv4();
	struct neighbour_place place;
	struct packet packet;

	assert_true(neighbour_poll(&neighbour, 1, 0, 0));
	ask(&neighbour, &packet);
	answer_arp(&packet, &mac_a);
	memmove(packet.bytes + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN, packet.bytes + RTE_ETHER_HDR_LEN,
		sizeof(struct rte_arp_hdr));
	memcpy(packet.bytes + 2 * RTE_ETHER_ADDR_LEN, "\x81\0\0\x7\x08\x06", 6);
	wrap(&packet, packet.mbuf.data_len);
	assert_true(take(&neighbour, &packet, 2));
	assert_false(neighbour_find(&neighbour, &place));
	assert_true(neighbour_is_tagged(&neighbour));
	assert_int_equal(neighbour.counters.tagged, 1);
	assert_int_equal(neighbour.counters.disbelieved, 0);
	assert_true(hear(&neighbour, &mac_a, 3));
	assert_false(neighbour_is_tagged(&neighbour));
}

TEST(what_nobody_asked_for_is_not_believed)
{
	struct neighbour neighbour = new_ipv4();
	struct neighbour_place place;

	assert_true(hear(&neighbour, &mac_b, 1));
	assert_false(neighbour_find(&neighbour, &place));
	assert_true(neighbour_poll(&neighbour, 2, 0, 0));
	assert_true(hear(&neighbour, &mac_a, 3));
	/* A second answer to the same question. */
	assert_true(hear(&neighbour, &mac_b, 4));
	assert_at(&neighbour, &mac_a);
	/* Long after the last question. */
	assert_true(hear(&neighbour, &mac_b, 3 * HZ));
	assert_at(&neighbour, &mac_a);
	/* It was heard where it is after the question. */
	assert_true(neighbour_poll(&neighbour, 31 * HZ, 0, 0));
	assert_false(neighbour_poll(&neighbour, 31 * HZ + 1, 31 * HZ, 31 * HZ + 1));
	assert_true(hear(&neighbour, &mac_b, 31 * HZ + 2));
	assert_at(&neighbour, &mac_a);
	assert_int_equal(neighbour.counters.disbelieved, 4);
}

TEST(answers_count_only_where_it_was_asked)
{
	static const struct rte_ether_addr group = {{3, 0, 0, 0, 0, 1}}, nobody;
	struct neighbour neighbour = new_ipv4();
	struct neighbour_place place;
	struct packet packet;

	neighbour.own.port = PORT; /* another id than the port's */
	assert_true(neighbour_poll(&neighbour, 1, 0, 0));
	assert_true(hear(&neighbour, &mac_a, 1));
	neighbour.own.port = PORT + 1;
	assert_true(hear(&neighbour, &group, 1));
	assert_true(hear(&neighbour, &nobody, 1));
	ask(&neighbour, &packet);
	assert_false(take(&neighbour, &packet, 1)); /* no reply */
	answer_arp(&packet, &mac_a);
	packet.frame.network_offset += 4; /* in a VLAN */
	memmove(packet.bytes + 18, packet.bytes + 14, 60);
	assert_true(take(&neighbour, &packet, 1));
	assert_false(neighbour_find(&neighbour, &place));
	assert_int_equal(neighbour.counters.disbelieved, 3);
	assert_int_equal(neighbour.counters.tagged, 1);
	ask(&neighbour, &packet);
	answer_arp(&packet, &mac_a);
	packet.bytes[RTE_ETHER_HDR_LEN + 17]++; /* the sender's address */
	assert_false(take(&neighbour, &packet, 1));
	packet.bytes[RTE_ETHER_HDR_LEN + 17]--;
	assert_true(take(&neighbour, &packet, 1));
	assert_at(&neighbour, &mac_a);
}

/* ---- IPv6 ------------------------------------------------------------------------------------ */

#define ICMP (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv6_hdr))

static void
seal_icmp(struct packet *packet)
{
	struct rte_ipv6_hdr *ip = (void *)(packet->bytes + RTE_ETHER_HDR_LEN);
	rte_be16_t sum = 0;

	memcpy(packet->bytes + ICMP + 2, &sum, sizeof(sum));
	sum = rte_ipv6_udptcp_cksum(ip, packet->bytes + ICMP);
	memcpy(packet->bytes + ICMP + 2, &sum, sizeof(sum));
	wrap(packet, (uint16_t)(ICMP + rte_be_to_cpu_16(ip->payload_len)));
}

/* What the host replies to a solicitation. */
static void
advertise(struct packet *packet, const struct rte_ether_addr *mac)
{
	uint8_t *ip = packet->bytes + RTE_ETHER_HDR_LEN, *icmp = packet->bytes + ICMP;

	memcpy(ip + 24, ip + 8, 16);
	memcpy(ip + 8, icmp + 8, 16);
	icmp[0] = 136;
	icmp[4] = 0x60;
	icmp[24] = 2;
	memcpy(icmp + 26, mac, sizeof(*mac));
	seal_icmp(packet);
}

static struct neighbour
new_ipv6(void)
{
	return new_neighbour("2001:db8::abcd:ef12", "2001:db8::1");
}

TEST(a_solicitation_is_as_the_standard_says)
{
	static const uint8_t to_mac[6] = {0x33, 0x33, 0xff, 0xcd, 0xef, 0x12};
	static const uint8_t to[16] = {0xff, 2, [11] = 1, 0xff, 0xcd, 0xef, 0x12};
	static const uint8_t option[8] = {1, 1, 2, 0, 0, 0, 0, 1};
	struct neighbour neighbour = new_ipv6();
	struct packet packet;
	uint8_t target[16];

	ask(&neighbour, &packet);
	assert_int_equal(packet.mbuf.data_len, NEIGHBOUR_QUESTION_BYTES);
	assert_memory_equal(packet.bytes, to_mac, 6);
	assert_memory_equal(packet.bytes + 6, &switch_mac, 6);
	assert_memory_equal(packet.bytes + RTE_ETHER_HDR_LEN + 24, to, 16);
	assert_memory_equal(packet.bytes + ICMP + 24, option, sizeof(option));
	/* The switch would answer it. */
	assert_true(discovery_solicited_address(&packet.mbuf, &packet.frame, target));
	assert_memory_equal(target, neighbour.address.bytes, 16);
	assert_true(discovery_answer(&packet.mbuf, &packet.frame, &mac_a));
}

TEST(an_advertisement_is_taken_up)
{
	struct neighbour neighbour = new_ipv6();
	struct packet packet;

	assert_true(neighbour_poll(&neighbour, 1, 0, 0));
	ask(&neighbour, &packet);
	assert_false(take(&neighbour, &packet, 1));
	assert_true(discovery_answer(&packet.mbuf, &packet.frame, &mac_a));
	wrap(&packet, packet.mbuf.data_len);
	assert_true(take(&neighbour, &packet, 2));
	assert_at(&neighbour, &mac_a);
}

/* Ways to spoil an advertisement: a byte, and what it becomes. */
TEST(a_wrong_advertisement_is_not)
{
	static const struct {
		size_t at;
		uint8_t byte;
	} wrong[] = {
		{RTE_ETHER_HDR_LEN + 7, 254}, /* not of this link */
		{RTE_ETHER_HDR_LEN + 39, 9},  /* to another */
		{ICMP, 135},                  /* a solicitation */
		{ICMP + 1, 1},                /* a code */
		{ICMP + 4, 0x20},             /* not asked for */
		{ICMP + 8, 0xff},             /* a group's */
		{ICMP + 23, 0x13},            /* of another host */
		{ICMP + 24, 1},               /* no target's MAC address */
		{ICMP + 25, 0},               /* an option without a length */
		{ICMP + 25, 2},               /* one that is too long */
	};
	struct neighbour neighbour = new_ipv6();
	struct neighbour_place place;
	struct packet packet;

	assert_true(neighbour_poll(&neighbour, 1, 0, 0));
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		ask(&neighbour, &packet);
		advertise(&packet, &mac_a);
		packet.bytes[wrong[i].at] = wrong[i].byte;
		seal_icmp(&packet);
		assert_false(take(&neighbour, &packet, 2));
	}
	ask(&neighbour, &packet);
	advertise(&packet, &mac_a);
	packet.bytes[ICMP + 2] ^= 1; /* the checksum */
	assert_false(take(&neighbour, &packet, 2));
	assert_false(neighbour_find(&neighbour, &place));
	packet.bytes[ICMP + 2] ^= 1;
	assert_true(take(&neighbour, &packet, 2));
	assert_at(&neighbour, &mac_a);
}
