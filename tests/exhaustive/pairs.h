/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PAIRS_H
#define PAIRS_H

/**
 * @file
 * Random pairs of binary32 operands of all structures (fp32_pairs.h), 10^10 of them unless stated,
 * with the processor's results. All CPUs share them.
 */

#include "fp32_pairs.h"

/** Pairs of one structure that follow each other. */
#define PAIRS_OF_KIND 256u
#define PAIRS_CHUNK (FP32_KINDS * PAIRS_OF_KIND)

/** Some pairs, as many of each structure, and the processor's results and flags. */
struct pairs_chunk {
	uint64_t number; /**< of the chunk, from 0 on */
	uint32_t x[PAIRS_CHUNK], y[PAIRS_CHUNK], z[PAIRS_CHUNK];
	uint8_t flags[PAIRS_CHUNK];
};

/** A check of an operation. */
struct pairs {
	enum netfc_op op;
	uint64_t seed;  /**< other seeds are other pairs */
	uint64_t count; /**< how many; rounded up to whole chunks of all threads */
	/** Check a chunk; returns how many results are wrong. Threads call it together. */
	uint64_t (*check)(void *arg, enum netfc_op op, const struct pairs_chunk *chunk);
	void *arg;
};

/**
 * Read `add|sub|mul|div [PAIRS [SEED]]`: the operation, the count and the seed.
 *
 * @return whether they are valid; if not, the usage is on stderr
 */
bool pairs_read(struct pairs *pairs, int argc, char **argv);

/**
 * Check all, and report progress on stdout.
 *
 * @param seconds receives the processor time of all threads
 * @return the number of wrong results
 */
uint64_t pairs_check(struct pairs *pairs, double *seconds);

/** Show a wrong result, unless many have been shown: pair `n` of a chunk is z, with those flags. */
void pairs_show(const char *how, enum netfc_op op, const struct pairs_chunk *chunk, unsigned n,
	uint32_t z, uint8_t flags);

#endif /* PAIRS_H */
