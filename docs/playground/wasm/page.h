/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PAGE_H
#define PAGE_H

/**
 * @file
 * What the playground's page calls, beside functions of libnetfc, and what it offers. Arguments and
 * results are numbers and addresses, as WebAssembly has them; words are 32 bits wide.
 */

#include <stdint.h>

#include "netfc.h"

/** A function that the page can call. */
#define PAGE_EXPORT(function) __attribute__((export_name(#function))) function

/** A function of the page. */
#define PAGE_IMPORT(function) \
	__attribute__((import_module("page"), import_name(#function))) function

/** Kinds of steps. */
enum page_kind {
	PAGE_INTEGERS = 0,  /**< additions, comparisons, slices of fields */
	PAGE_LOOKUP = 1,    /**< in a match stage */
	PAGE_DECISION = 2,  /**< the decision table */
	PAGE_SELECTION = 3, /**< z: the word computed, or the decided value */
};

/**
 * A step of a walk.
 *
 * @param kind of enum page_kind
 * @param what the step in words
 * @param table of a look-up: the table's or its page's name; else NULL
 * @param key of a look-up: the key, without the page's bits
 */
void PAGE_IMPORT(page_step)(enum page_kind kind, const char *what, const char *table, uint32_t key);

/**
 * A field that the step before has written.
 *
 * @param digits at least so many hex digits the word has
 * @param meaning what the word means, in words; may be empty
 */
void PAGE_IMPORT(page_field)(const char *name, uint32_t word, uint32_t digits, const char *meaning);

/** The most values of a sum whose orders are all tried. */
#define PAGE_MAX_VALUES 8

/** One of the sums that the orders of the same values give. */
struct page_sum {
	uint32_t bits, orders;
};

/** What an entry of a slot holds. */
struct page_entry {
	uint32_t state; /**< enum aggregate_state */
	uint32_t chunk;
	uint32_t seen;   /**< bit w: worker w's value is in; of workers up to 32 */
	uint32_t result; /**< complete: the sum */
};

#endif /* PAGE_H */
