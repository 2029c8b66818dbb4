/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random pairs of binary32 operands of all structures (fp32_pairs.c) by every match engine and
 * every instruction set, as packets have them, each result and the flags of every lane against the
 * processor's arithmetic in C and against netfc_fp32_exact().
 * Usage: test_wide_pairs add|sub|mul|div [PAIRS [SEED]]; default 10^9 pairs, seed 1. Other seeds
 * are other pairs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_memory.h>

#include "eal.h"
#include "fp32_pairs.h"
#include "rows.h"
#include "wide.h"
#include "wide_slots.h"

#define MOST_SHOWN 10
#define CHUNK 4096u
/* Lanes whose flags are compared together, which engines or: few, so that most are not set. */
#define PACKET 8u
#define DEFAULT_PAIRS UINT64_C(1000000000)

/* Pairs are taken in as many rows as there are encodings of 16 bits. */
struct job {
	enum netfc_op op;
	uint64_t seed;
	uint64_t chunks; /* of a row */
	struct wide *wide[MATCH_KINDS * VECTOR_ISAS];
	char name[MATCH_KINDS * VECTOR_ISAS][64];
	unsigned int engines;
};

struct chunk {
	uint32_t x[CHUNK], y[CHUNK], z[CHUNK];
	uint8_t flags[CHUNK];
};

static void
show(const struct job *job, const char *how, const struct chunk *c, unsigned int n, uint32_t z,
	uint8_t flags)
{
	static unsigned int shown;

	if (__atomic_fetch_add(&shown, 1, __ATOMIC_RELAXED) < MOST_SHOWN)
		printf("%s: 0x%08x %s 0x%08x is 0x%08x, not 0x%08x; flags of its packet %u\n", how,
			c->x[n], netfc_op_symbol(job->op), c->y[n], c->z[n], z, flags);
}

/* Lanes of a packet, from `first` on; how many are wrong. */
static uint64_t
check_packet(const struct job *job, unsigned int engine, const struct chunk *c, unsigned int first)
{
	uint32_t slots[3 * PACKET];
	struct vector_packet packet = {.slots = (uint8_t *)slots, .count = PACKET};
	uint64_t wrong = 0;
	uint8_t flags = 0;

	for (unsigned int l = 0; l < PACKET; l++) {
		slots[l] = wide_swap(c->x[first + l]);
		slots[PACKET + l] = wide_swap(c->y[first + l]);
		slots[2 * PACKET + l] = ~wide_swap(c->z[first + l]);
		flags |= c->flags[first + l];
	}
	further_run(wide_kernel(job->wide[engine], job->op), &packet);
	for (unsigned int l = 0; l < PACKET; l++) {
		const uint32_t z = wide_swap(slots[2 * PACKET + l]);

		if (z == c->z[first + l] && packet.flags == flags)
			continue;
		wrong++;
		show(job, job->name[engine], c, first + l, z, packet.flags);
	}
	return wrong;
}

/* A chunk in one packet, whose results alone are compared. */
static uint64_t
check_whole(const struct job *job, unsigned int engine, const struct chunk *c)
{
	uint32_t slots[3 * CHUNK];
	struct vector_packet packet = {.slots = (uint8_t *)slots, .count = CHUNK};
	uint64_t wrong = 0;

	for (unsigned int l = 0; l < CHUNK; l++) {
		slots[l] = wide_swap(c->x[l]);
		slots[CHUNK + l] = wide_swap(c->y[l]);
		slots[2 * CHUNK + l] = ~wide_swap(c->z[l]);
	}
	further_run(wide_kernel(job->wide[engine], job->op), &packet);
	for (unsigned int l = 0; l < CHUNK; l++) {
		const uint32_t z = wide_swap(slots[2 * CHUNK + l]);

		if (z == c->z[l])
			continue;
		wrong++;
		show(job, job->name[engine], c, l, z, packet.flags);
	}
	return wrong;
}

static uint64_t
check_reference(const struct job *job, const struct chunk *c)
{
	uint64_t wrong = 0;

	for (unsigned int l = 0; l < CHUNK; l++) {
		const struct netfc_fp32_result exact = netfc_fp32_exact(job->op, c->x[l], c->y[l]);

		if (exact.z == c->z[l] && exact.flags == c->flags[l])
			continue;
		wrong++;
		show(job, "by integers", c, l, exact.z, exact.flags);
	}
	return wrong;
}

