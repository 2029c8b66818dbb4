/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOURNAL_H
#define JOURNAL_H

/**
 * @file
 * Priorities in systemd's journal, where stderr leads there (sd-daemon(3), $JOURNAL_STREAM): all of
 * a service's lines are of one priority unless they begin with another.
 */

#include <stdio.h>

/** What is written to stderr from now on has the priority of errors. */
void journal_mark_errors(void);

/**
 * Another stream to stderr.
 *
 * @param priority that of the line being written, as syslog(3) numbers them
 * @return the stream; NULL: stderr does not lead to the journal, or there is no memory
 */
FILE *journal_open(int (*priority)(void));

#endif /* JOURNAL_H */
