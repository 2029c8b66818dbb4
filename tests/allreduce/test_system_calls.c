/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls that take packets in part, late, or give none: they are wrapped.
 * Linked with --wrap=sendmmsg, --wrap=sendmsg, --wrap=recvmmsg and --wrap=posix_fallocate64.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <pthread.h>

#include "cases.h"
#include "clock.h"
#include "plays.h"

int __real_sendmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags);
ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
int __real_recvmmsg(
	int fd, struct mmsghdr *messages, unsigned int count, int flags, struct timespec *timeout);
int __wrap_recvmmsg(
	int fd, struct mmsghdr *messages, unsigned int count, int flags, struct timespec *timeout);

/* The server in the other thread has the system calls as they are. */
static _Thread_local struct {
	bool on;
	unsigned int calls, empty;
	uint8_t kept[65536];
	size_t kept_bytes;
	uint64_t blocked_until;
} plan;

/* The device's queue is full at times, and a packet of the first burst comes late. */
int
__wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags)
{
	if (!plan.on)
		return __real_sendmmsg(fd, messages, count, flags);
	if (count == 0 && ++plan.empty > 100000) {
		fprintf(stderr, "# sendmmsg() of no packets for the 100,000th time: it hangs\n");
		_exit(99);
	}
	if (count > 30 && plan.calls == 0) {
		const struct iovec *last = messages[count - 1].msg_hdr.msg_iov;

		plan.calls++;
		memcpy(plan.kept, last->iov_base, last->iov_len);
		plan.kept_bytes = last->iov_len;
		return __real_sendmmsg(fd, messages, count - 1, flags) == (int)count - 1
			? (int)count
			: -1;
	}
	if (count > 30 && plan.calls == 1) {
		plan.calls++;
		send(fd, plan.kept, plan.kept_bytes, 0); /* at last */
		plan.blocked_until = clock_now() + 100 * NS_PER_MS;
		return __real_sendmmsg(fd, messages, 20, flags);
	}
	if (clock_now() < plan.blocked_until && count > 0) {
		errno = EAGAIN;
		return -1;
	}
	return __real_sendmmsg(fd, messages, count, flags);
}

/* A device that does not cut datagrams, at whose other end nobody does either. */
static bool uncut;
static unsigned int uncut_datagrams;

/* One whose MTU is smaller by now, as kernels before 6.14 say of segments. */
static _Thread_local bool narrowed;

ssize_t
__wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct msghdr plain = *message;

	if (narrowed && plain.msg_controllen != 0) {
		errno = EINVAL;
		return -1;
	}
	if (uncut && plain.msg_controllen != 0) {
		plain.msg_control = NULL;
		plain.msg_controllen = 0;
		uncut_datagrams++;
	}
	return __real_sendmsg(fd, &plain, flags);
}

static _Thread_local bool forbidden;

/* Something comes all the time, if only what is nobody's. */
static _Thread_local bool flooded;
static atomic_bool calm;
static atomic_uint floods;

static int
receive_in_flood(
	int fd, struct mmsghdr *messages, unsigned int count, int flags, struct timespec *timeout)
{
	int received = __real_recvmmsg(fd, messages, count, flags, timeout);

	if (received > 0 || atomic_load(&calm))
		return received;
	atomic_fetch_add(&floods, 1);
	for (unsigned int i = 0; i < count; i++) {
		messages[i].msg_len = 4;
		messages[i].msg_hdr.msg_controllen = 0;
	}
	return (int)count;
}

int
__wrap_recvmmsg(
	int fd, struct mmsghdr *messages, unsigned int count, int flags, struct timespec *timeout)
{
	if (flooded)
		return receive_in_flood(fd, messages, count, flags, timeout);
	if (!forbidden)
		return __real_recvmmsg(fd, messages, count, flags, timeout);
	errno = EPERM; /* as seccomp or a security module has it */
	return -1;
}

static struct netfc_allreduce *
join(const struct server *server, unsigned int w, unsigned int n, unsigned int slots,
	unsigned int deadline_ms)
{
	const struct place place = place_at(server_port(server));
	struct netfc_allreduce_options options = worker_options(&place, w, n);
	struct netfc_allreduce *comm;

	options.slots = slots;
	options.deadline_ms = deadline_ms;
	options.bytes = 1448;
	comm = worker_join(&options);
	if (comm == NULL)
		abort();
	return comm;
}

