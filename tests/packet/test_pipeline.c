/* SPDX-License-Identifier: BSD-3-Clause */
/* Bursts through the pipeline: segments, batches, counters, and the reference's every bit. */
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_ip.h>

#include "cases.h"
#include "packets.h"
#include "pipeline_fixture.h"

/* As many as fit into a UDP datagram. */
#define MAX_LANES ((65535 - 28 - 12) / NETFC_LANE_BYTES)

static const char *const set_names[] = {
	"fp16_k1024", "posit16_k512", "bf16_k128_floor", "posit16_es2_k256_floor"};

static uint16_t
random_bits(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint16_t)(*state >> 48);
}

static int
set_up(void **state)
{
	struct pipeline_fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	fixture_set_up(f, set_names, RTE_DIM(set_names));
	fixture_create_pipeline(f);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture_tear_down(*state);
	free(*state);
	return 0;
}

/* Send one frame, cut into segments, and put what comes out in its place. */
static void
process_frame(struct pipeline_fixture *f, uint8_t *frame, uint32_t length, uint32_t cut)
{
	struct fixture_burst burst = {.count = 1, .bytes = {frame}, .length = {length}};

	fixture_process(f, &burst, cut);
}

static void
check_reply(const struct pipeline_fixture *f, const uint8_t *frame, unsigned int op,
	unsigned int format, uint16_t lanes, const uint16_t *x, const uint16_t *y)
{
	uint8_t flags = 0;

	for (uint16_t l = 0; l < lanes; l++) {
		struct netfc_result expected = netfc_calc(f->set[format], op, x[l], y[l]);

		assert_int_equal(packet_result(frame, lanes, l), expected.z);
		flags |= expected.flags;
	}
	assert_int_equal(packet_status(frame), NETFC_STATUS_REPLY | flags);
	assert_true(packet_checksum_is_right(frame));
}

TEST_WITH(any_number_of_lanes, set_up, tear_down)
{
	static const uint16_t counts[] = {
		1, 2, 3, 63, 64, 65, 243, 255, 256, 257, 511, 512, 513, 1490, 5000, MAX_LANES};
	static uint16_t x[MAX_LANES], y[MAX_LANES];
	static uint8_t frame[65536 + 64];
	struct pipeline_fixture *f = *state;
	uint64_t seed = 1;

	for (unsigned int c = 0; c < RTE_DIM(counts); c++) {
		unsigned int op = NETFC_ADD + c % 4, format = 1 + c / 4 % 4;

		for (uint16_t l = 0; l < counts[c]; l++) {
			x[l] = random_bits(&seed);
			y[l] = random_bits(&seed);
		}
		packet_write(frame, op, format, counts[c], x, y);
		process_frame(f, frame, packet_length(counts[c]), 2048);
		check_reply(f, frame, op, format, counts[c], x, y);
	}
}

/* Wherever a packet is cut, even through a slot or the checksum, the bytes come out the same. */
TEST_WITH(segments_do_not_matter, set_up, tear_down)
{
	const uint16_t x[] = {0x3c00, 0xc4d0, 0x0001, 0x7bff},
		       y[] = {0x4248, 0x4500, 0x8001, 0x7bff};
	uint8_t whole[256], cut_up[256];
	struct pipeline_fixture *f = *state;
	uint32_t length = packet_length(4);

	packet_write(whole, NETFC_SUB, NETFC_FP16, 4, x, y);
	process_frame(f, whole, length, length);
	for (uint32_t cut = 1; cut < length; cut++) {
		packet_write(cut_up, NETFC_SUB, NETFC_FP16, 4, x, y);
		process_frame(f, cut_up, length, cut);
		assert_memory_equal(cut_up, whole, length);
	}
}

/* Packets of all formats, operations and lengths in the same burst share batches. */
TEST_WITH(mixed_bursts, set_up, tear_down)
{
	enum {
		LANES = 100
	};
	static uint16_t x[PIPELINE_BURST][LANES], y[PIPELINE_BURST][LANES];
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct frame parsed[PIPELINE_BURST];
	uint8_t frame[1024];
	struct pipeline_fixture *f = *state;
	uint64_t seed = 2;

	for (unsigned int i = 0; i < PIPELINE_BURST; i++) {
		for (uint16_t l = 0; l < LANES; l++) {
			x[i][l] = random_bits(&seed);
			y[i][l] = random_bits(&seed);
		}
		packet_write(frame, 1 + i % 4, 1 + i / 4 % 4, (uint16_t)(1 + i), x[i], y[i]);
		mbufs[i] = packet_of(f->pool, frame, packet_length(1 + i), 2048);
	}
	pipeline_process(f->worker, mbufs, parsed, PIPELINE_BURST);
	for (unsigned int i = 0; i < PIPELINE_BURST; i++) {
		packet_bytes(mbufs[i], frame);
		check_reply(f, frame, 1 + i % 4, 1 + i / 4 % 4, (uint16_t)(1 + i), x[i], y[i]);
	}
	rte_pktmbuf_free_bulk(mbufs, PIPELINE_BURST);
}

