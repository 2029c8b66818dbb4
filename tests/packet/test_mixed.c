/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels for lanes of any format and operation, or of pairs of them, against their sets' programs.
 */
#include <errno.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_memory.h>
#include <rte_random.h>

#include "cases.h"
#include "vector.h"

/* Not a multiple of any vector. */
#define LANES 1021
#define ROUNDS 512
/* After the lanes, to see that nothing is written there. */
#define GUARD 32

static const char *const largest[NETFC_FORMAT_END] = {
	[NETFC_FP16] = "fp16_k1024",
	[NETFC_POSIT16] = "posit16_k512",
	[NETFC_BF16] = "bf16_k128",
	[NETFC_POSIT16_ES2] = "posit16_es2_k256",
};
static const char *const floors[NETFC_FORMAT_END] = {
	[NETFC_FP16] = "fp16_k1024_floor",
	[NETFC_POSIT16] = "posit16_k512_floor",
	[NETFC_BF16] = "bf16_k128_floor",
	[NETFC_POSIT16_ES2] = "posit16_es2_k256_floor",
};
/* An rte_lpm of few rules is made quickly. */
static const char *const small[NETFC_FORMAT_END] = {
	[NETFC_FP16] = "fp16_k8",
	[NETFC_BF16] = "bf16_k128",
};

struct fixture {
	struct netfc_set *set[NETFC_FORMAT_END];
	struct match_stage *stage[NETFC_FORMAT_END][NETFC_MAX_TABLES];
	struct vector_kernel *mixed;
};

static void
build_sets(struct fixture *f, const char *const *names)
{
	memset(f, 0, sizeof(*f));
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++) {
		if (names[format] != NULL)
			assert_int_equal(netfc_set_build(names[format], &f->set[format]), NETFC_OK);
	}
}

/* As a pipeline does. */
static void
create_stage(const struct netfc_table *table, enum match_kind kind, struct match_stage **stage)
{
	if (!netfc_table_is_match(table))
		kind = MATCH_DIRECT;
	assert_int_equal(match_create(kind, table, SOCKET_ID_ANY, stage), 0);
}

static void
create_stages(struct fixture *f, enum match_kind kind)
{
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++) {
		const struct netfc_set *set = f->set[format];

		for (unsigned int t = 0; set != NULL && t < netfc_set_table_count(set); t++)
			create_stage(netfc_set_table(set, t), kind, &f->stage[format][t]);
	}
}

static void
clear(struct fixture *f)
{
	vector_free(f->mixed);
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++) {
		for (unsigned int t = 0; t < NETFC_MAX_TABLES; t++)
			match_free(f->stage[format][t]);
		netfc_set_free(f->set[format]);
	}
}

static int
create(struct fixture *f, struct match_stage *const (*stages)[NETFC_MAX_TABLES])
{
	return vector_mixed_create((const struct netfc_set *const *)f->set, stages,
		vector_isa_best(), SOCKET_ID_ANY, &f->mixed);
}

/* Any number, and often one of those that are special, or near them. */
static uint16_t
draw_operand(void)
{
	static const uint16_t special[] = {0, 1, 2, 0x3ff, 0x400, 0x3c00, 0x3f80, 0x4000, 0x7bff,
		0x7c00, 0x7c01, 0x7e00, 0x7f7f, 0x7f80, 0x7f81, 0x7fc0, 0x7fff};
	const uint64_t random = rte_rand();

	if (random >> 16 & 3)
		return (uint16_t)random;
	return special[(random >> 32) % RTE_DIM(special)] | (uint16_t)(random & 0x8000);
}

/* Any; or of a pair whose first group is given. */
static uint8_t
draw_group(const struct fixture *f, const uint8_t *pair)
{
	unsigned int format;

	if (pair != NULL)
		return *pair | (uint8_t)rte_rand_max(2);
	do
		format = (unsigned int)rte_rand_max(NETFC_FORMAT_END);
	while (f->set[format] == NULL);
	return vector_group(format, NETFC_ADD + (enum netfc_op)rte_rand_max(4));
}

