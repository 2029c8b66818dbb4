/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INIT_FILE_H
#define INIT_FILE_H

/**
 * @file
 * The file of --init: what netfc-ctl has set survives a restart. A line is a command as netfc-ctl
 * takes it, words with blanks between them; empty lines and what follows a # are comments.
 */

#include <stdio.h>

#include "app.h"

/**
 * Check a file, and load the table sets and functions that it names. Needs no EAL.
 *
 * @param errors where to report errors, with the file's line
 * @return 0 or -1
 */
int init_file_check(struct app *app, const char *path, FILE *errors);

/** Check it, and do all that it says; where something is wrong, nothing. Otherwise the same. */
int init_file_do(struct app *app, const char *path, FILE *errors);

/*
 * A thread that does the file again whenever something is written to app->reload, an eventfd: a
 * signal handler may do that.
 */
struct reload;

/** Start it, if there is such a file. 0, or -1 (reported on stderr). */
int reload_start(struct app *app, struct reload **reload);

/** Stop it; NULL is allowed. */
void reload_stop(struct reload *reload);

#endif /* INIT_FILE_H */
