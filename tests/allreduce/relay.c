/* SPDX-License-Identifier: BSD-3-Clause */
#include "relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "exact.h"
#include "held.h"

#define MAX_SHARDS 16
#define MAX_CLIENTS 2048
/* With so many, those that nothing was heard of for longer than any packet waits are forgotten. */
#define MANY_CLIENTS 512
#define QUIET_US 2000000u
#define PACKET_BYTES 16384
#define SOCKET_BYTES (16 << 20)
#define TRIES 100

/* One socket of a client, and ours towards the server. */
struct client {
	struct sockaddr_in address;
	unsigned int shard;
	int fd;
	uint64_t latest; /* us: when it was heard */
};

struct relay {
	pthread_t thread;
	atomic_bool stop;
	atomic_bool closes, closed; /* what is to be, and what is */
	struct relay_options options;
	uint64_t random;
	uint16_t port;
	int fds[MAX_SHARDS];
	unsigned int shards;
	struct client clients[MAX_CLIENTS];
	unsigned int client_count;
	struct held held;
	pthread_mutex_t lock; /* of the doubles that are kept */
	struct held kept;
	uint8_t payload[PACKET_BYTES];
};

static uint64_t
now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static bool
chance(struct relay *relay, double share)
{
	return (double)(next_random(&relay->random) >> 11) * 0x1p-53 < share;
}

static struct sockaddr_in
server_address(const struct relay *relay, unsigned int shard)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)(relay->options.to + shard))};

	inet_pton(AF_INET, relay->options.server == NULL ? "127.0.0.1" : relay->options.server,
		&address.sin_addr);
	return address;
}

static int
open_socket(uint16_t port)
{
	const struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons(port)};
	const int size = SOCKET_BYTES;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) != 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) != 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (bind(fd, (const struct sockaddr *)&local, sizeof(local)) == 0)
		return fd;
	close(fd);
	return -1;
}

static void
close_ports(struct relay *relay)
{
	while (relay->shards > 0)
		close(relay->fds[--relay->shards]);
}

static bool
open_ports(struct relay *relay, uint16_t port)
{
	const int marked = IPTOS_ECN_CE;

	relay->port = port;
	for (relay->shards = 0; relay->shards < relay->options.shards; relay->shards++) {
		int fd = open_socket((uint16_t)(port + relay->shards));

		if (fd < 0)
			break;
		if (relay->options.marked)
			setsockopt(fd, IPPROTO_IP, IP_TOS, &marked, sizeof(marked));
		relay->fds[relay->shards] = fd;
	}
	if (relay->shards == relay->options.shards)
		return true;
	close_ports(relay);
	return false;
}

static bool
open_some_ports(struct relay *relay)
{
	uint16_t random;

	if (relay->options.port != 0)
		return open_ports(relay, relay->options.port);
	for (unsigned int i = 0; i < TRIES; i++) {
		if (getrandom(&random, sizeof(random), 0) == sizeof(random) &&
			open_ports(relay, (uint16_t)(10000 + random % 20000)))
			return true;
	}
	return false;
}

static void
forget_quiet_clients(struct relay *relay)
{
	uint64_t quiet = QUIET_US + relay->options.delay_us, now = now_us();

	for (unsigned int i = 0; i < relay->client_count;) {
		if (now - relay->clients[i].latest < quiet) {
			i++;
			continue;
		}
		close(relay->clients[i].fd);
		relay->clients[i] = relay->clients[--relay->client_count];
	}
}

static struct client *
new_client(struct relay *relay, unsigned int shard, const struct sockaddr_in *address)
{
	struct sockaddr_in to = server_address(relay, shard);
	struct client *client;

	if (relay->client_count >= MANY_CLIENTS)
		forget_quiet_clients(relay);
	if (relay->client_count == MAX_CLIENTS)
		return NULL;
	client = &relay->clients[relay->client_count];
	*client = (struct client){.address = *address, .shard = shard, .fd = open_socket(0)};
	if (client->fd < 0)
		return NULL;
	if (connect(client->fd, (const struct sockaddr *)&to, sizeof(to)) != 0) {
		close(client->fd);
		return NULL;
	}
	relay->client_count++;
	return client;
}

/* The socket towards the server that stands for this client's; NULL: too many. */
static struct client *
find_client(struct relay *relay, unsigned int shard, const struct sockaddr_in *address)
{
	for (unsigned int i = 0; i < relay->client_count; i++) {
		struct client *client = &relay->clients[i];

		if (client->shard == shard && client->address.sin_port == address->sin_port &&
			client->address.sin_addr.s_addr == address->sin_addr.s_addr)
			return client;
	}
	return new_client(relay, shard, address);
}

static void
send_now(int fd, const struct sockaddr_in *to, const uint8_t *payload, size_t length)
{
	bool connected = to->sin_port == 0;

	/* A full socket loses it: this is a bad network. */
	(void)sendto(fd, payload, length, MSG_DONTWAIT,
		connected ? NULL : (const struct sockaddr *)to, connected ? 0 : sizeof(*to));
}

static struct held_packet
packet_of(struct relay *relay, int fd, const struct sockaddr_in *to, size_t length)
{
	return (struct held_packet){
		.fd = fd, .to = *to, .length = length, .payload = relay->payload};
}

static void
pass(struct relay *relay, int fd, const struct sockaddr_in *to, size_t length)
{
	struct held_packet packet = packet_of(relay, fd, to, length);

	if (!chance(relay, relay->options.delayed)) {
		send_now(fd, to, relay->payload, length);
		return;
	}
	packet.until = now_us() + next_random(&relay->random) % (relay->options.delay_us + 1);
	held_put(&relay->held, &packet);
}

