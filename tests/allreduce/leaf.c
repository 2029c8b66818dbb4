/* SPDX-License-Identifier: BSD-3-Clause */
#include "server.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#define PACKET_BYTES 65536
#define NS_PER_MS 1000000u

static const uint8_t loopback[16] = {[10] = 0xff, 0xff, 127, 0, 0, 1};

struct aggregate_parent
leaf_parent(uint16_t port)
{
	struct aggregate_parent parent = {
		.port = port, .retry = 20 * NS_PER_MS, .repeat = 2 * NS_PER_MS};

	memcpy(parent.address, loopback, sizeof(parent.address));
	return parent;
}

/* What the socket does not take is lost, like anything else. */
static void
send_up(int fd, uint16_t port, const uint8_t *payload, size_t length)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

	memcpy(&to.sin6_addr, loopback, sizeof(to.sin6_addr));
	sendto(fd, payload, length, 0, (const struct sockaddr *)&to, sizeof(to));
}

void
leaf_send(int fd, struct aggregate_shard *shard, const struct aggregate_outcome *outcome)
{
	const unsigned int packets = aggregate_leaf_packets(shard, outcome);
	const uint16_t port = aggregate_leaf_port(shard, outcome);
	uint8_t payload[PACKET_BYTES];

	for (unsigned int i = 0; i < packets; i++)
		send_up(fd, port, payload, aggregate_leaf_write(shard, outcome, i, payload));
}

void
leaf_poll(int fd, struct aggregate_shard *shard, uint16_t port, uint64_t now)
{
	struct aggregate_message message;
	uint8_t payload[256];

	while (aggregate_leaf_poll(shard, now, &message)) {
		aggregate_build_request(payload, &message);
		send_up(fd, port, payload, aggregate_message_bytes(&message));
	}
}

bool
leaf_take(struct aggregate_shard *shard, const uint8_t *payload, size_t length,
	const struct sockaddr_in6 *from, uint64_t now, struct aggregate_message *request,
	struct aggregate_outcome *outcome)
{
	struct aggregate_sender sender = {.port = ntohs(from->sin6_port)};

	memcpy(sender.address, &from->sin6_addr, sizeof(sender.address));
	if (aggregate_parse_reply(payload, length, request) != 0)
		return false;
	aggregate_leaf_reply(shard, request, &sender, now, outcome);
	return aggregate_action_send(outcome->action) == AGGREGATE_SEND_RESULTS;
}
