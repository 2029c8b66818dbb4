/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/rings.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "link/memif_wire.h"
#include "link/socket.h"

#define MTU 9000
#define MAX_BYTES (MTU + 14) /* of a frame */

#define RING_LOG2 9
#define RING (1u << RING_LOG2)
#define RING_MASK (RING - 1)
/* Of a frame: cache lines, but no power of two, or all would share a few sets of the cache. */
#define FRAME_BYTES (151 * MEMIF_CACHE_LINE)
_Static_assert(FRAME_BYTES >= MAX_BYTES, "a frame has a place");
#define ANSWER_NS (2 * NS_PER_S)

/* From here to the switch, and back. */
enum {
	OUT,
	IN,
	DIRECTIONS
};

/*
 * Each of the switch's queues needs a ring, or DPDK's driver takes the first for that, too. Nobody
 * says how many queues there are: one ring more is refused.
 */
#define MAX_RINGS 64

/* What the switch has in memory: rings out, rings in, and frames of the first and of these. */
struct memif {
	struct rings rings;
	int control;
	int region;                     /* the memory's file */
	int events[DIRECTIONS];         /* eventfds */
	unsigned int count[DIRECTIONS]; /* of rings */
	struct memif_ring *ring;
	uint8_t *frames;
	size_t bytes;           /* of all */
	uint16_t out;           /* next place to send from */
	uint16_t in[MAX_RINGS]; /* next frame to take */
	unsigned int now;       /* the ring that frames are taken from */
};

static struct memif *
memif_of(struct rings *rings)
{
	return (struct memif *)rings;
}

static struct memif_ring *
ring_of(const struct memif *memif, unsigned int direction, unsigned int i)
{
	return &memif->ring[direction == OUT ? i : memif->count[OUT] + i];
}

/* Rings out have no frames but the first: nothing is sent by the others. */
static uint8_t *
frame_of(const struct memif *memif, unsigned int direction, unsigned int i, unsigned int at)
{
	size_t before = direction == OUT ? 0 : (1 + i) * RING;

	return memif->frames + (before + (at & RING_MASK)) * FRAME_BYTES;
}

static void
describe(struct memif *memif, unsigned int direction, unsigned int i)
{
	struct memif_ring *ring = ring_of(memif, direction, i);
	const uint8_t *begin = (const uint8_t *)memif->ring;

	ring->cookie = MEMIF_COOKIE;
	ring->flags = MEMIF_RING_FLAG_MASK_INT;
	for (unsigned int at = 0; at < RING; at++) {
		ring->desc[at].length = FRAME_BYTES;
		ring->desc[at].offset = (uint32_t)(frame_of(memif, direction, i, at) - begin);
	}
}