static void
keep(struct relay *relay, int fd, const struct sockaddr_in *to, size_t length)
{
	struct held_packet packet = packet_of(relay, fd, to, length);

	pthread_mutex_lock(&relay->lock);
	held_put(&relay->kept, &packet);
	pthread_mutex_unlock(&relay->lock);
}

static enum relay_verdict
judge(struct relay *relay, bool from_server, size_t length)
{
	const struct relay_options *options = &relay->options;

	if (options->judge == NULL)
		return RELAY_PASS;
	return options->judge(options->context, from_server, relay->payload, length);
}

static void
pass_or_lose(
	struct relay *relay, bool from_server, int fd, const struct sockaddr_in *to, size_t length)
{
	enum relay_verdict verdict = judge(relay, from_server, length);

	if (verdict == RELAY_LOSE || chance(relay, relay->options.lost))
		return;
	if (verdict == RELAY_KEEP)
		keep(relay, fd, to, length);
	pass(relay, fd, to, length);
	if (chance(relay, relay->options.repeated))
		pass(relay, fd, to, length);
}

static void
from_client(struct relay *relay, unsigned int shard)
{
	const struct sockaddr_in connected = {0};
	struct sockaddr_in from;
	socklen_t length = sizeof(from);
	ssize_t bytes;

	while ((bytes = recvfrom(relay->fds[shard], relay->payload, PACKET_BYTES, 0,
			(struct sockaddr *)&from, &length)) >= 0) {
		struct client *client = find_client(relay, shard, &from);

		if (client == NULL)
			continue;
		client->latest = now_us();
		pass_or_lose(relay, false, client->fd, &connected, (size_t)bytes);
	}
}

static void
from_server(struct relay *relay, const struct client *client)
{
	ssize_t bytes;

	while ((bytes = recv(client->fd, relay->payload, PACKET_BYTES, 0)) >= 0 &&
		relay->shards > 0)
		pass_or_lose(
			relay, true, relay->fds[client->shard], &client->address, (size_t)bytes);
}

static void
release(struct relay *relay)
{
	uint64_t now = now_us();

	while (held_next(&relay->held) <= now) {
		struct held_packet packet = held_take(&relay->held);

		send_now(packet.fd, &packet.to, packet.payload, packet.length);
		free(packet.payload);
	}
}

/* Until the next packet is due, 5 ms at most. */
static struct timespec
pause_of(const struct relay *relay)
{
	uint64_t next = held_next(&relay->held), now = now_us();
	uint64_t us = next <= now ? 0 : next - now < 5000 ? next - now : 5000;

	return (struct timespec){.tv_nsec = (long)(us * 1000)};
}

/* As relay_close() would have it; a port that another socket has is tried again. */
static void
open_or_close(struct relay *relay)
{
	bool closes = atomic_load(&relay->closes);

	if (closes)
		close_ports(relay);
	else if (!open_ports(relay, relay->port))
		return;
	atomic_store(&relay->closed, closes);
}

static void *
run(void *argument)
{
	struct relay *relay = argument;
	struct pollfd fds[MAX_SHARDS + MAX_CLIENTS];

	while (!atomic_load(&relay->stop)) {
		struct timespec soon;
		unsigned int count = relay->client_count;

		if (atomic_load(&relay->closes) != atomic_load(&relay->closed))
			open_or_close(relay);
		soon = pause_of(relay);
		for (unsigned int s = 0; s < relay->shards; s++)
			fds[s] = (struct pollfd){.fd = relay->fds[s], .events = POLLIN};
		for (unsigned int i = 0; i < count; i++)
			fds[relay->shards + i] =
				(struct pollfd){.fd = relay->clients[i].fd, .events = POLLIN};
		ppoll(fds, relay->shards + count, &soon, NULL);
		for (unsigned int s = 0; s < relay->shards; s++) {
			if (fds[s].revents != 0)
				from_client(relay, s);
		}
		for (unsigned int i = 0; i < count && i < relay->client_count; i++) {
			if (fds[relay->shards + i].revents != 0)
				from_server(relay, &relay->clients[i]);
		}
		release(relay);
	}
	return NULL;
}

struct relay *
relay_start(const struct relay_options *options)
{
	struct relay *relay = calloc(1, sizeof(*relay));

	if (relay == NULL)
		return NULL;
	relay->options = *options;
	relay->random = options->seed;
	pthread_mutex_init(&relay->lock, NULL);
	if (options->shards == 0 || options->shards > MAX_SHARDS || !open_some_ports(relay)) {
		fprintf(stderr, "relay: cannot start: %s\n", strerror(errno));
		free(relay);
		return NULL;
	}
	if (pthread_create(&relay->thread, NULL, run, relay) != 0)
		abort();
	return relay;
}

uint16_t
relay_port(const struct relay *relay)
{
	return relay->port;
}

void
relay_close(struct relay *relay, bool closed)
{
	atomic_store(&relay->closes, closed);
	while (atomic_load(&relay->closed) != closed)
		usleep(1000);
}

unsigned int
relay_say_again(struct relay *relay)
{
	unsigned int count = 0;

	pthread_mutex_lock(&relay->lock);
	for (; relay->kept.count > 0; count++) {
		struct held_packet packet = held_take(&relay->kept);

		send_now(packet.fd, &packet.to, packet.payload, packet.length);
		free(packet.payload);
	}
	pthread_mutex_unlock(&relay->lock);
	return count;
}

void
relay_stop(struct relay *relay)
{
	atomic_store(&relay->stop, true);
	pthread_join(relay->thread, NULL);
	close_ports(relay);
	for (unsigned int i = 0; i < relay->client_count; i++)
		close(relay->clients[i].fd);
	held_free(&relay->held);
	held_free(&relay->kept);
	pthread_mutex_destroy(&relay->lock);
	free(relay);
}
