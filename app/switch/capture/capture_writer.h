/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CAPTURE_WRITER_H
#define CAPTURE_WRITER_H

/** @file The thread that writes a capture: from the lcores' taps into the file, until it ends. */

#include "app.h"
#include "capture/capture_file.h"
#include "side_thread.h"

/** Why a capture has ended. */
enum capture_end {
	CAPTURE_NOT_YET,
	CAPTURE_STOPPED,
	CAPTURE_PACKETS,
	CAPTURE_BYTES,
	CAPTURE_ERROR,
};

/** A capture, running or ended. */
struct capture {
	struct app *app;
	char *path;
	uint32_t snaplen;
	uint64_t most_packets, most_bytes; /* UINT64_MAX: no limit */
	struct capture_file *file;         /* the thread's own */
	struct side_work work;
	side_thread thread;
	bool joined; /* it has ended, and been waited for */
	bool stop;

	uint64_t packets, bytes; /* written; by the thread, read by anybody */
	enum capture_end why;    /* likewise */
	int error;               /* CAPTURE_ERROR: an errno */

	/* Guarded by the state's lock: */
	bool running;
	struct capture_tap *tap[RTE_MAX_LCORE];
	struct capture_port_counters port[RTE_MAX_ETHPORTS]; /* `missed` set when it ends */
};

/** What the thread runs; `arg` is the capture. */
void capture_write(void *arg);

/** Packets of a port that the taps have missed so far. */
uint64_t capture_missed_at(const struct capture *capture, uint16_t port);

/** Free all taps, which no lcore uses any more. */
void capture_free_taps(struct capture *capture);

#endif /* CAPTURE_WRITER_H */
