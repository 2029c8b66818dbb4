/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: one rank has no memory for something that libnetfc-mpi wants, or finds another rank's
 * where its node's should be. NETFC_TEST_SCARCE="WHAT RANK", WHAT: file, map, places, thread,
 * other.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "places.h"

void *__libc_calloc(size_t count, size_t bytes);

static char scarce[16];
static size_t ranks;

static const char *
either(const char *name, const char *other)
{
	const char *value = getenv(name);

	if (value == NULL)
		value = getenv(other);
	return value != NULL ? value : "0"; /* no rank */
}

__attribute__((constructor)) static void
begin(void)
{
	const char *wanted = getenv("NETFC_TEST_SCARCE");
	int rank;

	ranks = strtoul(either("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"), NULL, 10);
	if (wanted == NULL || sscanf(wanted, "%15s %d", scarce, &rank) != 2 || ranks == 0 ||
		rank != atoi(either("OMPI_COMM_WORLD_RANK", "PMI_RANK")))
		scarce[0] = '\0';
}

static int
is_scarce(const char *what)
{
	return strcmp(scarce, what) == 0;
}

static int
is_shared(int file)
{
	char path[64], name[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return readlink(path, name, sizeof(name) - 1) > 0 && strstr(name, "netfc-mpi") != NULL;
}

int
posix_fallocate(int file, off_t offset, off_t bytes)
{
	if (is_scarce("file") && is_shared(file))
		return ENOSPC;
	return fallocate(file, 0, offset, bytes) == 0 ? 0 : errno;
}

void *
mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
	__typeof__(&mmap) real = (__typeof__(&mmap))dlsym(RTLD_NEXT, "mmap64");

	if (is_scarce("map") && is_shared(file)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return real(address, bytes, protection, flags, file, offset);
}

/* The same memory of another job: its first words are the number of the job. */
static int
other_than(int file, size_t bytes)
{
	int other = memfd_create("other", 0);
	uint64_t token;

	if (other < 0 || ftruncate(other, (off_t)bytes) != 0 ||
		pread(file, &token, sizeof(token), 0) != sizeof(token))
		abort();
	token++;
	if (pwrite(other, &token, sizeof(token), 0) != sizeof(token))
		abort();
	close(file);
	return other;
}

int
open(const char *path, int flags, ...)
{
	__typeof__(&open) real = (__typeof__(&open))dlsym(RTLD_NEXT, "open64");
	struct stat state;
	va_list arguments;
	int file;

	va_start(arguments, flags);
	file = real(path, flags, va_arg(arguments, mode_t));
	va_end(arguments);
	if (file < 0 || !is_scarce("other") || !is_shared(file) || fstat(file, &state) != 0 ||
		state.st_size < (off_t)sizeof(uint64_t))
		return file;
	return other_than(file, (size_t)state.st_size);
}

void *
calloc(size_t count, size_t bytes)
{
	if (is_scarce("places") && count == 1 &&
		bytes == sizeof(struct places) + ranks * sizeof(unsigned int)) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_calloc(count, bytes);
}

int
pthread_create(
	pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	__typeof__(&pthread_create) real =
		(__typeof__(&pthread_create))dlsym(RTLD_NEXT, "pthread_create");
	Dl_info where;

	if (is_scarce("thread") && dladdr((void *)run, &where) != 0 &&
		strstr(where.dli_fname, "libnetfc-mpi") != NULL)
		return EAGAIN;
	return real(thread, attributes, run, argument);
}
