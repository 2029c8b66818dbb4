/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef USER_H
#define USER_H

/** @file User functions: built from values or an expression, shown, computed. */

#include <stdbool.h>

#include "netfc.h"

struct samples;

/** What netfc-tables build --function is given. */
struct user_options {
	const char *function; /**< its name */
	const char *format;   /**< NULL: fp16 */
	const char *from, *expression;
};

/** What was built, for the report. */
struct user_report {
	struct netfc_user_function *function;
	struct samples *samples;
	const char *path;
	long long bytes;
	double milliseconds;
};

/**
 * Build a function and what is reported of it. Reports what is wrong. Gives the exit status; in
 * any case, user_report_free() frees.
 */
int user_build(const struct user_options *options, struct user_report *report);
void user_report_free(struct user_report *report);

/** The report, as text. */
void user_report_text(const struct user_report *report);

/** The report as JSON. Gives the exit status. */
int user_report_json(const struct user_report *report);

/** Whether an operand names a function file. */
bool is_user_operand(const char *operand);

/** netfc-tables calc FILE X. Gives the exit status. */
int calc_user(char **operands, int count, bool hex, bool json);

/** netfc-tables show FILE [X...]. Gives the exit status. */
int show_user(char **operands, int count, bool json);

#endif /* USER_H */
