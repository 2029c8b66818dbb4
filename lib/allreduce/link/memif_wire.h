/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_MEMIF_WIRE_H
#define ALLREDUCE_MEMIF_WIRE_H

/**
 * @file
 * What the two sides of a memif say to each other, and the rings in their memory: version 2.0, as
 * FD.io's libmemif and DPDK have it. In host byte order.
 */

#include <stdatomic.h>
#include <stdint.h>

#define MEMIF_COOKIE UINT32_C(0x3E31F20)
#define MEMIF_VERSION (2 << 8)
#define MEMIF_NAME_BYTES 32
#define MEMIF_CACHE_LINE 64

enum {
	MEMIF_ACK = 1,
	MEMIF_HELLO,
	MEMIF_INIT,
	MEMIF_ADD_REGION,
	MEMIF_ADD_RING,
	MEMIF_CONNECT,
	MEMIF_CONNECTED,
};

#define MEMIF_ADD_RING_FLAG_S2M 1 /* from who connects to who serves */

struct memif_hello {
	uint8_t name[MEMIF_NAME_BYTES];
	uint16_t min_version, max_version;
	uint16_t max_region, max_m2s_ring, max_s2m_ring;
	uint8_t max_log2_ring_size;
} __attribute__((packed));

struct memif_init {
	uint16_t version;
	uint32_t id;  /* of the port that serves */
	uint8_t mode; /* 0: Ethernet */
	uint8_t secret[24];
	uint8_t name[MEMIF_NAME_BYTES];
} __attribute__((packed));

struct memif_add_region {
	uint16_t index;
	uint64_t size;
} __attribute__((packed));

struct memif_add_ring {
	uint16_t flags, index, region;
	uint32_t offset;
	uint8_t log2_ring_size;
	uint16_t private_header_bytes;
} __attribute__((packed));

struct memif_connect {
	uint8_t name[MEMIF_NAME_BYTES];
} __attribute__((packed));

struct memif_message {
	uint16_t type;
	union {
		struct memif_hello hello;
		struct memif_init init;
		struct memif_add_region add_region;
		struct memif_add_ring add_ring;
		struct memif_connect connect;
		uint8_t bytes[126];
	};
} __attribute__((packed, aligned(128)));

#define MEMIF_DESC_FLAG_NEXT 1 /* the frame goes on in the next */

struct memif_desc {
	uint16_t flags, region;
	uint32_t length, offset, metadata;
};

#define MEMIF_RING_FLAG_MASK_INT 1 /* who takes out of it looks by itself */

struct memif_ring {
	uint32_t cookie;
	volatile uint16_t flags;
	_Atomic uint16_t head;
	_Alignas(MEMIF_CACHE_LINE) _Atomic uint16_t tail;
	_Alignas(MEMIF_CACHE_LINE) struct memif_desc desc[512];
};

#endif /* ALLREDUCE_MEMIF_WIRE_H */
