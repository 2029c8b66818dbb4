/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/transport.h"

#include <ctype.h>
#include <errno.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "net/socket.h"
#include "net/rings.h"
#include "net/xdp.h"

/* Of UDP ports to send from, where no kernel chooses them. */
#define FIRST_PORT 49152

static bool
has_prefix(const char *text, const char *prefix)
{
	return text != NULL && strncmp(text, prefix, strlen(prefix)) == 0;
}

enum netfc_allreduce_path
transport_named(const char *interface)
{
	if (has_prefix(interface, MEMIF_PREFIX))
		return NETFC_ALLREDUCE_MEMIF;
	return has_prefix(interface, XDP_PREFIX) ? NETFC_ALLREDUCE_XDP : NETFC_ALLREDUCE_UDP;
}

/* The other's MAC address is not known yet: what it sends will say it. */
static void
set_ends(struct peer *peer, const struct address *local)
{
	peer->ends.v6 = local->storage.ss_family == AF_INET6;
	address_ip((const struct sockaddr *)&local->storage, peer->ends.local);
	address_ip((const struct sockaddr *)&peer->address.storage, peer->ends.remote);
	memset(peer->ends.remote_mac, UINT8_MAX, sizeof(peer->ends.remote_mac));
}

static int
open_memif(struct netfc_allreduce *comm, struct peer *peer, const char *interface,
	const struct address *from)
{
	peer->rings = memif_connect(interface + strlen(MEMIF_PREFIX));
	if (peer->rings == NULL)
		return error_set_for(comm, peer, NETFC_ALLREDUCE_SYSTEM,
			"Option interface, %s: %s; there has to be a switch with a port "
			"net_memif0,role=server,socket=PATH,socket-abstract=no that nobody uses.",
			interface, strerror(errno));
	set_ends(peer, from);
	if (!frame_draw_mac(peer->ends.local_mac))
		return error_of_call(comm, peer, "draw a MAC address for packets to", errno);
	return NETFC_ALLREDUCE_OK;
}

/* `local`: what the kernel sends from by that device */
static int
open_xdp(struct netfc_allreduce *comm, const struct channel *channel, const char *interface,
	const char *device, uint32_t queue, const struct address *local)
{
	struct peer *peer = channel->peer;
	const char *problem;

	set_ends(peer, local);
	if (!device_has(device, peer->ends.local, frame_address_bytes(&peer->ends)))
		return error_set_for(comm, peer, NETFC_ALLREDUCE_ARGUMENT,
			"Option interface, %s: packets to switch %s would come from %s, which is none "
			"of its addresses (option bind_address; ip address show %s).",
			interface, peer->address.text, local->text, device);
	if (!device_mac(channel->fd, device, peer->ends.local_mac))
		return error_set_for(comm, peer, NETFC_ALLREDUCE_ARGUMENT,
			"Option interface, %s: it is no Ethernet device.", interface);
	peer->rings = xdp_open(if_nametoindex(device), queue, &peer->ends,
		socket_mtu(channel->fd, local->storage.ss_family), &problem);
	if (peer->rings != NULL)
		return NETFC_ALLREDUCE_OK;
	return error_set_for(comm, peer, NETFC_ALLREDUCE_SYSTEM,
		"Option interface, %s: can't %s: %s%s.", interface, problem, strerror(errno),
		xdp_advice(errno));
}

/*
 * The channel has a socket, too. It keeps a UDP port for it, finds the switch's MAC address, and
 * tells of ICMP messages.
 */
static int
open_beside_socket(struct netfc_allreduce *comm, struct channel *channel, const char *interface,
	const struct address *to, const struct address *from)
{
	struct peer *peer = channel->peer;
	char device[RINGS_NAME_BYTES];
	struct address local;
	uint32_t queue;
	int status = NETFC_ALLREDUCE_OK;

	rings_read_name(interface + strlen(XDP_PREFIX), ",queue=", device, &queue);
	channel->fd = socket_open(comm, peer, to, from, device, &status);
	if (channel->fd < 0)
		return status;
	if (!address_of_socket(&local, channel->fd))
		return error_of_call(comm, peer, "find the local address for", errno);
	channel->from = address_port(&local);
	channel->to = address_port(to);
	if (peer->rings == NULL)
		status = open_xdp(comm, channel, interface, device, queue, &local);
	if (status == NETFC_ALLREDUCE_OK && !xdp_admit(peer->rings, channel->to, channel->from))
		status = error_of_call(comm, peer, "let in packets of", errno);
	return status;
}

int
transport_open(struct netfc_allreduce *comm, struct channel *channel,
	const struct netfc_allreduce_options *options, const struct address *to,
	const struct address *from)
{
	struct peer *peer = channel->peer;
	int status = NETFC_ALLREDUCE_OK;

	channel->fd = -1;
	switch (transport_named(options->interface)) {
	case NETFC_ALLREDUCE_MEMIF:
		channel->from = (uint16_t)(FIRST_PORT + peer->channels);
		channel->to = address_port(to);
		return peer->rings == NULL ? open_memif(comm, peer, options->interface, from)
					   : NETFC_ALLREDUCE_OK;
	case NETFC_ALLREDUCE_XDP:
		status = open_beside_socket(comm, channel, options->interface, to, from);
		break;
	default:
		channel->fd = socket_open(comm, peer, to, from, options->interface, &status);
	}
	if (status != NETFC_ALLREDUCE_OK && channel->fd >= 0)
		close(channel->fd);
	return status;
}

