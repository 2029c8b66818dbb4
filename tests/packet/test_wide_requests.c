/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of lanes of 32 bits: which are computed, which are refused, and what is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eal.h"
#include "fp32_pairs.h"
#include "packets.h"
#include "pipeline.h"

#define MOST_LANES 5457u /* of a datagram over IPv4 */
#define FRAME_BYTES (PACKET_HEADERS + MOST_LANES * NETFC_WIDE_LANE_BYTES)
/* Offsets of a frame over IPv4. */
#define IP_LENGTH_AT 16
#define IP_CHECKSUM_AT 24
#define UDP_LENGTH_AT 38
#define COUNT_AT 48

/* A request. */
struct asked {
	unsigned int op, format, lanes;
	uint32_t x[MOST_LANES], y[MOST_LANES], z[MOST_LANES];
};

struct fixture {
	struct rte_mempool *pool;
	struct netfc_set *narrow, *wide;
	struct pipeline_config config;
	struct pipeline *pipeline;
	struct pipeline_worker *worker;
};

static struct asked asked[PIPELINE_BURST];
static uint8_t frames[PIPELINE_BURST][FRAME_BYTES];

static void
create(struct fixture *f, enum match_kind match, enum vector_isa isa)
{
	f->config.match = match;
	f->config.isa = isa;
	assert_int_equal(pipeline_create(&f->config, &f->pipeline), 0);
	f->worker = pipeline_worker_create(f->pipeline, SOCKET_ID_ANY);
	assert_non_null(f->worker);
}

static void
destroy(struct fixture *f)
{
	pipeline_worker_free(f->worker);
	pipeline_free(f->pipeline);
	f->worker = NULL;
	f->pipeline = NULL;
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->pool = rte_pktmbuf_pool_create("test", 8191, 0, 0, 2176, SOCKET_ID_ANY);
	assert_non_null(f->pool);
	assert_int_equal(netfc_set_build("fp16_k8", &f->narrow), NETFC_OK);
	assert_int_equal(netfc_set_build("fp32_exact", &f->wide), NETFC_OK);
	f->config = (struct pipeline_config){
		.udp_port = NETFC_UDP_PORT, .queries = true, .socket_id = SOCKET_ID_ANY};
	f->config.sets[NETFC_FP16] = f->narrow;
	f->config.sets[NETFC_FP32] = f->wide;
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	destroy(f);
	assert_int_equal(rte_mempool_in_use_count(f->pool), 0);
	netfc_set_free(f->narrow);
	netfc_set_free(f->wide);
	rte_mempool_free(f->pool);
	free(f);
	return 0;
}

