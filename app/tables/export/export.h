/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXPORT_H
#define EXPORT_H

/**
 * @file
 * netfc-tables export: a table set as the entries of the tables in p4/.
 *
 * A set is first turned into P4 tables in memory, one for each lay-out (export_*.c), then written
 * for a target (write_*.c). Writers know tables, keys and actions, not table sets.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "netfc.h"

#define P4_MAX_INSTANCES 2
#define P4_MAX_KEYS 6
#define P4_MAX_ACTIONS 8
#define P4_MAX_PARAMS 5
#define P4_MAX_TABLES 16
#define P4_NAME_SIZE 96
#define P4_MAX_PRIORITY 0xffff

/** How a field is matched. */
enum p4_match {
	P4_EXACT,
	P4_LPM, /**< the longest prefix decides */
	P4_TERNARY,
};

/** A field that a table matches, by its name in the P4 program. */
struct p4_key {
	const char *name;
	unsigned bits; /**< up to 32 */
	enum p4_match match;
};

/** What a matching entry hands to its action. */
struct p4_param {
	const char *name;
	unsigned bits;
};

/** An action, by its name within the control that has the table. */
struct p4_action {
	const char *name;
	unsigned param_count;
	struct p4_param param[P4_MAX_PARAMS];
};

/** An entry. */
struct p4_entry {
	uint32_t value[P4_MAX_KEYS];
	uint32_t mask[P4_MAX_KEYS]; /**< bits that matter; all of them in exact fields */
	uint32_t arg[P4_MAX_PARAMS];
	uint16_t priority; /**< of ternary tables: the least of the matching entries decides */
	uint8_t action;    /**< index into the table's actions */
};

/** A table, and what it is to be filled with. */
struct p4_table {
	/** Where the program has it: paths below the lane's control, or below that of all. */
	const char *instance[P4_MAX_INSTANCES];
	bool shared; /**< once in a program, not once in each lane */
	unsigned key_count;
	struct p4_key key[P4_MAX_KEYS];
	unsigned action_count;
	struct p4_action action[P4_MAX_ACTIONS];
	struct p4_entry *entries;
	size_t count, capacity;
	bool out_of_memory;
};

/** How a P4 program lays its tables out. */
enum p4_layout {
	P4_DIRECT,  /**< least stages: tables indexed by their keys */
	P4_COMPACT, /**< least memory: folded, split and compressed */
};

/** All tables of a program. */
struct p4_program {
	unsigned table_count;
	struct p4_table table[P4_MAX_TABLES];
};

/** What the command line asks for. */
struct export_options {
	const char *set_name;
	const char *program; /**< the P4 program's name */
	enum p4_layout layout;
	unsigned lanes;
	uint16_t udp_port;
	bool slowloris;
};

/* export_table.c: tables in memory. */

/** A table of a set by its name; NULL where the set has no such table. */
const struct netfc_table *p4_source_table(const struct netfc_set *set, const char *name);

/** Add a table to a program. Instances, keys and actions are those of `shape`. */
struct p4_table *p4_add_table(struct p4_program *program, const struct p4_table *shape);

/** Add an entry to a table; where there is no memory, p4_complete() will say so. */
void p4_add_entry(struct p4_table *table, const struct p4_entry *entry);

/** Add an entry with one exact key and one value to a table whose first action takes it. */
void p4_add_word(struct p4_table *table, uint32_t key, uint32_t word);

/** Whether all entries found memory. */
bool p4_complete(const struct p4_program *program);

/** Free a program's entries. */
void p4_free(struct p4_program *program);

/** A mask of so many low bits. */
uint32_t p4_low_bits(unsigned bits);

/** Whether a table's entries need priorities. */
bool p4_has_priority(const struct p4_table *table);

/** The length of an entry's prefix in the field `key`. */
unsigned p4_prefix_length(const struct p4_entry *entry, unsigned key);

/**
 * Cover first..last with aligned prefixes.
 *
 * @param prefix called with each prefix: a value, and the mask of the bits that matter
 */
void p4_cover_range(uint32_t first, uint32_t last, unsigned bits,
	void (*prefix)(void *arg, uint32_t value, uint32_t mask), void *arg);

/** The instances of a table in a program of so many lanes: P4_NAME_SIZE characters each. */
unsigned p4_instance_count(const struct p4_table *table, unsigned lanes);

/** The path of an instance's control, e.g. "IngressPipe.netfc.lane0.log_x", and the table's own
 * name. */
void p4_instance_name(const struct p4_table *table, unsigned instance, char *control, char *name);

/** How many entries a program of so many lanes takes. */
size_t p4_entry_count(const struct p4_program *program, unsigned lanes);

/* export_request.c, export_log.c, export_exact.c, export_decide.c, export_slowloris.c: entries. */

/** Which packets are requests for this set, and the errors of others. */
void p4_request_tables(const struct netfc_set *set, uint16_t udp_port, struct p4_program *program);

/**
 * The tables of a lane of the paper's family.
 *
 * @return NULL, or why this set has no such lay-out
 */
const char *
p4_log_tables(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program);

/** The tables of a lane of the correctly rounded family, likewise. */
const char *
p4_exact_tables(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program);

/** The decision table and, in the paper's family, the guard as ternary entries. */
void
p4_decide_table(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program);

/**
 * What the program divides connections by bytes with.
 *
 * @return NULL, or why that cannot be
 */
const char *p4_slowloris_tables(const struct netfc_set *set, struct p4_program *program);

/* export_ternary.c */

/**
 * Take out what a ternary table can do without: join entries of one priority that differ in one
 * bit, drop those below which the same happens, and number the priorities anew, an entry each.
 */
void p4_minimise(struct p4_table *table);

/* write_*.c: a program's entries for a target. */

/** Write all entries. Errors are the stream's. */
typedef void (*p4_write_fn)(
	FILE *stream, const struct p4_program *program, const struct export_options *options);

void
write_bmv2(FILE *stream, const struct p4_program *program, const struct export_options *options);
void write_p4runtime(
	FILE *stream, const struct p4_program *program, const struct export_options *options);
void
write_bfrt(FILE *stream, const struct p4_program *program, const struct export_options *options);
void write_bfrt_json(
	FILE *stream, const struct p4_program *program, const struct export_options *options);

#endif /* EXPORT_H */
