/* SPDX-License-Identifier: BSD-3-Clause */
#include "sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "fuzz.h"

#define FIRST_FD (1 << 20) /* no descriptor of the system's */
#define MAX_SOCKETS 256
#define NS_PER_S 1000000000u
#define TICK 1000u /* ns that looking at the clock takes, so that nothing goes on for ever */

struct datagram {
	struct datagram *next;
	size_t length;
	uint8_t payload[];
};

struct fake {
	bool open;
	int error;
	struct datagram *first, **last;
};

static _Thread_local bool active;
static struct fake fakes[MAX_SOCKETS];
static sockets_sent on_sent;
static uint64_t now;

void
sockets_begin(sockets_sent sent)
{
	on_sent = sent;
	now = NS_PER_S;
	active = true;
}

void
sockets_end(void)
{
	active = false;
	for (unsigned int i = 0; i < MAX_SOCKETS; i++)
		FUZZ_CHECK(!fakes[i].open);
}

/* One of ours, if the calling thread has any; NULL: the system's. */
static struct fake *
find(int fd)
{
	if (!active || fd < FIRST_FD)
		return NULL;
	FUZZ_CHECK(fd - FIRST_FD < MAX_SOCKETS && fakes[fd - FIRST_FD].open);
	return &fakes[fd - FIRST_FD];
}

void
sockets_deliver(int fd, const uint8_t *payload, size_t length)
{
	struct fake *fake = find(fd);
	struct datagram *datagram = malloc(sizeof(*datagram) + length);

	FUZZ_CHECK(datagram != NULL);
	datagram->next = NULL;
	datagram->length = length;
	memcpy(datagram->payload, payload, length);
	*fake->last = datagram;
	fake->last = &datagram->next;
}

void
sockets_fail(int fd, int error)
{
	find(fd)->error = error;
}

/* -1 and errno, if a call on it is to fail. */
static int
take_error(struct fake *fake)
{
	int error = fake->error;

	fake->error = 0;
	errno = error;
	return error == 0 ? 0 : -1;
}

/* The first datagram into memory, as much of it as fits; -1 and errno: there is none. */
static ssize_t
take(struct fake *fake, void *memory, size_t room)
{
	struct datagram *first = fake->first;
	size_t length;

	if (take_error(fake) != 0)
		return -1;
	if (first == NULL) {
		errno = EAGAIN;
		return -1;
	}
	length = first->length < room ? first->length : room;
	memcpy(memory, first->payload, length);
	fake->first = first->next;
	if (fake->first == NULL)
		fake->last = &fake->first;
	free(first);
	return (ssize_t)length;
}

/* ---- in the place of the system's ------------------------------------------------------------ */

#define SYSTEM_(type, name, ...)         \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

SYSTEM_(int, socket, int family, int type, int protocol)
{
	if (!active)
		return __real_socket(family, type, protocol);
	for (int i = 0; i < MAX_SOCKETS; i++) {
		if (fakes[i].open)
			continue;
		fakes[i] = (struct fake){.open = true, .last = &fakes[i].first};
		return FIRST_FD + i;
	}
	errno = EMFILE;
	return -1;
}

SYSTEM_(int, close, int fd)
{
	struct fake *fake = find(fd);
	uint8_t byte;

	if (fake == NULL)
		return __real_close(fd);
	fake->error = 0;
	while (take(fake, &byte, 1) >= 0)
		continue;
	fake->open = false;
	return 0;
}

SYSTEM_(int, setsockopt, int fd, int level, int name, const void *value, socklen_t length)
{
	return find(fd) == NULL ? __real_setsockopt(fd, level, name, value, length) : 0;
}

SYSTEM_(int, getsockopt, int fd, int level, int name, void *value, socklen_t *length)
{
	if (find(fd) == NULL)
		return __real_getsockopt(fd, level, name, value, length);
	errno = ENOPROTOOPT;
	return -1;
}

SYSTEM_(int, bind, int fd, const struct sockaddr *address, socklen_t length)
{
	return find(fd) == NULL ? __real_bind(fd, address, length) : 0;
}

SYSTEM_(int, connect, int fd, const struct sockaddr *address, socklen_t length)
{
	return find(fd) == NULL ? __real_connect(fd, address, length) : 0;
}

