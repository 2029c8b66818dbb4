/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "netfc_allreduce.h"

#define REFUSED_BYTES 1
#define SPIN_NS 5000
#define MOST_DEPTH 256
#define SHARE_MULTIPLE 64 /* values */
#define LOOK_NS (20 * NS_PER_MS)
#define CHECK_NS NS_PER_S
/* Who speaks for all knows more: let it speak first. */
#define GRACE_NS (2 * NS_PER_S)

enum failure {
	NO_FAILURE,
	FAILURE_IS_WRITTEN,
	FAILED
};

int
segment_file(void)
{
	return memfd_create("netfc-mpi", MFD_CLOEXEC);
}

void
segment_path(char path[SEGMENT_PATH_BYTES], int process, int file)
{
	snprintf(path, SEGMENT_PATH_BYTES, "/proc/%d/fd/%d", process, file);
}

static size_t
round_up(size_t bytes)
{
	return (bytes + SEGMENT_PIECE_BYTES - 1) / SEGMENT_PIECE_BYTES * SEGMENT_PIECE_BYTES;
}

/* Where notes and pieces begin, and where it ends. */
struct layout {
	size_t notes, pieces, end;
};

static struct layout
layout_of(const struct segment_shape *shape)
{
	const size_t ranks = (size_t)shape->ranks;
	const size_t notes = sizeof(struct segment_shared) + ranks * sizeof(struct segment_rank);
	const size_t pieces = round_up(notes + ranks * shape->depth * sizeof(struct segment_note));

	return (struct layout){
		notes, pieces, pieces + (ranks + 1) * shape->depth * SEGMENT_PIECE_BYTES};
}

unsigned int
segment_depth(int ranks, unsigned int most)
{
	unsigned int depth = MOST_DEPTH;

	while (depth > SEGMENT_LEAST_DEPTH && depth * ((unsigned int)ranks + 1) > most)
		depth /= 2;
	return depth;
}

static struct segment
segment_of(const struct segment_shape *shape, int file)
{
	return (struct segment){.ranks = shape->ranks,
		.rank = shape->rank,
		.depth = shape->depth,
		.bytes = layout_of(shape).end,
		.file = file};
}

static bool
map(struct segment *segment, const struct layout *layout)
{
	segment->shared =
		mmap(NULL, segment->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment->file, 0);
	if (segment->shared == MAP_FAILED) {
		segment->shared = NULL;
		return false;
	}
	segment->notes = (void *)((char *)segment->shared + layout->notes);
	segment->pieces = (char *)segment->shared + layout->pieces;
	return true;
}

/* The lock is the open file's: a process's would go when it closes any other file of this one. */
static bool
lock_place(const struct segment *segment)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = segment->rank, .l_len = 1};

	return fcntl(segment->file, F_OFD_SETLK, &lock) == 0;
}

static void
unmap(struct segment *segment)
{
	if (segment->shared != NULL)
		munmap(segment->shared, segment->bytes);
	segment->shared = NULL;
}

/* Now, since short sums take less time than to find a page that is used the first time. */
static void
find_pages(const struct segment *segment)
{
#ifdef MADV_POPULATE_WRITE
	madvise(segment->shared, segment->bytes, MADV_POPULATE_WRITE);
#else
	(void)segment;
#endif
}

/* In which processes have their numbers; 0: not known. */
static uint64_t
pid_namespace(void)
{
	struct stat state;

	return stat("/proc/self/ns/pid", &state) == 0 ? state.st_ino : 0;
}

static void
tell_attached(struct segment *segment)
{
	struct segment_rank *own = &segment->shared->rank[segment->rank];

	find_pages(segment);
	segment->attached = true;
	own->process = (int)getpid();
	own->processes = pid_namespace();
	atomic_store(&own->attached, true);
}

/* Signals are for later: a kernel that they interrupt begins anew each time. Returns an errno. */
static int
allocate(int file, size_t bytes)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	do
		error = posix_fallocate(file, 0, (off_t)bytes);
	while (error == EINTR); /* who is stopped and goes on cannot block that */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* The others use the file as soon as it has its size: nothing can fail after that. */
