/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONTROL_CAPTURE_H
#define CONTROL_CAPTURE_H

/** @file The control channel's commands about captures. */

#include <stdio.h>

#include <jansson.h>

#include "app.h"

/** Bytes that a capture's file may have if nothing else is said. */
#define CAPTURE_BYTES 100000000

/** Bytes of a packet that are captured if nothing else is said. */
#define CAPTURE_SNAPLEN 2048

/** {"command": "capture", "action": "start" | "stop" | "show", ...}. 0, or -1 (said). */
int control_capture(struct app *app, const json_t *request, json_t *answer, FILE *errors);

#endif /* CONTROL_CAPTURE_H */
