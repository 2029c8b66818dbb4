/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <rte_common.h>
#include <rte_ip.h>

#include "aggregate/team.h"

/* The sums of a member's workers, in memory that is made for them. */
static struct aggregate_totals
totals_of(const struct exact_sums_config *config, const struct chunk *chunk, unsigned int member,
	void *memory)
{
	const enum aggregate_format format = (enum aggregate_format)chunk->format;
	struct aggregate_totals totals = aggregate_totals_init(format, chunk->count, memory);
	unsigned int first = config->first + member * config->behind;

	for (unsigned int w = first; w < first + config->behind; w++)
		aggregate_totals_add_values(&totals, chunk_values(chunk, w));
	return totals;
}

static int
write_parts(const struct aggregate_totals *totals, uint32_t bytes, struct exact_sums_parts *parts)
{
	uint16_t ends[AGGREGATE_MAX_PARTS], first = 0;
	uint32_t at = 0;

	parts->count = (uint8_t)aggregate_totals_divide(totals, bytes, ends);
	parts->bytes = malloc((size_t)parts->count * bytes);
	parts->ends = calloc(parts->count, sizeof(*parts->ends));
	parts->checksum = calloc(parts->count, sizeof(*parts->checksum));
	if (parts->bytes == NULL || parts->ends == NULL || parts->checksum == NULL)
		return -1;
	for (uint8_t p = 0; p < parts->count; p++) {
		uint8_t *part = parts->bytes + at;
		size_t length = aggregate_totals_write_part(
			totals, first, (uint16_t)(ends[p] - first), p, parts->count, part, bytes);

		parts->checksum[p] = rte_raw_cksum(part, length);
		parts->ends[p] = at += (uint32_t)length;
		first = ends[p];
	}
	return 0;
}

static int
make_parts(const struct exact_sums_config *config, const struct chunk *chunk, unsigned int member,
	struct exact_sums_parts *parts)
{
	void *memory =
		malloc(aggregate_totals_bytes((enum aggregate_format)chunk->format, chunk->count));
	struct aggregate_totals totals;
	int status;

	if (memory == NULL)
		return -1;
	totals = totals_of(config, chunk, member, memory);
	status = write_parts(&totals, config->bytes, parts);
	free(memory);
	return status;
}

int
exact_sums_create(const struct exact_sums_config *config, const struct chunks *chunks,
	struct exact_sums *sums)
{
	*sums = (struct exact_sums){.members = config->members, .count = chunks->count};
	sums->parts = calloc((size_t)chunks->count * config->members, sizeof(*sums->parts));
	if (sums->parts == NULL)
		return -1;
	for (unsigned int c = 0; c < chunks->count; c++)
		for (unsigned int m = 0; m < config->members; m++) {
			struct exact_sums_parts *parts = &sums->parts[c * config->members + m];

			if (make_parts(config, &chunks->chunk[c], m, parts) != 0)
				return -1;
			sums->most = RTE_MAX(sums->most, parts->count);
		}
	return 0;
}

void
exact_sums_free(struct exact_sums *sums)
{
	for (unsigned int p = 0; sums->parts != NULL && p < sums->count * sums->members; p++) {
		free(sums->parts[p].bytes);
		free(sums->parts[p].ends);
		free(sums->parts[p].checksum);
	}
	free(sums->parts);
	*sums = (struct exact_sums){0};
}

void
exact_sums_body(const struct exact_sums_parts *parts, unsigned int part, struct worker_body *body)
{
	const uint32_t start = part == 0 ? 0 : parts->ends[part - 1];

	body->bytes = parts->bytes + start;
	body->length = parts->ends[part] - start;
	body->sum = parts->checksum[part];
}