bool
segment_make(struct segment *segment, int file, const struct segment_shape *shape, uint64_t token)
{
	const struct layout layout = layout_of(shape);

	*segment = segment_of(shape, file);
	/* Allocate now: a lack of memory is an error here instead of a SIGBUS later. */
	if (!map(segment, &layout) || !lock_place(segment) ||
		(errno = allocate(file, segment->bytes)) != 0) {
		unmap(segment);
		return false;
	}
	tell_attached(segment);
	snprintf(segment->shared->version, SEGMENT_VERSION_BYTES, "%s", netfc_allreduce_version());
	segment->shared->ranks = segment->ranks;
	atomic_store(&segment->shared->token, token);
	return true;
}

void
segment_refuse(struct segment *segment)
{
	if (ftruncate(segment->file, REFUSED_BYTES) != 0)
		segment_close(segment); /* they cannot open it then */
}

/* It has its full size at once. */
static enum segment_status
look(int file, size_t *bytes)
{
	struct stat state;

	if (file < 0 || fstat(file, &state) != 0)
		return SEGMENT_NONE;
	if (state.st_size == 0)
		return SEGMENT_NOT_YET;
	*bytes = (size_t)state.st_size;
	return *bytes >= sizeof(struct segment_shared) ? SEGMENT_OK : SEGMENT_NONE;
}

/*
 * A process of the same number may have another file of this kind: not on this node, maybe. One of
 * another version may have another size.
 */
static enum segment_status
look_inside(const struct segment *segment, size_t bytes, uint64_t token)
{
	const struct segment_shared *shared = segment->shared;
	const uint64_t found = atomic_load(&shared->token);

	if (found == 0 && bytes == segment->bytes)
		return SEGMENT_NOT_YET;
	if (found != token)
		return SEGMENT_NONE;
	if (strncmp(shared->version, netfc_allreduce_version(), SEGMENT_VERSION_BYTES) != 0)
		return SEGMENT_OTHER;
	return bytes == segment->bytes && shared->ranks == segment->ranks ? SEGMENT_OK
									  : SEGMENT_NONE;
}

/* Another process may have it, or have had it: one that begins anew would give pieces from 0. */
static enum segment_status
take_place(const struct segment *segment)
{
	if (!lock_place(segment))
		return errno == EAGAIN || errno == EACCES ? SEGMENT_TAKEN : SEGMENT_NONE;
	return atomic_load(&segment->shared->rank[segment->rank].attached) ? SEGMENT_TAKEN
									   : SEGMENT_OK;
}

enum segment_status
segment_attach(struct segment *segment, const char *path, const struct segment_shape *shape,
	uint64_t token)
{
	const struct layout layout = layout_of(shape);
	enum segment_status status;
	size_t bytes;
	int error;

	errno = 0;
	*segment = segment_of(shape, open(path, O_RDWR | O_CLOEXEC));
	status = look(segment->file, &bytes);
	if (status == SEGMENT_OK)
		status = map(segment, &layout) ? look_inside(segment, bytes, token) : SEGMENT_NONE;
	if (status == SEGMENT_OK)
		status = take_place(segment);
	error = errno;
	if (status == SEGMENT_OK)
		tell_attached(segment);
	else
		segment_close(segment);
	errno = error;
	return status;
}

/* One that is not attached may have mapped another job's; in a fork, the place is its parent's. */
static bool
has_place(const struct segment *segment)
{
	return segment->shared != NULL && segment->attached &&
		segment->shared->rank[segment->rank].process == (int)getpid();
}

void
segment_close(struct segment *segment)
{
	if (has_place(segment))
		atomic_store(&segment->shared->rank[segment->rank].closed, true);
	unmap(segment);
	if (segment->file >= 0)
		close(segment->file);
	*segment = (struct segment){.file = -1};
}

void *
segment_piece(const struct segment *segment, int rank, uint64_t piece)
{
	return segment->pieces + (size_t)rank * segment_stride(segment) +
		piece % segment->depth * SEGMENT_PIECE_BYTES;
}

struct segment_note *
segment_note(const struct segment *segment, int rank, uint64_t piece)
{
	return &segment->notes[(size_t)rank * segment->depth + piece % segment->depth];
}

size_t
segment_stride(const struct segment *segment)
{
	return (size_t)segment->depth * SEGMENT_PIECE_BYTES;
}

