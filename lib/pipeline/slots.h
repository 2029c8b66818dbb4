/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_SLOTS_H
#define PIPELINE_SLOTS_H

/** @file Slots of a packet to fields of a batch and back: big-endian 16 bits, at any address. */

#include <stdint.h>
#include <string.h>

/** Copy `count` slots into a field. */
void slots_read(const void *slots, uint32_t *field, unsigned int count);

/** Copy the low halves of a field into `count` slots. */
void slots_write(const uint32_t *field, void *slots, unsigned int count);

/**
 * Replace `count` slots by others.
 *
 * @return the changes of a checksum over the slots, see checksum.h
 */
uint32_t slots_replace(void *slots, const uint16_t *by, unsigned int count);

/* So many lanes are few: they are read and written in words of several, without a call. */
#define SLOTS_FEW 20

/* Lanes behind a field that slots_copy() writes, and before one that is read for few lanes. */
#define SLOTS_MARGIN 32

/*
 * Copy x or y of a request of few lanes, in words so long that some of what follows is read, too,
 * but nothing behind the request's z.
 */
static inline void
slots_copy_few(uint16_t *to, const uint8_t *slots, unsigned int count)
{
	if (count == 1) {
		memcpy(to, slots, 2);
	} else if (count <= 4) {
		memcpy(to, slots, 8);
	} else {
		for (unsigned int l = 0; l < count; l += 8)
			memcpy(to + l, slots + 2 * (size_t)l, 16);
	}
}

/* All bits of the last `bytes` of a word's eight bytes. */
static inline uint64_t
slots_last(unsigned int bytes)
{
	static const uint8_t mask[16] = {
		0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255};
	uint64_t word;

	memcpy(&word, mask + bytes, sizeof(word));
	return word;
}

/* One's complement addition (RFC 1071). */
static inline uint64_t
slots_sum(uint64_t a, uint64_t b)
{
	uint64_t sum = a + b;

	return sum + (sum < a);
}

/* Replace the bits of a word of a packet; returns what that changes in a checksum. */
static inline uint64_t
slots_replace_word(uint8_t *at, const uint16_t *by, uint64_t replaced)
{
	uint64_t before, after;

	memcpy(&before, at, sizeof(before));
	memcpy(&after, by, sizeof(after));
	after = (before & ~replaced) | (after & replaced);
	memcpy(at, &after, sizeof(after));
	return slots_sum(~before, after);
}

/**
 * Replace few slots by others, as slots_replace(). Up to six bytes before them are read and written
 * back as they are.
 *
 * @param by there are SLOTS_MARGIN before it
 */
static inline uint64_t
slots_replace_few(uint8_t *slots, const uint16_t *by, unsigned int count)
{
	uint64_t sum = 0;

	for (; count >= 4; count -= 4)
		sum = slots_sum(sum,
			slots_replace_word(
				slots + 2 * (size_t)(count - 4), by + count - 4, UINT64_MAX));
	if (count > 0)
		sum = slots_sum(sum,
			slots_replace_word(slots + 2 * (size_t)count - 8, by + count - 4,
				slots_last(2 * count)));
	return (sum & UINT32_MAX) + (sum >> 32);
}

/**
 * The flags of few lanes, or-ed.
 *
 * @param flags there are SLOTS_MARGIN before them
 */
static inline uint8_t
slots_flags_few(const uint8_t *flags, unsigned int count)
{
	uint64_t any = 0, word;

	for (; count > 0; count -= count < 8 ? count : 8) {
		memcpy(&word, flags + count - 8, sizeof(word));
		any |= count < 8 ? word & slots_last(count) : word;
	}
	any |= any >> 32;
	any |= any >> 16;
	return (uint8_t)(any | any >> 8);
}

#endif /* PIPELINE_SLOTS_H */
