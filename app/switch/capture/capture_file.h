/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CAPTURE_FILE_H
#define CAPTURE_FILE_H

/** @file A capture as a file: pcapng, written by rte_pcapng, an interface for each port. */

#include <stdint.h>
#include <stdio.h>

#include "capture/capture_tap.h"

struct capture_file;

/** What was captured of a port. */
struct capture_port_counters {
	uint64_t written, missed; /**< packets */
};

/**
 * Make a file and write its head. The ports must have been started.
 *
 * @param path of a file that does not exist yet
 * @return the file, or NULL (reported)
 */
struct capture_file *capture_file_open(const char *path, FILE *errors);

/** Bytes written so far. */
uint64_t capture_file_size(const struct capture_file *file);

/** Bytes that a copy takes in the file. */
uint32_t capture_file_bytes(const struct rte_mbuf *copy);

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

#endif /* CAPTURE_FILE_H */
