/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blobs.h"
#include "exact.h"

#define FIRST_SIZE 1024

static uint64_t
hash_of(const uint8_t *bytes, size_t length)
{
	uint64_t sum = length;

	for (size_t at = 0; at < length; at += sizeof(uint64_t)) {
		uint64_t word = 0;

		memcpy(&word, bytes + at, length - at < sizeof(word) ? length - at : sizeof(word));
		word ^= sum;
		sum = next_random(&word);
	}
	return sum;
}

static void *
resize(void *memory, size_t bytes)
{
	memory = realloc(memory, bytes);
	if (memory == NULL) {
		printf("out of memory\n");
		exit(1);
	}
	return memory;
}

/* Where a string's number is, or belongs. */
static uint32_t *
place_of(const struct blobs *blobs, const void *bytes, size_t length, uint64_t hash)
{
	for (uint64_t at = hash;; at++) {
		uint32_t *place = &blobs->table[at & (blobs->size - 1)];
		const struct blob *blob = &blobs->blob[*place];

		if (*place == 0 ||
			(blob->hash == hash && blob->length == length &&
				memcmp(blobs->bytes + blob->at, bytes, length) == 0))
			return place;
	}
}

static void
grow_table(struct blobs *blobs)
{
	blobs->size = blobs->size == 0 ? FIRST_SIZE : 2 * blobs->size;
	blobs->table = resize(blobs->table, blobs->size * sizeof(*blobs->table));
	memset(blobs->table, 0, blobs->size * sizeof(*blobs->table));
	for (uint32_t number = 1; number <= blobs->count; number++) {
		const struct blob *blob = &blobs->blob[number];

		*place_of(blobs, blobs->bytes + blob->at, blob->length, blob->hash) = number;
	}
}

static void
append(struct blobs *blobs, const void *bytes, size_t length, uint64_t hash)
{
	blobs->count++;
	if (blobs->count >= blobs->blob_room) {
		blobs->blob_room = 2 * blobs->count + FIRST_SIZE;
		blobs->blob = resize(blobs->blob, blobs->blob_room * sizeof(*blobs->blob));
	}
	if (blobs->used + length > blobs->room) {
		blobs->room = 2 * (blobs->used + length);
		blobs->bytes = resize(blobs->bytes, blobs->room);
	}
	blobs->blob[blobs->count] = (struct blob){blobs->used, length, hash};
	memcpy(blobs->bytes + blobs->used, bytes, length);
	/* The next one is aligned. */
	blobs->used += (length + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
}

uint32_t
blobs_number(struct blobs *blobs, const void *bytes, size_t length)
{
	const uint64_t hash = hash_of(bytes, length);
	uint32_t *place;

	if (blobs->count + 1 > blobs->size / 2)
		grow_table(blobs);
	place = place_of(blobs, bytes, length, hash);
	if (*place == 0) {
		append(blobs, bytes, length, hash);
		*place = blobs->count;
	}
	return *place;
}

const void *
blobs_bytes(const struct blobs *blobs, uint32_t number)
{
	return blobs->bytes + blobs->blob[number].at;
}

void
blobs_free(struct blobs *blobs)
{
	free(blobs->blob);
	free(blobs->bytes);
	free(blobs->table);
}
