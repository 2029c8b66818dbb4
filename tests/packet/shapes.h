/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHAPES_H
#define SHAPES_H

/** @file Frames of all shapes, drawn at random: requests, right and wrong, and what is none. */

#include <stdint.h>

/** Bytes of the longest. */
#define SHAPES_LONGEST 1024

/** A linear congruential generator (Knuth, MMIX): the next number below `end`. */
uint32_t shapes_draw(uint64_t *seed, uint32_t end);

/**
 * Write a frame of a random shape: up to two VLAN tags; IPv4, with options or without, IPv6,
 * something else; UDP with or without a checksum, TCP, fragments; requests of 1 to 40 lanes, some
 * with a wrong field, a flipped bit, or bytes after them.
 *
 * @param frame SHAPES_LONGEST bytes
 * @return its length in bytes
 */
uint32_t shapes_write(uint64_t *seed, uint8_t *frame);

#endif /* SHAPES_H */
