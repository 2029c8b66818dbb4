/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TABLES_H
#define TABLES_H

/** @file Table sets and functions: loaded, and exchanged while the switch runs. */

#include <stdio.h>

#include "kernel_groups.h"
#include "options/options.h"
#include "pipeline.h"

struct app;

/* Table sets by name or file. */

/** The loaded table sets. */
struct sets {
	struct netfc_set *by_format[NETFC_SET_FORMAT_END]; /**< NULL: not loaded */
	char *origin[NETFC_SET_FORMAT_END]; /**< human-readable: built, or which file */
};

/**
 * Load or build what --tables asks for.
 *
 * @param errors where to report errors
 * @return 0 or -1; sets_free() frees in both cases
 */
int sets_load(const struct options *options, struct sets *sets, FILE *errors);

/** Free all table sets; there are none then. */
void sets_free(struct sets *sets);

/* Functions of one number that the switch computes: the library's by name, users' by file. */

/** The first number of user functions; they go on to 255. */
#define USER_FUNCTION_FIRST 193

/** Stands for all functions of the library, where names are asked for. */
#define FUNCTIONS_ALL "all"

/** A function of one format. It never changes. */
struct loaded_function {
	char name[NETFC_FUNCTION_NAME_SIZE];
	uint8_t number; /**< the operation's, as on the wire; 0: it has none yet */
	const struct netfc_format *format;
	char *path; /**< of its file; NULL: the library's */
	uint16_t z[NETFC_FUNCTION_ENTRIES];
	uint8_t flags[NETFC_FUNCTION_ENTRIES];
};

/** Functions, in no order; each name and format once, each name one number. */
struct functions {
	unsigned int count;
	struct loaded_function *function[EXTENDED_GROUPS];
};

/**
 * Load the functions that --functions names: those of the library for all formats of the table
 * sets, a user function, by the path of its file, for the file's format.
 *
 * @param names separated by commas
 * @param sets formats
 * @param used functions in use: what is named again is shared with them, and a user's function
 * keeps its number
 * @param functions they are added to these
 * @param errors where to report errors
 * @return 0 or -1; the caller frees in both cases
 */
int functions_load(const char *names, const struct sets *sets, const struct functions *used,
	struct functions *functions, FILE *errors);

/**
 * The functions in use, for other table sets: the library's for all formats of these, user
 * functions as they are. What is in use is shared. Otherwise as functions_load().
 */
int functions_follow(const struct sets *sets, const struct functions *used,
	struct functions *functions, FILE *errors);

/**
 * Add the functions in use whose name and format nothing was loaded for; they are shared.
 *
 * @return 0 or -1
 */
int functions_share_others(const struct functions *used, struct functions *functions, FILE *errors);

/**
 * The name of an operation other than the four, by its number: min, rsqrt, query, or that of a
 * user's function if it is loaded; the number itself where nothing has it.
 */
void functions_name(const struct functions *functions, unsigned int number,
	char name[NETFC_FUNCTION_NAME_SIZE]);

/** Leave out those that are `kept`, too: they are not freed with the others. */
void functions_leave(struct functions *functions, const struct functions *kept);

/** Free all functions but those that are `kept`, too; there are none then. */
void functions_free(struct functions *functions, const struct functions *kept);

/*
 * What the switch computes with: table sets and functions, their pipeline, and the working memory
 * of each lcore. All of it can be exchanged while the lcores run: the new one is built beside the
 * old one and put in place with one pointer per lcore; the old one is freed once every lcore has
 * passed a quiescent state (rte_rcu_qsbr).
 */

/** Which table sets or functions a change affects. */
enum tables_change {
	TABLES_REPLACE, /**< only those named */
	TABLES_ADD,     /**< those named; they replace others of the same formats, or names */
};

/**
 * Make pipeline and working memory for the sets of the application, before it runs.
 *
 * @return 0, or -1 (reported on stderr); tables_free() frees in both cases
 */
int tables_start(struct app *app);

/** What is to be computed with next. */
struct generation;

/**
 * Plan other table sets and functions, beginning with those in use. One thread at a time may, which
 * is no lcore with rx queues.
 *
 * @return a plan, for tables_plan_free(); NULL: no memory
 */
struct generation *tables_plan(const struct app *app);

/**
 * Change the table sets of a plan; functions of the library follow their formats.
 *
 * @param names as --tables takes them
 * @param errors where to report errors; the plan is then as it was
 * @return 0 or -1
 */
int tables_plan_sets(const struct app *app, struct generation *plan, enum tables_change change,
	const char *names, FILE *errors);

/**
 * Change its functions, likewise.
 *
 * @param names as --functions takes them; empty: none
 */
int tables_plan_functions(const struct app *app, struct generation *plan, enum tables_change change,
	const char *names, FILE *errors);

/**
 * Build what a plan needs and put it in place; waits until all lcores have passed a quiescent
 * state.
 *
 * @param errors where to report errors; the switch computes then as before
 * @return 0 or -1
 */
int tables_put(struct app *app, struct generation *plan, FILE *errors);

/** Free a plan, or what one that was put in place has replaced; NULL is allowed. */
void tables_plan_free(const struct app *app, struct generation *plan);

/** Free all, sets and functions, too. */
void tables_free(struct app *app);

#endif /* TABLES_H */
