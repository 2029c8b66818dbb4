/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHANGES_H
#define CHANGES_H

/**
 * @file
 * Changes of the running switch that are made all together or not at all: commands of the control
 * channel that change what it computes, its settings or what is logged.
 */

#include <stdio.h>

#include <jansson.h>

#include "app.h"

struct changes;

/** A command that changes something, and the fields of its request. */
struct change_kind {
	const char *command;
	const char *fields[2]; /**< the second may be NULL */
};

/** The command of that name; NULL: there is none, or it changes nothing that lasts. */
const struct change_kind *change_kind_find(const char *command);

/** Their names, each after a space. */
void change_kinds_print(FILE *out);

/**
 * Whether a file may be read: once threads take commands, no pipe, as nobody could end the one
 * that waits for what comes of it. Reported on `errors` where not.
 */
bool changes_may_read(const struct app *app, const char *path, FILE *errors);

/**
 * Begin. Until changes_free(), other threads that begin wait.
 *
 * @return changes; NULL: no memory
 */
struct changes *changes_begin(struct app *app);

/**
 * Check a command, and make what it needs. The switch does not notice.
 *
 * @param request a JSON object with the kind's fields
 * @return 0, or -1 (reported on `errors`)
 */
int changes_add(struct changes *changes, const struct change_kind *kind, const json_t *request,
	FILE *errors);

/** Make all changes, in their order. 0, or -1 (reported on `errors`, and nothing is changed). */
int changes_make(struct changes *changes, FILE *errors);

/** Free them, made or not; NULL is allowed. */
void changes_free(struct changes *changes);

#endif /* CHANGES_H */
