/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONTROL_COMMAND_H
#define CONTROL_COMMAND_H

/** @file What the commands of the control channel mean. */

#include <stddef.h>

#include "app.h"

/** Bytes of a command's line at the most, without its end. */
#define CONTROL_LINE_BYTES 4096

/**
 * Do what a line says.
 *
 * @param line the line, without its end; nothing is assumed of it
 * @return the answer, a JSON object as text without an end of line; free() it; NULL where memory is
 * short
 */
char *control_answer(struct app *app, const char *line, size_t length);

#endif /* CONTROL_COMMAND_H */
