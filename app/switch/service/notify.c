/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol is one datagram for each message. libsystemd has it, too, and would bring five more
 * libraries into the process.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "option.h"
#include "service/service.h"

/* How long to wait for a manager that takes nothing: it must not hold up the end. */
#define SEND_S 5

bool
notify_wanted(void)
{
	const char *path = getenv("NOTIFY_SOCKET");

	return path != NULL && path[0] != '\0';
}

/* The number that an environment variable has; 0: none. */
static uint64_t
number_of(const char *name)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 10) : 0;
}

uint64_t
notify_watchdog_us(void)
{
	uint64_t pid = number_of("WATCHDOG_PID");

	return notify_wanted() && (pid == 0 || pid == (uint64_t)getpid())
		? number_of("WATCHDOG_USEC")
		: 0;
}

static int
fail(const char *path)
{
	return REPORT("$NOTIFY_SOCKET %s: %s; the service manager cannot be told\n", path,
		strerror(errno == EAGAIN ? ETIMEDOUT : errno));
}

/* A path, or a name in the kernel alone, which begins with '@'. */
static int
connect_to(int fd, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(path);

	if (length >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path, path, length);
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	return connect(fd, (const struct sockaddr *)&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
}

int
notify(const char *lines)
{
	const struct timeval most = {.tv_sec = SEND_S};
	const char *path = getenv("NOTIFY_SOCKET");
	int fd, result = 0;

	if (!notify_wanted())
		return 0;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(path);
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most)) != 0 ||
		connect_to(fd, path) != 0 || send(fd, lines, strlen(lines), MSG_NOSIGNAL) < 0)
		result = fail(path);
	close(fd);
	return result;
}
