/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OWN_H
#define OWN_H

/** @file Functions of a user's own: built from values or an expression, shown, computed. */

#include <stdbool.h>

#include "netfc.h"
#include "own/samples.h"

/** What netfc-tables build --function is given. */
struct own_options {
	const char *function; /**< its name */
	const char *format;   /**< NULL: fp16 */
	const char *from, *expression;
};

/** What was built, for the report. */
struct own_report {
	struct netfc_own_function *function;
	struct samples *samples;
	const char *path;
	long long bytes;
	double milliseconds;
};

/**
 * Build a function and what is reported of it. Reports what is wrong. Gives the exit status; in
 * any case, own_report_free() frees.
 */
int own_build(const struct own_options *options, struct own_report *report);
void own_report_free(struct own_report *report);

/** The report, for people. */
void own_report_text(const struct own_report *report);

/** The report as JSON. Gives the exit status. */
int own_report_json(const struct own_report *report);

/** Whether an operand names a function file. */
bool is_own_operand(const char *operand);

/** netfc-tables calc FILE X. Gives the exit status. */
int calc_own(char **operands, int count, bool hex, bool json);

/** netfc-tables show FILE [X...]. Gives the exit status. */
int show_own(char **operands, int count, bool json);

#endif /* OWN_H */
