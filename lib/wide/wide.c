/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "wide_kernels.h"

struct wide {
	struct wide_op operation[WIDE_OPS];
	struct match_stage *stage[NETFC_MAX_TABLES]; /* NULL: not needed */
	char description[80];                        /* empty: step by step */
};

/* Kernels are parts of struct wide. */
static void
free_nothing(struct further_kernel *kernel)
{
	(void)kernel;
}

static const wide_fn *
best_of(enum vector_isa isa)
{
#if defined(RTE_ARCH_X86_64)
	if (isa >= VECTOR_AVX512)
		return wide_fp32_avx512;
	if (isa >= VECTOR_AVX2)
		return wide_fp32_avx2;
#endif
	(void)isa;
	return wide_fp32_plain;
}

/*
 * Whether this thread's floats are IEEE 754's: rounded to the nearest, ties to even, and subnormal
 * numbers no zeros, neither as operands nor as results. A library that was compiled for speed alone
 * may have changed that of the whole program as it was loaded. Threads start as those that make
 * them.
 */
static bool
rounds_as_ieee(const wide_fn *functions)
{
	static const uint32_t pairs[][2] = {
		{0x00000001, 0x00000001}, /* subnormal operands */
		{0x00800000, 0x3f000000}, /* a subnormal product */
		{0x00800000, 0x00000001}, /* a subnormal difference */
		{0x00800001, 0x40000000}, /* a subnormal quotient, half-way */
		{0x3f800000, 0x33800000}, /* a sum half-way to an odd number */
		{0x3f800001, 0x33800000}, /* and to an even one */
		{0xbf800001, 0xb3800001}, /* a negative one, above half-way */
		{0x3f800000, 0x40400000}, /* 1/3 */
		{0xbf800000, 0x40400000}, {0x7f7fffff, 0x73000000}, /* overflow's edge */
	};

	for (unsigned int p = 0; p < RTE_DIM(pairs) * WIDE_OPS; p++) {
		const uint32_t *pair = pairs[p / WIDE_OPS];
		uint32_t slots[3] = {wide_swap(pair[0]), wide_swap(pair[1]), 0};
		struct vector_packet packet = {.slots = (uint8_t *)slots, .count = 1};

		functions[p % WIDE_OPS](NULL, &packet);
		if (wide_swap(slots[2]) !=
			netfc_fp32_exact(NETFC_ADD + p % WIDE_OPS, pair[0], pair[1]).z)
			return false;
	}
	return true;
}

static int
create_stages(struct wide *wide, const struct netfc_set *set, enum match_kind match, int socket_id)
{
	for (unsigned int t = 0; t < netfc_set_table_count(set); t++) {
		const struct netfc_table *table = netfc_set_table(set, t);
		enum match_kind kind = netfc_table_is_match(table) ? match : MATCH_DIRECT;
		int error = match_create(kind, table, socket_id, &wide->stage[t]);

		if (error != 0)
			return error;
	}
	return 0;
}

static void
use_steps(struct wide *wide, const struct netfc_set *set)
{
	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++) {
		struct wide_op *operation = &wide->operation[op - NETFC_ADD];

		operation->kernel.run = wide_run_steps;
		operation->program = netfc_set_op_program(set, op);
		operation->stage = wide->stage;
	}
}

static void
use_processor(struct wide *wide, enum match_kind match, enum vector_isa isa)
{
	const wide_fn *functions = best_of(isa);

	for (unsigned int o = 0; o < WIDE_OPS; o++)
		wide->operation[o].kernel.run = functions[o];
	snprintf(wide->description, sizeof(wide->description), "%s, binary32, %s",
		vector_isa_name(functions == wide_fp32_plain ? VECTOR_PLAIN : isa),
		match == MATCH_FPU ? "correctly rounded, not the table set"
				   : "equal to the tables");
}

/* 1: the processor's arithmetic is what the engine may use; 0: it is not; or an error. */
static int
may_use_processor(const struct netfc_set *set, enum match_kind match, enum vector_isa isa)
{
	int error;

	if ((match != MATCH_FPU && match != MATCH_DIRECT) || !rounds_as_ieee(best_of(isa)))
		return 0;
	error = match == MATCH_DIRECT ? vector_compare_with_built(set) : 0;
	if (error == -ENOTSUP)
		return 0;
	return error == 0 ? 1 : error;
}

static int
choose(struct wide *wide, const struct netfc_set *set, enum match_kind match, enum vector_isa isa,
	int socket_id)
{
	int error = may_use_processor(set, match, isa);

	if (error > 0) {
		use_processor(wide, match, isa);
		return 0;
	}
	if (error == 0)
		error = create_stages(
			wide, set, match == MATCH_FPU ? MATCH_DIRECT : match, socket_id);
	if (error == 0)
		use_steps(wide, set);
	return error;
}

int
wide_create(const struct netfc_set *set, enum match_kind match, enum vector_isa isa, int socket_id,
	struct wide **result)
{
	struct wide *wide;
	int error;

	wide = rte_zmalloc_socket("netfc_wide", sizeof(*wide), RTE_CACHE_LINE_SIZE, socket_id);
	if (wide == NULL)
		return -ENOMEM;
	for (unsigned int o = 0; o < WIDE_OPS; o++) {
		wide->operation[o].kernel.free = free_nothing;
		wide->operation[o].op = NETFC_ADD + o;
	}
	error = choose(wide, set, match, isa, socket_id);
	if (error != 0) {
		wide_free(wide);
		return error;
	}
	*result = wide;
	return 0;
}

void
wide_free(struct wide *wide)
{
	if (wide == NULL)
		return;
	for (unsigned int t = 0; t < NETFC_MAX_TABLES; t++)
		match_free(wide->stage[t]);
	rte_free(wide);
}

struct further_kernel *
wide_kernel(struct wide *wide, enum netfc_op op)
{
	return &wide->operation[op - NETFC_ADD].kernel;
}

const char *
wide_description(const struct wide *wide)
{
	return wide->description[0] != '\0' ? wide->description : NULL;
}
