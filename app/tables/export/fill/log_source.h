/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LOG_SOURCE_H
#define LOG_SOURCE_H

/** @file A set of the paper's family as the source of a P4 program's tables. */

#include "export/fill/fill.h"

/* Log words and their sums: 16 bits, two's complement. */
#define WORD_BITS 16
#define MAGNITUDE_BITS 15

/** A set and the program to fill. */
struct log_source {
	const struct netfc_set *set;
	const struct netfc_format *format;
	const struct netfc_table *log, *mi, *exp;
	unsigned fraction_bits, exponent_bits; /**< IEEE formats */
	unsigned scale_bits;                   /**< log2 of k */
	struct p4_program *program;
};

/** Describe a set. */
struct log_source log_source(const struct netfc_set *set, struct p4_program *program);

/** Add a table with one exact key, whose action takes a word of 16 bits. */
struct p4_table *log_word_table(const struct log_source *source, const char *const *instances,
	const char *action, const char *key, unsigned bits);

/** Add a table whose key is one bit, which selects a page, and a word. */
struct p4_table *log_paged_table(const struct log_source *source, const char *instance,
	const char *bit, const char *key, unsigned bits, enum p4_match match);

/** Add an entry to a table of log_paged_table(). */
void
log_add_paged(struct p4_table *table, uint32_t page, uint32_t key, uint32_t mask, uint32_t word);

/* log_direct.c: a table each. */
void log_direct(const struct log_source *source);
void mi_direct(const struct log_source *source);
void exp_direct(const struct log_source *source);

/* log_compact.c: the same functions; split tables are for IEEE formats. */
void log_split(const struct log_source *source);
/** Gives 0 or NETFC_ERR_NOMEM. */
int mi_folded(const struct log_source *source);
void exp_split(const struct log_source *source);

#endif /* LOG_SOURCE_H */