SYSTEM_(ssize_t, send, int fd, const void *payload, size_t length, int flags)
{
	struct fake *fake = find(fd);

	if (fake == NULL)
		return __real_send(fd, payload, length, flags);
	if (take_error(fake) != 0)
		return -1;
	on_sent(fd, payload, length);
	return (ssize_t)length;
}

/* Bytes of each segment of a message; 0: it is not cut. */
static size_t
segment_of(const struct msghdr *message)
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	uint16_t size;

	if (header == NULL || header->cmsg_level != IPPROTO_UDP || header->cmsg_type != UDP_SEGMENT)
		return 0;
	memcpy(&size, CMSG_DATA(header), sizeof(size));
	return size;
}

SYSTEM_(ssize_t, sendmsg, int fd, const struct msghdr *message, int flags)
{
	struct fake *fake = find(fd);
	const uint8_t *payload;
	size_t length, segment;

	if (fake == NULL)
		return __real_sendmsg(fd, message, flags);
	if (take_error(fake) != 0)
		return -1;
	FUZZ_CHECK(message->msg_iovlen == 1);
	payload = message->msg_iov[0].iov_base;
	length = message->msg_iov[0].iov_len;
	segment = segment_of(message);
	for (size_t at = 0; at < length; at += segment == 0 ? length : segment) {
		size_t left = length - at;

		on_sent(fd, payload + at, segment == 0 || left < segment ? left : segment);
	}
	return (ssize_t)length;
}

SYSTEM_(int, sendmmsg, int fd, struct mmsghdr *messages, unsigned int count, int flags)
{
	struct fake *fake = find(fd);

	if (fake == NULL)
		return __real_sendmmsg(fd, messages, count, flags);
	for (unsigned int i = 0; i < count; i++) {
		if (take_error(fake) != 0)
			return i == 0 ? -1 : (int)i;
		on_sent(fd, messages[i].msg_hdr.msg_iov[0].iov_base,
			messages[i].msg_hdr.msg_iov[0].iov_len);
	}
	return (int)count;
}

SYSTEM_(ssize_t, recv, int fd, void *memory, size_t room, int flags)
{
	struct fake *fake = find(fd);

	return fake == NULL ? __real_recv(fd, memory, room, flags) : take(fake, memory, room);
}

SYSTEM_(int, recvmmsg, int fd, struct mmsghdr *messages, unsigned int count, int flags,
	struct timespec *timeout)
{
	struct fake *fake = find(fd);

	if (fake == NULL)
		return __real_recvmmsg(fd, messages, count, flags, timeout);
	for (unsigned int i = 0; i < count; i++) {
		const struct iovec *part = messages[i].msg_hdr.msg_iov;
		ssize_t length = take(fake, part->iov_base, part->iov_len);

		if (length < 0)
			return i == 0 ? -1 : (int)i;
		messages[i].msg_len = (unsigned int)length;
	}
	return (int)count;
}

SYSTEM_(int, ppoll, struct pollfd *fds, nfds_t count, const struct timespec *timeout,
	const sigset_t *mask)
{
	int ready = 0;

	if (!active)
		return __real_ppoll(fds, count, timeout, mask);
	for (nfds_t i = 0; i < count; i++) {
		const struct fake *fake = find(fds[i].fd); /* NULL: what others wake us by */

		if (fake != NULL && (fake->first != NULL || fake->error != 0))
			ready++;
	}
	FUZZ_CHECK(timeout != NULL);
	if (ready == 0)
		now += (uint64_t)timeout->tv_sec * NS_PER_S + (uint64_t)timeout->tv_nsec;
	return ready;
}

SYSTEM_(int, clock_gettime, clockid_t clock, struct timespec *time)
{
	if (!active)
		return __real_clock_gettime(clock, time);
	now += TICK;
	*time = (struct timespec){
		.tv_sec = (time_t)(now / NS_PER_S), .tv_nsec = (long)(now % NS_PER_S)};
	return 0;
}

SYSTEM_(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes,
	void *(*body)(void *), void *argument)
{
	return active ? 0 : __real_pthread_create(thread, attributes, body, argument);
}

SYSTEM_(int, pthread_join, pthread_t thread, void **result)
{
	return active ? 0 : __real_pthread_join(thread, result);
}

SYSTEM_(int, pthread_setname_np, pthread_t thread, const char *name)
{
	return active ? 0 : __real_pthread_setname_np(thread, name);
}
