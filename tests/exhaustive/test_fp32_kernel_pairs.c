/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random pairs of binary32 operands (pairs.h) by every match engine and every instruction set, as
 * packets have them, each result and the flags of each packet against the processor's arithmetic
 * in C.
 *
 * Engines that run the program step by step get a share of the pairs: they differ in their look-ups
 * only, and test_match checks those for every key of every table. The steps between are libnetfc's,
 * which test_fp32_pairs gives all pairs. Usage: test_fp32_kernel_pairs add|sub|mul|div [PAIRS
 * [SEED]]; default 10^10 pairs, seed 1. Other seeds are other pairs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eal.h"
#include "engines.h"
#include "pairs.h"
#include "slots.h"

/* Lanes of a structure whose flags are compared together, too: so few that most have none. */
#define FEW 8u
/* Of these chunks one is for the engine: lpm is some ten times as fast as hash. */
#define EVERY_LPM 10
#define EVERY_HASH 100

/* Engines, and of each the pairs that it has computed. */
struct checked {
	struct engines engines;
	uint64_t pairs[MATCH_KINDS * VECTOR_ISAS];
};

static void
swap_lanes(const uint32_t *from, uint32_t *to, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++)
		to[l] = slot32_swap(from[l]);
}

/* Report a packet of lanes from `first` on that has wrong results or flags. */
static uint64_t
count_wrong(const char *name, enum netfc_op op, const struct pairs_chunk *chunk, unsigned int first,
	const uint32_t *z, const struct vector_packet *packet)
{
	char how[100];
	uint64_t wrong = 0;

	for (unsigned int l = 0; l < packet->count; l++) {
		const uint32_t result = slot32_swap(z[l]);

		if (result == chunk->z[first + l])
			continue;
		wrong++;
		pairs_show(name, op, chunk, first + l, result, packet->flags);
	}
	if (wrong > 0)
		return wrong;
	snprintf(how, sizeof(how), "%s, flags of %u lanes from here on", name, packet->count);
	pairs_show(how, op, chunk, first, chunk->z[first], packet->flags);
	return 1;
}

/* A packet of lanes of a chunk, from `first` on. */
static uint64_t
check_packet(const struct engine *engine, enum netfc_op op, const struct pairs_chunk *chunk,
	unsigned int first, unsigned int count)
{
	uint32_t slots[3 * PAIRS_OF_KIND], expected[PAIRS_OF_KIND];
	struct vector_packet packet = {.slots = (uint8_t *)slots, .count = count};
	uint32_t *z = slots + 2 * count;
	uint8_t flags = 0;

	swap_lanes(chunk->x + first, slots, count);
	swap_lanes(chunk->y + first, slots + count, count);
	swap_lanes(chunk->z + first, expected, count);
	for (unsigned int l = 0; l < count; l++) {
		z[l] = ~expected[l];
		flags |= chunk->flags[first + l];
	}
	vector_run_packets(engine->kernel, op, &packet, 1);
	if (memcmp(z, expected, count * sizeof(*z)) == 0 && packet.flags == flags)
		return 0;
	return count_wrong(engine->name, op, chunk, first, z, &packet);
}

/* Each engine gets one chunk of so many. */
static unsigned int
every(enum match_kind match)
{
	return match == MATCH_LPM ? EVERY_LPM : match == MATCH_HASH ? EVERY_HASH : 1;
}

static uint64_t
check_chunk(void *arg, enum netfc_op op, const struct pairs_chunk *chunk)
{
	struct checked *checked = arg;
	uint64_t wrong = 0;

	for (unsigned int e = 0; e < checked->engines.count; e++) {
		const struct engine *engine = &checked->engines.engine[e];

		if (chunk->number % every(engine->match) != 0)
			continue;
		for (unsigned int first = 0; first < PAIRS_CHUNK; first += PAIRS_OF_KIND) {
			wrong += check_packet(engine, op, chunk, first, PAIRS_OF_KIND);
			wrong += check_packet(engine, op, chunk, first, FEW);
		}
		__atomic_fetch_add(&checked->pairs[e], PAIRS_CHUNK, __ATOMIC_RELAXED);
	}
	return wrong;
}

/* Whether an earlier engine has the same kernel, which then gets both names. */
static bool
is_known(struct engines *engines, const struct vector_kernel *kernel, enum match_kind match)
{
	const bool is_stepwise = kernel->description[0] == '\0';

	for (unsigned int e = 0; e < engines->count && !is_stepwise; e++) {
		struct engine *known = &engines->engine[e];
		const size_t length = strlen(known->name);

		if (known->kernel->run.packets != kernel->run.packets)
			continue;
		snprintf(known->name + length, sizeof(known->name) - length, ", %s",
			match_kind_name(match));
		return true;
	}
	return false;
}

static int
add_engine(struct engines *engines, const struct netfc_set *set, enum match_kind match,
	enum vector_isa isa)
{
	struct engine *engine = &engines->engine[engines->count];
	int error = engine_create(engine, set, match, isa);

	if (error != 0)
		return error;
	if (is_known(engines, engine->kernel, match))
		engine_free(engine);
	else
		engines->count++;
	return 0;
}

/* lpm and hash run the program step by step, whatever the instruction set. */
static int
add_engines(struct engines *engines, const struct netfc_set *set)
{
	int error = 0;

	for (enum match_kind match = 0; match < MATCH_KINDS; match++) {
		const bool walks = match == MATCH_LPM || match == MATCH_HASH;
		const enum vector_isa best = walks ? VECTOR_PLAIN : vector_isa_best();

		for (enum vector_isa isa = VECTOR_PLAIN; isa <= best && error == 0; isa++)
			error = add_engine(engines, set, match, isa);
	}
	return error;
}

static int
run(struct pairs *pairs, const struct checked *checked)
{
	const char *op = netfc_op_name(pairs->op);
	double seconds;
	uint64_t wrong = pairs_check(pairs, &seconds);

	for (unsigned int e = 0; e < checked->engines.count; e++)
		printf("%s: %" PRIu64 " pairs by %s\n", op, checked->pairs[e],
			checked->engines.engine[e].name);
	printf("%s: %" PRIu64 " pairs, %" PRIu64 " wrong, %.0f s of processor time\n", op,
		pairs->count, wrong, seconds);
	return wrong != 0;
}

int
main(int argc, char **argv)
{
	static struct checked checked;
	struct pairs pairs = {.check = check_chunk, .arg = &checked};
	struct netfc_set *set;
	int status = 1;

	if (!pairs_read(&pairs, argc, argv) || start_lcores(1) != 0 ||
		netfc_set_build("fp32_exact", &set) != NETFC_OK)
		return 1;
	if (add_engines(&checked.engines, set) == 0)
		status = run(&pairs, &checked);
	engines_free(&checked.engines);
	netfc_set_free(set);
	return status;
}
