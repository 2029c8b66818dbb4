/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_pcapng.h>
#include <rte_version.h>

#include "capture/capture.h"

#define APPLICATION "dpdk-netfc " NETFC_VERSION

struct capture_file {
	rte_pcapng_t *pcapng; /* which owns fd */
	int fd;
	uint64_t size;
	uint64_t tsc, ns; /* the same moment, by the TSC and since 1970 */
};

static uint64_t
wall_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static int
add_interfaces(rte_pcapng_t *pcapng)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
	uint16_t port;

	RTE_ETH_FOREACH_DEV (port) {
#if RTE_VERSION >= RTE_VERSION_NUM(25, 11, 0, 0)
		if (rte_pcapng_add_interface(pcapng, port, 1, NULL, NULL, NULL) < 0)
#else
		if (rte_pcapng_add_interface(pcapng, port, NULL, NULL, NULL) < 0)
#endif
			return -1;
	}
#else
	(void)pcapng; /* rte_pcapng_fdopen() has done so */
#endif
	return 0;
}

/* The library does not report partial writes, such as on a full disk. */
static uint64_t
bytes_in(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static int
write_head(struct capture_file *file)
{
	errno = 0;
	file->pcapng = rte_pcapng_fdopen(file->fd, NULL, NULL, APPLICATION, NULL);
	if (file->pcapng == NULL || add_interfaces(file->pcapng) != 0)
		return errno != 0 ? errno : EIO;
	file->size = bytes_in(file->fd);
	file->tsc = rte_rdtsc();
	file->ns = wall_clock_ns();
	return 0;
}

static void
report_error(FILE *errors, const char *path, const char *what, int error)
{
	fprintf(errors, "cannot %s '%s': %s%s", what, path, strerror(error),
		error == EEXIST ? "; a capture never replaces anything" : "");
}

struct capture_file *
capture_file_open(const char *path, FILE *errors)
{
	struct capture_file *file = calloc(1, sizeof(*file));
	int error;

	if (file == NULL) {
		report_error(errors, path, "open", ENOMEM);
		return NULL;
	}
	file->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file->fd < 0) {
		report_error(errors, path, "make", errno);
		free(file);
		return NULL;
	}
	error = write_head(file);
	if (error == 0)
		return file;
	report_error(errors, path, "write", error);
	unlink(path);
	capture_file_close(file);
	return NULL;
}

uint64_t
capture_file_size(const struct capture_file *file)
{
	return file->size;
}

uint32_t
capture_file_bytes(const struct rte_mbuf *copy)
{
	return rte_pktmbuf_pkt_len(copy);
}

/* The time of an enhanced packet block (pcapng, section 4.3), which the library leaves to notes. */
static void
set_time(const struct capture_file *file, struct rte_mbuf *copy)
{
#if RTE_VERSION < RTE_VERSION_NUM(23, 11, 0, 0)
	uint64_t hz = rte_get_tsc_hz(), cycles = capture_note(copy)->tsc - file->tsc;
	uint64_t ns = file->ns + cycles / hz * NS_PER_S + cycles % hz * NS_PER_S / hz;
	uint32_t *block = rte_pktmbuf_mtod(copy, uint32_t *);

	block[3] = (uint32_t)(ns >> 32);
	block[4] = (uint32_t)ns;
#else
	(void)file;
	(void)copy;
#endif
}

/* After a failure: how many copies are in the file; what is there of the next one is cut off. */
static uint16_t
keep_whole(struct capture_file *file, struct rte_mbuf **copies, uint16_t count)
{
	uint64_t reached = bytes_in(file->fd);
	uint16_t whole = 0;

	while (whole < count && file->size + capture_file_bytes(copies[whole]) <= reached)
		file->size += capture_file_bytes(copies[whole++]);
	/* Where that fails, readers find a packet that is cut short at the end. */
	if (ftruncate(file->fd, (off_t)file->size) != 0)
		return whole;
	return whole;
}

uint16_t
capture_file_write(struct capture_file *file, struct rte_mbuf **copies, uint16_t count, int *error)
{
	uint64_t bytes = 0;
	ssize_t written;

	for (uint16_t i = 0; i < count; i++) {
		set_time(file, copies[i]);
		bytes += capture_file_bytes(copies[i]);
	}
	written = count > 0 ? rte_pcapng_write_packets(file->pcapng, copies, count) : 0;
	if (written == (ssize_t)bytes) {
		file->size += bytes;
		return count;
	}
	/* Only a part was written: the disk is full. */
	*error = written < 0 ? rte_errno : ENOSPC;
	return keep_whole(file, copies, count);
}

int
capture_file_write_counters(
	struct capture_file *file, uint16_t port, const struct capture_port_counters *counters)
{
	uint64_t seen = counters->written + counters->missed;
	ssize_t written;

#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
	written = rte_pcapng_write_stats(file->pcapng, port, seen, counters->missed, NULL);
#else
	written = rte_pcapng_write_stats(
		file->pcapng, port, NULL, file->ns, wall_clock_ns(), seen, counters->missed);
#endif
	if (written < 0)
		return errno;
	file->size += (uint64_t)written;
	return 0;
}

void
capture_file_close(struct capture_file *file)
{
	if (file == NULL)
		return;
	if (file->pcapng != NULL)
		rte_pcapng_close(file->pcapng);
	else
		close(file->fd);
	free(file);
}
