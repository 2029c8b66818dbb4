/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fp32_pairs.h"
#include "fp32_fixture.h"

int
fp32_set_up(void **state)
{
	static const char *const set_names[] = {"fp16_k8", "fp32_exact"};
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	fixture_set_up(&f->base, set_names, RTE_DIM(set_names));
	*state = f;
	return 0;
}

int
fp32_tear_down(void **state)
{
	struct fixture *f = *state;

	fixture_tear_down(&f->base);
	free(f);
	return 0;
}

void
fp32_create_pipeline(struct fixture *f, enum match_kind match, enum vector_isa isa)
{
	f->base.config.match = match;
	f->base.config.isa = isa;
	fixture_create_pipeline(&f->base);
}

void
fp32_ask(struct asked *request, unsigned int op, unsigned int format, unsigned int lanes,
	uint64_t *seed)
{
	request->op = op;
	request->format = format;
	request->lanes = lanes;
	fp32_random_pairs(seed, request->x, request->y, lanes);
	for (unsigned int l = 0; l < lanes; l++) {
		request->z[l] = 0xa5a5a5a5;
		if (format == NETFC_FP32)
			continue;
		request->x[l] &= UINT16_MAX;
		request->y[l] &= UINT16_MAX;
		request->z[l] &= UINT16_MAX;
	}
}

/* Slots of 32 bits are two of 16. */
static unsigned int
words_a_lane(const struct asked *request)
{
	return request->format == NETFC_FP32 ? 2 : 1;
}

static void
split(const struct asked *request, const uint32_t *values, uint16_t *words)
{
	for (unsigned int l = 0; l < request->lanes; l++) {
		if (request->format == NETFC_FP32)
			*words++ = (uint16_t)(values[l] >> 16);
		*words++ = (uint16_t)values[l];
	}
}

uint32_t
fp32_length(const struct asked *request)
{
	return packet_length(words_a_lane(request) * request->lanes);
}

void
fp32_write_request(struct fixture *f, unsigned int index)
{
	static uint16_t x[2 * MOST_LANES], y[2 * MOST_LANES], z[2 * MOST_LANES];
	const struct asked *request = &f->asked[index];
	const uint16_t words = (uint16_t)(words_a_lane(request) * request->lanes);
	uint8_t *frame = f->frames[index];

	split(request, request->x, x);
	split(request, request->y, y);
	split(request, request->z, z);
	packet_write(frame, request->op, request->format, words, x, y);
	packet_write_count(frame, (uint16_t)request->lanes);
	packet_write_results(frame, words, z);
}

void
fp32_process(struct fixture *f, const uint32_t *lengths, unsigned int count, uint32_t cut)
{
	struct fixture_burst burst = {.count = count};

	for (unsigned int i = 0; i < count; i++) {
		burst.bytes[i] = f->frames[i];
		burst.length[i] = lengths[i];
	}
	fixture_process(&f->base, &burst, cut);
}

void
fp32_process_requests(struct fixture *f, unsigned int count, uint32_t cut)
{
	uint32_t lengths[PIPELINE_BURST];

	for (unsigned int i = 0; i < count; i++) {
		fp32_write_request(f, i);
		lengths[i] = fp32_length(&f->asked[i]);
	}
	fp32_process(f, lengths, count, cut);
}

static uint32_t
result_of(const uint8_t *frame, const struct asked *request, unsigned int lane)
{
	const uint16_t words = (uint16_t)(words_a_lane(request) * request->lanes);

	if (request->format != NETFC_FP32)
		return packet_result(frame, words, (uint16_t)lane);
	return (uint32_t)packet_result(frame, words, (uint16_t)(2 * lane)) << 16 |
		packet_result(frame, words, (uint16_t)(2 * lane + 1));
}

static struct netfc_result
expected_of(const struct fixture *f, const struct asked *request, unsigned int lane)
{
	const uint32_t x = request->x[lane], y = request->y[lane];
	const struct netfc_set *set = f->base.set[request->format];

	if (request->format == NETFC_FP32 || f->base.config.match == MATCH_FPU)
		return netfc_exact(netfc_set_format(set), request->op, x, y);
	return netfc_calc(set, request->op, x, y);
}

void
fp32_check_reply(const struct fixture *f, unsigned int index)
{
	const struct asked *request = &f->asked[index];
	const uint8_t *frame = f->frames[index];
	uint8_t flags = 0;

	for (unsigned int l = 0; l < request->lanes; l++) {
		const struct netfc_result expected = expected_of(f, request, l);

		assert_int_equal(result_of(frame, request, l), expected.z);
		flags |= expected.flags;
	}
	assert_int_equal(packet_status(frame), NETFC_STATUS_REPLY | flags);
	assert_true(packet_checksum_is_right(frame));
}

void
fp32_check_error(const struct fixture *f, unsigned int index, enum netfc_status code)
{
	const struct asked *request = &f->asked[index];
	const uint8_t *frame = f->frames[index];

	assert_int_equal(packet_status(frame),
		NETFC_STATUS_REPLY | (unsigned int)code << NETFC_STATUS_CODE_SHIFT);
	for (unsigned int l = 0; l < request->lanes; l++)
		assert_int_equal(result_of(frame, request, l), request->z[l]);
	assert_true(packet_checksum_is_right(frame));
}
