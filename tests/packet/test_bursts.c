/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bursts of packets that differ: the fast path gives the same as the slow path, which takes packets
 * cut into short segments.
 */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "dpdk/reflect.h"
#include "packets.h"
#include "pipeline.h"
#include "shapes.h"

/* No header fits into so short a segment: the packet takes the slow path. */
#define CUT 20

static const char *const set_names[] = {
	"fp16_k1024", "posit16_k512", "bf16_k128_floor", "posit16_es2_k256_floor"};

struct fixture {
	struct rte_mempool *pool;
	struct pipeline *pipeline[VECTOR_ISAS];
	struct pipeline_worker *fast, *walk; /* of the pipeline at hand */
	struct netfc_set *set[NETFC_FORMAT_END];
	uint8_t frame[PIPELINE_BURST][SHAPES_LONGEST];
	uint32_t length[PIPELINE_BURST];
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct pipeline_config config = {
		.match = MATCH_DIRECT, .udp_port = NETFC_UDP_PORT, .socket_id = SOCKET_ID_ANY};

	assert_non_null(f);
	f->pool = rte_pktmbuf_pool_create("bursts", 8191, 0, 0, 2176, SOCKET_ID_ANY);
	assert_non_null(f->pool);
	for (unsigned int s = 0; s < RTE_DIM(set_names); s++) {
		assert_int_equal(netfc_set_build(set_names[s], &f->set[s + 1]), NETFC_OK);
		config.sets[s + 1] = f->set[s + 1];
	}
	for (unsigned int isa = 0; isa < VECTOR_ISAS; isa++) {
		config.isa = RTE_MIN((enum vector_isa)isa, vector_isa_best());
		assert_int_equal(pipeline_create(&config, &f->pipeline[isa]), 0);
	}
	*state = f;
	return 0;
}

/* No mbuf may be lost in any test. */
static int
tear_down(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(rte_mempool_in_use_count(f->pool), 0);
	for (unsigned int isa = 0; isa < VECTOR_ISAS; isa++)
		pipeline_free(f->pipeline[isa]);
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++)
		netfc_set_free(f->set[format]);
	rte_mempool_free(f->pool);
	free(f);
	return 0;
}

static void
assert_same_frame(const struct frame *a, const struct frame *b)
{
	assert_int_equal(a->network, b->network);
	assert_int_equal(a->udp, b->udp);
	assert_int_equal(a->to_netfc_port, b->to_netfc_port);
	assert_int_equal(a->answered, b->answered);
	assert_int_equal(a->query, b->query);
	assert_int_equal(a->vlan, b->vlan);
	assert_int_equal(a->ether_type, b->ether_type);
	assert_int_equal(a->network_offset, b->network_offset);
	assert_int_equal(a->udp_offset, b->udp_offset);
	assert_int_equal(a->payload_length, b->payload_length);
	assert_int_equal(a->udp_port, b->udp_port);
	if (a->answered)
		assert_int_equal(a->checksum, b->checksum);
}

/*
 * The fixture's frames in segments of `cut` bytes, and on the slow path; both are reflected, too.
 */
static void
compare(struct fixture *f, uint16_t count, uint32_t cut)
{
	struct rte_mbuf *fast[PIPELINE_BURST], *slow[PIPELINE_BURST];
	struct frame frames[PIPELINE_BURST], expected[PIPELINE_BURST];
	uint8_t bytes[SHAPES_LONGEST], wanted[SHAPES_LONGEST];

	for (unsigned int i = 0; i < count; i++) {
		fast[i] = packet_of(f->pool, f->frame[i], f->length[i], cut);
		slow[i] = packet_of(f->pool, f->frame[i], f->length[i], RTE_MIN(cut, CUT));
	}
	pipeline_process(f->fast, fast, frames, count);
	pipeline_process(f->walk, slow, expected, count);
	assert_memory_equal(pipeline_worker_counters(f->fast), pipeline_worker_counters(f->walk),
		sizeof(struct pipeline_counters));
	for (unsigned int i = 0; i < count; i++) {
		assert_same_frame(&frames[i], &expected[i]);
		packet_bytes(fast[i], bytes);
		packet_bytes(slow[i], wanted);
		assert_memory_equal(bytes, wanted, f->length[i]);
	}
	reflect(fast, frames, count);
	reflect(slow, expected, count);
	for (unsigned int i = 0; i < count; i++) {
		packet_bytes(fast[i], bytes);
		packet_bytes(slow[i], wanted);
		assert_memory_equal(bytes, wanted, f->length[i]);
	}
	rte_pktmbuf_free_bulk(fast, count);
	rte_pktmbuf_free_bulk(slow, count);
}

/* Run a test with each instruction set. */
static void
with_each_isa(struct fixture *f, void (*test)(struct fixture *f, uint64_t *seed))
{
	for (unsigned int isa = 0; isa < VECTOR_ISAS; isa++) {
		uint64_t seed = isa;

		f->fast = pipeline_worker_create(f->pipeline[isa], SOCKET_ID_ANY);
		f->walk = pipeline_worker_create(f->pipeline[isa], SOCKET_ID_ANY);
		assert_non_null(f->fast);
		assert_non_null(f->walk);
		test(f, &seed);
		pipeline_worker_free(f->fast);
		pipeline_worker_free(f->walk);
	}
}

