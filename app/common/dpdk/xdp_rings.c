/* SPDX-License-Identifier: BSD-3-Clause */
#include <linux/if_xdp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "descriptors.h"
#include "dpdk/xdp_rings.h"

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

/* A counter at the beginning of a ring; false: the socket has no such ring. */
static bool
read_counter(int descriptor, const struct xdp_ring_offset *offset, off_t ring, enum ring_end end,
	uint32_t *counter)
{
	const uint64_t at = end == RING_PUT ? offset->producer : offset->consumer;
	const size_t length = at + sizeof(*counter);
	const char *shared = mmap(NULL, length, PROT_READ, MAP_SHARED, descriptor, ring);

	if (shared == MAP_FAILED)
		return false;
	*counter = __atomic_load_n((const uint32_t *)(const void *)(shared + at), __ATOMIC_ACQUIRE);
	munmap((void *)(uintptr_t)shared, length);
	return true;
}

/* What has been put into the first ring and has not been taken out of the second, where it comes
 * back. */
static uint32_t
between(int descriptor, const struct xdp_ring_offset *to, off_t to_ring,
	const struct xdp_ring_offset *from, off_t from_ring)
{
	uint32_t put, taken;

	if (!read_counter(descriptor, to, to_ring, RING_PUT, &put) ||
		!read_counter(descriptor, from, from_ring, RING_TAKEN, &taken))
		return 0;
	return put - taken;
}

static void
add_held(int descriptor, void *arg)
{
	struct xdp_mmap_offsets offsets;
	socklen_t length = sizeof(offsets);
	unsigned int *held = arg;

	if (!is_xdp(descriptor) ||
		getsockopt(descriptor, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length) != 0)
		return;
	*held += between(descriptor, &offsets.fr, (off_t)XDP_UMEM_PGOFF_FILL_RING, &offsets.rx,
			 XDP_PGOFF_RX_RING) +
		between(descriptor, &offsets.tx, XDP_PGOFF_TX_RING, &offsets.cr,
			(off_t)XDP_UMEM_PGOFF_COMPLETION_RING);
}

unsigned int
xdp_rings_held(void)
{
	unsigned int held = 0;

	descriptors_visit(add_held, &held);
	return held;
}
