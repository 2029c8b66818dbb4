/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact sums in memory, rounding included: values per second and core, by format, operation,
 * instruction set and kind of data. And tags of packets.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <aggregate.h>

#include "data.h"
#include "tags.h"

#define PROGRAM "netfc-aggregate-bench"

/* Chunks of different values: more than branch prediction can learn by heart. */
#define CHUNKS 16
#define MOST_BYTES 9000
#define MOST_STATES 4096

/* What is measured, in columns. */
static const struct {
	enum data_kind kind;
	const char *name;
} columns[] = {
	{DATA_GRADIENTS, "gradients"},
	{DATA_FINITE, "exponents"},
	{DATA_ANY, "encodings"},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

struct options {
	unsigned int workers, bytes, states, milliseconds;
	unsigned int op, format; /* 0: all */
	bool tags;
};

struct bench {
	struct options options;
	uint8_t *packets; /* CHUNKS times workers times bytes */
	uint8_t *states;
	size_t state_bytes;
	uint8_t result[MOST_BYTES];
};

static uint8_t *
packet_of(const struct bench *bench, unsigned int chunk, unsigned int worker)
{
	return bench->packets +
		((size_t)chunk * bench->options.workers + worker) * bench->options.bytes;
}

static void
fill(struct bench *bench, enum data_kind kind, unsigned int format)
{
	unsigned int workers = bench->options.workers;
	uint32_t count = bench->options.bytes / aggregate_value_bytes(format);
	uint64_t values[AGGREGATE_MAX_WORKERS];
	uint64_t seed = 1;

	for (unsigned int c = 0; c < CHUNKS; c++)
		for (uint32_t lane = 0; lane < count; lane++) {
			data_fill(kind, format, values, workers, &seed);
			for (unsigned int w = 0; w < workers; w++)
				data_put(format, packet_of(bench, c, w), lane, values[w]);
		}
}

static double
seconds_of_work(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void
reduce(struct bench *bench, const struct aggregate_kernel *kernel, uint32_t count,
	unsigned int turn)
{
	struct aggregate_lanes *lanes = (struct aggregate_lanes *)(void *)(bench->states +
		turn % bench->options.states * bench->state_bytes);
	const uint8_t *packets[AGGREGATE_MAX_WORKERS];

	for (unsigned int w = 0; w < bench->options.workers; w++)
		packets[w] = packet_of(bench, turn % CHUNKS, w);
	aggregate_reduce(kernel, lanes, packets, bench->options.workers, count, bench->result);
}

/* Values a second: of twenty measurements the best. */
static double
measure(struct bench *bench, const struct aggregate_kernel *kernel, unsigned int format)
{
	uint32_t count = bench->options.bytes / aggregate_value_bytes(format);
	double best = 0;

	for (unsigned int round = 0; round < 20; round++) {
		double start = seconds_of_work(), seconds, rate;
		unsigned int turns = 0;

		do {
			for (unsigned int i = 0; i < 64; i++)
				reduce(bench, kernel, count, turns++);
			seconds = seconds_of_work() - start;
		} while (seconds * 20000 < bench->options.milliseconds);
		rate = (double)turns * count * bench->options.workers / seconds;
		best = rate > best ? rate : best;
	}
	return best;
}

static void
print_row(struct bench *bench, unsigned int op, unsigned int format, enum aggregate_isa isa)
{
	const struct aggregate_kernel *kernel = aggregate_kernel(isa, op, format);

	printf("%-12s %-5s %-8s", aggregate_format_name(format), aggregate_op_name(op),
		aggregate_isa_name(isa));
	for (unsigned int c = 0; c < COLUMNS; c++) {
		fill(bench, columns[c].kind, format);
		printf(" %11.0f", measure(bench, kernel, format) * 1e-6);
	}
	printf("\n");
	fflush(stdout);
}

static void
print_all(struct bench *bench)
{
	const struct options *options = &bench->options;

	printf("%u workers, %u bytes of values a packet, %u states; million values a second\n",
		options->workers, options->bytes, options->states);
	printf("%-12s %-5s %-8s", "format", "op", "isa");
	for (unsigned int c = 0; c < COLUMNS; c++)
		printf(" %11s", columns[c].name);
	printf("\n");
	for (unsigned int format = 1; format < AGGREGATE_FORMAT_END; format++)
		for (unsigned int op = AGGREGATE_SUM; op <= AGGREGATE_MAX; op++)
			for (enum aggregate_isa isa = 0; isa <= aggregate_isa_best(); isa++)
				if (aggregate_is_format(format) &&
					(options->format == 0 || options->format == format) &&
					(options->op == 0 || options->op == op))
					print_row(bench, op, format, isa);
}

static void
print_usage(FILE *out)
{
	fprintf(out,
		"Usage: " PROGRAM " [options]\n"
		"Exact sums in memory, rounding included: million values a second of one core.\n"
		"With --tags: how long it takes to check a packet's tag, to tag a result for one\n"
		"of its workers, and to make a session's key.\n"
		"\n"
		"  --tags            tags of packets, not sums\n"
		"  --workers N       workers, 1 to 64 (default 8)\n"
		"  --bytes N         bytes of values in a packet, 8 to %d (default 1448)\n"
		"  --states N        accumulators taken in turns, 1 to %d (default 1: in the cache)\n"
		"  --format NAME     one format alone (fp16, posit16, bf16, posit16_es2, fp32, int32,\n"
		"                    fp64, int64)\n"
		"  --op NAME         one operation alone (sum, mean, min, max)\n"
		"  --milliseconds N  of each measurement (default 50)\n",
		MOST_BYTES, MOST_STATES);
}

static unsigned int
number_between(const char *text, unsigned int least, unsigned int most)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text == '\0' || *end != '\0' || number < least || number > most) {
		fprintf(stderr, PROGRAM ": '%s' is no number from %u to %u\n", text, least, most);
		exit(1);
	}
	return (unsigned int)number;
}