/* Memory and eventfds. False: errno says why. */
static bool
make(struct memif *memif)
{
	size_t before = (memif->count[OUT] + memif->count[IN]) * sizeof(struct memif_ring);
	void *memory;

	memif->bytes = before + (1 + memif->count[IN]) * (size_t)RING * FRAME_BYTES;
	for (unsigned int d = 0; d < DIRECTIONS; d++)
		memif->events[d] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	memif->region = memfd_create("netfc-memif", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (memif->events[OUT] < 0 || memif->events[IN] < 0 || memif->region < 0 ||
		ftruncate(memif->region, (off_t)memif->bytes) != 0)
		return false;
	memory = mmap(NULL, memif->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memif->region, 0);
	if (memory == MAP_FAILED)
		return false;
	memif->ring = memory;
	memif->frames = (uint8_t *)memory + before;
	for (unsigned int d = 0; d < DIRECTIONS; d++) {
		for (unsigned int i = 0; i < memif->count[d]; i++)
			describe(memif, d, i);
	}
	return true;
}

/* What the switch has to say, of that type. False: it says no, or nothing; errno says which. */
static bool
hear(const struct memif *memif, uint16_t type, struct memif_message *message)
{
	struct pollfd fds = {.fd = memif->control, .events = POLLIN};
	const uint64_t until = clock_now() + ANSWER_NS;
	struct timespec left;
	int ready;

	do {
		errno = ETIMEDOUT;
		left = clock_timespec(clock_until(clock_now(), until));
		ready = ppoll(&fds, 1, &left, NULL);
	} while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return false;
	errno = ECONNREFUSED;
	return recv(memif->control, message, sizeof(*message), MSG_DONTWAIT) ==
		(ssize_t)sizeof(*message) &&
		message->type == type;
}

/* Say something with a file, and hear that it is taken. */
static bool
tell(const struct memif *memif, const struct memif_message *message, int fd)
{
	struct memif_message answer;

	return unix_socket_send(memif->control, message, sizeof(*message), fd) &&
		hear(memif, MEMIF_ACK, &answer);
}

static bool
tell_ring(const struct memif *memif, unsigned int direction, unsigned int i)
{
	const uint8_t *ring = (const uint8_t *)ring_of(memif, direction, i);
	const struct memif_message message = {.type = MEMIF_ADD_RING,
		.add_ring = {.flags = direction == OUT ? MEMIF_ADD_RING_FLAG_S2M : 0,
			.index = (uint16_t)i,
			.offset = (uint32_t)(ring - (const uint8_t *)memif->ring),
			.log2_ring_size = RING_LOG2}};

	return tell(memif, &message, memif->events[direction]);
}

/* All rings; where one is refused, rings[] becomes how many are not. */
static bool
tell_rings(const struct memif *memif, unsigned int rings[DIRECTIONS])
{
	for (unsigned int d = 0; d < DIRECTIONS; d++) {
		for (unsigned int i = 0; i < memif->count[d]; i++) {
			if (!tell_ring(memif, d, i)) {
				rings[d] = i;
				return false;
			}
		}
	}
	return true;
}

static bool
greet(struct memif *memif, uint32_t id, unsigned int rings[DIRECTIONS])
{
	const struct memif_message init = {.type = MEMIF_INIT,
		.init = {.version = MEMIF_VERSION, .id = id, .name = "netfc-allreduce"}};
	const struct memif_message region = {
		.type = MEMIF_ADD_REGION, .add_region = {.size = memif->bytes}};
	const struct memif_message connect = {
		.type = MEMIF_CONNECT, .connect = {.name = "netfc-allreduce"}};
	struct memif_message answer;

	if (!hear(memif, MEMIF_HELLO, &answer))
		return false;
	errno = EPROTONOSUPPORT;
	if (answer.hello.min_version > MEMIF_VERSION || answer.hello.max_version < MEMIF_VERSION ||
		answer.hello.max_log2_ring_size < RING_LOG2)
		return false;
	return tell(memif, &init, -1) && tell(memif, &region, memif->region) &&
		tell_rings(memif, rings) &&
		unix_socket_send(memif->control, &connect, sizeof(connect), -1) &&
		hear(memif, MEMIF_CONNECTED, &answer);
}

static void
close_file(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void
memif_close(struct rings *rings)
{
	struct memif *memif = memif_of(rings);

	close_file(memif->control);
	close_file(memif->region);
	for (unsigned int d = 0; d < DIRECTIONS; d++)
		close_file(memif->events[d]);
	if (memif->ring != NULL)
		munmap(memif->ring, memif->bytes);
	free(memif);
}

/* With that many rings; where these are too many, `rings` becomes fewer. NULL: errno says why. */
static struct memif *
try_to_connect(const char *path, uint32_t id, unsigned int rings[DIRECTIONS])
{
	struct memif *memif = calloc(1, sizeof(*memif));
	int error;

	if (memif == NULL)
		return NULL;
	memif->events[OUT] = memif->events[IN] = memif->region = -1;
	memcpy(memif->count, rings, sizeof(memif->count));
	memif->control = unix_socket_connect(path, clock_now() + ANSWER_NS);
	if (memif->control >= 0 && make(memif) && greet(memif, id, rings))
		return memif;
	error = errno;
	memif_close(&memif->rings);
	errno = error;
	return NULL;
}

static uint8_t *
memif_place(struct rings *rings, unsigned int i)
{
	struct memif *memif = memif_of(rings);
	uint16_t taken = atomic_load_explicit(&ring_of(memif, OUT, 0)->tail, memory_order_acquire);

	if ((uint16_t)(memif->out - taken) + i >= RING)
		return NULL;
	return frame_of(memif, OUT, 0, memif->out + i);
}

static void
memif_set_length(struct rings *rings, unsigned int i, size_t length)
{
	struct memif *memif = memif_of(rings);

	ring_of(memif, OUT, 0)->desc[(memif->out + i) & RING_MASK].length = (uint32_t)length;
}

static void
memif_send(struct rings *rings, unsigned int count)
{
	struct memif *memif = memif_of(rings);
	struct memif_ring *ring = ring_of(memif, OUT, 0);

	memif->out = (uint16_t)(memif->out + count);
	atomic_store_explicit(&ring->head, memif->out, memory_order_release);
	if ((ring->flags & MEMIF_RING_FLAG_MASK_INT) == 0)
		eventfd_write(memif->events[OUT], 1);
}

/* Frames that are in a ring. */
static unsigned int
waiting(const struct memif *memif, unsigned int i)
{
	struct memif_ring *ring = ring_of(memif, IN, i);
	uint16_t filled = atomic_load_explicit(&ring->tail, memory_order_acquire);
	unsigned int count = (uint16_t)(filled - memif->in[i]);

	return count < RING ? count : RING;
}

static unsigned int
memif_count(struct rings *rings)
{
	struct memif *memif = memif_of(rings);
	unsigned int count = 0;

	for (unsigned int i = 0; i < memif->count[IN] && count == 0; i++) {
		memif->now = (memif->now + 1) % memif->count[IN];
		count = waiting(memif, memif->now);
	}
	return count;
}

/* Its place is what it was made as: who shares the memory says the length only. */
static const uint8_t *
memif_look(const struct rings *rings, unsigned int i, size_t *length)
{
	const struct memif *memif = (const struct memif *)rings;
	unsigned int at = memif->in[memif->now] + i;
	const struct memif_desc *desc = &ring_of(memif, IN, memif->now)->desc[at & RING_MASK];

	*length = *(const volatile uint32_t *)&desc->length;
	if (*length > FRAME_BYTES || (desc->flags & MEMIF_DESC_FLAG_NEXT) != 0)
		*length = 0;
	return frame_of(memif, IN, memif->now, at);
}

static void
memif_release(struct rings *rings, unsigned int count)
{
	struct memif *memif = memif_of(rings);
	struct memif_ring *ring = ring_of(memif, IN, memif->now);
	uint16_t in = memif->in[memif->now];

	for (; count > 0; count--, in++) {
		ring->desc[in & RING_MASK].length = FRAME_BYTES;
		ring->desc[in & RING_MASK].flags = 0;
	}
	memif->in[memif->now] = in;
	atomic_store_explicit(&ring->head, (uint16_t)(in + RING), memory_order_release);
}

static void
set_flags(struct memif *memif, uint16_t flags)
{
	for (unsigned int i = 0; i < memif->count[IN]; i++)
		ring_of(memif, IN, i)->flags = flags;
}

static bool
memif_arm(struct rings *rings)
{
	set_flags(memif_of(rings), 0);
	atomic_thread_fence(memory_order_seq_cst);
	return memif_count(rings) == 0;
}

static void
memif_disarm(struct rings *rings)
{
	struct memif *memif = memif_of(rings);
	eventfd_t value;

	set_flags(memif, MEMIF_RING_FLAG_MASK_INT);
	eventfd_read(memif->events[IN], &value);
}

static const struct rings_kind memif_kind = {
	.place = memif_place,
	.set_length = memif_set_length,
	.send = memif_send,
	.count = memif_count,
	.look = memif_look,
	.release = memif_release,
	.arm = memif_arm,
	.disarm = memif_disarm,
	.close = memif_close,
};

/* All places for frames are free to be filled; who serves has said that none is. */
static void
offer(struct memif *memif)
{
	for (unsigned int i = 0; i < memif->count[IN]; i++)
		atomic_store_explicit(
			&ring_of(memif, IN, i)->head, (uint16_t)RING, memory_order_release);
}

struct rings *
memif_connect(const char *where)
{
	unsigned int rings[DIRECTIONS] = {MAX_RINGS, MAX_RINGS}, before;
	char path[LINK_NAME_BYTES];
	struct memif *memif;
	uint32_t id;

	errno = EINVAL;
	if (!rings_read_name(where, ",id=", path, &id))
		return NULL;
	do {
		before = rings[OUT] + rings[IN];
		memif = try_to_connect(path, id, rings);
	} while (memif == NULL && rings[OUT] > 0 && rings[IN] > 0 &&
		rings[OUT] + rings[IN] < before);
	if (memif == NULL)
		return NULL;
	offer(memif);
	memif->rings = (struct rings){.kind = &memif_kind,
		.fd = memif->events[IN],
		.mtu = MTU,
		.path = NETFC_ALLREDUCE_MEMIF};
	return &memif->rings;
}
