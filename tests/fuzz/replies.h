/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPLIES_H
#define REPLIES_H

/** @file What must hold of a frame that has been through the pipeline. */

#include "frame.h"
#include "loaded.h"

/**
 * Check that a request became a right reply, if it did, and that nothing else changed.
 *
 * @param family of the pipeline's table sets
 * @param before the frame's bytes before; they become what they must be now
 * @param after the frame's bytes now
 */
void replies_check(enum family family, const struct frame *frame, uint8_t *before,
	const uint8_t *after, uint32_t length);

#endif /* REPLIES_H */
