/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_DIVIDE_H
#define SLOWLORIS_DIVIDE_H

/**
 * @file
 * The NetFC module: connections divided by bytes with two logarithms, a difference and a power.
 * There is no division instruction in it.
 *
 * Logarithms come from longest prefixes of 32-bit integers with DIVIDE_GUARD_BITS bits more than
 * those of the table set, so that the quotient is rounded twice only: when the difference becomes
 * a log word, and in the expTable.
 */

#include <stdint.h>

#include "match.h"

/** The table set whose expTable is used: z = expTable[n] is 2^(n / 2^10) in fp16. */
#define DIVIDE_SET "fp16_k1024"
#define DIVIDE_SCALE_BITS 10
/** Bits of logarithms beyond those of a log word. */
#define DIVIDE_GUARD_BITS 5
/** Bits of an integer that its logarithm depends on, after the leading one. */
#define DIVIDE_BELOW 13

/** Divisions per call at most. */
#define DIVIDE_BULK 128

/** The tables of the module. They never change, so lcores share them. */
struct divider;

/**
 * Make the tables.
 *
 * @param kind what the expTable's stage is made of; logarithms are always longest prefixes
 * @return 0, -ENOMEM, or an error of match_create()
 */
int divider_create(enum match_kind kind, int socket_id, struct divider **divider);

/** Free them; NULL is allowed. */
void divider_free(struct divider *divider);

/**
 * Divide.
 *
 * @param connections, bytes operands; 0 connections give +0, 0 bytes count as 1
 * @param ratio the quotients, fp16, go here
 * @param count 0..DIVIDE_BULK
 */
void divide(const struct divider *divider, const uint32_t *connections, const uint64_t *bytes,
	uint16_t *ratio, unsigned int count);

#endif /* SLOWLORIS_DIVIDE_H */
