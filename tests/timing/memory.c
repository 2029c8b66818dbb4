/* SPDX-License-Identifier: BSD-3-Clause */
/* What is timed in memory: exact sums, and the tags of packets. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <aggregate.h>
#include <aggregate_tag.h>
#include <aggregate_wire.h>

#include "exact.h"
#include "timing.h"

/* Something to be timed; `turn` counts. */
typedef void (*time_work)(void *arg, unsigned int turn);

#define MEASUREMENTS 20
/* Between two readings of the clock. */
#define TURNS 64

/* Of this thread: time in which others had the core does not count. */
static double
seconds_of_work(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Seconds that it takes, of this thread: the best of twenty measurements. */
static double
time_best(time_work work, void *arg, double seconds)
{
	double best = 0;

	for (unsigned int m = 0; m < MEASUREMENTS; m++) {
		double start = seconds_of_work(), spent;
		unsigned int turns = 0;

		do {
			for (unsigned int t = 0; t < TURNS; t++)
				work(arg, turns++);
			spent = seconds_of_work() - start;
		} while (spent * MEASUREMENTS < seconds);
		spent /= turns;
		best = m == 0 || spent < best ? spent : best;
	}
	return best;
}

/*
 * ---- exact sums, rounding included: values per second and core, by format, operation, instruction
 * set and kind of data.
 */

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
values_of(const struct sums *sums, unsigned int chunk, unsigned int worker)
{
	const struct aggregate_options *options = sums->options;

	return sums->packets + (chunk * options->workers + worker) * options->bytes;
}

static void
fill_values(struct sums *sums, enum data_kind kind, unsigned int format)
{
	unsigned int workers = (unsigned int)sums->options->workers;
	uint64_t values[AGGREGATE_MAX_WORKERS];
	uint64_t seed = 1;

	for (unsigned int c = 0; c < CHUNKS; c++)
		for (uint32_t lane = 0; lane < sums->count; lane++) {
			data_fill(kind, format, values, workers, &seed);
			for (unsigned int w = 0; w < workers; w++)
				data_put(format, values_of(sums, c, w), lane, values[w]);
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
		packets[w] = values_of(sums, turn % CHUNKS, w);
	aggregate_reduce(sums->kernel, lanes, packets, (unsigned int)options->workers, sums->count,
		sums->result);
}

static void
print_sums_row(struct sums *sums, unsigned int op, unsigned int format, enum aggregate_isa isa)
{
	sums->kernel = aggregate_kernel(isa, op, format);
	sums->count = (uint32_t)sums->options->bytes / aggregate_lane_bytes(format);
	printf("%-12s %-5s %-8s", aggregate_format_name(format), aggregate_op_name(op),
		aggregate_isa_name(isa));
	for (unsigned int kind = 0; kind < DATA_KINDS; kind++) {
		double values = (double)sums->count * (double)sums->options->workers;

		if ((sums->options->kinds >> kind & 1) == 0)
			continue;
		fill_values(sums, kind, format);
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
					print_sums_row(sums, op,
						bench_aggregate_format(options, format), isa);
}

int
time_sums(const struct timing_options *options)
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

/* ---- tags ------------------------------------------------------------------------------------ */

/* More packets than a first-level cache has. */
#define PACKETS 64

#define SHORT_PAYLOAD 64
#define LONG_PAYLOAD 8972 /* in 9,000 bytes of IPv4 */

struct tags {
	const struct aggregate_secret *secret;
	struct aggregate_tag_key key;
	uint8_t *packets;
	size_t payload; /* bytes, without the tag */
	unsigned int workers;
	double seconds;   /* of each measurement */
	unsigned int bad; /* tags that were not as they should be */
};

static uint8_t *
tagged_of(const struct tags *tags, unsigned int turn)
{
	return tags->packets + turn % PACKETS * (tags->payload + AGGREGATE_TAG_BYTES);
}

static void
check(void *arg, unsigned int turn)
{
	struct tags *tags = arg;

	tags->bad += !aggregate_tag_is_good(
		&tags->key, tagged_of(tags, turn), tags->payload + AGGREGATE_TAG_BYTES, 0);
}

/* One digest, and a tag for each worker. */
static void
make_results(void *arg, unsigned int turn)
{
	struct tags *tags = arg;
	uint8_t *packet = tagged_of(tags, turn);
	struct aggregate_digest digest;

	aggregate_tag_digest(&tags->key, packet + AGGREGATE_HEADER_BYTES,
		tags->payload - AGGREGATE_HEADER_BYTES, &digest);
	for (unsigned int w = 0; w < tags->workers; w++)
		aggregate_tag_finish(&tags->key, packet, 0, &digest, packet + tags->payload);
}

static void
make_key(void *arg, unsigned int turn)
{
	struct tags *tags = arg;

	(void)turn;
	aggregate_tag_session_key(tags->secret, 1, 2, AGGREGATE_TO_SWITCH, &tags->key);
}

/* Nanoseconds. */
static double
measure(struct tags *tags, time_work work)
{
	return time_best(work, tags, tags->seconds) * 1e9;
}

static void
fill_packets(struct tags *tags)
{
	for (unsigned int p = 0; p < PACKETS; p++) {
		uint8_t *packet = tagged_of(tags, p);

		for (size_t i = 0; i < tags->payload; i++)
			packet[i] = (uint8_t)(i * 7 + p);
		aggregate_tag_make(&tags->key, packet, tags->payload, 0);
	}
}

static void
print_tags_row(struct tags *tags, size_t payload)
{
	double key = measure(tags, make_key), checked, result;

	tags->payload = payload;
	fill_packets(tags);
	checked = measure(tags, check);
	result = measure(tags, make_results) / tags->workers;
	printf("%-9s %7zu %9.0f %9.2f %9.0f %9.0f\n",
		aggregate_engine_name(aggregate_secret_engine(tags->secret)), payload, checked,
		(double)payload / checked, result, key);
	fflush(stdout);
}

static void
print_engine(struct tags *tags, enum aggregate_engine engine, unsigned int bytes)
{
	static const uint8_t cluster_key[AGGREGATE_CLUSTER_KEY_BYTES] = {1};
	struct aggregate_secret *secret = aggregate_secret_create_for(cluster_key, engine);
	const size_t payloads[] = {SHORT_PAYLOAD, AGGREGATE_HEADER_BYTES + bytes, LONG_PAYLOAD};

	if (secret == NULL) {
		printf("%-9s is not in this build, or not for this processor\n",
			aggregate_engine_name(engine));
		return;
	}
	tags->secret = secret;
	make_key(tags, 0);
	for (unsigned int p = 0; p < sizeof(payloads) / sizeof(payloads[0]); p++)
		print_tags_row(tags, payloads[p]);
	aggregate_secret_free(secret);
}

static size_t
longest_payload(unsigned int bytes)
{
	size_t payload = AGGREGATE_HEADER_BYTES + bytes;

	return payload > LONG_PAYLOAD ? payload : LONG_PAYLOAD;
}

int
time_tags(const struct timing_options *options)
{
	const unsigned int bytes = (unsigned int)options->aggregate.bytes;
	struct tags tags = {
		.workers = (unsigned int)options->aggregate.workers, .seconds = options->seconds};

	tags.packets = malloc(PACKETS * (longest_payload(bytes) + AGGREGATE_TAG_BYTES));
	if (tags.packets == NULL)
		return REPORT("--time: out of memory\n");
	printf("results for %u workers; ns a packet, and GB/s\n", tags.workers);
	printf("%-9s %7s %9s %9s %9s %9s\n", "engine", "payload", "check", "GB/s", "result", "key");
	for (enum aggregate_engine engine = 0; engine < AGGREGATE_ENGINE_END; engine++)
		print_engine(&tags, engine, bytes);
	free(tags.packets);
	if (tags.bad > 0)
		fprintf(stderr, PROGRAM ": --time: %u tags were wrong\n", tags.bad);
	return tags.bad == 0 ? 0 : -1;
}
