/* SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include <string.h>

#include "cookie.h"

struct siphash {
	uint64_t v0, v1, v2, v3;
};

static uint64_t
rotate(uint64_t word, int places)
{
	return word << places | word >> (64 - places);
}

static void
run_round(struct siphash *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = rotate(s->v1, 13) ^ s->v0;
	s->v3 = rotate(s->v3, 16) ^ s->v2;
	s->v0 = rotate(s->v0, 32) + s->v3;
	s->v2 += s->v1;
	s->v3 = rotate(s->v3, 21) ^ s->v0;
	s->v1 = rotate(s->v1, 17) ^ s->v2;
	s->v2 = rotate(s->v2, 32);
}

static void
take_word(struct siphash *s, uint64_t word)
{
	s->v3 ^= word;
	run_round(s);
	run_round(s);
	s->v0 ^= word;
}

static uint64_t
read_word(const uint8_t *bytes, size_t length)
{
	uint64_t word = 0;

	memcpy(&word, bytes, length < sizeof(word) ? length : sizeof(word));
	return le64toh(word);
}

uint64_t
aggregate_siphash(const uint8_t key[AGGREGATE_KEY_BYTES], const uint8_t *bytes, size_t length)
{
	uint64_t k0 = read_word(key, 8), k1 = read_word(key + 8, 8);
	struct siphash s = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
		k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573};
	size_t whole = length & ~(size_t)7;

	for (size_t at = 0; at < whole; at += 8)
		take_word(&s, read_word(bytes + at, 8));
	take_word(&s, read_word(bytes + whole, length - whole) | (uint64_t)length << 56);
	s.v2 ^= 0xff;
	for (int i = 0; i < 4; i++)
		run_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

/* What a hash is of: no input of one use is one of another's. */
enum use {
	COOKIE,
	SESSION,
	JOB,
};

static uint64_t
cookie_of_period(const struct aggregate_limits *limits, const struct cookie_subject *subject,
	uint64_t period)
{
	struct {
		uint64_t use, token, period;
		uint8_t address[16];
		uint32_t ended, serial;
		uint16_t port, job, worker, zero;
	} input = {.use = COOKIE,
		.token = subject->token,
		.period = period,
		.ended = subject->ended,
		.serial = subject->serial,
		.port = subject->sender->port,
		.job = subject->job,
		.worker = subject->worker};

	memcpy(input.address, subject->sender->address, sizeof(input.address));
	return aggregate_siphash(limits->key, (const uint8_t *)&input, sizeof(input));
}

uint64_t
cookie_make(
	const struct aggregate_limits *limits, const struct cookie_subject *subject, uint64_t now)
{
	return cookie_of_period(limits, subject, now / limits->cookie_period);
}

bool
cookie_is_good(const struct aggregate_limits *limits, const struct cookie_subject *subject,
	uint64_t now, uint64_t cookie)
{
	uint64_t period = now / limits->cookie_period;

	return cookie == cookie_of_period(limits, subject, period) ||
		cookie == cookie_of_period(limits, subject, period - 1);
}

static uint64_t
hash_pair(const struct aggregate_limits *limits, enum use use, uint64_t first, uint64_t second)
{
	const uint64_t input[] = {use, first, second};

	return aggregate_siphash(limits->key, (const uint8_t *)input, sizeof(input));
}

uint64_t
cookie_session(const struct aggregate_limits *limits, uint32_t generation)
{
	uint64_t session = 0;

	for (uint64_t draw = 0; session == 0; draw++)
		session = hash_pair(limits, SESSION, generation, draw);
	return session;
}

uint64_t
cookie_job_hash(const struct aggregate_limits *limits, uint16_t job, uint64_t token)
{
	return hash_pair(limits, JOB, job, token);
}
