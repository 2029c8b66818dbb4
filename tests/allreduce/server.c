/* SPDX-License-Identifier: BSD-3-Clause */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH 64
#define MAX_SHARDS 16
#define MAX_ENTRIES 1024
#define PACKET_BYTES 65536
#define SOCKET_BYTES (64 << 20)
#define TRIES 100
#define MAX_JOINED 60000 /* bytes */
#define NS_PER_MS 1000000u

const struct server_options server_defaults = {
	.shards = 1,
	.jobs = 16,
	.slots = 512,
	.bytes = 1448,
	.stall_ms = 600000,
	.idle_ms = 600000,
};

/* Packets that are received together, or sent. */
struct packets {
	unsigned int count;
	size_t stride;
	uint8_t *memory;
	struct sockaddr_in6 addresses[BATCH];
	struct iovec parts[BATCH];
	struct mmsghdr messages[BATCH];
};

struct server {
	pthread_t thread;
	pthread_mutex_t lock; /* of the table, between rounds */
	atomic_bool stop, frozen;
	bool renumbers, joins;
	uint64_t slow; /* ns: what a packet takes shards but the first */
	uint64_t due[MAX_SHARDS];
	unsigned int shards;
	uint16_t port, parent;
	int fds[MAX_SHARDS];
	void *memory;
	struct aggregate_secret *secret;
	struct aggregate_table *table;
	struct packets received, sent;
	/* Those seen, to renumber them. */
	const struct aggregate_entry *entries[MAX_ENTRIES];
	unsigned int entry_count;
};

static uint64_t
ticks(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void
packets_init(struct packets *packets, size_t stride)
{
	packets->stride = stride;
	packets->memory = malloc(BATCH * stride);
	if (packets->memory == NULL)
		abort();
	for (unsigned int i = 0; i < BATCH; i++) {
		packets->parts[i].iov_base = packets->memory + i * stride;
		packets->messages[i].msg_hdr = (struct msghdr){
			.msg_name = &packets->addresses[i],
			.msg_namelen = sizeof(packets->addresses[i]),
			.msg_iov = &packets->parts[i],
			.msg_iovlen = 1,
		};
	}
}

static int
open_port(const char *address, uint16_t port)
{
	struct sockaddr_in6 local = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	const int off = 0, size = SOCKET_BYTES;
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (address != NULL && inet_pton(AF_INET6, address, &local.sin6_addr) != 1) {
		char mapped[INET6_ADDRSTRLEN];

		snprintf(mapped, sizeof(mapped), "::ffff:%s", address);
		inet_pton(AF_INET6, mapped, &local.sin6_addr);
	}
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) != 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) != 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (bind(fd, (const struct sockaddr *)&local, sizeof(local)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Ports in a row. */
static bool
open_ports(struct server *server, const struct server_options *options, uint16_t port)
{
	server->port = port;
	for (server->shards = 0; server->shards < options->shards; server->shards++) {
		int fd = open_port(options->address, (uint16_t)(port + server->shards));

		if (fd < 0)
			break;
		server->fds[server->shards] = fd;
	}
	if (server->shards == options->shards)
		return true;
	while (server->shards > 0)
		close(server->fds[--server->shards]);
	return false;
}

static bool
open_some_ports(struct server *server, const struct server_options *options)
{
	uint16_t random;

	if (options->port != 0)
		return open_ports(server, options, options->port);
	for (unsigned int i = 0; i < TRIES; i++) {
		if (getrandom(&random, sizeof(random), 0) == sizeof(random) &&
			open_ports(server, options, (uint16_t)(10000 + random % 20000)))
			return true;
	}
	return false;
}

static bool
make_table(struct server *server, const struct server_options *options)
{
	struct aggregate_limits limits = {
		.shards = options->shards,
		.jobs = options->jobs,
		.slots = options->slots,
		.workers = AGGREGATE_MAX_WORKERS,
		.bytes = options->bytes,
		.formats = AGGREGATE_ALL_FORMATS,
		.digits = options->no_digits ? 0 : AGGREGATE_ALL_FORMATS,
		.isa = aggregate_isa_best(),
		.per_address = options->jobs,
		.idle = (uint64_t)options->idle_ms * NS_PER_MS,
		.half_open = (uint64_t)5000 * NS_PER_MS,
		.stall = (uint64_t)options->stall_ms * NS_PER_MS,
		.cookie_period = (uint64_t)5000 * NS_PER_MS,
		.secret = server->secret,
	};
	if (options->parent != 0)
		limits.parent = leaf_parent(options->parent);
	size_t bytes = aggregate_table_bytes(&limits);

	if (bytes == 0 || getrandom(limits.key, sizeof(limits.key), 0) != sizeof(limits.key)) {
		fprintf(stderr, "server: %s\n", aggregate_limits_problem(&limits));
		return false;
	}
	server->memory =
		aligned_alloc(AGGREGATE_ALIGN, (bytes + AGGREGATE_ALIGN - 1) & -AGGREGATE_ALIGN);
	if (server->memory == NULL)
		return false;
	server->table = aggregate_table_init(server->memory, &limits);
	return true;
}

/* How many packets from the i-th on go to one address and are equally long, as far as one goes. */
static unsigned int
alike(const struct packets *sent, unsigned int i)
{
	const size_t bytes = sent->parts[i].iov_len;
	unsigned int n = 1;

	while (i + n < sent->count && (n + 1) * bytes <= MAX_JOINED &&
		sent->parts[i + n].iov_len == bytes &&
		memcmp(&sent->addresses[i + n], &sent->addresses[i], sizeof(*sent->addresses)) == 0)
		n++;
	return n;
}

/* Packets as segments of one datagram, which is what reaches a socket with UDP_GRO. */
static void
send_joined(struct packets *sent, int fd, unsigned int i, unsigned int n)
{
	const uint16_t segment = (uint16_t)sent->parts[i].iov_len;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(segment))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(segment)),
			     .cmsg_level = IPPROTO_UDP,
			     .cmsg_type = UDP_SEGMENT}};
	const struct msghdr message = {
		.msg_name = &sent->addresses[i],
		.msg_namelen = sizeof(sent->addresses[i]),
		.msg_iov = &sent->parts[i],
		.msg_iovlen = n,
		.msg_control = &control,
		.msg_controllen = sizeof(control.bytes),
	};

	memcpy(CMSG_DATA(&control.header), &segment, sizeof(segment));
	(void)sendmsg(fd, &message, 0); /* what is lost is asked for again */
}

