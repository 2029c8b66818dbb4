/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs kernels some times, for whoever counts their instructions: scripts/support/count_arm64.py.
 * Usage: run_kernel KERNEL ISA LANES
 * KERNEL: log (fp16_k1024 by arrays), fpu (fp16), each of four operations; sum, mean (8 workers),
 * each of all formats and once more, of bf16 and fp32, of values of similar size. ISA: a number, 0
 * is plain C. Between two calls of mark() it runs one operation TIMES times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_memory.h>

#include <aggregate.h>

#include "eal.h"
#include "vector.h"

#define MAX_LANES 1024
#define WORKERS 8
#define TIMES 2

/* Does nothing, which can be seen from outside. */
static __attribute__((noinline)) void
mark(void)
{
	__asm__ volatile("");
}

/* Any finite numbers, the same ones each time that `state` begins with the same. */
static void
fill(uint8_t *bytes, size_t count, uint32_t state)
{

	for (size_t i = 0; i < count; i++) {
		state = state * 1664525 + 1013904223;
		/* An upper byte of an exponent that is not all ones. */
		bytes[i] = (uint8_t)(i % 2 == 0 ? state >> 24 & 0xbb : state >> 24);
	}
}

static struct vector_kernel *
create_log(enum vector_isa isa)
{
	struct match_stage *stages[NETFC_MAX_TABLES] = {NULL};
	struct vector_kernel *kernel;
	struct netfc_set *set;

	if (netfc_set_build("fp16_k1024", &set) != NETFC_OK)
		return NULL;
	if (vector_create(set, NULL, isa, SOCKET_ID_ANY, &kernel) == 0)
		return kernel;
	for (unsigned int t = 0; t < netfc_set_table_count(set); t++) {
		if (match_create(
			    MATCH_DIRECT, netfc_set_table(set, t), SOCKET_ID_ANY, &stages[t]) != 0)
			return NULL;
	}
	return vector_create(set, stages, isa, SOCKET_ID_ANY, &kernel) == 0 ? kernel : NULL;
}

static int
run_vector(struct vector_kernel *kernel, uint32_t lanes)
{
	static uint8_t slots[6 * MAX_LANES];
	struct vector_packet packet = {.slots = slots, .count = lanes};

	if (kernel == NULL)
		return 1;
	printf("%s\n", kernel->description);
	fill(slots, 4 * lanes, 1);
	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++) {
		mark();
		for (unsigned int i = 0; i < TIMES; i++)
			vector_run_packets(kernel, op, &packet, 1);
	}
	mark();
	vector_free(kernel);
	return 0;
}

/* Numbers of bf16 or fp32 between 2^-15 and 1, and their negatives, as gradients are. */
static void
make_similar(uint8_t *bytes, size_t count, unsigned int value_bytes)
{
	for (size_t i = 0; i < count; i += value_bytes)
		bytes[i] = (uint8_t)((bytes[i] & 0x87) | 0x38);
}

static int
run_reduction(enum aggregate_isa isa, unsigned int op, enum aggregate_format format, bool similar,
	uint32_t lanes)
{
	static uint8_t values[WORKERS][8 * MAX_LANES], result[8 * MAX_LANES];
	const struct aggregate_kernel *kernel = aggregate_kernel(isa, op, format);
	const unsigned int value_bytes = aggregate_value_bytes(format);
	const uint8_t *workers[WORKERS];
	struct aggregate_lanes *state;
	void *memory = aligned_alloc(AGGREGATE_ALIGN,
		RTE_ALIGN(aggregate_lanes_bytes(AGGREGATE_ALL_FORMATS, value_bytes * lanes),
			AGGREGATE_ALIGN));

	if (kernel == NULL || memory == NULL)
		return 1;
	state = aggregate_lanes_init(memory, value_bytes * lanes);
	for (unsigned int w = 0; w < WORKERS; w++) {
		fill(values[w], (size_t)value_bytes * lanes, w + 1);
		if (similar)
			make_similar(values[w], (size_t)value_bytes * lanes, value_bytes);
		workers[w] = values[w];
	}
	mark();
	for (unsigned int i = 0; i < TIMES; i++)
		aggregate_reduce(kernel, state, workers, WORKERS, lanes, result);
	free(memory);
	return 0;
}

static int
run_reductions(enum aggregate_isa isa, unsigned int op, uint32_t lanes)
{
	int status = 0;

	for (enum aggregate_format format = AGGREGATE_FP16; format < AGGREGATE_FORMAT_END; format++)
		if (aggregate_is_format(format))
			status |= run_reduction(isa, op, format, false, lanes);
	status |= run_reduction(isa, op, AGGREGATE_BF16, true, lanes);
	status |= run_reduction(isa, op, AGGREGATE_FP32, true, lanes);
	mark();
	printf("%s\n", aggregate_isa_name(isa));
	return status;
}

int
main(int argc, char **argv)
{
	struct vector_kernel *kernel = NULL;
	unsigned int isa, lanes;

	if (argc != 4 || start_lcores(1) != 0)
		return 1;
	isa = (unsigned int)strtoul(argv[2], NULL, 10);
	lanes = (unsigned int)strtoul(argv[3], NULL, 10);
	if (isa > (unsigned int)vector_isa_best() || lanes == 0 || lanes > MAX_LANES)
		return 1;
	if (strcmp(argv[1], "log") == 0)
		return run_vector(create_log(isa), lanes);
	if (strcmp(argv[1], "sum") == 0)
		return run_reductions(isa, AGGREGATE_SUM, lanes);
	if (strcmp(argv[1], "mean") == 0)
		return run_reductions(isa, AGGREGATE_MEAN, lanes);
	if (strcmp(argv[1], "fpu") != 0 ||
		vector_fpu_create(netfc_format_by_id(NETFC_FP16), isa, SOCKET_ID_ANY, &kernel) != 0)
		return 1;
	return run_vector(kernel, lanes);
}
