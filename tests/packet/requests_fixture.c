/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "eal.h"
#include "fp32_pairs.h"
#include "requests_fixture.h"

/* Words of an operand of all lanes. */
#define MAX_WORDS (2 * MAX_LANES)
/* Padding of x, y and z. */
#define PADDING_X 0x7f
#define PADDING_Y 0xff
#define PADDING_Z 0x5a

int
requests_set_up(void **state, const char *set_name)
{
	const char *const set_names[] = {"fp16_k8", set_name};
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	fixture_set_up(&f->base, set_names, set_name != NULL ? 2 : 1);
	f->base.config.functions = f->functions;
	*state = f;
	return 0;
}

int
requests_tear_down(void **state)
{
	struct fixture *f = *state;

	fixture_tear_down(&f->base);
	free(f);
	return 0;
}

/* As its table set has it, if there is one. */
static const struct netfc_format *
format_of(const struct fixture *f, unsigned int format)
{
	const struct netfc_set *set = f->base.set[format];

	return set != NULL ? netfc_set_format(set) : netfc_format_by_id(format);
}

void
requests_add_function(struct fixture *f, unsigned int number, unsigned int format)
{
	const struct netfc_function *known = netfc_function_by_number(number);
	const unsigned int index = f->base.config.function_count++;

	f->functions[index] = (struct pipeline_function){
		.name = known != NULL ? netfc_function_name(known) : "own",
		.number = (uint8_t)number,
		.format = (uint8_t)format,
		.z = f->z[index],
		.flags = f->flags[index],
	};
}

void
requests_add_known(struct fixture *f, unsigned int number, unsigned int format)
{
	const unsigned int index = f->base.config.function_count;

	assert_int_equal(netfc_function_table(netfc_function_by_number(number),
				 format_of(f, format), f->z[index], f->flags[index]),
		NETFC_OK);
	requests_add_function(f, number, format);
}

void
requests_create_pipeline(struct fixture *f, enum match_kind match, enum vector_isa isa)
{
	f->base.config.match = match;
	f->base.config.isa = isa;
	fixture_create_pipeline(&f->base);
}

void
request_set(struct asked *request, unsigned int op, unsigned int format, unsigned int lanes)
{
	request->op = op;
	request->format = format;
	request->lanes = lanes;
	request->slot = netfc_wire_slot_bytes(op, format);
}

void
request_ask(struct asked *request, unsigned int op, unsigned int format, unsigned int lanes,
	uint64_t *seed)
{
	uint32_t mask;

	request_set(request, op, format, lanes);
	mask = UINT32_MAX >> (32 - 8 * request->slot);
	fp32_random_pairs(seed, request->x, request->y, lanes);
	for (unsigned int l = 0; l < lanes; l++) {
		request->x[l] &= mask;
		request->y[l] &= mask;
		request->z[l] = 0xa5a5a5a5 & mask;
	}
}

static uint16_t
random_bits(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint16_t)(*state >> 48);
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
request_ask_edges(struct asked *request, unsigned int op, unsigned int format, unsigned int lanes,
	uint64_t *seed)
{
	request_set(request, op, format, lanes);
	for (unsigned int l = 0; l < lanes; l++) {
		request->x[l] = operand(seed);
		request->y[l] = operand(seed);
		request->z[l] = operand(seed);
	}
}

static unsigned int
words_of(const struct asked *request)
{
	return (request->slot * request->lanes + 1) / 2;
}

uint32_t
request_length(const struct asked *request)
{
	return packet_length(words_of(request));
}

/* Operands as they stand in a packet. */
static void
pack(const struct asked *request, const uint32_t *values, uint8_t padding, uint16_t *words)
{
	static uint8_t bytes[2 * MAX_WORDS];
	const unsigned int slot = request->slot, count = slot * request->lanes;

	for (unsigned int b = 0; b < count; b++)
		bytes[b] = (uint8_t)(values[b / slot] >> 8 * (slot - 1 - b % slot));
	if (count % 2 == 1)
		bytes[count] = padding;
	for (unsigned int w = 0; w < words_of(request); w++)
		words[w] = (uint16_t)(bytes[2 * w] << 8 | bytes[2 * w + 1]);
}

void
request_write(struct fixture *f, unsigned int index)
{
	static uint16_t x[MAX_WORDS], y[MAX_WORDS], z[MAX_WORDS];
	const struct asked *request = &f->asked[index];
	const uint16_t words = (uint16_t)words_of(request);
	uint8_t *frame = f->frames[index];

	pack(request, request->x, PADDING_X, x);
	pack(request, request->y, PADDING_Y, y);
	pack(request, request->z, PADDING_Z, z);
	packet_write(frame, request->op, request->format, words, x, y);
	packet_write_count(frame, (uint16_t)request->lanes);
	packet_write_results(frame, words, z);
}

