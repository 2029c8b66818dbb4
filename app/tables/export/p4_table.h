/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef P4_TABLE_H
#define P4_TABLE_H

/** @file Entries of P4 tables, made and written. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <netfc.h>

/* The tables of a P4 program in memory: keys, actions and entries. */

#define P4_MAX_INSTANCES 10
#define P4_MAX_KEYS 7
#define P4_MAX_ACTIONS 8
#define P4_MAX_PARAMS 5
#define P4_MAX_TABLES 40
#define P4_NAME_SIZE 96
#define P4_MAX_PRIORITY 0xffff

/** How a field is matched. */
enum p4_match {
	P4_EXACT,
	P4_LPM, /**< the longest prefix wins */
	P4_TERNARY,
};

/** A key field, by its name in the P4 program. */
struct p4_key {
	const char *name;
	unsigned bits; /**< up to 32 */
	enum p4_match match;
};

/** A parameter of an action. */
struct p4_param {
	const char *name;
	unsigned bits;
};

/** An action, by its name within the control that has the table. */
struct p4_action {
	const char *name;
	struct p4_param param[P4_MAX_PARAMS]; /**< up to one without a name */
};

/** An entry. */
struct p4_entry {
	uint32_t value[P4_MAX_KEYS];
	uint32_t mask[P4_MAX_KEYS]; /**< bits to match; all bits of a field that is exact */
	uint32_t arg[P4_MAX_PARAMS];
	uint16_t priority; /**< ternary tables: of all matching entries, the lowest value wins */
	uint8_t action;    /**< index into the table's actions */
};

/** A table and its entries. */
struct p4_table {
	/** Paths of its instances, relative to the lane's control, or to the top one if shared. */
	const char *instance[P4_MAX_INSTANCES];
	const char *control; /**< the lane's control, but for its number; NULL: "lane" */
	const char *outer;   /**< that has the lanes, or the table if shared; NULL: the usual one */
	bool shared;         /**< once per program, not once per lane */
	unsigned lanes;      /**< that a lane's control computes; 0: one */
	unsigned key_count;  /**< set by p4_add_table() */
	struct p4_key key[P4_MAX_KEYS];
	struct p4_action action[P4_MAX_ACTIONS];
	struct p4_entry *entries;
	size_t count, capacity;
	bool out_of_memory;
};

/** All tables of a program. */
struct p4_program {
	unsigned table_count;
	struct p4_table table[P4_MAX_TABLES];
};

/** Add an empty table to a program, with the instances, keys and actions of `pattern`. */
struct p4_table *p4_add_table(struct p4_program *program, const struct p4_table *pattern);

/** Add an entry to a table. If memory runs out, p4_complete() tells. */
void p4_add_entry(struct p4_table *table, const struct p4_entry *entry);

/** Let an entry match one value of the field `key`, all of its bits. */
void p4_match(struct p4_entry *entry, const struct p4_table *pattern, unsigned key, uint32_t value);

/** Words for p4_add_exact(). */
#define P4_WORDS(...) ((const uint32_t[]){__VA_ARGS__})

/** Add an entry that matches all bits of each key field, for the table's first action, whose
 * arguments `arg` has. */
void p4_add_exact(struct p4_table *table, const uint32_t *value, const uint32_t *arg);

/** The same with one key field and one argument. */
void p4_add_word(struct p4_table *table, uint32_t key, uint32_t word);

/**
 * Add a copy of `entry` for each of the fewest prefixes that cover first..last.
 *
 * @param key index of the key field that the prefixes go to
 */
void p4_add_range(struct p4_table *table, const struct p4_entry *entry, unsigned key,
	uint32_t first, uint32_t last);

/** The bits of a set's word that an argument gets. */
struct p4_bits {
	unsigned low, count;
};

/**
 * Copy a set's table: its entries that occur.
 *
 * @param name the table's name in the set
 * @param pattern its key fields are slices of the set's key, highest first
 * @param slices what each argument of its action gets; NULL: the only one gets the word
 */