static uint64_t
check_chunk(const struct job *job, uint64_t *seed)
{
	struct chunk c;
	uint64_t wrong;

	fp32_random_pairs(seed, c.x, c.y, CHUNK);
	fp32_processor(job->op, c.x, c.y, c.z, c.flags, CHUNK);
	wrong = check_reference(job, &c);
	for (unsigned int e = 0; e < job->engines; e++) {
		wrong += check_whole(job, e, &c);
		/* A structure of pairs comes back after FP32_KINDS: each has its lane in packets.
		 */
		for (unsigned int first = 0; first < 4 * FP32_KINDS; first += PACKET)
			wrong += check_packet(job, e, &c, first);
	}
	return wrong;
}

/* A row's pairs are its own: a seed counts up by the same odd number for each pair. */
static uint64_t
check_row(const void *arg, uint16_t row)
{
	const struct job *job = arg;
	uint64_t seed = (job->seed << 16 | row) * UINT64_C(0xd1342543de82ef95), wrong = 0;

	for (uint64_t chunk = 0; chunk < job->chunks; chunk++)
		wrong += check_chunk(job, &seed);
	return wrong;
}

static enum netfc_op
op_by_name(const char *name)
{
	enum netfc_op op = NETFC_ADD;

	while (op <= NETFC_DIV && strcmp(name, netfc_op_name(op)) != 0)
		op++;
	return op;
}

static bool
read_number(const char *text, uint64_t *number)
{
	char *end;

	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0';
}

/* lpm and hash walk the programs, whatever the instruction set. */
static int
create_engines(struct job *job, const struct netfc_set *set)
{
	for (enum match_kind match = 0; match < MATCH_KINDS; match++) {
		const bool walks = match == MATCH_LPM || match == MATCH_HASH;
		const enum vector_isa best = walks ? VECTOR_PLAIN : vector_isa_best();

		for (enum vector_isa isa = VECTOR_PLAIN; isa <= best; isa++) {
			const unsigned int e = job->engines;

			if (wide_create(set, match, isa, SOCKET_ID_ANY, &job->wide[e]) != 0)
				return -1;
			snprintf(job->name[e], sizeof(job->name[e]), "%s, %s",
				match_kind_name(match), vector_isa_name(isa));
			job->engines++;
		}
	}
	return 0;
}

static int
run(struct job *job, uint64_t pairs)
{
	const char *name = netfc_op_name(job->op);
	struct rows rows = {.check = check_row, .arg = job, .title = name};
	double seconds;
	uint64_t wrong;

	job->chunks = (pairs - 1) / ((uint64_t)ROW * CHUNK) + 1;
	wrong = rows_check(&rows, &seconds);
	pairs = job->chunks * CHUNK * rows_count();
	printf("%s: %" PRIu64 " pairs by %u engines and instruction sets, %" PRIu64
	       " wrong, %.0f s of processor time\n",
		name, pairs, job->engines, wrong, seconds);
	return wrong != 0;
}

int
main(int argc, char **argv)
{
	static struct job job = {.seed = 1};
	uint64_t pairs = DEFAULT_PAIRS;
	struct netfc_set *set;
	int status = 1;

	if (argc < 2 || argc > 4 || (job.op = op_by_name(argv[1])) > NETFC_DIV ||
		(argc > 2 && !read_number(argv[2], &pairs)) ||
		(argc > 3 && !read_number(argv[3], &job.seed)) || pairs == 0) {
		fprintf(stderr, "usage: %s add|sub|mul|div [PAIRS [SEED]]\n", argv[0]);
		return 1;
	}
	if (eal_start(1) != 0 || netfc_set_build("fp32_exact", &set) != NETFC_OK)
		return 1;
	if (create_engines(&job, set) == 0)
		status = run(&job, pairs);
	for (unsigned int e = 0; e < job.engines; e++)
		wide_free(job.wide[e]);
	netfc_set_free(set);
	return status;
}
