/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <aggregate_tag.h>
#include <aggregate_wire.h>

#include "tags.h"

/* More packets than a first-level cache has. */
#define PACKETS 64

#define SHORT_PAYLOAD 64
#define LONG_PAYLOAD 8972 /* in 9,000 bytes of IPv4 */

struct bench {
	const struct aggregate_secret *secret;
	struct aggregate_tag_key key;
	uint8_t *packets;
	size_t payload; /* bytes, without the tag */
	unsigned int workers, milliseconds;
	unsigned int bad; /* tags that were not as they should be */
};

static uint8_t *
packet_of(const struct bench *bench, unsigned int turn)
{
	return bench->packets + turn % PACKETS * (bench->payload + AGGREGATE_TAG_BYTES);
}

static void
check(struct bench *bench, unsigned int turn)
{
	bench->bad += !aggregate_tag_is_good(
		&bench->key, packet_of(bench, turn), bench->payload + AGGREGATE_TAG_BYTES, 0);
}

/* One digest, and a tag for each worker. */
static void
make_results(struct bench *bench, unsigned int turn)
{
	uint8_t *packet = packet_of(bench, turn);
	struct aggregate_digest digest;

	aggregate_tag_digest(&bench->key, packet + AGGREGATE_HEADER_BYTES,
		bench->payload - AGGREGATE_HEADER_BYTES, &digest);
	for (unsigned int w = 0; w < bench->workers; w++)
		aggregate_tag_finish(&bench->key, packet, 0, &digest, packet + bench->payload);
}

static void
make_key(struct bench *bench, unsigned int turn)
{
	(void)turn;
	aggregate_tag_session_key(bench->secret, 1, 2, AGGREGATE_TO_SWITCH, &bench->key);
}

static double
seconds_of_work(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Nanoseconds: of twenty measurements the best. */
static double
measure(struct bench *bench, void (*work)(struct bench *bench, unsigned int turn))
{
	double best = 1e9;

	for (unsigned int round = 0; round < 20; round++) {
		double start = seconds_of_work(), seconds;
		unsigned int turns = 0;

		do {
			for (unsigned int i = 0; i < 64; i++)
				work(bench, turns++);
			seconds = seconds_of_work() - start;
		} while (seconds * 20000 < bench->milliseconds);
		best = seconds / turns < best ? seconds / turns : best;
	}
	return best * 1e9;
}

static void
fill(struct bench *bench)
{
	for (unsigned int p = 0; p < PACKETS; p++) {
		uint8_t *packet = packet_of(bench, p);

		for (size_t i = 0; i < bench->payload; i++)
			packet[i] = (uint8_t)(i * 7 + p);
		aggregate_tag_make(&bench->key, packet, bench->payload, 0);
	}
}

static void
print_row(struct bench *bench, size_t payload)
{
	double key = measure(bench, make_key), checked, result;

	bench->payload = payload;
	fill(bench);
	checked = measure(bench, check);
	result = measure(bench, make_results) / bench->workers;
	printf("%-9s %7zu %9.0f %9.2f %9.0f %9.0f\n",
		aggregate_engine_name(aggregate_secret_engine(bench->secret)), payload, checked,
		(double)payload / checked, result, key);
	fflush(stdout);
}

static void
print_engine(struct bench *bench, enum aggregate_engine engine, unsigned int bytes)
{
	static const uint8_t cluster_key[AGGREGATE_CLUSTER_KEY_BYTES] = {1};
	struct aggregate_secret *secret = aggregate_secret_create_for(cluster_key, engine);
	const size_t payloads[] = {SHORT_PAYLOAD, AGGREGATE_HEADER_BYTES + bytes, LONG_PAYLOAD};

	if (secret == NULL) {
		printf("%-9s is not in this build, or not for this processor\n",
			aggregate_engine_name(engine));
		return;
	}
	bench->secret = secret;
	make_key(bench, 0);
	for (unsigned int p = 0; p < sizeof(payloads) / sizeof(payloads[0]); p++)
		print_row(bench, payloads[p]);
	aggregate_secret_free(secret);
}

static size_t
longest_payload(unsigned int bytes)
{
	size_t payload = AGGREGATE_HEADER_BYTES + bytes;

	return payload > LONG_PAYLOAD ? payload : LONG_PAYLOAD;
}

int
tags_print(unsigned int workers, unsigned int bytes, unsigned int milliseconds)
{
	struct bench bench = {.workers = workers, .milliseconds = milliseconds};

	bench.packets = malloc(PACKETS * (longest_payload(bytes) + AGGREGATE_TAG_BYTES));
	if (bench.packets == NULL) {
		fprintf(stderr, "out of memory\n");
		return -1;
	}
	printf("results for %u workers; ns a packet, and GB/s\n", workers);
	printf("%-9s %7s %9s %9s %9s %9s\n", "engine", "payload", "check", "GB/s", "result", "key");
	for (enum aggregate_engine engine = 0; engine < AGGREGATE_ENGINE_END; engine++)
		print_engine(&bench, engine, bytes);
	free(bench.packets);
	if (bench.bad > 0)
		fprintf(stderr, "%u tags were wrong\n", bench.bad);
	return bench.bad == 0 ? 0 : -1;
}
