/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_DRIVE_H
#define VECTOR_DRIVE_H

/**
 * @file
 * The walk over a packet's lanes where they are: a body computes each. Widths and bodies are
 * constants wherever it is used, so that compilers make vector code of the loop.
 */

#include <stdbool.h>
#include <string.h>

#include <rte_common.h>

#include "slots.h"
#include "vector.h"

/** What a body gives: z, and exception flags, which may have other bits below and above them. */
struct lane {
	uint32_t z, flags;
};

/**
 * A lane, of slots as they stand in the packet. A `context` that the loop is to load once is a copy
 * of the caller's own, as packets may alias any other.
 */
typedef struct lane drive_body(const void *context, uint32_t x, uint32_t y, uint32_t z);

/** How a packet is walked; a constant. */
struct drive {
	unsigned int bits; /**< of a slot: 8, 16 or 32 */
	bool apart;        /**< compilers make no vector code of the body: sum z before it apart */
	unsigned int flags_at; /**< the flags' first bit */
};

/** The one lane of a packet. */
INLINE void
drive_single(struct vector_packet *packet, const struct drive drive, drive_body *body,
	const void *context)
{
	const uint32_t bytes = slots_bytes(1, drive.bits), word_bits = 8 * bytes;
	const uint8_t *x = packet->slots, *y = x + bytes;
	uint8_t *z = packet->slots + 2 * (size_t)bytes;
	const uint32_t before = slot_load(z, 0, word_bits);
	const struct lane lane = body(context, slot_load(x, 0, drive.bits),
		slot_load(y, 0, drive.bits), slot_load(z, 0, drive.bits));
	/* In a register: a load of what has just been stored in part would wait for it. */
	uint16_t word = (uint16_t)before;
	uint32_t after = lane.z;

	if (drive.bits == 8) {
		const uint8_t byte = (uint8_t)lane.z;

		memcpy(&word, &byte, sizeof(byte));
		after = word;
	}
	slot_store(z, 0, drive.bits, lane.z);
	packet->flags = (uint8_t)(lane.flags >> drive.flags_at);
	packet->changes = slots_changes(
		bytes / 2, slot_words(before, word_bits), slot_words(after, word_bits));
}

/** What lanes have given. */
struct driven {
	uint32_t before, after, flags;
};

/* Operands, and the sums of 16-bit words. */
INLINE void
drive_lane(struct driven *sums, const uint8_t *restrict x, const uint8_t *restrict y,
	uint8_t *restrict z, uint32_t l, const struct drive drive, drive_body *body,
	const void *context)
{
	const uint32_t old = slot_load(z, l, drive.bits);
	const struct lane lane =
		body(context, slot_load(x, l, drive.bits), slot_load(y, l, drive.bits), old);

	sums->flags |= lane.flags;
	sums->before += slot_words(old, drive.bits);
	sums->after += slot_words(lane.z, drive.bits);
	slot_store(z, l, drive.bits, lane.z);
}

/** The lanes of a packet from `first` on, an even number where slots have 8 bits. */
INLINE struct driven
drive_from(const struct vector_packet *packet, uint32_t first, const struct drive drive,
	drive_body *body, const void *context)
{
	const uint32_t count = packet->count, bytes = slots_bytes(count, drive.bits);
	const uint32_t passed = slots_bytes(first, drive.bits);
	const uint8_t *restrict x = packet->slots, *restrict y = x + bytes;
	uint8_t *restrict z = packet->slots + 2 * (size_t)bytes;
	const bool is_byte = drive.bits == 8;
	const uint64_t before = is_byte || drive.apart ? slots_sum(z + passed, bytes - passed) : 0;
	struct driven sums = {0, 0, 0};

	/* Lanes do not depend on each other: leave the processor more of them than loop. */
	if (drive.apart) {
#pragma GCC unroll 8
		for (uint32_t l = first; l < count; l++)
			drive_lane(&sums, x, y, z, l, drive, body, context);
	} else {
		for (uint32_t l = first; l < count; l++)
			drive_lane(&sums, x, y, z, l, drive, body, context);
	}
	if (is_byte || drive.apart)
		sums.before = (uint32_t)before;
	if (is_byte)
		sums.after = (uint32_t)slots_sum(z + passed, bytes - passed);
	return sums;
}

/** Compute a packet. */
INLINE void
drive_packet(struct vector_packet *packet, const struct drive drive, drive_body *body,
	const void *context)
{
	struct driven sums;

	if (packet->count == 1) {
		drive_single(packet, drive, body, context);
		return;
	}
	sums = drive_from(packet, 0, drive, body, context);
	packet->flags = (uint8_t)(sums.flags >> drive.flags_at);
	packet->changes =
		slots_changes(slots_bytes(packet->count, drive.bits) / 2, sums.before, sums.after);
}

#endif /* VECTOR_DRIVE_H */
