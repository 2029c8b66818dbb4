/* SPDX-License-Identifier: BSD-3-Clause */
#include "liar.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define COOKIE UINT64_C(0xc00c1ec00c1ec00c)
#define SESSION UINT64_C(0x5e55105e55105e55)

struct liar {
	liar_change change;
	void *context;
	pthread_t thread;
	atomic_bool stop;
	int fd;
	unsigned int times[256]; /* by operation */
	uint8_t payload[LIAR_BYTES];
};

/* What a right switch grants: what is asked for, to who has the cookie. */
static void
answer_join(uint8_t *payload, const struct aggregate_message *request)
{
	struct aggregate_join join = request->join;

	if (join.cookie != COOKIE) {
		join.cookie = COOKIE;
		aggregate_refuse(payload, AGGREGATE_HEADER_BYTES, AGGREGATE_STATUS_CODE,
			AGGREGATE_REASON_COOKIE);
	} else {
		join.shards = 1;
		join.cookie = SESSION;
		aggregate_accept(payload, AGGREGATE_ROUNDED, 0);
	}
	aggregate_write_join(payload, &join);
}

static void
answer(struct liar *liar, size_t length, const struct sockaddr_in *to)
{
	struct aggregate_message request;

	if (aggregate_parse_request(liar->payload, length, &request) != 0)
		return;
	if (request.op == AGGREGATE_JOIN)
		answer_join(liar->payload, &request);
	else
		aggregate_accept(liar->payload, AGGREGATE_ROUNDED, 0);
	length = liar->change(
		liar->context, &request, liar->times[request.op]++, liar->payload, length);
	if (length > 0)
		sendto(liar->fd, liar->payload, length, 0, (const struct sockaddr *)to,
			sizeof(*to));
}

static void *
run(void *argument)
{
	struct liar *liar = argument;

	while (!atomic_load(&liar->stop)) {
		struct pollfd fds = {.fd = liar->fd, .events = POLLIN};
		struct sockaddr_in from;
		socklen_t size = sizeof(from);
		ssize_t length;

		if (poll(&fds, 1, 5) <= 0)
			continue;
		length = recvfrom(liar->fd, liar->payload, sizeof(liar->payload), MSG_DONTWAIT,
			(struct sockaddr *)&from, &size);
		if (length > 0)
			answer(liar, (size_t)length, &from);
	}
	return NULL;
}

struct liar *
liar_start(uint16_t port, liar_change change, void *context)
{
	struct sockaddr_in any = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct liar *liar = calloc(1, sizeof(*liar));

	if (liar == NULL)
		return NULL;
	liar->change = change;
	liar->context = context;
	liar->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (liar->fd >= 0 && bind(liar->fd, (const struct sockaddr *)&any, sizeof(any)) == 0 &&
		pthread_create(&liar->thread, NULL, run, liar) == 0)
		return liar;
	if (liar->fd >= 0)
		close(liar->fd);
	free(liar);
	return NULL;
}

uint16_t
liar_port(const struct liar *liar)
{
	struct sockaddr_in local;
	socklen_t size = sizeof(local);

	getsockname(liar->fd, (struct sockaddr *)&local, &size);
	return ntohs(local.sin_port);
}

void
liar_stop(struct liar *liar)
{
	atomic_store(&liar->stop, true);
	pthread_join(liar->thread, NULL);
	close(liar->fd);
	free(liar);
}