/* The same frame on both paths: in one segment, on the fast path, and cut within headers. */
static void
compare_ways(struct pipeline_fixture *f, struct pipeline_worker *general, uint8_t (*frames)[1024],
	const uint32_t *length)
{
	struct rte_mbuf *whole[PIPELINE_BURST], *cut[PIPELINE_BURST];
	struct frame parsed[PIPELINE_BURST], parsed_cut[PIPELINE_BURST];
	uint8_t bytes[1024], expected[1024];

	for (unsigned int i = 0; i < PIPELINE_BURST; i++) {
		whole[i] = packet_of(f->pool, frames[i], length[i], 2048);
		cut[i] = packet_of(f->pool, frames[i], length[i], 40);
	}
	pipeline_process(f->worker, whole, parsed, PIPELINE_BURST);
	pipeline_process(general, cut, parsed_cut, PIPELINE_BURST);
	for (unsigned int i = 0; i < PIPELINE_BURST; i++) {
		packet_bytes(whole[i], bytes);
		packet_bytes(cut[i], expected);
		assert_memory_equal(bytes, expected, length[i]);
		assert_int_equal(parsed[i].answered, parsed_cut[i].answered);
		assert_int_equal(parsed[i].payload_length, parsed_cut[i].payload_length);
	}
	assert_memory_equal(pipeline_worker_counters(f->worker), pipeline_worker_counters(general),
		sizeof(struct pipeline_counters));
	rte_pktmbuf_free_bulk(whole, PIPELINE_BURST);
	rte_pktmbuf_free_bulk(cut, PIPELINE_BURST);
}

/* In a run of uniform requests, one that differs in any bit of its headers is noticed. */
TEST_WITH(runs_of_requests, set_up, tear_down)
{
	static uint8_t frames[PIPELINE_BURST][1024];
	uint32_t length[PIPELINE_BURST];
	struct pipeline_fixture *f = *state;
	struct pipeline_worker *general = pipeline_worker_create(f->pipeline, SOCKET_ID_ANY);
	uint64_t seed = 3;

	assert_non_null(general);
	for (uint16_t lanes = 1; lanes <= 80; lanes++) {
		uint16_t x[80], y[80];

		for (unsigned int i = 0; i < PIPELINE_BURST; i++) {
			for (uint16_t l = 0; l < lanes; l++) {
				x[l] = random_bits(&seed);
				y[l] = random_bits(&seed);
			}
			memset(frames[i], 0xa5, sizeof(frames[i]));
			packet_write(frames[i], NETFC_ADD, NETFC_FP16, lanes, x, y);
			length[i] = packet_length(lanes) + random_bits(&seed) % 4;
			if (i % 8 == 7)
				frames[i][random_bits(&seed) % PACKET_HEADERS] ^=
					(uint8_t)(1 << random_bits(&seed) % 8);
			if (i % 16 == 5)
				length[i] = packet_length(lanes) - 1 - random_bits(&seed) % 60;
		}
		compare_ways(f, general, frames, length);
	}
	pipeline_worker_free(general);
}

static void
keep_buffer(void *address, void *opaque)
{
	(void)address, (void)opaque;
}

/* No byte after a request's lanes is read or written, wherever it ends: a page ends there. */
TEST_WITH(nothing_behind_the_lanes, set_up, tear_down)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct rte_mbuf_ext_shared_info shared = {.free_cb = keep_buffer};
	struct pipeline_fixture *f = *state;
	uint8_t frame[2048], *pages, *end;
	uint16_t x[300], y[300];
	uint64_t seed = 4;

	pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(pages != MAP_FAILED);
	end = pages + page;
	assert_int_equal(mprotect(end, page, PROT_NONE), 0);
	for (uint16_t lanes = 1; lanes <= RTE_DIM(x); lanes++) {
		const unsigned int op = NETFC_ADD + lanes % 2, format = NETFC_FP16 + lanes / 2 % 4;
		const uint32_t length = packet_length(lanes);
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(f->pool);
		struct frame parsed;

		x[lanes - 1] = random_bits(&seed);
		y[lanes - 1] = random_bits(&seed);
		packet_write(frame, op, format, lanes, x, y);
		memcpy(end - length, frame, length);
		assert_non_null(mbuf);
		rte_mbuf_ext_refcnt_set(&shared, 1);
		rte_pktmbuf_attach_extbuf(
			mbuf, end - length, RTE_BAD_IOVA, (uint16_t)length, &shared);
		assert_non_null(rte_pktmbuf_append(mbuf, (uint16_t)length));
		pipeline_process(f->worker, &mbuf, &parsed, 1);
		check_reply(f, end - length, op, format, lanes, x, y);
		rte_pktmbuf_free(mbuf);
	}
	munmap(pages, 2 * page);
}

