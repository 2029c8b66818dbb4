/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A responder that costs next to nothing: the bound of what a worker can do. It grants a job of one
 * worker whatever it asks for, and sends chunks back as they came, which is the sum of one; as many
 * packets with one system call as the kernel joins (UDP_GRO, UDP_SEGMENT).
 *
 * reflect [--bytes B]: of values in a chunk at most. Prints the UDP port; ends when its
 * standard input does.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <aggregate_wire.h>

#include "arguments.h"

#define BUFFER_BYTES 65536
#define SOCKET_BYTES (16 << 20)

static unsigned int most_bytes = 8948;

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int
open_port(uint16_t *port)
{
	struct sockaddr_in local = {.sin_family = AF_INET};
	socklen_t length = sizeof(local);
	const int on = 1, size = SOCKET_BYTES;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&local, sizeof(local)) != 0 ||
		getsockname(fd, (struct sockaddr *)&local, &length) != 0) {
		perror("reflect");
		return -1;
	}
	setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) != 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	*port = ntohs(local.sin_port);
	return fd;
}

static void
answer(uint8_t *payload, size_t length)
{
	struct aggregate_message request;

	if (aggregate_parse_request(payload, length, &request) != 0)
		return;
	if (request.op == AGGREGATE_JOIN && request.join.cookie == 0)
		aggregate_refuse(payload, length, AGGREGATE_STATUS_CODE, AGGREGATE_REASON_COOKIE);
	else
		aggregate_accept(payload, AGGREGATE_ROUNDED, 0);
	if (request.op != AGGREGATE_JOIN)
		return;
	request.join.shards = 1;
	request.join.least = 0;
	/* Any will do. */
	request.join.cookie = 1;
	if (request.join.bytes > most_bytes)
		request.join.bytes = (uint16_t)most_bytes;
	aggregate_write_join(payload, &request.join);
}

static size_t
segment_of(struct msghdr *message, size_t length)
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int size = 0;

	if (header != NULL && header->cmsg_type == UDP_GRO)
		memcpy(&size, CMSG_DATA(header), sizeof(size));
	return size > 0 ? (size_t)size : length;
}

/* The control message that was received becomes that to send with. */
static void
set_segment(struct msghdr *message, union control *control, size_t segment)
{
	const uint16_t size = (uint16_t)segment;

	*control = (union control){.header = {.cmsg_len = CMSG_LEN(sizeof(size)),
					   .cmsg_level = IPPROTO_UDP,
					   .cmsg_type = UDP_SEGMENT}};
	memcpy(CMSG_DATA(&control->header), &size, sizeof(size));
	message->msg_control = control;
	message->msg_controllen = CMSG_SPACE(sizeof(size));
}

static void
reflect(int fd)
{
	static uint8_t payload[BUFFER_BYTES];
	struct sockaddr_in from;
	union control control;
	struct iovec part = {.iov_base = payload, .iov_len = sizeof(payload)};
	struct msghdr message = {.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t length = recvmsg(fd, &message, 0);
	size_t segment;

	if (length <= 0)
		return;
	segment = segment_of(&message, (size_t)length);
	for (size_t at = 0; at < (size_t)length; at += segment) {
		size_t left = (size_t)length - at;

		answer(payload + at, left < segment ? left : segment);
	}
	part.iov_len = (size_t)length;
	message.msg_control = NULL;
	message.msg_controllen = 0;
	if (segment < (size_t)length)
		set_segment(&message, &control, segment);
	(void)sendmsg(fd, &message, 0); /* what is lost is asked for again */
}

int
main(int argc, char **argv)
{
	const struct argument arguments[] = {{"bytes", .number = &most_bytes}, {0}};
	struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.events = POLLIN}};
	uint16_t port;

	if (!read_arguments(argc, argv, arguments))
		return 1;
	fds[1].fd = open_port(&port);
	if (fds[1].fd < 0)
		return 1;
	printf("%u\n", port);
	fflush(stdout);
	while (poll(fds, 2, -1) > 0 && fds[0].revents == 0)
		reflect(fds[1].fd);
	return 0;
}
