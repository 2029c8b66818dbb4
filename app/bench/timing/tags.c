/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <aggregate_tag.h>
#include <aggregate_wire.h>

#include "bench.h"
#include "timing/timing.h"

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
packet_of(const struct tags *tags, unsigned int turn)
{
	return tags->packets + turn % PACKETS * (tags->payload + AGGREGATE_TAG_BYTES);
}

static void
check(void *arg, unsigned int turn)
{
	struct tags *tags = arg;

	tags->bad += !aggregate_tag_is_good(
		&tags->key, packet_of(tags, turn), tags->payload + AGGREGATE_TAG_BYTES, 0);
}

/* One digest, and a tag for each worker. */
static void
make_results(void *arg, unsigned int turn)
{
	struct tags *tags = arg;
	uint8_t *packet = packet_of(tags, turn);
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
fill(struct tags *tags)
{
	for (unsigned int p = 0; p < PACKETS; p++) {
		uint8_t *packet = packet_of(tags, p);

		for (size_t i = 0; i < tags->payload; i++)
			packet[i] = (uint8_t)(i * 7 + p);
		aggregate_tag_make(&tags->key, packet, tags->payload, 0);
	}
}

static void
print_row(struct tags *tags, size_t payload)
{
	double key = measure(tags, make_key), checked, result;

	tags->payload = payload;
	fill(tags);
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
		print_row(tags, payloads[p]);
	aggregate_secret_free(secret);
}

static size_t
longest_payload(unsigned int bytes)
{
	size_t payload = AGGREGATE_HEADER_BYTES + bytes;

	return payload > LONG_PAYLOAD ? payload : LONG_PAYLOAD;
}

int
time_tags(const struct options *options)
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
