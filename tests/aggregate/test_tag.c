/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags and their keys, by every engine that was built. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <aggregate_tag.h>
#include <aggregate_wire.h>

#include "allocations.h"
#include "cases.h"

#define JOB 0x1234
#define SESSION UINT64_C(0x0123456789abcdef)

enum key_kind {
	JOIN_TO_SWITCH,
	JOIN_TO_WORKERS,
	SESSION_TO_SWITCH,
	SESSION_TO_WORKERS,
	KEY_KINDS,
};

struct vector {
	enum key_kind kind;
	size_t bytes; /* of the payload, without the tag */
	uint32_t high;
	uint64_t tag; /* as a big-endian number */
};

#include "tag_vectors.h"

#define MAX_BYTES 9000

static struct aggregate_secret *secret;
static struct aggregate_tag_key keys[KEY_KINDS];
static uint8_t packet[MAX_BYTES];

static void
fill_payload(size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		packet[i] = (uint8_t)(7 * i + 3);
}

static struct aggregate_secret *
make_secret(enum aggregate_engine engine)
{
	uint8_t key[AGGREGATE_CLUSTER_KEY_BYTES];

	for (uint8_t i = 0; i < sizeof(key); i++)
		key[i] = i;
	return aggregate_secret_create_for(key, engine);
}

static void
make_keys(void)
{
	aggregate_tag_join_key(secret, AGGREGATE_TO_SWITCH, &keys[JOIN_TO_SWITCH]);
	aggregate_tag_join_key(secret, AGGREGATE_TO_WORKERS, &keys[JOIN_TO_WORKERS]);
	aggregate_tag_session_key(
		secret, JOB, SESSION, AGGREGATE_TO_SWITCH, &keys[SESSION_TO_SWITCH]);
	aggregate_tag_session_key(
		secret, JOB, SESSION, AGGREGATE_TO_WORKERS, &keys[SESSION_TO_WORKERS]);
}

static int
start(enum aggregate_engine engine)
{
	secret = make_secret(engine);
	if (secret == NULL)
		return -1;
	make_keys();
	return 0;
}

static int
start_nettle(void **state)
{
	(void)state;
	return start(AGGREGATE_ENGINE_NETTLE);
}

#ifdef HAVE_IPSEC_MB
static int
start_ipsec_mb(void **state)
{
	(void)state;
	return start(AGGREGATE_ENGINE_IPSEC_MB);
}
#endif

static int
stop(void **state)
{
	(void)state;
	aggregate_secret_free(secret);
	return 0;
}