void
frames_process(struct fixture *f, const uint32_t *lengths, unsigned int count, uint32_t cut)
{
	struct fixture_burst burst = {.count = count};

	for (unsigned int i = 0; i < count; i++) {
		burst.bytes[i] = f->frames[i];
		burst.length[i] = lengths[i];
	}
	fixture_process(&f->base, &burst, cut);
}

void
requests_process(struct fixture *f, unsigned int count, uint32_t cut)
{
	uint32_t lengths[PIPELINE_BURST];

	for (unsigned int i = 0; i < count; i++) {
		request_write(f, i);
		lengths[i] = request_length(&f->asked[i]);
	}
	frames_process(f, lengths, count, cut);
}

uint32_t
request_result(const struct fixture *f, unsigned int index, unsigned int lane)
{
	const struct asked *request = &f->asked[index];
	const uint8_t *at = f->frames[index] + PACKET_HEADERS + 4 * words_of(request);
	uint32_t result = 0;

	for (unsigned int b = 0; b < request->slot; b++)
		result = result << 8 | at[lane * request->slot + b];
	return result;
}

static const struct pipeline_function *
function_of(const struct fixture *f, const struct asked *request)
{
	const struct pipeline_config *config = &f->base.config;

	for (unsigned int n = 0; n < config->function_count; n++) {
		const struct pipeline_function *function = &config->functions[n];

		if (function->number == request->op && function->format == request->format)
			return function;
	}
	return NULL;
}

static struct netfc_result
expected_of(const struct fixture *f, const struct asked *request, unsigned int lane)
{
	const uint32_t x = request->x[lane], y = request->y[lane], z = request->z[lane];
	const struct netfc_format *format = format_of(f, request->format);
	const struct pipeline_function *function = function_of(f, request);

	if (function != NULL) {
		const uint32_t entry = x & (UINT32_MAX >> (32 - netfc_format_width(format)));

		return (struct netfc_result){function->z[entry], function->flags[entry]};
	}
	if (request->op > NETFC_DIV)
		return netfc_extra(format, request->op, x, y, z);
	if (request->format != NETFC_FP16 || f->base.config.match == MATCH_FPU)
		return netfc_exact(format, request->op, x, y);
	return netfc_calc(f->base.set[request->format], request->op, x, y);
}

/* x, y and padding are as they were, and the checksum is right. */
static void
check_rest(const struct fixture *f, unsigned int index)
{
	static uint16_t x[MAX_WORDS], y[MAX_WORDS];
	const struct asked *request = &f->asked[index];
	const uint8_t *at = f->frames[index] + PACKET_HEADERS;
	const unsigned int words = words_of(request);

	pack(request, request->x, PADDING_X, x);
	pack(request, request->y, PADDING_Y, y);
	for (unsigned int w = 0; w < words; w++) {
		assert_int_equal(at[2 * w] << 8 | at[2 * w + 1], x[w]);
		assert_int_equal(at[2 * (words + w)] << 8 | at[2 * (words + w) + 1], y[w]);
	}
	if (request->slot * request->lanes % 2 == 1)
		assert_int_equal(at[6 * words - 1], PADDING_Z);
	assert_true(packet_checksum_is_right(f->frames[index]));
}

void
request_check_reply(const struct fixture *f, unsigned int index)
{
	const struct asked *request = &f->asked[index];
	uint8_t flags = 0;

	for (unsigned int l = 0; l < request->lanes; l++) {
		const struct netfc_result expected = expected_of(f, request, l);

		assert_int_equal(request_result(f, index, l), expected.z);
		flags |= expected.flags;
	}
	assert_int_equal(packet_status(f->frames[index]), NETFC_STATUS_REPLY | flags);
	check_rest(f, index);
}

void
request_check_error(const struct fixture *f, unsigned int index, enum netfc_status code)
{
	const struct asked *request = &f->asked[index];

	assert_int_equal(packet_status(f->frames[index]),
		NETFC_STATUS_REPLY | (unsigned int)code << NETFC_STATUS_CODE_SHIFT);
	for (unsigned int l = 0; l < request->lanes; l++)
		assert_int_equal(request_result(f, index, l), request->z[l]);
	check_rest(f, index);
}

void
requests_check_refused(
	struct fixture *f, unsigned int op, unsigned int format, enum netfc_status code)
{
	uint64_t seed = 12;

	for (unsigned int i = 0; i < 3; i++)
		request_ask(&f->asked[i], NETFC_ADD, NETFC_FP16, 20, &seed);
	request_ask(&f->asked[1], op, format, 21, &seed);
	for (uint32_t cut = 59; cut <= 2048; cut += 1989) {
		requests_process(f, 3, cut);
		request_check_reply(f, 0);
		request_check_error(f, 1, code);
		request_check_reply(f, 2);
	}
}

int
requests_main(int argc, char **argv, const char **set_name, unsigned int *format)
{
	struct netfc_set_id id;

	if (argc != 2 || netfc_set_parse_name(argv[1], &id) != NETFC_OK || start_lcores(1) != 0)
		return 1;
	*set_name = argv[1];
	*format = netfc_format_id(id.format);
	return tests_run(NULL, NULL);
}
