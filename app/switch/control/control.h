/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONTROL_H
#define CONTROL_H

/**
 * @file
 * The control channel: commands that change the running switch, over a Unix socket that only its
 * owner may open. A command is a JSON object in a line, and so is its answer. One thread serves all
 * clients; no lcore ever waits for it.
 */

#include <stddef.h>

#include "app.h"

struct control;

/**
 * Open the socket. Nothing is served yet.
 *
 * @param path the socket's; a stale one is replaced
 * @return 0, or -1 (reported on stderr)
 */
int control_open(struct app *app, const char *path, struct control **control);

/** Serve clients, in a thread of its own. 0, or -1 (reported on stderr). */
int control_start(struct control *control);

/** End: finish the command under way, leave all clients, remove the socket; NULL is allowed. */
void control_close(struct control *control);

/* What the commands of the control channel mean. */

/** Maximum bytes of a command's line, without its end. */
#define CONTROL_LINE_BYTES 4096

/**
 * Do what a line says.
 *
 * @param line the line, without its end; nothing is assumed of it
 * @return the answer, a JSON object as text without an end of line; free() it; NULL where memory is
 * short
 */
char *control_answer(struct app *app, const char *line, size_t length);

#endif /* CONTROL_H */
