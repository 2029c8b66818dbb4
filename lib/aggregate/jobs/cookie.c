/* SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include <string.h>

#include "jobs/cookie.h"
#include "wire/siphash.h"

static uint64_t
read_rest(const uint8_t *bytes, size_t length)
{
	uint64_t word = 0;

	memcpy(&word, bytes, length);
	return le64toh(word);
}

uint64_t
aggregate_siphash(const uint8_t key[AGGREGATE_KEY_BYTES], const uint8_t *bytes, size_t length)
{
	size_t whole = length & ~(size_t)7;
	struct siphash s;

	siphash_start(&s, key);
	for (size_t at = 0; at < whole; at += 8)
		siphash_take(&s, siphash_read(bytes + at));
	return siphash_finish(&s, read_rest(bytes + whole, length - whole), length);
}

/* Domain separation: each use of the hash has different inputs. */
enum use {
	COOKIE,
	SESSION,
	JOB,
	INCARNATION,
};

static uint64_t
cookie_of_period(const struct aggregate_limits *limits, const struct cookie_subject *subject,
	uint64_t period)
{
	struct {
		uint64_t use, token, incarnation, period;
		uint8_t address[16];
		uint32_t ended, serial;
		uint16_t port, job, worker, zero;
	} input = {.use = COOKIE,
		.token = subject->token,
		.incarnation = subject->incarnation,
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

/* Never 0. */
static uint64_t
number_of(const struct aggregate_limits *limits, enum use use, uint64_t generation)
{
	uint64_t number = 0;

	for (uint64_t draw = 0; number == 0; draw++)
		number = hash_pair(limits, use, generation, draw);
	return number;
}

uint64_t
cookie_session(const struct aggregate_limits *limits, uint64_t generation)
{
	return number_of(limits, SESSION, generation);
}

uint64_t
cookie_incarnation(const struct aggregate_limits *limits, uint64_t generation)
{
	return number_of(limits, INCARNATION, generation);
}

uint64_t
cookie_job_hash(const struct aggregate_limits *limits, uint16_t job, uint64_t token)
{
	return hash_pair(limits, JOB, job, token);
}