static void
flush_joined(struct packets *sent, int fd)
{
	unsigned int n;

	for (unsigned int i = 0; i < sent->count; i += n) {
		n = alike(sent, i);
		send_joined(sent, fd, i, n);
	}
	sent->count = 0;
}

static void
flush(struct server *server, int fd)
{
	struct packets *sent = &server->sent;
	unsigned int done = 0;

	if (server->joins) {
		flush_joined(sent, fd);
		return;
	}

	while (done < sent->count) {
		int n = sendmmsg(fd, sent->messages + done, sent->count - done, 0);

		if (n > 0)
			done += (unsigned int)n;
		else if (errno == EAGAIN)
			poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 10);
		else
			done++; /* whoever was there is gone */
	}
	sent->count = 0;
}

/* Where the next packet to send is written. */
static uint8_t *
next_sent(struct server *server, int fd, const struct sockaddr_in6 *to, size_t bytes)
{
	struct packets *sent = &server->sent;
	unsigned int i;

	if (sent->count == BATCH)
		flush(server, fd);
	i = sent->count++;
	sent->addresses[i] = *to;
	sent->parts[i].iov_len = bytes;
	return sent->memory + i * sent->stride;
}

static void
send_results(struct server *server, int fd, const struct aggregate_shard *shard,
	const struct aggregate_message *request, const struct aggregate_outcome *outcome,
	const struct aggregate_seal *seal)
{
	const struct aggregate_entry *entry = outcome->entry;

	for (uint8_t w = 0; w < outcome->workers; w++) {
		size_t bytes = aggregate_result_bytes(entry, w);
		size_t length = AGGREGATE_HEADER_BYTES + bytes + aggregate_seal_bytes(seal);
		uint8_t *payload;
		const struct aggregate_sender *sender =
			aggregate_worker_sender(shard, outcome->index, w);
		struct sockaddr_in6 to = {
			.sin6_family = AF_INET6, .sin6_port = htons(entry->ports[w])};

		memcpy(&to.sin6_addr, sender->address, sizeof(to.sin6_addr));
		payload = next_sent(server, fd, &to, length);
		aggregate_build_result(payload, request, w,
			(uint8_t)aggregate_result_kind(entry, w), entry->flags, entry->result,
			bytes);
		aggregate_seal_reply(seal, payload, length);
	}
}

