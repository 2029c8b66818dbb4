/* SPDX-License-Identifier: BSD-3-Clause */
/* What rte_pcapng does for captures: the lcores' copies, and the file that they are written into.
 */
#define ALLOW_EXPERIMENTAL_API

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_pcapng.h>
#include <rte_version.h>

#include "capture/capture.h"
#include "pipeline.h"

/* ---- copies ---------------------------------------------------------------------------------- */

/* Memory for the copies of one lcore, in bytes. */
#define POOL_BYTES (8u << 20)

_Static_assert(PIPELINE_BURST <= 64, "a bit for each packet of a burst");

static struct rte_mbuf *
copy_packet(const struct capture_tap *tap, uint16_t port, uint16_t queue, struct rte_mbuf *mbuf,
	enum rte_pcapng_direction direction)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
	return rte_pcapng_copy(port, queue, mbuf, tap->pool, tap->snaplen, direction, NULL);
#else
	return rte_pcapng_copy(port, queue, mbuf, tap->pool, tap->snaplen, tap->epoch, direction);
#endif
}

/*
 * DPDK 22.11 converts the time of a copy to nanoseconds with a process-wide variable, which lcores
 * would write concurrently. It does not change if all pass the same time, one that it has seen
 * before; the file gets the right time from the copy's note.
 */
uint64_t
capture_tap_epoch(struct capture_tap *tap)
{
	struct rte_mbuf *empty = rte_pktmbuf_alloc(tap->pool);

	/* Somewhat later than the library's own beginning, which may be now. */
	tap->epoch = rte_rdtsc() + rte_get_tsc_hz() / 1000;
	if (empty != NULL)
		rte_pktmbuf_free(copy_packet(tap, 0, 0, empty, RTE_PCAPNG_DIRECTION_UNKNOWN));
	rte_pktmbuf_free(empty);
	return tap->epoch;
}

struct capture_tap *
capture_tap_create(unsigned int lcore_id, uint32_t snaplen)
{
	/* A copy is in one segment: the library takes no others. */
	uint32_t data_bytes = RTE_PKTMBUF_HEADROOM + rte_pcapng_mbuf_size(snaplen);
	uint32_t size = POOL_BYTES / (data_bytes + (uint32_t)sizeof(struct rte_mbuf));
	int socket = (int)rte_lcore_to_socket_id(lcore_id);
	struct capture_tap *tap =
		rte_zmalloc_socket("capture", sizeof(*tap), RTE_CACHE_LINE_SIZE, socket);
	char name[RTE_MEMPOOL_NAMESIZE];

	if (tap == NULL)
		return NULL;
	tap->snaplen = snaplen;
	snprintf(name, sizeof(name), "capture%u", lcore_id);
	/* The lcore allocates, the thread frees, neither through a cache. */
	tap->pool = rte_pktmbuf_pool_create_by_ops(name, size, 0, sizeof(struct capture_note),
		(uint16_t)data_bytes, socket, "ring_mp_sc");
	tap->copies = rte_ring_create(
		name, size, socket, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	if (tap->pool != NULL && tap->copies != NULL)
		return tap;
	capture_tap_free(tap);
	return NULL;
}

void
capture_tap_free(struct capture_tap *tap)
{
	if (tap == NULL)
		return;
	rte_ring_free(tap->copies);
	rte_mempool_free(tap->pool);
	rte_free(tap);
}

static void
copy_burst(const struct capture_tap *tap, uint16_t port, uint16_t queue, struct rte_mbuf **mbufs,
	uint16_t count, enum rte_pcapng_direction direction, struct rte_mbuf **copies)
{
	uint64_t now = rte_rdtsc();

	for (uint16_t i = 0; i < count; i++) {
		copies[i] = copy_packet(tap, port, queue, mbufs[i], direction);
		if (copies[i] != NULL)
			*capture_note(copies[i]) = (struct capture_note){.tsc = now};
	}
}

void
capture_copy(struct capture_tap *tap, uint16_t port, uint16_t queue, struct rte_mbuf **mbufs,
	uint16_t count, struct rte_mbuf **copies)
{
	copy_burst(tap, port, queue, mbufs, count, RTE_PCAPNG_DIRECTION_OUT, copies);
}

void
capture_sent(struct capture_tap *tap, uint16_t port, struct rte_mbuf **copies, uint16_t count,
	uint64_t refused)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < count; i++) {
		bool sent = (refused >> i & 1) == 0;

		if (copies[i] == NULL) {
			tap->missed[port] += sent;
			continue;
		}
		/* Only the thread frees, so that no thread waits for another at the pool. */
		capture_note(copies[i])->refused = !sent;
		copies[kept++] = copies[i];
	}
	rte_ring_sp_enqueue_bulk(tap->copies, (void **)copies, kept, NULL);
}

void
capture_received(struct capture_tap *tap, uint16_t port, uint16_t queue, struct rte_mbuf **mbufs,
	uint16_t count)
{
	struct rte_mbuf *copies[PIPELINE_BURST];

	copy_burst(tap, port, queue, mbufs, count, RTE_PCAPNG_DIRECTION_IN, copies);
	capture_sent(tap, port, copies, count, 0);
}

/* ---- the file -------------------------------------------------------------------------------- */

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

	while (whole < count && file->size + rte_pktmbuf_pkt_len(copies[whole]) <= reached)
		file->size += rte_pktmbuf_pkt_len(copies[whole++]);
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
		bytes += rte_pktmbuf_pkt_len(copies[i]);
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