static void
check_lane(
	const struct fixture *f, uint8_t group, uint16_t x, uint16_t y, uint16_t z, uint8_t flags)
{
	const enum netfc_op op = NETFC_ADD + (group & 3u);
	uint16_t expected;

	x = rte_be_to_cpu_16(x);
	y = rte_be_to_cpu_16(y);
	assert_int_equal(flags, netfc_compute(f->set[group >> 2], op, &x, &y, &expected, NULL, 1));
	assert_int_equal(rte_be_to_cpu_16(z), expected);
}

static void
check(const struct fixture *f, const struct vector_kernel *kernel, const uint8_t *pair)
{
	static uint16_t x[LANES], y[LANES], z[LANES + GUARD];
	static uint8_t group[LANES], flags[LANES + GUARD];

	for (unsigned int round = 0; round < ROUNDS; round++) {
		const uint32_t count = 1 + (uint32_t)rte_rand_max(LANES);

		for (uint32_t l = 0; l < count; l++) {
			group[l] = draw_group(f, pair);
			x[l] = draw_operand();
			y[l] = rte_rand_max(8) == 0 ? x[l] : draw_operand();
		}
		memset(z, 0xa5, sizeof(z));
		memset(flags, 0xa5, sizeof(flags));
		vector_run_lanes(kernel, pair != NULL ? NETFC_ADD + (*pair & 3u) : 0,
			&(struct vector_lanes){x, y, z, flags, group, count});
		for (uint32_t l = 0; l < count; l++)
			check_lane(f, group[l], x[l], y[l], z[l], flags[l]);
		for (uint32_t l = count; l < count + GUARD; l++) {
			assert_int_equal(z[l], 0xa5a5);
			assert_int_equal(flags[l], 0xa5);
		}
	}
}

/* Skips the test where there is no such kernel. */
static void
need_avx512(void)
{
#ifdef RTE_ARCH_X86_64
	if (vector_isa_best() >= VECTOR_AVX512)
		return;
#endif
	print_message("skipped: this processor has no AVX-512\n");
	skip();
}

TEST(own_arrays_agree_with_the_sets)
{
	const char *const *const names[] = {largest, floors, small};

	need_avx512();
	for (unsigned int n = 0; n < RTE_DIM(names); n++) {
		struct fixture f;

		build_sets(&f, names[n]);
		assert_int_equal(create(&f, NULL), 0);
		check(&f, f.mixed, NULL);
		clear(&f);
	}
}

TEST(prefixes_agree_with_the_sets)
{
	struct fixture f;

	need_avx512();
	build_sets(&f, small);
	create_stages(&f, MATCH_LPM);
	assert_int_equal(create(&f, f.stage), 0);
	check(&f, f.mixed, NULL);
	clear(&f);
}

/* There is nothing to index. */
TEST(hashes_have_none)
{
	struct fixture f;

	build_sets(&f, small);
	create_stages(&f, MATCH_HASH);
	assert_int_equal(create(&f, f.stage), -ENOTSUP);
	assert_null(f.mixed);
	clear(&f);
}

/* Their programs are others. */
TEST(exact_sets_have_none)
{
	const char *const names[NETFC_FORMAT_END] = {
		[NETFC_FP16] = "fp16_exact", [NETFC_BF16] = "bf16_k128"};
	struct fixture f;

	build_sets(&f, names);
	assert_int_equal(create(&f, NULL), -ENOTSUP);
	assert_null(f.mixed);
	clear(&f);
}

static void
check_pairs(const struct fixture *f, unsigned int format)
{
	const uint8_t sums = vector_group(format, NETFC_ADD);
	const uint8_t products = vector_group(format, NETFC_MUL);
	struct vector_kernel *kernel;

	assert_int_equal(
		vector_create(f->set[format], NULL, vector_isa_best(), SOCKET_ID_ANY, &kernel), 0);
	assert_true(kernel->takes_op_pairs);
	check(f, kernel, &sums);
	check(f, kernel, &products);
	vector_free(kernel);
}

TEST(pairs_agree_with_the_sets)
{
	struct fixture f;

	need_avx512();
	build_sets(&f, largest);
	for (unsigned int format = 0; format < NETFC_FORMAT_END; format++) {
		if (f.set[format] != NULL)
			check_pairs(&f, format);
	}
	clear(&f);
}
