/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/xdp.h"

#include <errno.h>
#include <linux/if_xdp.h>
#include <net/ethernet.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "link/socket.h"

/* Frames that can come unseen, and that can be on their way out: powers of two. */
#define FRAMES_IN 2048
#define FRAMES_OUT 512
/* Of a frame, a power of two up to a page; drivers take the first of them for themselves. */
#define MIN_FRAME_BYTES 2048
#define MAX_FRAME_BYTES 4096
#define DRIVERS_BYTES 256
/* So often, 10 ms apart, a queue is tried that somebody has. */
#define TRIES 50
#define PAYLOAD_BYTES(frame) ((frame) - DRIVERS_BYTES - sizeof(struct ether_header))

enum {
	FILL, /* frames to be received into */
	DONE, /* frames that have been sent */
	IN,
	OUT,
	RINGS
};

static const struct {
	int option;
	off_t page;
	uint32_t size;
	size_t entry_bytes;
} shapes[RINGS] = {
	[FILL] = {XDP_UMEM_FILL_RING, XDP_UMEM_PGOFF_FILL_RING, FRAMES_IN, sizeof(uint64_t)},
	[DONE] = {XDP_UMEM_COMPLETION_RING, XDP_UMEM_PGOFF_COMPLETION_RING, FRAMES_OUT,
		sizeof(uint64_t)},
	[IN] = {XDP_RX_RING, XDP_PGOFF_RX_RING, FRAMES_IN, sizeof(struct xdp_desc)},
	[OUT] = {XDP_TX_RING, XDP_PGOFF_TX_RING, FRAMES_OUT, sizeof(struct xdp_desc)},
};

/* Shared with the kernel, which is at its other end. */
struct ring {
	_Atomic uint32_t *producer, *consumer, *flags;
	union {
		uint64_t *frame;
		struct xdp_desc *desc;
	};
	uint32_t at; /* this end's index */
	void *memory;
	size_t bytes;
};

struct xdp {
	struct rings rings;
	struct ring ring[RINGS];
	struct xdp_program program;
	uint8_t *frames;
	uint32_t frame_bytes;
	uint64_t out[FRAMES_OUT]; /* frames to be filled and sent, a queue */
	uint32_t out_first, out_count;
};

static struct xdp *
xdp_of(struct rings *rings)
{
	return (struct xdp *)rings;
}

static size_t
frames_bytes(const struct xdp *xdp)
{
	return (size_t)(FRAMES_IN + FRAMES_OUT) * xdp->frame_bytes;
}

static void
take_back(struct xdp *xdp, uint64_t frame)
{
	xdp->out[(xdp->out_first + xdp->out_count++) % FRAMES_OUT] = frame;
}

/* Frames that have been sent are free again. */
static void
reap(struct xdp *xdp)
{
	struct ring *done = &xdp->ring[DONE];
	uint32_t end = atomic_load_explicit(done->producer, memory_order_acquire);

	while (done->at != end)
		take_back(xdp, done->frame[done->at++ % FRAMES_OUT]);
	atomic_store_explicit(done->consumer, end, memory_order_release);
}

static uint8_t *
xdp_place(struct rings *rings, unsigned int i)
{
	struct xdp *xdp = xdp_of(rings);

	if (i >= xdp->out_count)
		reap(xdp);
	if (i >= xdp->out_count)
		return NULL;
	return xdp->frames + xdp->out[(xdp->out_first + i) % FRAMES_OUT];
}

static void
xdp_set_length(struct rings *rings, unsigned int i, size_t length)
{
	struct xdp *xdp = xdp_of(rings);
	struct ring *out = &xdp->ring[OUT];

	out->desc[(out->at + i) % FRAMES_OUT] = (struct xdp_desc){
		.addr = xdp->out[(xdp->out_first + i) % FRAMES_OUT], .len = (uint32_t)length};
}

static bool
wants_a_call(const struct ring *ring)
{
	return (atomic_load_explicit(ring->flags, memory_order_relaxed) & XDP_RING_NEED_WAKEUP) !=
		0;
}

/*
 * A call sends some frames only, where the kernel copies them. What is not sent by now goes with
 * the next, or when somebody waits for frames.
 */
