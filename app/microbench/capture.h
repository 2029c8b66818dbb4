/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CAPTURE_H
#define CAPTURE_H

/** @file The requests of a capture file: frames as bytes, and their operands. */

#include <stdint.h>

#include <netfc.h>

/** Frames of equally many lanes, of one operation and format, over IPv4 without options. */
struct capture {
	uint32_t packets;
	uint32_t lanes; /**< of each packet */
	uint32_t frame_bytes;
	enum netfc_op op;
	unsigned int format;
	uint8_t *frames; /**< `packets` times `frame_bytes` */
	uint32_t *x, *y; /**< operands, `packets` times `lanes` each */
};

/**
 * Read a capture. What is wrong is said on stderr.
 *
 * @return 0 or -1; capture_free() frees in both cases
 */
int capture_read(const char *path, struct capture *capture);

/** Free what capture_read() has allocated. */
void capture_free(struct capture *capture);

/** A result in a frame of the capture, computed meanwhile. */
uint32_t capture_result(const struct capture *capture, const uint8_t *frame, uint32_t lane);

/** Where the status byte of a frame of the capture is. */
uint32_t capture_status_offset(void);

#endif /* CAPTURE_H */
