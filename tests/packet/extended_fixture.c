/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eal.h"
#include "extended_fixture.h"

static uint16_t
random_bits(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint16_t)(*state >> 48);
}

void
extended_add_function(struct fixture *f, unsigned int number, unsigned int format)
{
	const unsigned int index = f->base.config.function_count++;

	const struct netfc_function *known = netfc_function_by_number(number);

	f->functions[index] = (struct pipeline_function){
		.name = known != NULL ? netfc_function_name(known) : "own",
		.number = (uint8_t)number,
		.format = (uint8_t)format,
		.z = f->z[index],
		.flags = f->flags[index],
	};
}

void
extended_add_known(struct fixture *f, const struct netfc_function *function, unsigned int format)
{
	const unsigned int index = f->base.config.function_count;

	assert_int_equal(netfc_function_table(function, netfc_format_by_id(format), f->z[index],
				 f->flags[index]),
		NETFC_OK);
	extended_add_function(f, netfc_function_number(function), format);
}

/* A table set of fp16 alone, and no function. */
int
extended_set_up(void **state)
{
	static const char *const set_name = "fp16_k8";
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	fixture_set_up(&f->base, &set_name, 1);
	f->base.config.functions = f->functions;
	*state = f;
	return 0;
}

int
extended_tear_down(void **state)
{
	struct fixture *f = *state;

	fixture_tear_down(&f->base);
	free(f);
	return 0;
}

static void
write_request(uint8_t *frame, const struct asked *asked)
{
	packet_write(frame, asked->op, asked->format, asked->lanes, asked->x, asked->y);
	packet_write_results(frame, asked->lanes, asked->z);
}

static struct netfc_result
expected_of(const struct fixture *f, const struct asked *asked, uint16_t lane)
{
	const uint16_t x = asked->x[lane];

	if (asked->op < NETFC_EXTRA_END)
		return netfc_extra(netfc_format_by_id(asked->format), asked->op, x, asked->y[lane],
			asked->z[lane]);
	for (unsigned int i = 0; i < f->base.config.function_count; i++) {
		const struct pipeline_function *function = &f->functions[i];

		if (function->number == asked->op && function->format == asked->format)
			return (struct netfc_result){function->z[x], function->flags[x]};
	}
	fail_msg("nothing computes operation %u in format %u", asked->op, asked->format);
	return (struct netfc_result){0};
}

void
extended_check_reply(const struct fixture *f, const uint8_t *frame, const struct asked *asked)
{
	uint8_t flags = 0;

	for (uint16_t l = 0; l < asked->lanes; l++) {
		const struct netfc_result expected = expected_of(f, asked, l);

		assert_int_equal(packet_result(frame, asked->lanes, l), expected.z);
		flags |= expected.flags;
	}
	assert_int_equal(packet_status(frame), NETFC_STATUS_REPLY | flags);
	assert_true(packet_checksum_is_right(frame));
}

/* Refused with a code, and otherwise as it was. */
void
extended_check_error(const uint8_t *frame, const struct asked *asked, enum netfc_status code)
{
	assert_int_equal(packet_status(frame),
		NETFC_STATUS_REPLY | (unsigned int)code << NETFC_STATUS_CODE_SHIFT);
	for (uint16_t l = 0; l < asked->lanes; l++)
		assert_int_equal(packet_result(frame, asked->lanes, l), asked->z[l]);
	assert_true(packet_checksum_is_right(frame));
}

/* Requests as one burst, cut into segments; frames are what comes out. */
void
extended_process(struct fixture *f, const struct asked *asked, uint8_t (*frames)[8192],
	unsigned int count, uint32_t cut)
{
	struct fixture_burst burst = {.count = count};

	for (unsigned int i = 0; i < count; i++) {
		write_request(frames[i], &asked[i]);
		burst.bytes[i] = frames[i];
		burst.length[i] = packet_length(asked[i].lanes);
	}
	fixture_process(&f->base, &burst, cut);
	for (unsigned int i = 0; i < count; i++)
		assert_true(burst.frame[i].answered);
}

/* Operands that matter among those that are anything. */
static uint16_t
operand(uint64_t *seed)
{
	static const uint16_t edges[] = {0, 0x8000, 1, 0x8001, 0x3c00, 0xbc00, 0x7bff, 0x7c00,
		0xfc00, 0x7e00, 0x7f80, 0xff80, 0x7fc0, 0x7fff, 0xffff, 0x4000, 0xc000};
	const uint16_t bits = random_bits(seed);

	return bits % 2 == 0 ? edges[bits / 2 % RTE_DIM(edges)] : random_bits(seed);
}

void
extended_fill_request(
	struct asked *request, unsigned int op, unsigned int format, uint16_t lanes, uint64_t *seed)
{
	*request = (struct asked){.op = op, .format = format, .lanes = lanes};
	for (uint16_t l = 0; l < lanes; l++) {
		request->x[l] = operand(seed);
		request->y[l] = operand(seed);
		request->z[l] = operand(seed);
	}
}