static unsigned int
known(unsigned int number, const char *name)
{
	if (number == 0) {
		fprintf(stderr, PROGRAM ": '%s' is not known, see --help\n", name);
		exit(1);
	}
	return number;
}

static struct options
parse_options(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"tags", no_argument, NULL, 't'},
		{"workers", required_argument, NULL, 'w'},
		{"bytes", required_argument, NULL, 'b'},
		{"states", required_argument, NULL, 's'},
		{"format", required_argument, NULL, 'f'},
		{"op", required_argument, NULL, 'o'},
		{"milliseconds", required_argument, NULL, 'm'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct options options = {.workers = 8, .bytes = 1448, .states = 1, .milliseconds = 50};
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (option) {
		case 't':
			options.tags = true;
			break;
		case 'w':
			options.workers = number_between(optarg, 1, AGGREGATE_MAX_WORKERS);
			break;
		case 'b':
			options.bytes = number_between(optarg, 8, MOST_BYTES);
			break;
		case 's':
			options.states = number_between(optarg, 1, MOST_STATES);
			break;
		case 'f':
			options.format = known(aggregate_format_by_name(optarg), optarg);
			break;
		case 'o':
			options.op = known(aggregate_op_by_name(optarg), optarg);
			break;
		case 'm':
			options.milliseconds = number_between(optarg, 1, 10000);
			break;
		case 'h':
			print_usage(stdout);
			exit(0);
		default:
			print_usage(stderr);
			exit(1);
		}
	}
	return options;
}

int
main(int argc, char **argv)
{
	struct bench bench = {.options = parse_options(argc, argv)};
	const struct options *options = &bench.options;

	if (options->tags)
		return tags_print(options->workers, options->bytes, options->milliseconds) == 0 ? 0
												: 2;
	bench.state_bytes = aggregate_lanes_bytes(AGGREGATE_ALL_FORMATS, options->bytes);
	bench.packets = malloc((size_t)CHUNKS * options->workers * options->bytes);
	bench.states = aligned_alloc(AGGREGATE_ALIGN, options->states * bench.state_bytes);
	if (bench.packets == NULL || bench.states == NULL) {
		free(bench.packets);
		free(bench.states);
		fprintf(stderr, PROGRAM ": out of memory\n");
		return 2;
	}
	for (unsigned int s = 0; s < options->states; s++)
		aggregate_lanes_init(bench.states + s * bench.state_bytes, options->bytes);
	print_all(&bench);
	free(bench.packets);
	free(bench.states);
	return 0;
}
