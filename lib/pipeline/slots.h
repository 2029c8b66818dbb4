/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_SLOTS_H
#define PIPELINE_SLOTS_H

/** @file Slots of a packet to fields of a batch and back: big-endian 16 bits, at any address. */

#include <stdint.h>

/** Copy `count` slots into a field. */
void slots_read(const void *slots, uint32_t *field, unsigned int count);

/** Copy the low halves of a field into `count` slots. */
void slots_write(const uint32_t *field, void *slots, unsigned int count);

/**
 * Replace `count` slots by others.
 *
 * @return the changes of a checksum over the slots, see checksum.h
 */
uint32_t slots_replace(void *slots, const uint16_t *by, unsigned int count);

#endif /* PIPELINE_SLOTS_H */
