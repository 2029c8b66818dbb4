/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "run/in_flight.h"

/* So that duplicates are recognised for a while even where few packets are outstanding. */
#define MIN_PACKETS (1u << 16)
#define MAX_PACKETS (1u << 22)

int
in_flight_create(struct in_flight *in_flight, uint64_t most, uint32_t first_id, uint64_t timeout)
{
	uint64_t wanted = RTE_MIN(RTE_MAX(4 * most, (uint64_t)MIN_PACKETS), (uint64_t)MAX_PACKETS);
	uint32_t count = rte_align32pow2((uint32_t)wanted);

	*in_flight = (struct in_flight){
		.packets = aligned_alloc(RTE_CACHE_LINE_SIZE, count * sizeof(*in_flight->packets)),
		.mask = count - 1,
		.next_id = first_id,
		.timeout = timeout,
		.oldest = NO_PACKET,
		.newest = NO_PACKET,
	};
	if (in_flight->packets == NULL)
		return -1;
	/* Touched now, so that the run meets no page for the first time. */
	memset(in_flight->packets, 0, count * sizeof(*in_flight->packets));
	return 0;
}

void
in_flight_free(struct in_flight *in_flight)
{
	free(in_flight->packets);
	in_flight->packets = NULL;
}

struct sent_packet *
in_flight_claim(struct in_flight *in_flight, uint32_t request)
{
	struct sent_packet *packet;

	/* An id whose entry an older packet still needs is left out. */
	do {
		packet = &in_flight->packets[in_flight->next_id & in_flight->mask];
		in_flight->next_id++;
		in_flight->claimed++;
	} while (packet->state == PACKET_OUTSTANDING || packet->state == PACKET_CLAIMED);
	packet->id = in_flight->next_id - 1;
	packet->request = request;
	packet->state = PACKET_CLAIMED;
	return packet;
}

void
in_flight_sent(struct in_flight *in_flight, struct sent_packet *packet, uint64_t now)
{
	uint32_t index = packet->id & in_flight->mask;

	packet->sent_at = now;
	packet->state = PACKET_OUTSTANDING;
	packet->older = in_flight->newest;
	packet->newer = NO_PACKET;
	if (in_flight->newest != NO_PACKET)
		in_flight->packets[in_flight->newest].newer = index;
	else
		in_flight->oldest = index;
	in_flight->newest = index;
	in_flight->outstanding++;
}

enum id_state
in_flight_find(struct in_flight *in_flight, uint32_t id, struct sent_packet **packet)
{
	struct sent_packet *found = &in_flight->packets[id & in_flight->mask];
	uint32_t age = in_flight->next_id - id;

	if (found->id == id && found->state > PACKET_CLAIMED) {
		*packet = found;
		return ID_KNOWN;
	}
	return age != 0 && age <= in_flight->claimed && found->id != id ? ID_FORGOTTEN
									: ID_NEVER_SENT;
}

void
in_flight_end(struct in_flight *in_flight, struct sent_packet *packet, enum packet_state state)
{
	if (packet->older != NO_PACKET)
		in_flight->packets[packet->older].newer = packet->newer;
	else
		in_flight->oldest = packet->newer;
	if (packet->newer != NO_PACKET)
		in_flight->packets[packet->newer].older = packet->older;
	else
		in_flight->newest = packet->older;
	packet->state = state;
	in_flight->outstanding--;
}

uint64_t
in_flight_expire(struct in_flight *in_flight, uint64_t now)
{
	uint64_t lost = 0;

	while (in_flight->oldest != NO_PACKET) {
		struct sent_packet *packet = &in_flight->packets[in_flight->oldest];

		if (now - packet->sent_at <= in_flight->timeout)
			break;
		in_flight_end(in_flight, packet, PACKET_LOST);
		lost++;
	}
	return lost;
}