void
transport_close(struct peer *peer)
{
	if (transport_has_rings(peer))
		peer->rings->kind->close(peer->rings);
	peer->rings = NULL;
	for (unsigned int s = 0; s < peer->channels; s++) {
		if (peer->channel[s].fd >= 0)
			close(peer->channel[s].fd);
	}
}

/*
 * Whether a packet goes through the kernel, which knows who is next on the way, though there are
 * rings: the first ones, and questions to a switch that is silent and may have moved.
 */
static bool
asks_kernel(const struct channel *channel)
{
	const struct peer *peer = channel->peer;

	return channel->fd >= 0 &&
		(!frame_knows_remote(&peer->ends) ||
			(peer->member.state == AGGREGATE_MEMBER_JOINED &&
				peer->member.unanswered > 0));
}

ssize_t
transport_send(const struct channel *channel, const uint8_t *payload, size_t bytes)
{
	struct peer *peer = channel->peer;
	struct rings *rings = peer->rings;
	uint8_t *frame;

	if (!transport_has_rings(peer) || asks_kernel(channel))
		return send(channel->fd, payload, bytes, MSG_DONTWAIT);
	errno = EMSGSIZE;
	if (bytes + frame_header_bytes(&peer->ends) > sizeof(struct ether_header) + rings->mtu)
		return -1;
	errno = EAGAIN;
	frame = rings->kind->place(rings, 0);
	if (frame == NULL)
		return -1;
	memcpy(frame + frame_header_bytes(&peer->ends), payload, bytes);
	frame_finish(&peer->ends, frame, bytes, channel->from, channel->to);
	rings->kind->set_length(rings, 0, frame_header_bytes(&peer->ends) + bytes);
	rings->kind->send(rings, 1);
	return (ssize_t)bytes;
}

struct channel *
transport_channel(const struct peer *peer, const struct frame_datagram *datagram)
{
	for (unsigned int s = 0; s < peer->channels; s++) {
		if (peer->channel[s].to == datagram->from && peer->channel[s].from == datagram->to)
			return &peer->channel[s];
	}
	return NULL;
}

/* What an ICMP message says, which the channel's socket knows. */
static void
find_soft_error(const struct channel *channel)
{
	int error = 0;
	socklen_t length = sizeof(error);

	if (channel->fd >= 0)
		getsockopt(channel->fd, SOL_SOCKET, SO_ERROR, &error, &length);
	errno = error != 0 ? error : EAGAIN;
}

ssize_t
transport_receive(const struct channel *channel, uint8_t *payload, size_t bytes)
{
	struct peer *peer = channel->peer;
	struct rings *rings = peer->rings;
	struct frame_datagram datagram;
	const uint8_t *frame;
	size_t length;
	bool mine;

	if (!transport_has_rings(peer))
		return recv(channel->fd, payload, bytes, MSG_DONTWAIT);
	while (rings->kind->count(rings) > 0) {
		frame = rings->kind->look(rings, 0, &length);
		mine = frame_read(&peer->ends, frame, length, &datagram) &&
			transport_channel(peer, &datagram) == channel && datagram.length <= bytes;
		if (mine) {
			memcpy(payload, datagram.payload, datagram.length);
			frame_learn(&peer->ends, frame);
		}
		rings->kind->release(rings, 1);
		if (mine)
			return (ssize_t)datagram.length;
	}
	find_soft_error(channel);
	return -1;
}

int
transport_fd(const struct channel *channel)
{
	return transport_has_rings(channel->peer) ? channel->peer->rings->fd : channel->fd;
}

unsigned int
transport_mtu(const struct peer *peer)
{
	int fd = peer->channel[0].fd;
	unsigned int mtu = fd >= 0 ? socket_mtu(fd, peer->address.storage.ss_family) : 0;

	if (transport_has_rings(peer) && (mtu == 0 || mtu > peer->rings->mtu))
		return peer->rings->mtu;
	return mtu;
}

bool
transport_misses(const struct peer *peer)
{
	bool misses = false;
	uint8_t byte;

	for (unsigned int s = 0; s < peer->channels && transport_has_rings(peer); s++)
		misses |= peer->channel[s].fd >= 0 &&
			recv(peer->channel[s].fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
	return misses;
}

bool
transport_sleep(struct peer *peer, int wake, const struct timespec *time)
{
	struct pollfd fds[] = {
		{.fd = transport_fd(&peer->channel[0]), .events = POLLIN},
		{.fd = wake, .events = POLLIN},
	};
	bool interrupted = transport_arm(peer) && ppoll(fds, 2, time, NULL) < 0 && errno == EINTR;

	transport_disarm(peer);
	return !interrupted;
}

bool
transport_arm(struct peer *peer)
{
	return !transport_has_rings(peer) || peer->rings->kind->arm(peer->rings);
}

void
transport_disarm(struct peer *peer)
{
	if (transport_has_rings(peer))
		peer->rings->kind->disarm(peer->rings);
}

bool
rings_read_name(const char *text, const char *key, char name[RINGS_NAME_BYTES], uint32_t *number)
{
	const char *comma = strstr(text, key);
	const char *digits = comma != NULL ? comma + strlen(key) : "0";
	size_t length = comma != NULL ? (size_t)(comma - text) : strlen(text);
	unsigned long value;
	char *end;

	value = strtoul(digits, &end, 10);
	if (length == 0 || length >= RINGS_NAME_BYTES || !isdigit((unsigned char)*digits) ||
		*end != '\0' || value > UINT32_MAX)
		return false;
	memcpy(name, text, length);
	name[length] = '\0';
	*number = (uint32_t)value;
	return true;
}
