/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILL_H
#define FILL_H

/** @file Fill the tables of a P4 program with the entries of a table set. */

#include <aggregate_registers.h>

#include "export/p4_table.h"
#include "netfc.h"

/** The layout of a P4 program's tables. */
enum p4_layout {
	P4_DIRECT,  /**< fewest stages: tables indexed by their keys */
	P4_COMPACT, /**< least memory: folded, split and compressed */
};

/**
 * Which packets are requests for this set, or for a function, and the error status of the others.
 *
 * @param last_op the last operation that the program has; all after it are refused
 * @param functions NULL: there are none
 */
void p4_request_tables(const struct netfc_set *set, uint16_t udp_port, enum netfc_op last_op,
	const struct p4_functions *functions, struct p4_program *program);

/** The tables of functions. */
void p4_function_tables(const struct p4_functions *functions, struct p4_program *program);

/**
 * The tables of a lane for a set of the paper's family.
 *
 * @return NULL, or why this set cannot have that layout
 */
const char *
p4_log_tables(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program);

/** The tables of a lane for a correctly rounded set; see p4_log_tables(). */
const char *
p4_exact_tables(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program);

/**
 * The tables of a lane for fp32_exact; see p4_log_tables().
 *
 * @param last_op the last operation that the program has
 */
const char *p4_fp32_tables(const struct netfc_set *set, enum p4_layout layout,
	enum netfc_op last_op, struct p4_program *program);

/** The tables of a pair of lanes of fp8; see p4_log_tables(). */
const char *
p4_fp8_tables(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program);

/** The decision table: special values and, in the paper's family, the guard. */
void
p4_decide_table(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program);

/**
 * p4_program_table() for a table set's entries.
 *
 * @param slowloris whether the detector's tables are among them
 * @param last_op the last operation that the program has
 * @param lanes of the program, 1 to 15, of fp8 to 255
 */
void p4_loaded_table(const struct netfc_set *set, enum p4_layout layout, bool slowloris,
	enum netfc_op last_op, unsigned lanes, struct p4_program *program);

/** The entry without which a program computes nothing: its number. Add its table after all others.
 */
void p4_program_table(uint32_t number, struct p4_program *program);

/** What an aggregating program is compiled for. */
struct p4_aggregation {
	bool sums;                    /**< it leaves rounding to the workers */
	bool parts;                   /**< what fp16 values add is looked up, as on Tofino */
	enum aggregate_format format; /**< that aggregate_registers_has() */
	unsigned lanes;
};

/** All tables of an aggregating program but those of its jobs, p4_program_table()'s included. */
void p4_aggregate_tables(
	const struct p4_aggregation *what, uint16_t udp_port, struct p4_program *program);

/**
 * The tables with which the slowloris detector divides connections by bytes.
 *
 * @return NULL, or why this set cannot have them
 */
const char *p4_slowloris_tables(const struct netfc_set *set, struct p4_program *program);

/** Key fields of a table of requests. */
enum request_key {
	REQUEST_PORT,
	REQUEST_MAGIC,
	REQUEST_VERSION,
	REQUEST_OP,
	REQUEST_FORMAT,
	REQUEST_REPLY,
	REQUEST_KEYS /**< others may follow */
};

/** Priorities of refusals: the protocol checks version, operation and format, in this order. */
enum request_priority {
	PASSES_ALL,
	NO_FORMAT,
	NO_OP,
	NO_VERSION
};

/** Add a table of requests: actions of the pattern, and the keys above before its own. */
struct p4_table *p4_add_request_table(struct p4_program *program, const struct p4_table *pattern);

/** An entry for all requests at a UDP port. */
struct p4_entry p4_request_entry(uint16_t udp_port);

/** Add an entry with an action and its argument. */
void p4_add_request(struct p4_table *table, struct p4_entry entry, enum request_priority priority,
	unsigned action, uint32_t arg);

#endif /* FILL_H */
