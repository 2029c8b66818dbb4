/* SPDX-License-Identifier: BSD-3-Clause */
#include "register_switch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <aggregate.h>
#include <aggregate_registers.h>

#include "registers.h"

#define MAX_LANES 32
#define MAX_SLOTS 64
#define PACKET_BYTES 2048

struct entry {
	uint32_t chunk, seen;
	bool used;
	struct registers lanes[MAX_LANES];
};

struct register_switch {
	struct register_switch_options options;
	pthread_t thread;
	atomic_bool stop;
	atomic_uint completed;
	int fd;
	struct sockaddr_in workers[AGGREGATE_SUMS_WORKERS];
	struct entry entries[2 * MAX_SLOTS];
};

static void
send_sums(struct register_switch *self, const struct aggregate_message *request,
	const struct entry *entry, uint8_t worker)
{
	uint8_t values[MAX_LANES * AGGREGATE_SUMS_BYTES];
	uint8_t payload[AGGREGATE_HEADER_BYTES + sizeof(values)];
	const size_t width = aggregate_registers_bytes(self->options.format);
	size_t bytes = self->options.lanes * width;

	for (unsigned int lane = 0; lane < self->options.lanes; lane++)
		registers_write(&entry->lanes[lane], self->options.format, values + lane * width);
	aggregate_build_result(payload, request, worker, AGGREGATE_SUMS, 0, values, bytes);
	sendto(self->fd, payload, AGGREGATE_HEADER_BYTES + bytes, 0,
		(const struct sockaddr *)&self->workers[worker], sizeof(self->workers[worker]));
}

static void
add_values(struct register_switch *self, struct entry *entry,
	const struct aggregate_message *request, bool first)
{
	const unsigned int width = aggregate_value_bytes(self->options.format);

	for (unsigned int lane = 0; lane < self->options.lanes; lane++) {
		uint32_t bits = 0;

		for (unsigned int b = 0; b < width; b++)
			bits = bits << 8 | request->values[width * lane + b];
		registers_add(&entry->lanes[lane], self->options.format, bits, first);
	}
}

static void
take_chunk(struct register_switch *self, const struct aggregate_message *request)
{
	const uint32_t slots = self->options.slots;
	const uint32_t all = UINT32_MAX >> (32 - self->options.workers);
	const uint32_t bit = UINT32_C(1) << request->worker;
	struct entry *entry = &self->entries[request->id & (2 * slots - 1)];
	bool first =
		!entry->used || (entry->chunk + 2 * slots == request->id && entry->seen == all);

	if (!first && entry->chunk != request->id)
		return; /* stale */
	if (first)
		*entry = (struct entry){.chunk = request->id, .used = true};
	if ((entry->seen & bit) != 0) {
		if (entry->seen == all)
			send_sums(self, request, entry, request->worker);
		return;
	}
	add_values(self, entry, request, first);
	entry->seen |= bit;
	if (entry->seen != all)
		return;
	atomic_fetch_add(&self->completed, 1);
	for (uint8_t w = 0; w < self->options.workers; w++)
		send_sums(self, request, entry, w);
}

static void
reply(struct register_switch *self, uint8_t *payload, size_t length, unsigned int worker)
{
	sendto(self->fd, payload, length, 0, (const struct sockaddr *)&self->workers[worker],
		sizeof(self->workers[worker]));
}

static void
take_packet(struct register_switch *self, uint8_t *payload, size_t length,
	const struct sockaddr_in *from)
{
	const uint16_t bytes =
		(uint16_t)(aggregate_value_bytes(self->options.format) * self->options.lanes);
	struct aggregate_message request;

	if (aggregate_parse_request(payload, length, &request) != 0 ||
		request.job != self->options.job || request.token != self->options.token ||
		request.worker >= self->options.workers)
		return;
	self->workers[request.worker] = *from;
	if (request.op == AGGREGATE_JOIN) {
		request.join.shards = 1;
		request.join.slots = (uint16_t)self->options.slots;
		request.join.bytes = request.join.least = bytes;
		aggregate_accept(payload, AGGREGATE_ROUNDED, 0);
		aggregate_write_join(payload, &request.join);
		reply(self, payload, length, request.worker);
	} else if (request.op == AGGREGATE_LEAVE) {
		aggregate_accept(payload, AGGREGATE_ROUNDED, 0);
		reply(self, payload, length, request.worker);
	} else if (length != AGGREGATE_HEADER_BYTES + (size_t)bytes) {
		aggregate_refuse(payload, length, NETFC_STATUS_LENGTH, 0);
		reply(self, payload, length, request.worker);
	} else if (request.format != self->options.format) {
		aggregate_refuse(payload, length, NETFC_STATUS_FORMAT, 0);
		reply(self, payload, length, request.worker);
	} else {
		take_chunk(self, &request);
	}
}

static void *
serve(void *argument)
{
	struct register_switch *self = argument;

	while (!atomic_load(&self->stop)) {
		struct pollfd fds = {.fd = self->fd, .events = POLLIN};
		struct sockaddr_in from;
		socklen_t size = sizeof(from);
		uint8_t payload[PACKET_BYTES];
		ssize_t length;

		if (poll(&fds, 1, 5) <= 0)
			continue;
		length = recvfrom(self->fd, payload, sizeof(payload), MSG_DONTWAIT,
			(struct sockaddr *)&from, &size);
		if (length > 0)
			take_packet(self, payload, (size_t)length, &from);
	}
	return NULL;
}

struct register_switch *
register_switch_start(const struct register_switch_options *options)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct register_switch *self = calloc(1, sizeof(*self));

	if (self == NULL)
		return NULL;
	self->options = *options;
	self->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (self->fd < 0 || bind(self->fd, (const struct sockaddr *)&any, sizeof(any)) != 0 ||
		pthread_create(&self->thread, NULL, serve, self) != 0) {
		close(self->fd);
		free(self);
		return NULL;
	}
	return self;
}

uint16_t
register_switch_port(const struct register_switch *self)
{
	struct sockaddr_in local;
	socklen_t size = sizeof(local);

	getsockname(self->fd, (struct sockaddr *)&local, &size);
	return ntohs(local.sin_port);
}

unsigned int
register_switch_completed(const struct register_switch *self)
{
	return atomic_load(&self->completed);
}

void
register_switch_stop(struct register_switch *self)
{
	atomic_store(&self->stop, true);
	pthread_join(self->thread, NULL);
	close(self->fd);
	free(self);
}