static void
put_16(uint8_t *at, unsigned int value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
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

static uint32_t
length_of(const struct asked *request)
{
	return packet_length(words_a_lane(request) * request->lanes);
}

static void
write_request(uint8_t *frame, const struct asked *request)
{
	static uint16_t x[2 * MOST_LANES], y[2 * MOST_LANES], z[2 * MOST_LANES];
	const uint16_t words = (uint16_t)(words_a_lane(request) * request->lanes);

	split(request, request->x, x);
	split(request, request->y, y);
	split(request, request->z, z);
	packet_write(frame, request->op, request->format, words, x, y);
	put_16(frame + COUNT_AT, request->lanes);
	packet_write_results(frame, words, z);
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

static void
draw(struct asked *request, unsigned int op, unsigned int format, unsigned int lanes,
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

/* Frames as one burst, cut into segments; they are then what comes out. */
static void
process(struct fixture *f, const uint32_t *lengths, unsigned int count, uint32_t cut)
{
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct frame parsed[PIPELINE_BURST];

	for (unsigned int i = 0; i < count; i++) {
		mbufs[i] = packet_of(f->pool, frames[i], lengths[i], cut);
		assert_non_null(mbufs[i]);
	}
	pipeline_process(f->worker, mbufs, parsed, (uint16_t)count);
	for (unsigned int i = 0; i < count; i++)
		packet_bytes(mbufs[i], frames[i]);
	rte_pktmbuf_free_bulk(mbufs, count);
}

static void
process_requests(struct fixture *f, unsigned int count, uint32_t cut)
{
	uint32_t lengths[PIPELINE_BURST];

	for (unsigned int i = 0; i < count; i++) {
		write_request(frames[i], &asked[i]);
		lengths[i] = length_of(&asked[i]);
	}
	process(f, lengths, count, cut);
}

static struct netfc_fp32_result
expected_of(const struct fixture *f, const struct asked *request, unsigned int lane)
{
	const uint32_t x = request->x[lane], y = request->y[lane];
	struct netfc_result result;

	if (request->format == NETFC_FP32)
		return netfc_fp32_exact(request->op, x, y);
	if (f->config.match == MATCH_FPU)
		result = netfc_exact(
			netfc_set_format(f->narrow), request->op, (uint16_t)x, (uint16_t)y);
	else
		result = netfc_calc(f->narrow, request->op, (uint16_t)x, (uint16_t)y);
	return (struct netfc_fp32_result){result.z, result.flags};
}

static void
check_reply(const struct fixture *f, const uint8_t *frame, const struct asked *request)
{
	uint8_t flags = 0;

	for (unsigned int l = 0; l < request->lanes; l++) {
		const struct netfc_fp32_result expected = expected_of(f, request, l);

		assert_int_equal(result_of(frame, request, l), expected.z);
		flags |= expected.flags;
	}
	assert_int_equal(packet_status(frame), NETFC_STATUS_REPLY | flags);
	assert_true(packet_checksum_is_right(frame));
}

/* Refused with a code, and otherwise as it was. */
static void
check_error(const uint8_t *frame, const struct asked *request, enum netfc_status code)
{
	assert_int_equal(packet_status(frame),
		NETFC_STATUS_REPLY | (unsigned int)code << NETFC_STATUS_CODE_SHIFT);
	for (unsigned int l = 0; l < request->lanes; l++)
		assert_int_equal(result_of(frame, request, l), request->z[l]);
	assert_true(packet_checksum_is_right(frame));
}

static unsigned int
op_of(unsigned int index)
{
	return NETFC_ADD + index % NETFC_DIV;
}

/* Bursts of both widths and all operations, in one segment each and cut within lanes. */
static void
check_bursts(struct fixture *f, uint64_t *seed)
{
	static const unsigned int lanes[] = {1, 2, 7, 8, 16, 17, 40, 121, 300};
	static const uint32_t cuts[] = {2048, 401, 57};

	for (unsigned int c = 0; c < RTE_DIM(cuts); c++) {
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			draw(&asked[i], op_of(i / 2), i % 3 == 2 ? NETFC_FP16 : NETFC_FP32,
				lanes[i % RTE_DIM(lanes)], seed);
		process_requests(f, PIPELINE_BURST, cuts[c]);
		for (unsigned int i = 0; i < PIPELINE_BURST; i++)
			check_reply(f, frames[i], &asked[i]);
	}
}

static void
every_engine_computes_both_widths(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 7;

	for (enum match_kind match = 0; match < MATCH_KINDS; match++) {
		for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++) {
			create(f, match, isa);
			assert_int_equal(pipeline_kernel(f->pipeline, NETFC_FP32) != NULL,
				match == MATCH_DIRECT || match == MATCH_FPU);
			check_bursts(f, &seed);
			destroy(f);
		}
	}
}

/* A burst of requests that are all alike, and again: the second one by the template. */
static void
bursts_that_are_alike(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 8;

	create(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int lanes = 1; lanes <= 121; lanes += 40) {
		for (unsigned int burst = 0; burst < 3; burst++) {
			for (unsigned int i = 0; i < PIPELINE_BURST; i++)
				draw(&asked[i], NETFC_MUL, NETFC_FP32, lanes, &seed);
			process_requests(f, PIPELINE_BURST, 2048);
			for (unsigned int i = 0; i < PIPELINE_BURST; i++)
				check_reply(f, frames[i], &asked[i]);
		}
	}
}

/* Wherever a packet is cut, even through the middle of a value, the bytes come out the same. */
static void
cut_anywhere(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 9;

	create(f, MATCH_DIRECT, vector_isa_best());
	draw(&asked[0], NETFC_DIV, NETFC_FP32, 5, &seed);
	for (uint32_t cut = 1; cut <= length_of(&asked[0]); cut++) {
		process_requests(f, 1, cut);
		check_reply(f, frames[0], &asked[0]);
	}
}

/* More lanes than a batch has, of a datagram as long as there are. */
static void
longest_datagram(void **state)
{
	static const enum match_kind matches[] = {MATCH_DIRECT, MATCH_HASH};
	struct fixture *f = *state;
	uint64_t seed = 10;

	for (unsigned int m = 0; m < RTE_DIM(matches); m++) {
		create(f, matches[m], vector_isa_best());
		draw(&asked[0], NETFC_ADD, NETFC_FP32, MOST_LANES, &seed);
		process_requests(f, 1, 1501);
		check_reply(f, frames[0], &asked[0]);
		destroy(f);
	}
}

/* Say another count, or that the datagram is shorter or longer. */
static void
change(uint8_t *frame, unsigned int count, uint32_t length)
{
	put_16(frame + COUNT_AT, count);
	put_16(frame + IP_LENGTH_AT, length - 14);
	put_16(frame + UDP_LENGTH_AT, length - 34);
	/* No checksums: IPv4's is not looked at, UDP's is none. */
	put_16(frame + IP_CHECKSUM_AT, 0);
	put_16(frame + UDP_LENGTH_AT + 2, 0);
}

static void
lengths_and_counts(void **state)
{
	const uint32_t whole = PACKET_HEADERS + 10 * NETFC_WIDE_LANE_BYTES;
	const struct {
		unsigned int count;
		uint32_t length;
		enum netfc_status code;
	} cases[] = {
		{10, whole, NETFC_STATUS_OK},
		{10, whole + 1, NETFC_STATUS_OK},
		{9, whole, NETFC_STATUS_OK},
		{0, whole, NETFC_STATUS_LENGTH},
		{10, whole - 1, NETFC_STATUS_LENGTH},
		{11, whole, NETFC_STATUS_LENGTH},
		{20, whole, NETFC_STATUS_LENGTH}, /* 6 bytes a lane would fit */
		{21, whole, NETFC_STATUS_LENGTH},
		{5461, whole, NETFC_STATUS_LENGTH},
		{5462, whole, NETFC_STATUS_LENGTH}, /* 12 times it is 8 more than 2^16 */
		{10922, whole, NETFC_STATUS_LENGTH},
		{10923, whole, NETFC_STATUS_LENGTH},
		{65535, whole, NETFC_STATUS_LENGTH},
		{1, PACKET_HEADERS + 12, NETFC_STATUS_OK},
		{1, PACKET_HEADERS + 11, NETFC_STATUS_LENGTH},
		{1, PACKET_HEADERS + 6, NETFC_STATUS_LENGTH},
		{1, PACKET_HEADERS, NETFC_STATUS_LENGTH},
	};
	struct fixture *f = *state;
	uint64_t seed = 11;

	create(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int c = 0; c < 2 * RTE_DIM(cases); c++) {
		const unsigned int n = c / 2;
		const uint32_t length = RTE_MAX(cases[n].length, whole);
		uint8_t before[PACKET_HEADERS + 11 * NETFC_WIDE_LANE_BYTES];

		draw(&asked[0], NETFC_ADD, NETFC_FP32, 10, &seed);
		write_request(frames[0], &asked[0]);
		change(frames[0], cases[n].count, cases[n].length);
		memcpy(before, frames[0], length);
		process(f, &length, 1, c % 2 == 0 ? 2048 : 57);
		assert_int_equal(
			packet_status(frames[0]) >> NETFC_STATUS_CODE_SHIFT & 7, cases[n].code);
		assert_true(packet_status(frames[0]) & NETFC_STATUS_REPLY);
		if (cases[n].code != NETFC_STATUS_OK)
			assert_memory_equal(frames[0] + PACKET_HEADERS, before + PACKET_HEADERS,
				length - PACKET_HEADERS);
	}
}

/* Operations and formats that are not there, between those that are. */
static void
check_refused(struct fixture *f, unsigned int op, unsigned int format, enum netfc_status code)
{
	uint64_t seed = 12;

	for (unsigned int i = 0; i < 3; i++)
		draw(&asked[i], NETFC_ADD, NETFC_FP16, 20, &seed);
	draw(&asked[1], op, format, 20, &seed);
	for (uint32_t cut = 59; cut <= 2048; cut += 1989) {
		process_requests(f, 3, cut);
		check_reply(f, frames[0], &asked[0]);
		check_error(frames[1], &asked[1], code);
		check_reply(f, frames[2], &asked[2]);
	}
}

static void
what_is_not_computed(void **state)
{
	static uint16_t z[NETFC_FUNCTION_ENTRIES];
	static uint8_t flags[NETFC_FUNCTION_ENTRIES];
	static const struct pipeline_function sqrt_fp16 = {"sqrt", 70, NETFC_FP16, z, flags};
	struct fixture *f = *state;

	f->config.functions = &sqrt_fp16;
	f->config.function_count = 1;
	for (enum match_kind match = 0; match < MATCH_KINDS; match++) {
		create(f, match, vector_isa_best());
		/* Operations that formats of 16 bits have. */
		for (unsigned int op = NETFC_MIN; op < NETFC_EXTRA_END; op++)
			check_refused(f, op, NETFC_FP32, NETFC_STATUS_FORMAT);
		check_refused(f, 70, NETFC_FP32, NETFC_STATUS_FORMAT);
		check_refused(f, NETFC_OP_QUERY, NETFC_FP32, NETFC_STATUS_FORMAT);
		check_refused(f, NETFC_OP_NAME, NETFC_FP32, NETFC_STATUS_FORMAT);
		/* Those that no format has. */
		check_refused(f, 0, NETFC_FP32, NETFC_STATUS_OP);
		check_refused(f, 71, NETFC_FP32, NETFC_STATUS_OP);
		check_refused(f, NETFC_ADD, NETFC_SET_FORMAT_END, NETFC_STATUS_FORMAT);
		destroy(f);
	}
}

/* Without its table set, binary32 is a format like any that is not loaded. */
static void
without_its_set(void **state)
{
	struct fixture *f = *state;

	f->config.sets[NETFC_FP32] = NULL;
	for (enum match_kind match = 0; match < MATCH_KINDS; match++) {
		create(f, match, vector_isa_best());
		assert_null(pipeline_kernel(f->pipeline, NETFC_FP32));
		for (unsigned int op = NETFC_ADD; op <= NETFC_DIV; op++)
			check_refused(f, op, NETFC_FP32, NETFC_STATUS_FORMAT);
		destroy(f);
	}
}

/* With it alone. */
static void
with_its_set_alone(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 13;

	f->config.sets[NETFC_FP16] = NULL;
	create(f, MATCH_LPM, vector_isa_best());
	draw(&asked[0], NETFC_SUB, NETFC_FP32, 9, &seed);
	draw(&asked[1], NETFC_SUB, NETFC_FP16, 9, &seed);
	process_requests(f, 2, 2048);
	check_reply(f, frames[0], &asked[0]);
	check_error(frames[1], &asked[1], NETFC_STATUS_FORMAT);
}

/* The four have no names that could be asked for, not even an empty one. */
static void
no_names(void **state)
{
	static const char *const names[] = {"", "add", "fp32"};
	struct fixture *f = *state;
	uint64_t seed = 14;

	create(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int n = 0; n < RTE_DIM(names); n++) {
		draw(&asked[0], NETFC_OP_NAME, NETFC_FP16, NETFC_NAME_LANES, &seed);
		memset(asked[0].x, 0, sizeof(asked[0].x));
		memset(asked[0].y, 0, sizeof(asked[0].y));
		for (size_t c = 0; c < strlen(names[n]); c++)
			asked[0].x[c / 2] |= (uint32_t)names[n][c] << (c % 2 == 0 ? 8 : 0);
		process_requests(f, 1, 2048);
		check_error(frames[0], &asked[0], NETFC_STATUS_OP);
	}
}

static void
what_is_counted(void **state)
{
	const struct pipeline_counters *counters;
	struct fixture *f = *state;
	uint64_t seed = 15;

	create(f, MATCH_DIRECT, vector_isa_best());
	for (unsigned int i = 0; i < 8; i++) {
		draw(&asked[i], NETFC_DIV, NETFC_FP32, 3, &seed);
		for (unsigned int l = 0; l < 3; l++)
			asked[i].x[l] = asked[i].y[l] = 0x3f800000;
	}
	asked[0].y[0] = 0; /* divided by zero */
	asked[1].x[1] = asked[1].y[1] = 0;
	asked[2].op = NETFC_MIN;
	process_requests(f, 8, 2048);
	process_requests(f, 1, 60);
	counters = pipeline_worker_counters(f->worker);
	assert_int_equal(counters->netfc_packets, 9);
	assert_int_equal(counters->errors[NETFC_STATUS_OK], 8);
	assert_int_equal(counters->errors[NETFC_STATUS_FORMAT], 1);
	assert_int_equal(counters->lanes, 24);
	assert_int_equal(counters->exceptions[0], 1);
	assert_int_equal(counters->exceptions[1], 2);
	/* They are none of the operations that are counted by number. */
	for (unsigned int op = NETFC_ADD; op <= UINT8_MAX; op++)
		assert_int_equal(counters->further[op], 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			every_engine_computes_both_widths, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bursts_that_are_alike, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cut_anywhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(longest_datagram, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lengths_and_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_computed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_its_set, set_up, tear_down),
		cmocka_unit_test_setup_teardown(with_its_set_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_counted, set_up, tear_down),
	};

	if (eal_start(1) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