/* A test of bursts by each instruction set. */
#define BURST_TEST(name)                                          \
	static void name##_of(struct fixture *f, uint64_t *seed); \
	TEST_WITH(name, set_up, tear_down)                        \
	{                                                         \
		with_each_isa(*state, name##_of);                 \
	}                                                         \
	static void name##_of(struct fixture *f, uint64_t *seed)

static void
draw_burst(struct fixture *f, uint64_t *seed, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++)
		f->length[i] = shapes_write(seed, f->frame[i]);
}

BURST_TEST(every_size_of_burst)
{
	for (unsigned int round = 0; round < 8; round++) {
		for (uint16_t count = 1; count <= PIPELINE_BURST; count++) {
			draw_burst(f, seed, count);
			compare(f, count, SHAPES_LONGEST);
		}
	}
}

/* A shape, each of its lengths, 64 at once. */
BURST_TEST(every_length_of_frame)
{
	uint8_t frame[SHAPES_LONGEST];

	for (unsigned int round = 0; round < 64; round++) {
		const uint32_t length = shapes_write(seed, frame);

		for (uint32_t first = 1; first <= length; first += PIPELINE_BURST) {
			const uint16_t count =
				(uint16_t)RTE_MIN(length + 1 - first, (uint32_t)PIPELINE_BURST);

			for (uint16_t i = 0; i < count; i++) {
				memcpy(f->frame[i], frame, sizeof(frame));
				f->length[i] = first + i;
			}
			compare(f, count, SHAPES_LONGEST);
		}
	}
}

BURST_TEST(every_cut_into_segments)
{
	for (uint32_t cut = 1; cut <= 160; cut++) {
		draw_burst(f, seed, PIPELINE_BURST / 4);
		compare(f, PIPELINE_BURST / 4, cut);
	}
}

/* Runs of uniform requests, ended anywhere, by anything. */
BURST_TEST(runs_that_end)
{
	for (unsigned int round = 0; round < 256; round++) {
		const uint16_t first = (uint16_t)shapes_draw(seed, PIPELINE_BURST);

		draw_burst(f, seed, PIPELINE_BURST);
		for (uint16_t i = first; i < PIPELINE_BURST; i++) {
			memcpy(f->frame[i], f->frame[first], SHAPES_LONGEST);
			f->length[i] = f->length[first];
		}
		compare(f, PIPELINE_BURST, SHAPES_LONGEST);
		/* The template, if it has become one, at a burst's start. */
		for (uint16_t i = 0; i < first; i++) {
			memcpy(f->frame[i], f->frame[first], SHAPES_LONGEST);
			f->length[i] = f->length[first];
		}
		compare(f, PIPELINE_BURST, SHAPES_LONGEST);
		draw_burst(f, seed, first);
		f->frame[first][12 + shapes_draw(seed, 46)] ^= (uint8_t)(1 << shapes_draw(seed, 8));
		for (uint16_t i = 0; i < first; i++) {
			memcpy(f->frame[i], f->frame[PIPELINE_BURST - 1], SHAPES_LONGEST);
			f->length[i] = f->length[PIPELINE_BURST - 1];
		}
		compare(f, PIPELINE_BURST, SHAPES_LONGEST);
	}
}

static void
write_uniform(struct fixture *f, unsigned int first, unsigned int end, unsigned int op,
	uint16_t lanes, uint64_t *seed)
{
	uint16_t x[PIPELINE_BURST], y[PIPELINE_BURST];

	for (unsigned int i = first; i < end; i++) {
		for (uint16_t l = 0; l < lanes; l++) {
			x[l] = (uint16_t)shapes_draw(seed, 65536);
			y[l] = (uint16_t)shapes_draw(seed, 65536);
		}
		packet_write(f->frame[i], op, NETFC_FP16, lanes, x, y);
		f->length[i] = packet_length(lanes);
	}
}

/* As many requests that match the template as others of another group, with fewer or more lanes. */
BURST_TEST(two_runs_in_a_burst)
{
	static const uint16_t counts[] = {1, 4, 12, 40};

	for (unsigned int a = 0; a < RTE_DIM(counts); a++) {
		for (unsigned int b = 0; b < RTE_DIM(counts); b++) {
			write_uniform(f, 0, PIPELINE_BURST, NETFC_ADD, counts[a], seed);
			compare(f, PIPELINE_BURST, SHAPES_LONGEST);
			write_uniform(f, 0, PIPELINE_BURST / 2, NETFC_ADD, counts[a], seed);
			write_uniform(
				f, PIPELINE_BURST / 2, PIPELINE_BURST, NETFC_MUL, counts[b], seed);
			compare(f, PIPELINE_BURST, SHAPES_LONGEST);
		}
	}
}
