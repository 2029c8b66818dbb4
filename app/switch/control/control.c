/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "control/control.h"
#include "ctrl_thread.h"

#define MAX_CLIENTS 8

/* How long to wait for other processes that create a socket in the same folder. */
#define LOCK_TRIES 100
#define LOCK_PAUSE_US 10000

/* After so long without a whole command, a client makes room for another one. */
#define STALL_S 5

/* How long to wait if there is no descriptor for a client. */
#define ACCEPT_PAUSE_MS 100

#define NEVER INT64_MAX

/* What is polled: the end, new clients, clients. */
enum watched {
	WATCHED_END,
	WATCHED_LISTENER,
	WATCHED_CLIENTS,
	WATCHED_ALL = WATCHED_CLIENTS + MAX_CLIENTS,
};

struct client {
	int64_t stalls; /* monotonic time in seconds; NEVER: it has given a command */
	size_t length;  /* of the part of a line that has arrived */
	char line[CONTROL_LINE_BYTES + 1];
};

struct control {
	struct app *app;
	char *path;
	bool bound; /* the socket exists, and is removed at the end */
	bool started;
	struct ctrl_work work;
	ctrl_thread thread;
	struct pollfd watched[WATCHED_ALL]; /* fd -1: none */
	struct client client[MAX_CLIENTS];
};

static int
fail(const char *path, const char *what)
{
	return REPORT("--control '%s': cannot %s: %s\n", path, what, strerror(errno));
}

/* ---- clients --------------------------------------------------------------------------------- */

static void
drop_client(struct control *control, unsigned int c)
{
	struct pollfd *watched = &control->watched[WATCHED_CLIENTS + c];

	close(watched->fd);
	watched->fd = -1;
	control->client[c].length = 0;
}

