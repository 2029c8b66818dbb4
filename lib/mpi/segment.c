/* SPDX-License-Identifier: BSD-3-Clause */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

#define REFUSED_BYTES 1
#define SPIN_NS 5000

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

static size_t
header_bytes(int ranks)
{
	size_t bytes = sizeof(struct segment_shared) + (size_t)ranks * sizeof(struct segment_rank);

	return (bytes + SEGMENT_PIECE_BYTES - 1) / SEGMENT_PIECE_BYTES * SEGMENT_PIECE_BYTES;
}

static size_t
all_bytes(int ranks)
{
	return header_bytes(ranks) + (size_t)(ranks + 1) * SEGMENT_DEPTH * SEGMENT_PIECE_BYTES;
}

static bool
map(struct segment *segment)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = segment->rank, .l_len = 1};

	segment->bytes = all_bytes(segment->ranks);
	segment->shared =
		mmap(NULL, segment->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment->file, 0);
	if (segment->shared == MAP_FAILED) {
		segment->shared = NULL;
		return false;
	}
	segment->pieces = (char *)segment->shared + header_bytes(segment->ranks);
	return fcntl(segment->file, F_SETLK, &lock) == 0;
}

static void
unmap(struct segment *segment)
{
	if (segment->shared != NULL)
		munmap(segment->shared, segment->bytes);
	segment->shared = NULL;
}

static void
tell_attached(struct segment *segment)
{
	atomic_store(&segment->shared->rank[segment->rank].attached, true);
}

/* The others use the file as soon as it has its size: nothing can fail after that. */
bool
segment_make(struct segment *segment, int file, int ranks, uint64_t token)
{
	*segment = (struct segment){.ranks = ranks, .rank = 0, .file = file};
	/* Allocate now: a lack of memory is an error here instead of a SIGBUS later. */
	if (!map(segment) || (errno = posix_fallocate(file, 0, (off_t)segment->bytes)) != 0) {
		unmap(segment);
		return false;
	}
	tell_attached(segment);
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
look(int file, size_t bytes)
{
	struct stat state;

	if (file < 0 || fstat(file, &state) != 0)
		return SEGMENT_NONE;
	if (state.st_size == 0)
		return SEGMENT_NOT_YET;
	return (size_t)state.st_size == bytes ? SEGMENT_OK : SEGMENT_NONE;
}

/* A process of the same number may have another file of this kind: not on this node, maybe. */
static enum segment_status
look_at_token(const struct segment *segment, uint64_t token)
{
	const uint64_t found = atomic_load(&segment->shared->token);

	if (found == 0)
		return SEGMENT_NOT_YET;
	return found == token ? SEGMENT_OK : SEGMENT_NONE;
}

enum segment_status
segment_attach(struct segment *segment, const struct segment_place *place, int ranks, int rank)
{
	char path[64];
	enum segment_status status;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", place->process, place->file);
	*segment = (struct segment){
		.ranks = ranks, .rank = rank, .file = open(path, O_RDWR | O_CLOEXEC)};
	status = look(segment->file, all_bytes(ranks));
	if (status == SEGMENT_OK)
		status = map(segment) ? look_at_token(segment, place->token) : SEGMENT_NONE;
	if (status == SEGMENT_OK)
		tell_attached(segment);
	else
		segment_close(segment);
	return status;
}

void
segment_close(struct segment *segment)
{
	unmap(segment);
	if (segment->file >= 0)
		close(segment->file);
	*segment = (struct segment){.file = -1};
}

void *
segment_piece(const struct segment *segment, int rank, uint64_t piece)
{
	return segment->pieces +
		((size_t)rank * SEGMENT_DEPTH + piece % SEGMENT_DEPTH) * SEGMENT_PIECE_BYTES;
}

bool
segment_has_ended(const struct segment *segment, int rank)
{
	struct flock its = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = rank, .l_len = 1};

	return rank != segment->rank && atomic_load(&segment->shared->rank[rank].attached) &&
		fcntl(segment->file, F_GETLK, &its) == 0 && its.l_type == F_UNLCK;
}

bool
segment_is_stopped(int process)
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

void
segment_fail(struct segment *segment, const char *why)
{
	struct segment_shared *shared = segment->shared;
	int none = NO_FAILURE;

	if (!atomic_compare_exchange_strong(&shared->failure, &none, FAILURE_IS_WRITTEN))
		return;
	snprintf(shared->why, sizeof(shared->why), "%s", why);
	atomic_store(&shared->failure, FAILED);
	segment_ring(&shared->given);
	segment_ring(&shared->done);
}

const char *
segment_failure(const struct segment *segment)
{
	return atomic_load(&segment->shared->failure) == FAILED ? segment->shared->why : NULL;
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
	const uint64_t begun = clock_ns();

	while (segment_events(bell) == events) {
		if (clock_ns() - begun > SPIN_NS)
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
