/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "checksum.h"
#include "dpdk/bad_packet.h"

/* No worker has so high a number. */
#define NO_WORKER 255

const char *
bad_packet_name(enum bad_packet kind)
{
	static const char *const names[BAD_PACKETS] = {
#define BAD_PACKET_NAME_(symbol, name, meaning) [BAD_##symbol] = #name,
		BAD_PACKET_KINDS(BAD_PACKET_NAME_)
#undef BAD_PACKET_NAME_
	};

	return names[kind];
}

static void
spoil_magic(struct rte_udp_hdr *udp)
{
	uint8_t *magic = (uint8_t *)(udp + 1);
	uint16_t before, after;

	memcpy(&before, magic, sizeof(before));
	after = (uint16_t)~before;
	memcpy(magic, &after, sizeof(after));
	udp->dgram_cksum = checksum_update(udp->dgram_cksum, checksum_change(before, after));
}

/*
 * Neither the right one, nor none, nor the sum of the pseudo header, which is what a kernel leaves
 * for a device to finish.
 */
static void
spoil_checksum(struct rte_udp_hdr *udp, uint16_t unfinished)
{
	uint16_t right = udp->dgram_cksum;

	do
		udp->dgram_cksum++;
	while (udp->dgram_cksum % 0xffff == right % 0xffff || udp->dgram_cksum == 0 ||
		udp->dgram_cksum % 0xffff == unfinished % 0xffff);
}

void
bad_packet_write(enum bad_packet kind, struct rte_mbuf *mbuf, const struct flow *flow,
	const struct aggregate_message *message, const struct worker_body *body)
{
	static const uint8_t surplus[4];
	struct aggregate_message other = *message;
	struct worker_body content = *body;
	struct flow from = *flow;
	struct rte_udp_hdr *udp;

	switch (kind) {
	case BAD_SESSION:
		other.session++; /* to its own address the switch would answer */
		from.src_ip[1] = 66;
		break;
	case BAD_WORKER:
		other.worker = NO_WORKER;
		/* Nor is it the owner. */
		if (other.op == AGGREGATE_COPY)
			content = (struct worker_body){.length = 0};
		break;
	case BAD_ADDRESS:
		from.src_ip[1] = 66;
		break;
	case BAD_LENGTH:
		/* Nothing in the place of values, or something in the place of nothing. */
		content = body->length > 0
			? (struct worker_body){.length = 0}
			: (struct worker_body){.bytes = surplus, .length = sizeof(surplus)};
		break;
	case BAD_JOB:
		other.job++;
		break;
	default:
		break;
	}
	worker_packet_write(mbuf, &from, &other, &content);
	udp = rte_pktmbuf_mtod_offset(mbuf, struct rte_udp_hdr *, flow_udp_offset(flow));
	if (kind == BAD_MAGIC)
		spoil_magic(udp);
	if (kind == BAD_CHECKSUM)
		spoil_checksum(udp, checksum_fold(worker_packet_pseudo_sum(mbuf, flow)));
}