static void
remember(struct server *server, const struct aggregate_entry *entry)
{
	for (unsigned int i = 0; i < server->entry_count; i++) {
		if (server->entries[i] == entry)
			return;
	}
	if (server->entry_count < MAX_ENTRIES)
		server->entries[server->entry_count++] = entry;
}

static void
serve_packet(struct server *server, unsigned int s, uint8_t *payload, size_t length,
	const struct sockaddr_in6 *from)
{
	struct aggregate_shard *shard = aggregate_table_shard(server->table, s);
	struct aggregate_sender sender = {.port = ntohs(from->sin6_port)};
	struct aggregate_message request;
	struct aggregate_outcome outcome;
	const struct aggregate_seal no_seal = {0};
	struct aggregate_seal seal;
	int code = aggregate_shard_read(shard, payload, length, &request, &seal);

	if (code == AGGREGATE_NOT_OURS && server->parent != 0 &&
		leaf_take(shard, payload, length, from, ticks(), &request, &outcome))
		send_results(server, server->fds[s], shard, &request, &outcome, &no_seal);
	if (code == AGGREGATE_NOT_OURS || code == AGGREGATE_FORGED)
		return;
	if (code != 0) {
		aggregate_refuse(payload, length, (uint8_t)code, 0);
		memcpy(next_sent(server, server->fds[s], from, length), payload, length);
		return;
	}
	memcpy(sender.address, &from->sin6_addr, sizeof(sender.address));
	aggregate_shard_packet(shard, &request, &sender, ticks(), &outcome);
	switch (aggregate_action_send(outcome.action)) {
	case AGGREGATE_SEND_NOTHING:
		break;
	case AGGREGATE_SEND_UPWARDS:
		leaf_send(server->fds[s], shard, &outcome);
		break;
	case AGGREGATE_SEND_REPLY:
	case AGGREGATE_SEND_RESULT:
		length = aggregate_write_reply(payload, length, &outcome);
		aggregate_seal_reply(&seal, payload, length);
		memcpy(next_sent(server, server->fds[s], from, length), payload, length);
		break;
	case AGGREGATE_SEND_RESULTS:
		if (server->renumbers)
			remember(server, outcome.entry);
		send_results(server, server->fds[s], shard, &request, &outcome, &seal);
		break;
	}
}

static bool
is_slow(const struct server *server, unsigned int s)
{
	return server->slow > 0 && s > 0;
}

static void
serve_shard(struct server *server, unsigned int s)
{
	struct packets *received = &server->received;
	int n;

	server->due[s] = ticks() + server->slow;
	for (unsigned int i = 0; i < BATCH; i++) {
		received->parts[i].iov_len = received->stride;
		received->messages[i].msg_hdr.msg_namelen = sizeof(received->addresses[i]);
	}
	n = recvmmsg(server->fds[s], received->messages, is_slow(server, s) ? 1 : BATCH, 0, NULL);
	for (int i = 0; i < n; i++)
		serve_packet(server, s, received->memory + (size_t)i * received->stride,
			received->messages[i].msg_len, &received->addresses[i]);
	flush(server, server->fds[s]);
}

/* Wait for packets of shards that are ready for some. */
static void
wait_for_packets(const struct server *server, struct pollfd *fds)
{
	uint64_t now = ticks();
	int timeout = 5;

	for (unsigned int s = 0; s < server->shards; s++) {
		bool busy = is_slow(server, s) && server->due[s] > now;

		fds[s] = (struct pollfd){.fd = server->fds[s], .events = busy ? 0 : POLLIN};
		if (busy)
			timeout = 1;
	}
	poll(fds, server->shards, timeout);
}

