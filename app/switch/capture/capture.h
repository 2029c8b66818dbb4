/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CAPTURE_H
#define CAPTURE_H

/**
 * @file
 * What goes in and out, into a file, on request. Lcores copy packets (capture_tap.h), a thread
 * writes the copies (capture_file.h). If the thread is too slow, the capture misses packets; if it
 * cannot write any more, the capture ends. The switch goes on as without a capture.
 */

#include <stdio.h>

#include <jansson.h>

#include "app.h"

/** What to capture. */
struct capture_request {
	const char *path; /**< must not exist yet */
	uint32_t snaplen; /**< bytes of a packet: CAPTURE_MIN_SNAPLEN..CAPTURE_MAX_SNAPLEN */
	uint64_t packets; /**< after which it ends; 0: no limit */
	uint64_t bytes;   /**< that the file may have before its end is written; 0: no limit */
};

/**
 * Start a capture. Called by one thread at a time, as capture_stop() is.
 *
 * @return 0, or -1 (reported): there is one already, the file cannot be made, or memory is short
 */
int capture_start(struct app *app, const struct capture_request *request, FILE *errors);

/** End a capture. 0, or -1 (reported): there is none. */
int capture_stop(struct app *app, FILE *errors);

/** End the capture, if there is one, and free it. */
void capture_free(struct app *app);

/**
 * The capture that is running, or the last one: running; file; snaplen; packets and bytes
 * written; missed; and, if it has ended, why. The caller holds the state's lock, and owns the
 * object.
 */
json_t *capture_json(const struct app *app);

#endif /* CAPTURE_H */
