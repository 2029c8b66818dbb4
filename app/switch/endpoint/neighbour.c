/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_arp.h>
#include <rte_ip.h>

#include "endpoint/neighbour.h"

/* Seconds: between questions; after which a silent host is asked for; any host. */
#define ASK_S 1
#define SILENT_S 1
#define CONFIRM_S 30

#define LOAD(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define STORE(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELAXED)
#define COUNT(counter) __atomic_fetch_add(&(counter), 1, __ATOMIC_RELAXED)

/* A place in a word: six bytes of the MAC address, and the port plus 1. */
static uint64_t
pack(const struct neighbour_place *place)
{
	uint64_t word = 0;

	memcpy(&word, &place->mac, sizeof(place->mac));
	return rte_le_to_cpu_64(word) | (uint64_t)(place->port + 1) << 48;
}

bool
neighbour_find(const struct neighbour *neighbour, struct neighbour_place *place)
{
	uint64_t word = LOAD(neighbour->place), mac = rte_cpu_to_le_64(word);

	memcpy(&place->mac, &mac, sizeof(place->mac));
	place->port = (uint16_t)((word >> 48) - 1);
	return word != 0;
}

bool
neighbour_is_tagged(const struct neighbour *neighbour)
{
	return LOAD(neighbour->place) == 0 && LOAD(neighbour->counters.tagged) != 0;
}

bool
neighbour_is_gone(const struct neighbour *neighbour)
{
	return LOAD(neighbour->place) == 0 && LOAD(neighbour->unanswered) >= NEIGHBOUR_TRIES;
}

/* When it was last known to be where it is. */
static uint64_t
confirmed(const struct neighbour *neighbour)
{
	return RTE_MAX(LOAD(neighbour->answered), LOAD(neighbour->heard));
}

static bool
is_due(const struct neighbour *neighbour, uint64_t now, uint64_t owed)
{
	uint64_t last = confirmed(neighbour);

	if (LOAD(neighbour->place) == 0 || now > last + CONFIRM_S * neighbour->hz)
		return true;
	return owed != 0 && now > RTE_MAX(owed, last) + SILENT_S * neighbour->hz;
}

bool
neighbour_poll(struct neighbour *neighbour, uint64_t now, uint64_t owed, uint64_t heard)
{
	STORE(neighbour->heard, heard);
	if (confirmed(neighbour) > LOAD(neighbour->asked))
		STORE(neighbour->unanswered, 0);
	if (now < neighbour->next || !is_due(neighbour, now, owed))
		return false;
	if (neighbour->unanswered >= NEIGHBOUR_TRIES)
		STORE(neighbour->place, 0);
	else
		STORE(neighbour->unanswered, neighbour->unanswered + 1);
	neighbour->next = now + ASK_S * neighbour->hz;
	STORE(neighbour->asked, now);
	COUNT(neighbour->counters.questions);
	return true;
}

/* ---- questions ------------------------------------------------------------------------------- */

struct arp_frame {
	struct rte_ether_hdr ethernet;
	struct rte_arp_hdr arp;
} __attribute__((packed, aligned(2)));

static uint16_t
write_arp(const struct neighbour *neighbour, const struct rte_ether_addr *mac, uint8_t *frame)
{
	struct arp_frame question = {
		.ethernet = {.src_addr = *mac, .ether_type = RTE_BE16(RTE_ETHER_TYPE_ARP)},
		.arp = {.arp_hardware = RTE_BE16(RTE_ARP_HRD_ETHER),
			.arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4),
			.arp_hlen = RTE_ETHER_ADDR_LEN,
			.arp_plen = 4,
			.arp_opcode = RTE_BE16(RTE_ARP_OP_REQUEST),
			.arp_data.arp_sha = *mac},
	};

	memset(&question.ethernet.dst_addr, 0xff, sizeof(question.ethernet.dst_addr));
	memcpy(&question.arp.arp_data.arp_sip, neighbour->own.bytes, 4);
	memcpy(&question.arp.arp_data.arp_tip, neighbour->address.bytes, 4);
	memcpy(frame, &question, sizeof(question));
	/* The shortest frame, without its checksum. */
	memset(frame + sizeof(question), 0,
		RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN - sizeof(question));
	return RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN;
}

uint16_t
neighbour_write_question(
	const struct neighbour *neighbour, const struct rte_ether_addr *mac, uint8_t *frame)
{
	if (neighbour->own.family == 4)
		return write_arp(neighbour, mac, frame);
	discovery_write_solicitation(mac, neighbour->own.bytes, neighbour->address.bytes, frame);
	return DISCOVERY_SOLICITATION_BYTES;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* The MAC address that an ARP reply gives for this host; false: it gives none. */
static bool
read_arp(const struct neighbour *neighbour, const struct rte_mbuf *mbuf, const struct frame *frame,
	struct rte_ether_addr *mac)
{
	const struct rte_arp_hdr *arp;
	struct rte_arp_hdr copy;

	arp = rte_pktmbuf_read(mbuf, frame->network_offset, sizeof(*arp), &copy);
	if (arp == NULL || arp->arp_hlen != RTE_ETHER_ADDR_LEN || arp->arp_plen != 4 ||
		arp->arp_opcode != RTE_BE16(RTE_ARP_OP_REPLY) ||
		memcmp(&arp->arp_data.arp_sip, neighbour->address.bytes, 4) != 0 ||
		memcmp(&arp->arp_data.arp_tip, neighbour->own.bytes, 4) != 0)
		return false;
	*mac = arp->arp_data.arp_sha;
	return true;
}

/* Whether the switch may have asked at that port, and the place is a host's. */
static bool
is_plausible(const struct neighbour *neighbour, const struct neighbour_place *place, uint16_t id)
{
	const struct address *own = &neighbour->own;

	return (own->port == EVERY_PORT || own->port == id) &&
		rte_is_valid_assigned_ether_addr(&place->mac);
}

/* Nobody has asked since the last answer, or another answer came first. */
static bool
is_believed(const struct neighbour *neighbour, uint64_t word, uint64_t now)
{
	uint64_t asked = LOAD(neighbour->asked), known = LOAD(neighbour->place);

	if (asked == 0 || now - asked > ASK_S * neighbour->hz)
		return false;
	return known == 0 || known == word || confirmed(neighbour) < asked;
}

static void
take_up(struct neighbour *neighbour, uint64_t word, uint64_t now)
{
	uint64_t known = LOAD(neighbour->place);

	STORE(neighbour->answered, now);
	STORE(neighbour->place, word);
	COUNT(neighbour->counters.answers);
	if (known != 0 && known != word)
		COUNT(neighbour->counters.moves);
}

bool
neighbour_take_answer(struct neighbour *neighbour, const struct rte_mbuf *mbuf,
	const struct frame *frame, uint16_t port, uint16_t id, uint64_t now)
{
	struct neighbour_place place = {.port = port};
	bool arp = frame->ether_type == RTE_ETHER_TYPE_ARP;

	if (arp != (neighbour->own.family == 4))
		return false;
	if (arp ? !read_arp(neighbour, mbuf, frame, &place.mac)
		: !discovery_read_advertisement(
			  mbuf, frame, neighbour->own.bytes, neighbour->address.bytes, &place.mac))
		return false;
	if (!is_plausible(neighbour, &place, id) || !is_believed(neighbour, pack(&place), now))
		COUNT(neighbour->counters.disbelieved);
	else if (frame->network_offset != RTE_ETHER_HDR_LEN)
		COUNT(neighbour->counters.tagged);
	else
		take_up(neighbour, pack(&place), now);
	return true;
}
