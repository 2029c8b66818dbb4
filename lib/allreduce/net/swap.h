/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_SWAP_H
#define ALLREDUCE_SWAP_H

/**
 * @file
 * Values from host to network byte order and back.
 */

#include <stddef.h>
#include <stdint.h>

/* Copy `count` values of 2, 4 or 8 bytes; neither side has to be aligned. */
void swap_values(uint8_t *to, const uint8_t *from, size_t count, unsigned int value_bytes);

#endif /* ALLREDUCE_SWAP_H */