void
segment_fail(struct segment *segment, int status, int rank, const char *why)
{
	struct segment_shared *shared = segment->shared;
	int none = NO_FAILURE;

	if (!atomic_compare_exchange_strong(&shared->failed, &none, FAILURE_IS_WRITTEN))
		return;
	shared->failure.status = status;
	shared->failure.rank = rank;
	snprintf(shared->failure.why, sizeof(shared->failure.why), "%s", why);
	atomic_store(&shared->failed, FAILED);
	segment_ring(&shared->given);
	segment_ring(&shared->done);
}

const struct segment_failure *
segment_failure(const struct segment *segment)
{
	return atomic_load(&segment->shared->failed) == FAILED ? &segment->shared->failure : NULL;
}

void
segment_ring(struct segment_bell *bell)
{
	atomic_fetch_add(&bell->events, 1);
	if (atomic_load(&bell->sleepers) != 0)
		syscall(SYS_futex, &bell->events, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/*
 * Short sums take less time than to fall asleep and to be woken. Not by sched_yield(): where others
 * have work, who yields waits for the end of their turn, and who is woken does not.
 */
static bool
comes_at_once(struct segment_bell *bell, unsigned int events)
{
	const uint64_t begun = clock_now();

	while (segment_events(bell) == events) {
		if (clock_now() - begun > SPIN_NS)
			return false;
	}
	return true;
}

void
segment_sleep(struct segment_bell *bell, unsigned int events, int milliseconds)
{
	const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * (long)NS_PER_MS};

	if (comes_at_once(bell, events))
		return;
	atomic_fetch_add(&bell->sleepers, 1);
	syscall(SYS_futex, &bell->events, FUTEX_WAIT, events, &time, NULL, 0);
	atomic_fetch_sub(&bell->sleepers, 1);
}

/* ---- pieces ---- */

uint64_t
segment_reduced(const struct segment *segment)
{
	const struct segment_rank *rank = segment->shared->rank;
	uint64_t least = UINT64_MAX;

	for (int r = 0; r < segment->ranks; r++) {
		const uint64_t its = atomic_load_explicit(&rank[r].reduced, memory_order_acquire);

		least = its < least ? its : least;
	}
	return least;
}

uint64_t
segment_taken(const struct segment *segment)
{
	const struct segment_rank *rank = segment->shared->rank;
	uint64_t least = UINT64_MAX;

	for (int r = 0; r < segment->ranks; r++) {
		const uint64_t its = atomic_load_explicit(&rank[r].taken, memory_order_acquire);

		least = its < least ? its : least;
	}
	return least;
}

bool
segment_is_given(const struct segment *segment, uint64_t piece)
{
	const struct segment_rank *rank = segment->shared->rank;

	for (int r = 0; r < segment->ranks; r++) {
		if (atomic_load_explicit(&rank[r].given, memory_order_acquire) <= piece ||
			atomic_load_explicit(&rank[r].taken, memory_order_acquire) +
					segment->depth <=
				piece)
			return false;
	}
	return true;
}

int
segment_first_mismatch(const struct segment *segment, uint64_t piece)
{
	const struct segment_call *first = &segment_note(segment, 0, piece)->call;

	for (int r = 1; r < segment->ranks; r++) {
		if (memcmp(&segment_note(segment, r, piece)->call, first, sizeof(*first)) != 0)
			return r;
	}
	return 0;
}

size_t
segment_share(const struct segment *segment, int rank, size_t values)
{
	const size_t ranks = (size_t)segment->ranks;

	if (rank == segment->ranks)
		return values;
	return values * (size_t)rank / ranks / SHARE_MULTIPLE * SHARE_MULTIPLE;
}

/* ---- who keeps the others waiting ---- */

struct look {
	const struct segment *segment;
	const struct segment_watch *watch;
	uint64_t taken;
};

static bool
is_late(const struct look *look, int rank)
{
	return atomic_load(&look->segment->shared->rank[rank].given) <= look->taken;
}

static bool
has_yet_to_reduce(const struct look *look, int rank)
{
	if (rank == look->segment->rank)
		return false;
	return look->watch->first_reduces
		? rank == 0
		: atomic_load(&look->segment->shared->rank[rank].reduced) <= look->taken;
}

/* Nobody who has taken so much more can give, before it takes. */
static bool
has_yet_to_take(const struct look *look, int rank)
{
	return !look->watch->first_reduces &&
		atomic_load(&look->segment->shared->rank[rank].taken) + look->segment->depth <=
		look->taken;
}

/* Of another namespace's, only the lock says so. */
static bool
is_process_gone(const struct segment_rank *its)
{
	return its->processes != 0 && its->processes == pid_namespace() &&
		kill(its->process, 0) != 0 && errno == ESRCH;
}

/* A process that was forked from it may keep the lock. */
static bool
has_ended(const struct segment *segment, int rank)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = rank, .l_len = 1};
	const struct segment_rank *its = &segment->shared->rank[rank];

	if (rank == segment->rank || !atomic_load(&its->attached))
		return false;
	return atomic_load(&its->closed) ||
		(fcntl(segment->file, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK) ||
		is_process_gone(its);
}

