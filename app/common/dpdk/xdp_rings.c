/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <linux/if_xdp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "descriptors.h"
#include "dpdk/xdp_rings.h"

#define LINE_BYTES 512 /* of /proc/self/maps, but for longer names of files */

/* How many entries one side has ever put into a ring, or the other taken out, modulo 2^32. */
enum ring_end {
	RING_PUT,
	RING_TAKEN,
};

static bool
is_xdp(int descriptor)
{
	socklen_t length = sizeof(int);
	int family;

	return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &length) == 0 &&
		family == AF_XDP;
}

/*
 * Where a socket's ring has been mapped; NULL: nowhere. The kernel maps none of a socket whose
 * device has been deleted, but leaves those that there are.
 */
static const char *
find_ring(int descriptor, uint64_t ring)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t at, found = 0;
	uint64_t offset, inode;
	struct stat status;
	char line[LINE_BYTES];

	if (maps == NULL)
		return NULL;
	while (fstat(descriptor, &status) == 0 && found == 0 &&
		fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%" SCNxPTR "-%*x %*s %" SCNx64 " %*s %" SCNu64, &at, &offset,
			    &inode) == 3 &&
			inode == status.st_ino && offset == ring)
			found = at;
	}
	fclose(maps);
	return (const char *)found;
}

/* A counter at the beginning of a ring; false: the process has no such ring. */
static bool
read_counter(int descriptor, const struct xdp_ring_offset *offset, uint64_t ring, enum ring_end end,
	uint32_t *counter)
{
	const uint64_t at = end == RING_PUT ? offset->producer : offset->consumer;
	const char *shared = find_ring(descriptor, ring);

	if (shared == NULL)
		return false;
	*counter = __atomic_load_n((const uint32_t *)(const void *)(shared + at), __ATOMIC_ACQUIRE);
	return true;
}

/* What has been put into the first ring and has not been taken out of the second, where it comes
 * back. */
static uint32_t
between(int descriptor, const struct xdp_ring_offset *to, uint64_t to_ring,
	const struct xdp_ring_offset *from, uint64_t from_ring)
{
	uint32_t put, taken;

	if (!read_counter(descriptor, to, to_ring, RING_PUT, &put) ||
		!read_counter(descriptor, from, from_ring, RING_TAKEN, &taken))
		return 0;
	return put - taken;
}

static void
add_socket(int descriptor, void *arg)
{
	struct xdp_mmap_offsets offsets;
	socklen_t length = sizeof(offsets);
	struct xdp_rings *rings = arg;

	if (rings->count == XDP_SOCKETS || !is_xdp(descriptor) ||
		getsockopt(descriptor, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length) != 0)
		return;
	rings->sockets[rings->count].descriptor = descriptor;
	rings->sockets[rings->count++].held =
		between(descriptor, &offsets.fr, XDP_UMEM_PGOFF_FILL_RING, &offsets.rx,
			XDP_PGOFF_RX_RING) +
		between(descriptor, &offsets.tx, XDP_PGOFF_TX_RING, &offsets.cr,
			XDP_UMEM_PGOFF_COMPLETION_RING);
}

void
xdp_rings_look(struct xdp_rings *rings)
{
	rings->count = 0;
	descriptors_visit(add_socket, rings);
}

unsigned int
xdp_rings_held(const struct xdp_rings *rings)
{
	unsigned int held = 0;

	for (unsigned int i = 0; i < rings->count; i++)
		held += rings->sockets[i].held;
	return held;
}

unsigned int
xdp_rings_held_by_gone(const struct xdp_rings *rings)
{
	unsigned int held = 0;

	for (unsigned int i = 0; i < rings->count; i++) {
		if (find_ring(rings->sockets[i].descriptor, XDP_UMEM_PGOFF_FILL_RING) == NULL)
			held += rings->sockets[i].held;
	}
	return held;
}
