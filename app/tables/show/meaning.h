/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEANING_H
#define MEANING_H

/**
 * @file
 * The meaning of words in tables and in fields of lanes. Tables and fields are recognised by their
 * names; words of others are just bits.
 */

#include <stdint.h>

#include <jansson.h>

#include "netfc.h"

/** Kinds of words. */
enum meaning {
	MEANS_BITS = 0,   /**< unknown */
	MEANS_NUMBER,     /**< an encoding, or a magnitude */
	MEANS_LOG_WORD,   /**< k * log2 of something */
	MEANS_MI_WORD,    /**< the same, or "no result" */
	MEANS_MI_KEY,     /**< a log word, and above it the miTable's page */
	MEANS_DECIDE_KEY, /**< the decision table's key */
	MEANS_DECISION,   /**< the decision table's word */
	MEANS_PRODUCT,    /**< the same for mul and div, which have no miTable */
	MEANS_FLAGS,      /**< exception flags */
};

/** Size of a meaning as text. */
#define MEANING_SIZE 128

/** What a table's keys mean. */
enum meaning key_meaning(const struct netfc_table *table);

/** What the value of a table's entry means. */
enum meaning value_meaning(const struct netfc_table *table, uint32_t index);

/** What a field of the program for a branch means. */
enum meaning field_meaning(const struct netfc_set *set, enum netfc_branch branch, unsigned field);

/** At least so many hex digits a word of that meaning has. */
int meaning_digits(const struct netfc_set *set, enum meaning meaning);

/** The meaning as text, in `text`, which has MEANING_SIZE characters; empty for MEANS_BITS. */
const char *
meaning_text(const struct netfc_set *set, enum meaning meaning, uint32_t word, char *text);

/** The meaning as JSON; null for MEANS_BITS. */
json_t *meaning_json(const struct netfc_set *set, enum meaning meaning, uint32_t word);

/** The name of an operand's class: zero, finite, inf, NaN or NaR. */
const char *class_name(const struct netfc_format *format, unsigned class);

/** The value of a two's complement word of `bits` bits. */
int32_t as_signed(uint32_t word, unsigned bits);

#endif /* MEANING_H */