/* Some are sent again when the result comes: they are not those of the next chunk. */
SERVER_TEST(parts_of_the_next_chunk_are_sent_from_the_first_on)
{
	enum {
		LANES = 181,
		COUNT = 4 * LANES
	};
	struct netfc_allreduce *comm = join(server, 0, 1, 1, 3000);
	struct netfc_allreduce_totals *totals =
		netfc_allreduce_totals_new(NETFC_ALLREDUCE_FP64, COUNT);
	static double values[COUNT], result[COUNT];

	for (unsigned int i = 0; i < LANES; i++)
		values[i] = ldexp(1, -1000);
	netfc_allreduce_totals_add(totals, values);
	for (unsigned int i = 0; i < LANES; i++)
		values[i] = ldexp(1, 1000);
	netfc_allreduce_totals_add(totals, values);
	plan.on = true;
	assert_int_equal(netfc_allreduce_digits(comm, totals, result, NETFC_ALLREDUCE_SUM),
		NETFC_ALLREDUCE_OK);
	plan.on = false;
	for (unsigned int i = 0; i < COUNT; i++)
		assert_true(result[i] == (i < LANES ? ldexp(1, 1000) : 0));
	netfc_allreduce_totals_free(totals);
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
}

/* By the deadline. */
SERVER_TEST(who_may_not_receive_gets_an_error)
{
	struct netfc_allreduce *comm = join(server, 0, 1, 16, 1000);
	int32_t value = 1;

	forbidden = true;
	alarm(10);
	assert_int_not_equal(
		netfc_allreduce(comm, &value, 1, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM),
		NETFC_ALLREDUCE_OK);
	alarm(0);
	forbidden = false;
	netfc_allreduce_free(comm);
}

/* Its results come all the time, as the thread sees it. */
static void *
reduce_in_flood(void *comm)
{
	int32_t value = 1;
	int status;

	flooded = true;
	status = netfc_allreduce(comm, &value, 1, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM);
	return (void *)(intptr_t)(status == NETFC_ALLREDUCE_OK && value == 3 ? 0 : 1);
}

static struct netfc_allreduce_handle *
start(struct netfc_allreduce *comm, int32_t *value)
{
	struct netfc_allreduce_handle *handle;

	assert_int_equal(netfc_allreduce_start(comm, value, 1, NETFC_ALLREDUCE_INT32,
				 NETFC_ALLREDUCE_SUM, true, &handle),
		NETFC_ALLREDUCE_OK);
	return handle;
}

static void
wait(struct netfc_allreduce_handle *handle, const int32_t *value)
{
	assert_int_equal(netfc_allreduce_wait(&handle, -1, NULL), NETFC_ALLREDUCE_OK);
	assert_int_equal(*value, 3);
}

struct joined {
	const struct server *server;
	struct netfc_allreduce *comm;
};

static void *
join_second(void *argument)
{
	struct joined *second = argument;

	second->comm = join(second->server, 1, 2, 16, 60000);
	return NULL;
}

/* A thread that drives an allreduce lets others in, and those whose own is done. */
SERVER_TEST(no_thread_is_kept_out_by_another_ones_packets)
{
	struct joined second = {.server = server};
	struct netfc_allreduce_handle *first, *last, *other;
	int32_t values[] = {1, 1}, others[] = {2, 2, 2};
	struct netfc_allreduce_stats stats;
	struct netfc_allreduce *comm;
	pthread_t thread;
	void *wrong;

	pthread_create(&thread, NULL, join_second, &second);
	comm = join(server, 0, 2, 16, 60000);
	pthread_join(thread, NULL);
	alarm(120); /* it hangs */
	first = start(comm, &values[0]);
	pthread_create(&thread, NULL, reduce_in_flood, comm);
	while (atomic_load(&floods) < 1000)
		usleep(1000);
	netfc_allreduce_stats(comm, &stats);
	assert_string_equal(netfc_allreduce_error(comm), "");
	last = start(comm, &values[1]);
	/* The other one gives its part of the first only. */
	other = start(second.comm, &others[0]);
	wait(first, &values[0]);
	wait(other, &others[0]);
	other = start(second.comm, &others[1]);
	wait(other, &others[1]);
	atomic_store(&calm, true);
	other = start(second.comm, &others[2]);
	wait(other, &others[2]);
	wait(last, &values[1]);
	pthread_join(thread, &wrong);
	assert_null(wrong);
	alarm(0);
	netfc_allreduce_leave(comm);
	netfc_allreduce_leave(second.comm);
	netfc_allreduce_free(comm);
	netfc_allreduce_free(second.comm);
}

static bool
joins_with_segments(const struct server *server, const char *key_file)
{
	const struct place place = place_at(server_port(server));
	struct netfc_allreduce_options options = worker_options(&place, 0, 1);
	struct netfc_allreduce *comm;
	struct netfc_allreduce_info info;
	int32_t value = 7;

	options.key_file = key_file;
	comm = worker_join(&options);
	assert_non_null(comm);
	netfc_allreduce_info(comm, &info);
	assert_int_equal(
		netfc_allreduce(comm, &value, 1, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM),
		NETFC_ALLREDUCE_OK);
	assert_int_equal(netfc_allreduce_leave(comm), NETFC_ALLREDUCE_OK);
	netfc_allreduce_free(comm);
	return info.gso;
}