TEST_WITH(counters_count, set_up, tear_down)
{
	const uint16_t x[] = {0x3c00, 0x7bff}, y[] = {0x0000, 0x7bff};
	const struct pipeline_counters *counters;
	uint8_t frame[256];
	struct pipeline_fixture *f = *state;

	counters = pipeline_worker_counters(f->worker);
	packet_write(frame, NETFC_DIV, NETFC_FP16, 1, x, y);
	process_frame(f, frame, packet_length(1), 2048);
	packet_write(frame, NETFC_MUL, NETFC_FP16, 2, x, y);
	process_frame(f, frame, packet_length(2), 2048);
	packet_write(frame, 9, NETFC_FP16, 1, x, y);
	process_frame(f, frame, packet_length(1), 2048);
	assert_int_equal(packet_status(frame),
		NETFC_STATUS_REPLY | NETFC_STATUS_OP << NETFC_STATUS_CODE_SHIFT);
	assert_true(packet_checksum_is_right(frame));
	/* A reply is no request any more. */
	process_frame(f, frame, packet_length(1), 2048);
	assert_int_equal(counters->netfc_packets, 3);
	assert_int_equal(counters->lanes, 3);
	assert_int_equal(counters->errors[NETFC_STATUS_OK], 2);
	assert_int_equal(counters->errors[NETFC_STATUS_OP], 1);
	assert_int_equal(counters->exceptions[1], 1);
	assert_int_equal(counters->exceptions[2], 1);
}

/* Whatever the first bytes of a frame are, nothing is read or written outside of it. */
TEST_WITH(every_length_of_frame, set_up, tear_down)
{
	const uint16_t x[] = {0x3c00}, y[] = {0x4000};
	uint8_t frame[128], before[128];
	struct pipeline_fixture *f = *state;

	for (uint32_t length = 1; length < packet_length(1); length++) {
		packet_write(frame, NETFC_ADD, NETFC_FP16, 1, x, y);
		memcpy(before, frame, sizeof(before));
		process_frame(f, frame, length, 2048);
		assert_memory_equal(frame, before, sizeof(before));
	}
}

/* A query is left to whoever can answer it, with the counters where the packet is long enough. */
TEST_WITH(queries_are_left, set_up, tear_down)
{
	enum {
		EXTRA = 12
	};
	static const uint8_t counters[EXTRA] = {0, 1, 0xe2, 0x40, 1, 2, 3, 4, 5, 6, 7, 8};
	const struct pipeline_answer answer = {
		.ratio = 0x1b0a, .connections = 123456, .bytes = UINT64_C(0x0102030405060708)};
	const uint32_t length = packet_length(1) + EXTRA;
	uint8_t frame[256], untouched[256];
	struct pipeline_fixture *f = *state;

	for (uint32_t cut = 1; cut <= length; cut++) {
		struct rte_mbuf *mbuf;
		struct frame parsed;

		memset(frame, 0, sizeof(frame));
		packet_write_query(frame, RTE_IPV4(10, 0, 0, 7), cut % 2 == 0 ? EXTRA : 0);
		memcpy(untouched, frame, length);
		mbuf = packet_of(f->pool, frame, length, cut);
		pipeline_process(f->worker, &mbuf, &parsed, 1);
		assert_true(parsed.query && !parsed.answered);
		packet_bytes(mbuf, frame);
		assert_memory_equal(frame, untouched, length);
		assert_int_equal(pipeline_query_destination(mbuf, &parsed), 0x0a000007);
		pipeline_answer_query(f->worker, mbuf, &parsed, &answer);
		assert_true(parsed.answered && !parsed.query);
		packet_bytes(mbuf, frame);
		rte_pktmbuf_free(mbuf);
		assert_int_equal(packet_status(frame), NETFC_STATUS_REPLY);
		assert_int_equal(packet_result(frame, 1, 0), answer.ratio);
		assert_true(packet_checksum_is_right(frame));
		if (cut % 2 == 0)
			assert_memory_equal(frame + packet_length(1), counters, EXTRA);
		else
			assert_memory_equal(
				frame + packet_length(1), untouched + packet_length(1), EXTRA);
	}
	assert_int_equal(pipeline_worker_counters(f->worker)->errors[NETFC_STATUS_OK], (int)length);
}
