/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/way.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "net/address.h"
#include "net/memif.h"
#include "net/socket.h"

static void
copy_ip(uint8_t *to, const struct address *from)
{
	if (from->storage.ss_family == AF_INET6)
		memcpy(to, &((const struct sockaddr_in6 *)&from->storage)->sin6_addr, 16);
	else
		memcpy(to, &((const struct sockaddr_in *)&from->storage)->sin_addr, 4);
}

int
way_open_memory(struct netfc_allreduce *comm, struct peer *peer, const char *interface,
	const struct address *from)
{
	peer->memif = memif_connect(interface + strlen(MEMIF_PREFIX));
	if (peer->memif == NULL)
		return error_say_of(comm, peer, NETFC_ALLREDUCE_SYSTEM,
			"Option interface, %s: %s; there has to be a switch with a port "
			"net_memif0,role=server,socket=PATH,socket-abstract=no that nobody uses.",
			interface, strerror(errno));
	peer->ends.v6 = from->storage.ss_family == AF_INET6;
	copy_ip(peer->ends.local, from);
	copy_ip(peer->ends.remote, &peer->address);
	/* Its replies say what it is. */
	memset(peer->ends.remote_mac, UINT8_MAX, sizeof(peer->ends.remote_mac));
	if (!frame_draw_mac(peer->ends.local_mac))
		return error_of_call(comm, peer, "draw a MAC address for packets to", errno);
	return NETFC_ALLREDUCE_OK;
}

void
way_close(struct peer *peer)
{
	for (unsigned int s = 0; s < peer->channels && !way_is_memory(peer); s++)
		close(peer->channel[s].fd);
	memif_close(peer->memif);
	peer->memif = NULL;
}

ssize_t
way_send(const struct channel *channel, const uint8_t *payload, size_t bytes)
{
	struct peer *peer = channel->peer;
	uint8_t *frame;

	if (!way_is_memory(peer))
		return send(channel->fd, payload, bytes, MSG_DONTWAIT);
	errno = EMSGSIZE;
	if (bytes + frame_header_bytes(&peer->ends) > MEMIF_MOST_BYTES)
		return -1;
	errno = EAGAIN;
	frame = memif_place(peer->memif, 0);
	if (frame == NULL)
		return -1;
	memcpy(frame + frame_header_bytes(&peer->ends), payload, bytes);
	frame_finish(&peer->ends, frame, bytes, channel->from, channel->to);
	memif_set_length(peer->memif, 0, frame_header_bytes(&peer->ends) + bytes);
	memif_send(peer->memif, 1);
	return (ssize_t)bytes;
}

struct channel *
way_channel(const struct peer *peer, const struct frame_datagram *datagram)
{
	for (unsigned int s = 0; s < peer->channels; s++) {
		if (peer->channel[s].to == datagram->from && peer->channel[s].from == datagram->to)
			return &peer->channel[s];
	}
	return NULL;
}

ssize_t
way_receive(const struct channel *channel, uint8_t *payload, size_t bytes)
{
	struct peer *peer = channel->peer;
	struct frame_datagram datagram;
	const uint8_t *frame;
	size_t length;
	bool mine;

	if (!way_is_memory(peer))
		return recv(channel->fd, payload, bytes, MSG_DONTWAIT);
	while (memif_count(peer->memif) > 0) {
		frame = memif_look(peer->memif, 0, &length);
		mine = frame_read(&peer->ends, frame, length, &datagram) &&
			way_channel(peer, &datagram) == channel && datagram.length <= bytes;
		if (mine) {
			memcpy(payload, datagram.payload, datagram.length);
			frame_learn(&peer->ends, frame);
		}
		memif_release(peer->memif, 1);
		if (mine)
			return (ssize_t)datagram.length;
	}
	errno = EAGAIN;
	return -1;
}

int
way_fd(const struct channel *channel)
{
	return way_is_memory(channel->peer) ? memif_fd(channel->peer->memif) : channel->fd;
}

unsigned int
way_mtu(const struct peer *peer)
{
	if (way_is_memory(peer))
		return MEMIF_MTU;
	return socket_mtu(peer->channel[0].fd, peer->address.storage.ss_family);
}

bool
way_sleep(struct peer *peer, int wake, const struct timespec *time)
{
	struct pollfd fds[] = {
		{.fd = way_fd(&peer->channel[0]), .events = POLLIN},
		{.fd = wake, .events = POLLIN},
	};
	bool interrupted = way_arm(peer) && ppoll(fds, 2, time, NULL) < 0 && errno == EINTR;

	way_disarm(peer);
	return !interrupted;
}

bool
way_arm(struct peer *peer)
{
	return !way_is_memory(peer) || memif_arm(peer->memif);
}

void
way_disarm(struct peer *peer)
{
	if (way_is_memory(peer))
		memif_disarm(peer->memif);
}
