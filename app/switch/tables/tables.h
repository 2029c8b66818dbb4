/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TABLES_H
#define TABLES_H

/**
 * @file
 * What the switch computes with: table sets and functions, their pipeline, and the working memory
 * of each lcore. All of it can be exchanged while the lcores run: the new one is built beside the
 * old one and put in place with one pointer per lcore; the old one is freed once every lcore has
 * passed a quiescent state (rte_rcu_qsbr).
 */

#include <stdio.h>

#include "app.h"

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

/**
 * Exchange table sets; functions of the library follow their formats. May be called by one thread
 * at a time, which is no lcore with rx queues; waits until all lcores have passed a quiescent
 * state.
 *
 * @param names as --tables takes them
 * @param errors where to report errors; everything is then as it was
 * @return 0 or -1
 */
int tables_change(struct app *app, enum tables_change change, const char *names, FILE *errors);

/**
 * Exchange functions, likewise.
 *
 * @param names as --functions takes them; empty: none
 */
int functions_change(struct app *app, enum tables_change change, const char *names, FILE *errors);

/** Free all, sets and functions, too. */
void tables_free(struct app *app);

#endif /* TABLES_H */