static void *
serve(void *argument)
{
	struct server *server = argument;
	struct pollfd fds[MAX_SHARDS];

	while (!atomic_load(&server->stop)) {
		wait_for_packets(server, fds);
		if (server->frozen)
			usleep(1000);
		pthread_mutex_lock(&server->lock);
		for (unsigned int s = 0; s < server->shards; s++) {
			if (!server->frozen && (fds[s].revents & POLLIN) != 0)
				serve_shard(server, s);
			aggregate_shard_quiescent(aggregate_table_shard(server->table, s));
		}
		aggregate_table_poll(server->table, ticks());
		if (server->parent != 0 && !server->frozen)
			leaf_poll(server->fds[0], aggregate_table_shard(server->table, 0),
				server->parent, ticks());
		pthread_mutex_unlock(&server->lock);
	}
	return NULL;
}

static struct server_options
with_defaults(struct server_options options)
{
#define DEFAULT(field) options.field = options.field != 0 ? options.field : server_defaults.field
	DEFAULT(shards);
	DEFAULT(jobs);
	DEFAULT(slots);
	DEFAULT(bytes);
	DEFAULT(stall_ms);
	DEFAULT(idle_ms);
#undef DEFAULT
	return options;
}

struct server *
server_start(const struct server_options *given)
{
	const struct server_options all = with_defaults(*given), *options = &all;
	struct server *server = calloc(1, sizeof(*server));

	if (server == NULL)
		return NULL;
	if (options->key != NULL)
		server->secret = aggregate_secret_create(options->key);
	if (options->shards > MAX_SHARDS || !make_table(server, options) ||
		!open_some_ports(server, options)) {
		fprintf(stderr, "server: cannot start with %u shards: %s\n", options->shards,
			strerror(errno));
		free(server->memory);
		aggregate_secret_free(server->secret);
		free(server);
		return NULL;
	}
	server->renumbers = options->renumbers;
	server->joins = options->joins;
	server->parent = options->parent;
	server->slow = (uint64_t)options->slow_us * 1000;
	packets_init(&server->received, PACKET_BYTES);
	packets_init(&server->sent, PACKET_BYTES);
	pthread_mutex_init(&server->lock, NULL);
	if (pthread_create(&server->thread, NULL, serve, server) != 0)
		abort();
	return server;
}

uint16_t
server_port(const struct server *server)
{
	return server->port;
}

void
server_freeze(struct server *server, bool frozen)
{
	pthread_mutex_lock(&server->lock);
	server->frozen = frozen;
	pthread_mutex_unlock(&server->lock);
}

void
server_advance(struct server *server, uint32_t chunks)
{
	pthread_mutex_lock(&server->lock);
	for (unsigned int i = 0; i < server->entry_count; i++) {
		struct aggregate_entry *entry;

		/* Nobody but a test may write there. */
		memcpy(&entry, &server->entries[i], sizeof(entry));
		entry->chunk += chunks;
	}
	pthread_mutex_unlock(&server->lock);
}

uint64_t
server_zeros(const struct server *server)
{
	uint64_t sum = 0;

	for (unsigned int s = 0; s < server->shards; s++) {
		struct aggregate_counters counters;

		aggregate_shard_counters(aggregate_table_shard(server->table, s), &counters);
		sum += counters.zeros;
	}
	return sum;
}

uint64_t
server_count(const struct server *server, enum aggregate_action action)
{
	uint64_t sum = 0;

	for (unsigned int s = 0; s < server->shards; s++) {
		struct aggregate_counters counters;

		aggregate_shard_counters(aggregate_table_shard(server->table, s), &counters);
		sum += counters.actions[action];
	}
	return sum;
}

unsigned int
server_jobs(const struct server *server)
{
	struct aggregate_usage usage;

	aggregate_table_usage(server->table, &usage);
	return usage.jobs;
}

void
server_stop(struct server *server)
{
	atomic_store(&server->stop, true);
	pthread_join(server->thread, NULL);
	for (unsigned int s = 0; s < server->shards; s++)
		close(server->fds[s]);
	pthread_mutex_destroy(&server->lock);
	free(server->received.memory);
	free(server->sent.memory);
	free(server->memory);
	aggregate_secret_free(server->secret);
	free(server);
}
