/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CAPTURE_H
#define CAPTURE_H

/** @file Captures: begun and ended while the switch runs, and written to files. */

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "app.h"
#include "capture/capture_tap.h"

/* A capture as a file: pcapng, written by rte_pcapng, an interface for each port. */

struct capture_file;

/** What was captured of a port. */
struct capture_port_counters {
	uint64_t written, missed; /**< packets */
};

/** Bytes of a port's counters at the file's end, at most. */
#define CAPTURE_COUNTERS_BYTES 80u

/**
 * Make a file and write its head. The ports must have been started.
 *
 * @param path of a file that does not exist yet
 * @return the file, or NULL (reported)
 */
struct capture_file *capture_file_open(const char *path, FILE *errors);

/** Bytes written so far. */
uint64_t capture_file_size(const struct capture_file *file);

/**
 * Write copies, which stay the caller's. If that fails the file ends with the last packet that was
 * written as a whole.
 *
 * @param count 0..PIPELINE_BURST
 * @param error an errno, such as ENOSPC, if not all were written
 * @return how many were written
 */
uint16_t
capture_file_write(struct capture_file *file, struct rte_mbuf **copies, uint16_t count, int *error);

/**
 * Write what was captured of a port.
 *
 * @return 0 or an errno
 */
int capture_file_write_counters(
	struct capture_file *file, uint16_t port, const struct capture_port_counters *counters);

/** Close the file; NULL is allowed. */
void capture_file_close(struct capture_file *file);

/*
 * What goes in and out, into a file, on request. Lcores copy packets (capture_tap.h), a thread
 * writes the copies. If the thread is too slow, the capture misses packets; if it
 * cannot write any more, the capture ends. The switch goes on as without a capture.
 */

/** What to capture. */
struct capture_request {
	const char *path; /**< must not exist yet */
	uint32_t snaplen; /**< bytes of a packet: CAPTURE_MIN_SNAPLEN..CAPTURE_MAX_SNAPLEN */
	uint64_t packets; /**< after which it ends; 0: no limit */
	uint64_t bytes;   /**< that the file may have in the end; 0: no limit */
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
