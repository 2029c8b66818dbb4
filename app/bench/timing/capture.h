/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CAPTURE_H
#define CAPTURE_H

/** @file The packets of a capture file. */

#include <stdbool.h>
#include <stdint.h>

/** The longest frame that is taken. */
#define CAPTURE_FRAME_BYTES 2048

/** Packets, and, if they are requests identical except for their operands, what those are. */
struct capture {
	uint32_t packets;
	uint16_t *length; /**< of each frame */
	uint8_t *frames;  /**< `packets` times CAPTURE_FRAME_BYTES */
	bool uniform;     /**< one operation, format and number of lanes, over IPv4 */
	unsigned int op, format;
	uint32_t lanes;  /**< of each packet */
	uint32_t *x, *y; /**< operands, `packets` times `lanes` each */
};

/**
 * Read a capture. Errors are reported on stderr.
 *
 * @return 0 or -1; capture_free() frees in both cases
 */
int capture_read(const char *path, struct capture *capture);

/** Free what capture_read() has allocated. */
void capture_free(struct capture *capture);

/** A packet's frame. */
static inline const uint8_t *
capture_frame(const struct capture *capture, uint32_t packet)
{
	return capture->frames + (uint64_t)packet * CAPTURE_FRAME_BYTES;
}

/** A result in a frame of a uniform capture, computed meanwhile. */
uint32_t capture_result(const struct capture *capture, const uint8_t *frame, uint32_t lane);

/** The status byte of such a frame. */
uint8_t capture_status(const uint8_t *frame);

#endif /* CAPTURE_H */