/* A test of each engine. */
#ifdef HAVE_IPSEC_MB
#define ENGINE_TEST(name)                                   \
	static void name(void);                             \
	TEST_WITH(name##_by_nettle, start_nettle, stop)     \
	{                                                   \
		name();                                     \
	}                                                   \
	TEST_WITH(name##_by_ipsec_mb, start_ipsec_mb, stop) \
	{                                                   \
		name();                                     \
	}                                                   \
	static void name(void)
#else
#define ENGINE_TEST(name) TEST_WITH(name, start_nettle, stop)
#endif

ENGINE_TEST(tags_are_those_of_openssl)
{
	for (size_t v = 0; v < sizeof(vectors) / sizeof(vectors[0]); v++) {
		const struct vector *vector = &vectors[v];
		uint64_t tag = 0;

		fill_payload(vector->bytes);
		aggregate_tag_make(&keys[vector->kind], packet, vector->bytes, vector->high);
		for (size_t i = 0; i < AGGREGATE_TAG_BYTES; i++)
			tag = tag << 8 | packet[vector->bytes + i];
		assert_int_equal(tag, vector->tag);
		assert_true(aggregate_tag_is_good(&keys[vector->kind], packet,
			vector->bytes + AGGREGATE_TAG_BYTES, vector->high));
	}
}

/* The whole packet's length, tagged. */
static size_t
make_packet(size_t payload)
{
	fill_payload(payload);
	aggregate_tag_make(&keys[SESSION_TO_SWITCH], packet, payload, 0);
	return payload + AGGREGATE_TAG_BYTES;
}

static bool
is_good(size_t length)
{
	return aggregate_tag_is_good(&keys[SESSION_TO_SWITCH], packet, length, 0);
}

ENGINE_TEST(every_flipped_bit_is_seen)
{
	static const size_t payloads[] = {24, 40, 63, 1472};

	for (size_t p = 0; p < sizeof(payloads) / sizeof(payloads[0]); p++) {
		size_t length = make_packet(payloads[p]);

		for (size_t bit = 0; bit < 8 * length; bit++) {
			packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_false(is_good(length));
			packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		assert_true(is_good(length));
	}
}

static void
swap_words(size_t a, size_t b, size_t bytes)
{
	uint8_t word[4];

	memcpy(word, packet + a * bytes, bytes);
	memcpy(packet + a * bytes, packet + b * bytes, bytes);
	memcpy(packet + b * bytes, word, bytes);
}

/* UDP's checksum sees none of these. */
ENGINE_TEST(words_that_change_places_are_seen)
{
	for (size_t bytes = 2; bytes <= 4; bytes += 2) {
		size_t length = make_packet(408);

		for (size_t a = 0; a < length / bytes; a++)
			for (size_t b = 0; b < a; b++) {
				bool same =
					memcmp(packet + a * bytes, packet + b * bytes, bytes) == 0;

				swap_words(a, b, bytes);
				assert_int_equal(is_good(length), same);
				swap_words(a, b, bytes);
			}
	}
}

ENGINE_TEST(other_lengths_are_seen)
{
	size_t length;

	for (size_t shorter = 0; shorter < 100; shorter++) {
		length = make_packet(100);
		assert_int_equal(is_good(shorter), false);
	}
	/* Zeros at the end of values that end in zeros, with the tag after them. */
	fill_payload(24);
	memset(packet + 24, 0, 200);
	aggregate_tag_make(&keys[SESSION_TO_SWITCH], packet, 100, 0);
	for (length = 24; length < 200; length++) {
		uint8_t tag[AGGREGATE_TAG_BYTES];

		memcpy(tag, packet + 100, sizeof(tag));
		memset(packet + 100, 0, sizeof(tag));
		memcpy(packet + length, tag, sizeof(tag));
		assert_int_equal(is_good(length + AGGREGATE_TAG_BYTES), length == 100);
		memset(packet + length, 0, sizeof(tag));
		memcpy(packet + 100, tag, sizeof(tag));
	}
}

static bool
is_good_by(const struct aggregate_tag_key *key, size_t length)
{
	return aggregate_tag_is_good(key, packet, length, 0);
}

ENGINE_TEST(each_key_is_one_of_a_kind)
{
	for (unsigned int made = 0; made < KEY_KINDS; made++) {
		fill_payload(72);
		aggregate_tag_make(&keys[made], packet, 72, 0);
		for (unsigned int k = 0; k < KEY_KINDS; k++)
			assert_int_equal(is_good_by(&keys[k], 80), k == made);
	}
}

ENGINE_TEST(other_sessions_and_jobs_are_seen)
{
	size_t length = make_packet(72);
	struct aggregate_tag_key key;

	for (unsigned int bit = 0; bit < 64; bit++) {
		aggregate_tag_session_key(
			secret, JOB, SESSION ^ UINT64_C(1) << bit, AGGREGATE_TO_SWITCH, &key);
		assert_false(is_good_by(&key, length));
	}
	for (unsigned int bit = 0; bit < 16; bit++) {
		aggregate_tag_session_key(
			secret, JOB ^ (uint16_t)(1 << bit), SESSION, AGGREGATE_TO_SWITCH, &key);
		assert_false(is_good_by(&key, length));
	}
	aggregate_tag_session_key(secret, JOB, SESSION, AGGREGATE_TO_SWITCH, &key);
	assert_true(is_good_by(&key, length));
}

ENGINE_TEST(other_clusters_are_seen)
{
	size_t length = make_packet(72);

	for (unsigned int bit = 0; bit < 8 * AGGREGATE_CLUSTER_KEY_BYTES; bit++) {
		uint8_t cluster[AGGREGATE_CLUSTER_KEY_BYTES];
		struct aggregate_secret *other;
		struct aggregate_tag_key key;

		for (uint8_t i = 0; i < sizeof(cluster); i++)
			cluster[i] = i;
		cluster[bit / 8] ^= (uint8_t)(1 << bit % 8);
		other = aggregate_secret_create(cluster);
		assert_non_null(other);
		aggregate_tag_session_key(other, JOB, SESSION, AGGREGATE_TO_SWITCH, &key);
		assert_false(is_good_by(&key, length));
		aggregate_secret_free(other);
	}
}

ENGINE_TEST(packets_of_the_last_round_of_numbers_are_seen)
{
	size_t length = make_packet(72);

	for (unsigned int bit = 0; bit < 32; bit++)
		assert_false(aggregate_tag_is_good(
			&keys[SESSION_TO_SWITCH], packet, length, UINT32_C(1) << bit));
}

/* A result is the same for all workers but for its header. */
ENGINE_TEST(one_digest_serves_all_workers)
{
	struct aggregate_digest digest;

	fill_payload(1472);
	aggregate_tag_digest(&keys[SESSION_TO_WORKERS], packet + AGGREGATE_HEADER_BYTES,
		1472 - AGGREGATE_HEADER_BYTES, &digest);
	for (unsigned int worker = 0; worker < AGGREGATE_MAX_WORKERS; worker++) {
		packet[14] = (uint8_t)worker;
		aggregate_tag_finish(
			&keys[SESSION_TO_WORKERS], packet, worker, &digest, packet + 1472);
		assert_true(aggregate_tag_is_good(&keys[SESSION_TO_WORKERS], packet, 1480, worker));
	}
}

/* After the packet is memory that can't be read. */
ENGINE_TEST(nothing_is_read_beyond)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages =
		mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages, page, PROT_NONE), 0);
	assert_int_equal(mprotect(pages + 3 * page, page, PROT_NONE), 0);
	for (size_t payload = AGGREGATE_HEADER_BYTES; payload < 1600; payload++) {
		size_t length = make_packet(payload);
		uint8_t *last = pages + 3 * page - length;
		struct aggregate_digest digest, again;

		memcpy(last, packet, length);
		assert_true(aggregate_tag_is_good(&keys[SESSION_TO_SWITCH], last, length, 0));
		memcpy(pages + page, packet, length);
		assert_true(
			aggregate_tag_is_good(&keys[SESSION_TO_SWITCH], pages + page, length, 0));
		/* The tag after the values is memory that could be read. */
		memcpy(pages + 3 * page - payload, packet, payload);
		aggregate_tag_digest(&keys[SESSION_TO_SWITCH],
			pages + 3 * page - payload + AGGREGATE_HEADER_BYTES,
			payload - AGGREGATE_HEADER_BYTES, &digest);
		aggregate_tag_digest(&keys[SESSION_TO_SWITCH], packet + AGGREGATE_HEADER_BYTES,
			payload - AGGREGATE_HEADER_BYTES, &again);
		assert_memory_equal(&digest, &again, sizeof(digest));
	}
	munmap(pages, 4 * page);
}