static void
xdp_send(struct rings *rings, unsigned int count)
{
	struct xdp *xdp = xdp_of(rings);
	struct ring *out = &xdp->ring[OUT];
	uint32_t before, taken = atomic_load_explicit(out->consumer, memory_order_relaxed);

	xdp->out_first += count;
	xdp->out_count -= count;
	out->at += count;
	atomic_store_explicit(out->producer, out->at, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	do {
		before = taken;
		if (wants_a_call(out))
			sendto(rings->fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
		taken = atomic_load_explicit(out->consumer, memory_order_relaxed);
	} while (taken != before && taken != out->at);
}

static unsigned int
xdp_count(struct rings *rings)
{
	struct xdp *xdp = xdp_of(rings);
	struct ring *in = &xdp->ring[IN];
	uint32_t end = atomic_load_explicit(in->producer, memory_order_acquire);

	if (end == in->at && wants_a_call(&xdp->ring[FILL]))
		recvfrom(rings->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
	return end - in->at;
}

static const uint8_t *
xdp_look(const struct rings *rings, unsigned int i, size_t *length)
{
	const struct xdp *xdp = (const struct xdp *)rings;
	const struct ring *in = &xdp->ring[IN];
	const struct xdp_desc *desc = &in->desc[(in->at + i) % FRAMES_IN];

	*length = desc->len;
	return xdp->frames + desc->addr;
}

static void
xdp_release(struct rings *rings, unsigned int count)
{
	struct xdp *xdp = xdp_of(rings);
	struct ring *in = &xdp->ring[IN], *fill = &xdp->ring[FILL];

	for (; count > 0; count--) {
		uint64_t from = in->desc[in->at++ % FRAMES_IN].addr;

		fill->frame[fill->at++ % FRAMES_IN] = from - from % xdp->frame_bytes;
	}
	atomic_store_explicit(fill->producer, fill->at, memory_order_release);
	atomic_store_explicit(in->consumer, in->at, memory_order_release);
}

/* The kernel wakes who polls without being told. */
static bool
xdp_arm(struct rings *rings)
{
	return xdp_count(rings) == 0;
}

static void
xdp_disarm(struct rings *rings)
{
	(void)rings;
}

static void
xdp_close(struct rings *rings)
{
	struct xdp *xdp = xdp_of(rings);

	xdp_program_end(&xdp->program);
	for (unsigned int r = 0; r < RINGS; r++) {
		if (xdp->ring[r].memory != NULL)
			munmap(xdp->ring[r].memory, xdp->ring[r].bytes);
	}
	if (rings->fd >= 0)
		close(rings->fd);
	if (xdp->frames != NULL)
		munmap(xdp->frames, frames_bytes(xdp));
	free(xdp);
}

static const struct rings_kind xdp_kind = {
	.place = xdp_place,
	.set_length = xdp_set_length,
	.send = xdp_send,
	.count = xdp_count,
	.look = xdp_look,
	.release = xdp_release,
	.arm = xdp_arm,
	.disarm = xdp_disarm,
	.close = xdp_close,
};

/* Shared, or a fork would leave the socket with a copy of it. */
static bool
make_frames(struct xdp *xdp)
{
	void *memory = mmap(NULL, frames_bytes(xdp), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	const struct xdp_umem_reg region = {.addr = (uintptr_t)memory,
		.len = frames_bytes(xdp),
		.chunk_size = xdp->frame_bytes};

	if (memory == MAP_FAILED)
		return false;
	xdp->frames = memory;
	return setsockopt(xdp->rings.fd, SOL_XDP, XDP_UMEM_REG, &region, sizeof(region)) == 0;
}

static bool
map_ring(struct xdp *xdp, unsigned int r, const struct xdp_ring_offset *offsets)
{
	struct ring *ring = &xdp->ring[r];
	size_t bytes = offsets->desc + shapes[r].size * shapes[r].entry_bytes;
	uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		xdp->rings.fd, shapes[r].page);

	if (memory == MAP_FAILED)
		return false;
	ring->memory = memory;
	ring->bytes = bytes;
	ring->producer = (_Atomic uint32_t *)(void *)(memory + offsets->producer);
	ring->consumer = (_Atomic uint32_t *)(void *)(memory + offsets->consumer);
	ring->flags = (_Atomic uint32_t *)(void *)(memory + offsets->flags);
	ring->frame = (uint64_t *)(void *)(memory + offsets->desc);
	return true;
}

static bool
make_rings(struct xdp *xdp)
{
	struct xdp_mmap_offsets offsets;
	socklen_t length = sizeof(offsets);

	for (unsigned int r = 0; r < RINGS; r++) {
		if (setsockopt(xdp->rings.fd, SOL_XDP, shapes[r].option, &shapes[r].size,
			    sizeof(shapes[r].size)) != 0)
			return false;
	}
	return getsockopt(xdp->rings.fd, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length) == 0 &&
		map_ring(xdp, FILL, &offsets.fr) && map_ring(xdp, DONE, &offsets.cr) &&
		map_ring(xdp, IN, &offsets.rx) && map_ring(xdp, OUT, &offsets.tx);
}

/* Whose frames are whose, to begin with. */
static void
share_out(struct xdp *xdp)
{
	struct ring *fill = &xdp->ring[FILL];

	for (; fill->at < FRAMES_IN; fill->at++)
		fill->frame[fill->at] = (uint64_t)fill->at * xdp->frame_bytes;
	atomic_store_explicit(fill->producer, fill->at, memory_order_release);
	for (uint64_t i = 0; i < FRAMES_OUT; i++)
		take_back(xdp, (FRAMES_IN + i) * xdp->frame_bytes);
}

/*
 * The kernel chooses whether the driver or it itself copies; and a moment passes until it has back
 * what another socket has closed.
 */
static bool
take_queue(const struct xdp *xdp, unsigned int device, uint32_t queue)
{
	const struct sockaddr_xdp address = {.sxdp_family = AF_XDP,
		.sxdp_flags = XDP_USE_NEED_WAKEUP,
		.sxdp_ifindex = device,
		.sxdp_queue_id = queue};
	const struct timespec moment = {.tv_nsec = 10 * NS_PER_MS};

	for (unsigned int i = 0; i < TRIES; i++) {
		if (bind(xdp->rings.fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
			return true;
		if (errno != EBUSY)
			return false;
		nanosleep(&moment, NULL);
	}
	errno = EBUSY;
	return false;
}

static uint8_t
path_of(int fd)
{
	struct xdp_options options = {0};
	socklen_t length = sizeof(options);

	getsockopt(fd, SOL_XDP, XDP_OPTIONS, &options, &length);
	return (options.flags & XDP_OPTIONS_ZEROCOPY) != 0 ? NETFC_ALLREDUCE_XDP_ZERO_COPY
							   : NETFC_ALLREDUCE_XDP;
}

/* Returns NULL, or what cannot be done, and errno. */
static const char *
set_up(struct xdp *xdp, unsigned int device, uint32_t queue, const struct frame_ends *ends)
{
	xdp->rings.fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (xdp->rings.fd < 0)
		return "make an AF_XDP socket";
	if (!make_frames(xdp) || !make_rings(xdp))
		return "share memory with the kernel";
	share_out(xdp);
	socket_reserve(xdp->rings.fd, FRAMES_OUT, xdp->frame_bytes);
	if (!take_queue(xdp, device, queue))
		return "take that queue";
	xdp->rings.path = path_of(xdp->rings.fd);
	return xdp_program_start(&xdp->program, ends, device, queue, xdp->rings.fd);
}

struct rings *
xdp_open(unsigned int device, uint32_t queue, const struct frame_ends *ends, unsigned int mtu,
	const char **problem)
{
	struct xdp *xdp = calloc(1, sizeof(*xdp));
	int error;

	*problem = "share memory with the kernel";
	if (xdp == NULL)
		return NULL;
	xdp->frame_bytes =
		mtu <= PAYLOAD_BYTES(MIN_FRAME_BYTES) ? MIN_FRAME_BYTES : MAX_FRAME_BYTES;
	xdp->rings.kind = &xdp_kind;
	xdp->rings.mtu = PAYLOAD_BYTES(xdp->frame_bytes);
	xdp->program = (struct xdp_program){-1, -1, 0};
	*problem = set_up(xdp, device, queue, ends);
	if (*problem == NULL)
		return &xdp->rings;
	error = errno;
	xdp_close(&xdp->rings);
	errno = error;
	return NULL;
}

bool
xdp_admit(const struct rings *rings, uint16_t from, uint16_t to)
{
	return xdp_program_admit(&((const struct xdp *)rings)->program, from, to);
}