/* Whoever has given has yet to take. */
static bool
has_ended_early(const struct look *look, int rank)
{
	const struct segment_rank *its = &look->segment->shared->rank[rank];

	return has_ended(look->segment, rank) &&
		(is_late(look, rank) || has_yet_to_reduce(look, rank) ||
			atomic_load(&its->taken) < atomic_load(&its->given));
}

static bool
is_process_stopped(int process)
{
	char text[512], *state;
	FILE *file;

	snprintf(text, sizeof(text), "/proc/%d/stat", process);
	file = fopen(text, "re");
	if (file == NULL)
		return false;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	state = strrchr(text, ')'); /* the name may have some, too */
	return state != NULL && (strncmp(state, ") T", 3) == 0 || strncmp(state, ") t", 3) == 0);
}

static bool
is_stopped(const struct look *look, int rank)
{
	const struct segment_rank *its = &look->segment->shared->rank[rank];

	return rank != look->segment->rank && atomic_load(&its->attached) &&
		(is_late(look, rank) || has_yet_to_reduce(look, rank)) &&
		is_process_stopped(its->process);
}

/* The first of whom that is so; -1: of nobody. */
static int
find_rank(const struct look *look, bool (*is_so)(const struct look *look, int rank))
{
	for (int r = 0; r < look->segment->ranks; r++) {
		if (is_so(look, r))
			return r;
	}
	return -1;
}

/* Whoever has been stopped for long, as a switch finds out of its workers; -1: nobody. */
static int
stopped_for_long(const struct look *look, struct segment_watch *watch, uint64_t now)
{
	int found;

	if (watch->stopped < watch->moved)
		watch->stopped = 0;
	if (watch->patience == 0 || now - watch->moved < watch->patience ||
		now - watch->checked < CHECK_NS)
		return -1;
	watch->checked = now;
	found = find_rank(look, is_stopped);
	if (found < 0)
		watch->stopped = 0;
	else if (watch->stopped == 0)
		watch->stopped = now;
	return found >= 0 && now - watch->stopped >= watch->patience ? found : -1;
}

static uint64_t
done(const struct segment *segment, const struct segment_watch *watch)
{
	return watch->first_reduces ? atomic_load(&segment->shared->pieces_done)
				    : segment_reduced(segment);
}

enum segment_trouble
segment_look(const struct segment *segment, struct segment_watch *watch, uint64_t taken,
	uint64_t since, int *culprit)
{
	const struct look look = {segment, watch, taken};
	const uint64_t now = clock_now();
	const uint64_t waited = clock_until(since, now);
	int keeps_all;

	if (now - watch->looked <= LOOK_NS)
		return SEGMENT_FINE;
	watch->looked = now;
	*culprit = find_rank(&look, has_ended_early);
	/* It may have ended after doing its part. */
	if (*culprit >= 0 && done(segment, watch) <= taken)
		return SEGMENT_ENDED;
	*culprit = stopped_for_long(&look, watch, now);
	if (*culprit >= 0)
		return SEGMENT_STOPPED;
	keeps_all = find_rank(&look, has_yet_to_take);
	if (waited > watch->deadline && keeps_all < 0 &&
		(*culprit = find_rank(&look, is_late)) >= 0)
		return SEGMENT_LATE;
	*culprit = keeps_all >= 0 ? keeps_all : find_rank(&look, has_yet_to_reduce);
	if (waited > watch->deadline + GRACE_NS && *culprit >= 0)
		return SEGMENT_SLOW;
	return SEGMENT_FINE;
}
