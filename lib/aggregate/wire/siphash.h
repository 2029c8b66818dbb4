/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIPHASH_H
#define SIPHASH_H

/**
 * @file
 * SipHash-2-4 (Aumasson and Bernstein, 2012), word by word.
 */

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define SIPHASH_KEY_BYTES 16

struct siphash {
	uint64_t v0, v1, v2, v3;
};

/* Words are little-endian, those of the key, too. */
static inline uint64_t
siphash_read(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return le64toh(word);
}

static inline uint64_t
siphash_rotate(uint64_t word, int places)
{
	return word << places | word >> (64 - places);
}

static inline void
siphash_round(struct siphash *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = siphash_rotate(s->v1, 13) ^ s->v0;
	s->v3 = siphash_rotate(s->v3, 16) ^ s->v2;
	s->v0 = siphash_rotate(s->v0, 32) + s->v3;
	s->v2 += s->v1;
	s->v3 = siphash_rotate(s->v3, 21) ^ s->v0;
	s->v1 = siphash_rotate(s->v1, 17) ^ s->v2;
	s->v2 = siphash_rotate(s->v2, 32);
}

static inline void
siphash_start(struct siphash *s, const uint8_t key[SIPHASH_KEY_BYTES])
{
	uint64_t k0 = siphash_read(key), k1 = siphash_read(key + 8);

	s->v0 = k0 ^ 0x736f6d6570736575;
	s->v1 = k1 ^ 0x646f72616e646f6d;
	s->v2 = k0 ^ 0x6c7967656e657261;
	s->v3 = k1 ^ 0x7465646279746573;
}

static inline void
siphash_take(struct siphash *s, uint64_t word)
{
	s->v3 ^= word;
	siphash_round(s);
	siphash_round(s);
	s->v0 ^= word;
}

/** @param rest the up to 7 bytes after the last whole word @param length of all bytes */
static inline uint64_t
siphash_finish(struct siphash *s, uint64_t rest, size_t length)
{
	siphash_take(s, rest | (uint64_t)length << 56);
	s->v2 ^= 0xff;
	for (int i = 0; i < 4; i++)
		siphash_round(s);
	return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

#endif /* SIPHASH_H */