struct p4_table *p4_copy_table(const struct netfc_set *set, const char *name,
	const struct p4_table *pattern, const struct p4_bits *slices, struct p4_program *program);

/** How many parameters an action has. */
unsigned p4_param_count(const struct p4_action *action);

/** Whether memory sufficed for all entries. */
bool p4_complete(const struct p4_program *program);

/** Free a program's entries. */
void p4_free(struct p4_program *program);

/** A mask of the lowest `bits` bits. */
uint32_t p4_low_bits(unsigned bits);

/** `bits` bits of a word from bit `low` on. */
static inline uint32_t
p4_slice(uint32_t word, unsigned low, unsigned bits)
{
	return word >> low & p4_low_bits(bits);
}

/** Whether a table's entries need priorities. */
bool p4_has_priority(const struct p4_table *table);

/** The length of an entry's prefix in the field `key`. */
unsigned p4_prefix_length(const struct p4_entry *entry, unsigned key);

/** How many entries a program of that many lanes has, and in how many tables. */
size_t p4_entry_count(const struct p4_program *program, unsigned lanes, unsigned *tables);

/** An instance of a table in a program. */
struct p4_instance {
	const struct p4_table *table;
	char control[P4_NAME_SIZE]; /**< its control's path, e.g. IngressPipe.netfc.lane0.log_x */
	char name[P4_NAME_SIZE];    /**< its own name, e.g. log */
	unsigned next_table, next_number;
};

/**
 * Step to the next instance of a table. Start with `{0}`.
 *
 * @return false after the last
 */
bool
p4_next_instance(const struct p4_program *program, unsigned lanes, struct p4_instance *instance);

/**
 * Minimise a ternary table: join entries of one priority that differ in one bit, remove those that
 * make no difference, then give each entry a priority of its own.
 */
void p4_minimise(struct p4_table *table);

/* The functions that are exported for a P4 program. */

/** Those that a program has tables for. */
#define P4_MAX_FUNCTIONS 8

/** A function's entries. */
struct p4_function {
	char name[NETFC_FUNCTION_NAME_SIZE];
	unsigned number; /**< of its operation */
	uint16_t z[NETFC_FUNCTION_ENTRIES];
	uint8_t flags[NETFC_FUNCTION_ENTRIES];
};

struct p4_functions {
	unsigned count;
	struct p4_function function[P4_MAX_FUNCTIONS];
};

/**
 * Find functions by their names, or load user functions from their files, which have the numbers
 * from 193 on. Errors are reported.
 *
 * @param list names and files, joined by commas
 * @param format of the lanes
 * @param functions where they go; free() them
 * @return a STATUS
 */
int p4_functions_open(
	const char *list, const struct netfc_format *format, struct p4_functions **functions);

/* Write the entries of a P4 program for a target. Stream errors are left in the stream. */

/** What a writer must know besides the entries. */
struct write_options {
	const char *set_name;
	const char *program; /**< name of the P4 program */
	unsigned lanes;      /**< lanes that the program computes */
};

typedef void (*write_fn)(
	FILE *stream, const struct p4_program *program, const struct write_options *options);

/** Commands for BMv2's simple_switch_CLI. */
void
write_bmv2(FILE *stream, const struct p4_program *program, const struct write_options *options);

/** A P4Runtime WriteRequest in protobuf's text format. */
void write_p4runtime(
	FILE *stream, const struct p4_program *program, const struct write_options *options);

/** A Python program for the shell bfrt_python of Tofino's runtime. */
void
write_bfrt(FILE *stream, const struct p4_program *program, const struct write_options *options);

/** The entries of write_bfrt() as JSON. */
void write_bfrt_json(
	FILE *stream, const struct p4_program *program, const struct write_options *options);

#endif /* P4_TABLE_H */
