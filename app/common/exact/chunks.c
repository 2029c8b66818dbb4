/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "exact.h"

/* One of a set of bits, in turn. */
static unsigned int
bit_in_turn(unsigned int set, unsigned int turn)
{
	for (turn %= (unsigned int)__builtin_popcount(set); turn > 0; turn--)
		set &= set - 1;
	return (unsigned int)__builtin_ctz(set);
}

static uint16_t
sum_of(const uint8_t *bytes, size_t length)
{
	uint64_t sum = 0;

	for (size_t at = 0; at < length; at += sizeof(uint16_t)) {
		uint16_t word = 0;

		memcpy(&word, bytes + at, length - at < sizeof(word) ? 1 : sizeof(word));
		sum += word;
	}
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void
fill_lane(const struct chunk *chunk, enum data_kind kind, unsigned int workers, uint8_t *values,
	uint32_t lane, uint64_t *seed, uint8_t *flags)
{
	uint64_t lanes[AGGREGATE_MAX_WORKERS];
	struct oracle_result result = {0};

	data_fill(kind, chunk->format, lanes, workers, seed);
	for (unsigned int w = 0; w < workers; w++)
		data_put(chunk->format, values + (size_t)w * chunk->bytes, lane, lanes[w]);
	if (chunk->op == AGGREGATE_COPY)
		result.bits = lanes[chunk->owner - AGGREGATE_OWNER];
	else
		result = oracle_reduce(chunk->op, chunk->format, lanes, workers);
	data_put(aggregate_results_format(chunk->format), values + (size_t)workers * chunk->bytes,
		lane, result.bits);
	*flags |= result.flags;
}

static void
fill_chunk(const struct chunks_config *config, unsigned int turn, uint64_t *seed,
	struct chunk *chunk, uint8_t *values, uint16_t *sums)
{
	enum data_kind kind;
	uint32_t most;

	/* All pairs of a format and an operation, each pair with all kinds. */
	chunk->format = (uint8_t)AGGREGATE_INTO(bit_in_turn(config->formats, turn), config->into);
	turn /= (unsigned int)__builtin_popcount(config->formats);
	chunk->op = (uint8_t)(AGGREGATE_SUM + bit_in_turn(config->ops, turn));
	turn /= (unsigned int)__builtin_popcount(config->ops);
	kind = bit_in_turn(config->kinds, turn);
	if (chunk->op == AGGREGATE_COPY || config->owned)
		chunk->owner = (uint8_t)(AGGREGATE_OWNER + next_random(seed) % config->workers);
	most = config->bytes / aggregate_lane_bytes(chunk->format);
	chunk->count = (uint16_t)(config->any_length ? 1 + next_random(seed) % most : most);
	chunk->bytes = chunk->count * aggregate_value_bytes(chunk->format);
	chunk->result_bytes = chunk->count * aggregate_result_value_bytes(chunk->format);
	chunk->values = values;
	chunk->result = values + (size_t)config->workers * chunk->bytes;
	chunk->sums = sums;
	for (uint32_t lane = 0; lane < chunk->count; lane++)
		fill_lane(chunk, kind, config->workers, values, lane, seed, &chunk->flags);
	for (unsigned int w = 0; w < config->workers; w++)
		sums[w] = sum_of(chunk_values(chunk, w), chunk->bytes);
}

int
chunks_create(const struct chunks_config *config, struct chunks *chunks)
{
	size_t bytes = (size_t)(config->workers + 1) * config->bytes;
	uint64_t seed = config->seed;

	*chunks = (struct chunks){.workers = config->workers, .count = config->count};
	chunks->chunk = calloc(config->count, sizeof(*chunks->chunk));
	chunks->values = malloc(config->count * bytes);
	chunks->sums = calloc((size_t)config->count * config->workers, sizeof(*chunks->sums));
	if (chunks->chunk == NULL || chunks->values == NULL || chunks->sums == NULL)
		return -1;
	for (unsigned int c = 0; c < config->count; c++)
		fill_chunk(config, c, &seed, &chunks->chunk[c], chunks->values + c * bytes,
			chunks->sums + (size_t)c * config->workers);
	return 0;
}

uint32_t
chunk_sent_bytes(const struct chunk *chunk, unsigned int worker)
{
	return aggregate_sends_values(chunk->op, chunk->owner, worker) ? chunk->bytes : 0;
}

bool
chunk_is_right(const struct chunk *chunk, const struct aggregate_message *reply)
{
	bool receives = aggregate_receives_values(chunk->op, chunk->owner, reply->worker);

	if (reply->op != chunk->op || reply->format != chunk->format ||
		reply->count != chunk->count || reply->flags != chunk->flags)
		return false;
	if (!receives)
		return reply->reason == AGGREGATE_ACKNOWLEDGED;
	return reply->values != NULL &&
		memcmp(reply->values, chunk->result, chunk->result_bytes) == 0;
}

void
chunks_free(struct chunks *chunks)
{
	free(chunks->chunk);
	free(chunks->values);
	free(chunks->sums);
	*chunks = (struct chunks){0};
}
