/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact sums in memory, rounding included: values per second and core, by format, operation,
 * instruction set and kind of data.
 */
#include <stdio.h>
#include <stdlib.h>

#include <aggregate.h>

#include "bench.h"
#include "exact.h"
#include "timing/timing.h"

/* Chunks of different values: more than branch prediction can learn by heart. */
#define CHUNKS 16

struct sums {
	const struct aggregate_options *options;
	double seconds;   /* of each measurement */
	uint8_t *packets; /* CHUNKS times workers times bytes */
	uint8_t *states;  /* as many as there are slots, taken in turns */
	size_t state_bytes;
	uint8_t *result;
	const struct aggregate_kernel *kernel;
	uint32_t count; /* of values in a packet */
};

static uint8_t *
packet_of(const struct sums *sums, unsigned int chunk, unsigned int worker)
{
	const struct aggregate_options *options = sums->options;

	return sums->packets + (chunk * options->workers + worker) * options->bytes;
}

static void
fill(struct sums *sums, enum data_kind kind, unsigned int format)
{
	unsigned int workers = (unsigned int)sums->options->workers;
	uint64_t values[AGGREGATE_MAX_WORKERS];
	uint64_t seed = 1;

	for (unsigned int c = 0; c < CHUNKS; c++)
		for (uint32_t lane = 0; lane < sums->count; lane++) {
			data_fill(kind, format, values, workers, &seed);
			for (unsigned int w = 0; w < workers; w++)
				data_put(format, packet_of(sums, c, w), lane, values[w]);
		}
}

/* A time_work. */
static void
reduce(void *arg, unsigned int turn)
{
	const struct sums *sums = arg;
	const struct aggregate_options *options = sums->options;
	struct aggregate_lanes *lanes = (struct aggregate_lanes *)(void *)(sums->states +
		turn % options->slots * sums->state_bytes);
	const uint8_t *packets[AGGREGATE_MAX_WORKERS];

	for (unsigned int w = 0; w < options->workers; w++)
		packets[w] = packet_of(sums, turn % CHUNKS, w);
	aggregate_reduce(sums->kernel, lanes, packets, (unsigned int)options->workers, sums->count,
		sums->result);
}

static void
print_row(struct sums *sums, unsigned int op, unsigned int format, enum aggregate_isa isa)
{
	sums->kernel = aggregate_kernel(isa, op, format);
	sums->count = (uint32_t)sums->options->bytes / aggregate_lane_bytes(format);
	printf("%-12s %-5s %-8s", aggregate_format_name(format), aggregate_op_name(op),
		aggregate_isa_name(isa));
	for (unsigned int kind = 0; kind < DATA_KINDS; kind++) {
		double values = (double)sums->count * (double)sums->options->workers;

		if ((sums->options->kinds >> kind & 1) == 0)
			continue;
		fill(sums, kind, format);
		printf(" %11.0f", values / time_best(reduce, sums, sums->seconds) * 1e-6);
	}
	printf("\n");
	fflush(stdout);
}

static void
print_all(struct sums *sums)
{
	const struct aggregate_options *options = sums->options;

	printf("%u workers, %u bytes of values a packet, %u states; million values a second\n",
		(unsigned int)options->workers, (unsigned int)options->bytes,
		(unsigned int)options->slots);
	printf("%-12s %-5s %-8s", "format", "op", "isa");
	for (unsigned int kind = 0; kind < DATA_KINDS; kind++)
		if ((options->kinds >> kind & 1) != 0)
			printf(" %11s", data_kind_words[kind]);
	printf("\n");
	for (unsigned int format = 1; format < AGGREGATE_FORMAT_END; format++)
		for (unsigned int op = AGGREGATE_SUM; op <= AGGREGATE_MAX; op++)
			for (enum aggregate_isa isa = 0; isa <= aggregate_isa_best(); isa++)
				if (aggregate_is_format(format) &&
					(options->formats >> format & 1) != 0 &&
					(options->ops >> (op - AGGREGATE_SUM) & 1) != 0)
					print_row(sums, op, bench_aggregate_format(options, format),
						isa);
}

int
time_sums(const struct options *options)
{
	const struct aggregate_options *aggregate = &options->aggregate;
	struct sums sums = {.options = aggregate, .seconds = options->seconds};
	const uint32_t bytes = (uint32_t)aggregate->bytes;
	int status = -1;

	sums.state_bytes = aggregate_lanes_bytes(AGGREGATE_ALL_FORMATS, bytes);
	sums.packets = malloc(CHUNKS * aggregate->workers * bytes);
	sums.states = aligned_alloc(AGGREGATE_ALIGN, aggregate->slots * sums.state_bytes);
	sums.result = malloc(bytes);
	if (sums.packets != NULL && sums.states != NULL && sums.result != NULL) {
		for (unsigned int s = 0; s < aggregate->slots; s++)
			aggregate_lanes_init(sums.states + s * sums.state_bytes, bytes);
		print_all(&sums);
		status = 0;
	} else {
		fprintf(stderr, PROGRAM ": --time: out of memory\n");
	}
	free(sums.packets);
	free(sums.states);
	free(sums.result);
	return status;
}