/* A client whose buffer is full does not read. It is dropped, so that the others need not wait. */
static bool
send_answer(int fd, const char *text)
{
	size_t length = strlen(text);

	return send(fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)length &&
		send(fd, "\n", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

static bool
handle_line(struct control *control, int fd, const char *line, size_t length)
{
	char *text = control_answer(control->app, line, length);
	bool sent = text != NULL && send_answer(fd, text);

	free(text);
	return sent;
}

/* Handle all whole lines; false where the client is to be dropped. */
static bool
handle_lines(struct control *control, int fd, struct client *client)
{
	char *line = client->line, *end;
	size_t left = client->length;

	while ((end = memchr(line, '\n', left)) != NULL) {
		if (!handle_line(control, fd, line, (size_t)(end - line)))
			return false;
		client->stalls = NEVER;
		left -= (size_t)(end + 1 - line);
		line = end + 1;
	}
	memmove(client->line, line, left);
	client->length = left;
	if (left < sizeof(client->line))
		return true;
	send_answer(fd, "{\"ok\":false,\"error\":\"the line is too long\"}");
	return false;
}

static void
read_client(struct control *control, unsigned int c)
{
	struct client *client = &control->client[c];
	int fd = control->watched[WATCHED_CLIENTS + c].fd;
	ssize_t bytes = recv(fd, client->line + client->length,
		sizeof(client->line) - client->length, MSG_DONTWAIT);

	if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (bytes > 0)
		client->length += (size_t)bytes;
	if (bytes <= 0 || !handle_lines(control, fd, client))
		drop_client(control, c);
}

/* The client waits, and poll() would return at once while it does. */
static bool
is_short_of_descriptors(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static int64_t
now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* A free place, if need be that of the client that has stalled for longest; MAX_CLIENTS: none. */
static unsigned int
find_place(struct control *control)
{
	unsigned int oldest = 0;

	for (unsigned int c = 0; c < MAX_CLIENTS; c++) {
		if (control->watched[WATCHED_CLIENTS + c].fd < 0)
			return c;
		if (control->client[c].stalls < control->client[oldest].stalls)
			oldest = c;
	}
	if (control->client[oldest].stalls > now_s())
		return MAX_CLIENTS;
	drop_client(control, oldest);
	return oldest;
}

/* False: not possible now; the client still waits. */
static bool
accept_client(struct control *control)
{
	int fd = accept4(control->watched[WATCHED_LISTENER].fd, NULL, NULL, SOCK_CLOEXEC);
	unsigned int place;

	if (fd < 0)
		return !is_short_of_descriptors(errno);
	place = find_place(control);
	if (place < MAX_CLIENTS) {
		control->watched[WATCHED_CLIENTS + place].fd = fd;
		control->client[place].stalls = now_s() + STALL_S;
		return true;
	}
	send_answer(fd, "{\"ok\":false,\"error\":\"too many clients\"}");
	close(fd);
	return true;
}

static void
serve(void *arg)
{
	struct control *control = arg;
	struct pollfd *watched = control->watched;
	bool accepting = true;

	for (;;) {
		watched[WATCHED_LISTENER].events = accepting ? POLLIN : 0;
		if (poll(watched, WATCHED_ALL, accepting ? -1 : ACCEPT_PAUSE_MS) < 0 &&
			errno != EINTR)
			return;
		if (watched[WATCHED_END].revents != 0)
			return;
		for (unsigned int c = 0; c < MAX_CLIENTS; c++) {
			if (watched[WATCHED_CLIENTS + c].fd >= 0 &&
				watched[WATCHED_CLIENTS + c].revents != 0)
				read_client(control, c);
		}
		accepting = watched[WATCHED_LISTENER].revents == 0 || accept_client(control);
	}
}

/* ---- the socket ------------------------------------------------------------------------------ */

/* Whether nobody listens on the socket, for example after a switch was killed. */
static bool
is_abandoned(const struct sockaddr_un *address)
{
	struct stat status;
	bool abandoned;
	int fd;

	if (lstat(address->sun_path, &status) != 0 || !S_ISSOCK(status.st_mode))
		return false;
	/* A switch that does not take its clients, as it is stopped for example, is there, too. */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	abandoned = connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
		errno == ECONNREFUSED;
	close(fd);
	return abandoned;
}

/* Bind with access for the owner only, from the first moment on. */
static int
bind_socket(int fd, const struct sockaddr_un *address)
{
	mode_t before = umask(0177);
	int result = bind(fd, (const struct sockaddr *)address, sizeof(*address));

	umask(before);
	return result;
}

/*
 * Let only one process at a time find out whether a socket is in use and bind one of its own:
 * between bind() and listen(), a new socket looks like one that was left behind. Returns a
 * descriptor, or -1; closing it releases the lock.
 */
static int
lock_folder(const char *path)
{
	char *copy = strdup(path);
	int fd = copy != NULL ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	free(copy);
	for (unsigned int tries = 0; fd >= 0 && tries < LOCK_TRIES; tries++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fd;
		usleep(LOCK_PAUSE_US);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Bind and listen; the folder is locked. */
static int
bind_and_listen(struct control *control, const struct sockaddr_un *address)
{
	int fd = control->watched[WATCHED_LISTENER].fd;

	if (is_abandoned(address))
		unlink(control->path);
	if (bind_socket(fd, address) != 0)
		return fail(control->path, "bind");
	control->bound = true;
	return listen(fd, MAX_CLIENTS) == 0 ? 0 : fail(control->path, "listen");
}

static int
listen_at(struct control *control)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), lock, result;

	if (fd < 0)
		return fail(control->path, "make a socket");
	control->watched[WATCHED_LISTENER].fd = fd;
	if (strlen(control->path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return fail(control->path, "bind");
	}
	memcpy(address.sun_path, control->path, strlen(control->path) + 1);
	lock = lock_folder(control->path);
	if (lock < 0)
		return fail(control->path, "lock its folder");
	result = bind_and_listen(control, &address);
	close(lock);
	return result;
}

int
control_open(struct app *app, const char *path, struct control **result)
{
	struct control *control = calloc(1, sizeof(*control));

	if (control == NULL)
		return fail(path, "open");
	control->app = app;
	for (unsigned int w = 0; w < WATCHED_ALL; w++)
		control->watched[w] = (struct pollfd){.fd = -1, .events = POLLIN};
	control->path = strdup(path);
	control->watched[WATCHED_END].fd = eventfd(0, EFD_CLOEXEC);
	if (control->path == NULL || control->watched[WATCHED_END].fd < 0) {
		fail(path, "open");
		control_close(control);
		return -1;
	}
	if (listen_at(control) != 0) {
		control_close(control);
		return -1;
	}
	*result = control;
	return 0;
}

int
control_start(struct control *control)
{
	control->work = (struct ctrl_work){serve, control};
	if (ctrl_thread_start(&control->thread, "netfc-control", &control->work) != 0)
		return -1;
	control->started = true;
	return 0;
}

void
control_close(struct control *control)
{
	if (control == NULL)
		return;
	if (control->started) {
		eventfd_write(control->watched[WATCHED_END].fd, 1);
		ctrl_thread_join(control->thread);
	}
	/* While the socket still listens, no other switch takes the path: what is removed is ours.
	 */
	if (control->bound)
		unlink(control->path);
	for (unsigned int w = 0; w < WATCHED_ALL; w++) {
		if (control->watched[w].fd >= 0)
			close(control->watched[w].fd);
	}
	free(control->path);
	free(control);
}
