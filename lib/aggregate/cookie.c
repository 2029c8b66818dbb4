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

static uint64_t
cookie_of_period(const struct aggregate_limits *limits, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t period)
{
	struct {
		uint8_t address[16];
		uint64_t token, period;
		uint32_t job, worker;
	} input = {.token = request->token,
		.period = period,
		.job = request->job,
		.worker = request->worker};

	memcpy(input.address, sender->address, sizeof(input.address));
	return aggregate_siphash(limits->key, (const uint8_t *)&input, sizeof(input));
}

uint64_t
aggregate_cookie(const struct aggregate_limits *limits, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now)
{
	return cookie_of_period(limits, request, sender, now / limits->cookie_period);
}

bool
aggregate_cookie_is_good(const struct aggregate_limits *limits,
	const struct aggregate_message *request, const struct aggregate_sender *sender,
	uint64_t now)
{
	uint64_t period = now / limits->cookie_period;

	return request->join.cookie == cookie_of_period(limits, request, sender, period) ||
		request->join.cookie == cookie_of_period(limits, request, sender, period - 1);
}