ENGINE_TEST(nothing_is_allocated_for_keys_and_tags)
{
	struct aggregate_tag_key key;
	uint64_t made, allocated;
	void *volatile seen;

	allocations_start();
	seen = malloc(1);
	free(seen);
	assert_int_equal(allocations_count(), 2);
	allocations_start();
	for (made = 0; made < 100; made++) {
		aggregate_tag_join_key(secret, AGGREGATE_TO_SWITCH, &key);
		aggregate_tag_session_key(secret, JOB, made, AGGREGATE_TO_WORKERS, &key);
		aggregate_tag_make(&key, packet, 1472, 0);
		if (!aggregate_tag_is_good(&key, packet, 1480, 0))
			break;
		aggregate_tag_key_clear(&key);
	}
	allocated = allocations_count();
	assert_int_equal(made, 100);
	assert_int_equal(allocated, 0);
}

ENGINE_TEST(a_cleared_key_is_all_zeros)
{
	struct aggregate_tag_key key;
	const uint8_t *bytes = (const uint8_t *)&key;

	aggregate_tag_session_key(secret, JOB, SESSION, AGGREGATE_TO_SWITCH, &key);
	aggregate_tag_key_clear(&key);
	for (size_t i = 0; i < sizeof(key); i++)
		assert_int_equal(bytes[i], 0);
}

/* Of all numbers that end in these 32 bits the nearest; in 128 bits, where nothing goes round. */
static uint32_t
nearest_high(uint64_t near, uint32_t id)
{
	uint32_t best = 0;
	unsigned __int128 least = ~(unsigned __int128)0;

	for (int64_t step = -2; step <= 2; step++) {
		__int128 high = (__int128)(near >> 32) + step;
		__int128 number = high * ((__int128)1 << 32) + id, distance = number - near;

		if (high < 0)
			continue;
		distance = distance < 0 ? -distance : distance;
		if ((unsigned __int128)distance < least) {
			least = (unsigned __int128)distance;
			best = (uint32_t)high;
		}
	}
	return best;
}

TEST(the_upper_half_is_the_nearest)
{
	uint64_t seed = 1;

	assert_int_equal(aggregate_chunk_high(0, 0), 0);
	assert_int_equal(aggregate_chunk_high(0, UINT32_MAX), 0);
	assert_int_equal(aggregate_chunk_high(UINT32_MAX, 0), 1);
	assert_int_equal(aggregate_chunk_high(UINT64_C(1) << 32, UINT32_MAX), 0);
	for (unsigned int i = 0; i < 1000000; i++) {
		uint64_t near;
		uint32_t id;

		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		near = (seed >> 8 & 3) << 32 | (uint32_t)(seed >> 16);
		id = (uint32_t)(seed >> 32) * 2654435761u;
		/* Half of them close to where the numbers go round. */
		if ((seed & 0x80) != 0)
			near = (near & ~UINT64_C(0xffffffff)) + (seed >> 60);
		/* As far one way as the other: either is right. */
		if (id - (uint32_t)near == UINT32_C(1) << 31)
			continue;
		assert_int_equal(aggregate_chunk_high(near, id), nearest_high(near, id));
	}
}