/* Packets go by themselves then. */
SERVER_TEST(segments_that_are_too_long_by_now_do_not_end_a_job)
{
	struct netfc_allreduce *comm = join(server, 0, 1, 16, 60000);
	static int32_t values[10000];
	struct netfc_allreduce_info info;

	netfc_allreduce_info(comm, &info);
	assert_true(info.gso);
	narrowed = true;
	assert_int_equal(
		netfc_allreduce(comm, values, 10000, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_MAX),
		NETFC_ALLREDUCE_OK);
	narrowed = false;
	netfc_allreduce_info(comm, &info);
	assert_false(info.gso);
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
}

/* As over veth and AF_PACKET, unless the kernel is told to cut them. */
TEST(whose_segments_are_not_cut_joins_all_the_same)
{
	static const uint8_t key[] = "thirty-two bytes of a cluster...";
	char key_file[] = "/tmp/netfc-key-XXXXXX";
	int fd = mkstemp(key_file);

	assert_int_equal(write(fd, key, 32), 32);
	close(fd);
	for (int keyed = 0; keyed < 2; keyed++) {
		struct server *server =
			server_start(&(struct server_options){.key = keyed ? key : NULL});

		assert_true(joins_with_segments(server, keyed ? key_file : NULL));
		uncut = true;
		uncut_datagrams = 0;
		assert_false(joins_with_segments(server, keyed ? key_file : NULL));
		assert_true(uncut_datagrams > 0);
		uncut = false;
		server_stop(server);
	}
	unlink(key_file);
}

int __real_posix_fallocate64(int fd, off_t from, off_t bytes);
int __wrap_posix_fallocate64(int fd, off_t from, off_t bytes);

/* As with Linux before 5.16, where any signal ends it that is not blocked. */
int
__wrap_posix_fallocate64(int fd, off_t from, off_t bytes)
{
	static bool was_stopped;
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	if (sigismember(&blocked, SIGALRM) != 1)
		return EINTR;
	was_stopped = !was_stopped;
	return was_stopped ? EINTR : __real_posix_fallocate64(fd, from, bytes);
}

TEST(signals_do_not_keep_workers_from_sharing_memory)
{
	struct netfc_allreduce_options options;
	struct netfc_allreduce *comm;
	sigset_t blocked;
	char path[64];
	int file = memfd_create("job", MFD_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), file);
	netfc_allreduce_options_init(&options, sizeof(options));
	options.memory = path;
	options.token = 5;
	comm = worker_join(&options);
	assert_non_null(comm);
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	assert_int_equal(sigismember(&blocked, SIGALRM), 0);
	netfc_allreduce_free(comm);
	close(file);
}

#define TICK_US 10000
#define TOO_MANY_TICKS 3000

static void
tick(int signal)
{
	static volatile sig_atomic_t ticks;

	(void)signal;
	if (++ticks > TOO_MANY_TICKS)
		_exit(99); /* it hangs */
}

/* It has memory, but does not accept. crowded: nor has it room for another that waits for that. */
static void
wait_for_who_stands_still(bool crowded)
{
	static const char *const switches[] = {"127.0.0.1"};
	const struct itimerval often = {{0, TICK_US}, {0, TICK_US}}, never = {0};
	const struct sigaction ticking = {.sa_handler = tick};
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct netfc_allreduce_options options;
	char interface[64];
	const char *path = interface + sizeof("memif:@") - 1;
	const int standing = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	const int before = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	const socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1);

	snprintf(interface, sizeof(interface), "memif:@netfc-stands-%d", (int)getpid());
	memcpy(name.sun_path + 1, path, strlen(path));
	assert_int_equal(
		bind(standing, (struct sockaddr *)&name, bytes + (socklen_t)strlen(path)), 0);
	assert_int_equal(listen(standing, 0), 0);
	if (crowded)
		assert_int_equal(
			connect(before, (struct sockaddr *)&name, bytes + (socklen_t)strlen(path)),
			0);
	netfc_allreduce_options_init(&options, sizeof(options));
	options.switches = switches;
	options.switch_count = 1;
	options.interface = interface;
	options.bind_address = "127.0.0.2";
	sigaction(SIGALRM, &ticking, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	assert_int_equal(netfc_allreduce_join(comm, &options), NETFC_ALLREDUCE_SYSTEM);
	setitimer(ITIMER_REAL, &never, NULL);
	assert_non_null(strstr(netfc_allreduce_error(comm), strerror(ETIMEDOUT)));
	netfc_allreduce_free(comm);
	close(before);
	close(standing);
}

TEST(signals_do_not_put_off_the_end_of_waiting_for_a_switch_that_stands_still)
{
	wait_for_who_stands_still(false);
	wait_for_who_stands_still(true);
}
