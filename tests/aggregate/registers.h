/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGISTERS_H
#define REGISTERS_H

/**
 * @file
 * A lane of sums in two registers, added up as a switch's stateful units do: a comparison with what
 * is there, then a sum, a maximum, or nothing.
 */

#include <stdbool.h>
#include <stdint.h>

#include <aggregate_format.h>

struct registers {
	int32_t low, high;
};

/* Add a value of a format that has sums; the first of a chunk overwrites what there was. */
void registers_add(struct registers *lane, enum aggregate_format format, uint32_t bits, bool first);

/* As they are sent: aggregate_registers_bytes(). */
void registers_write(const struct registers *lane, enum aggregate_format format, uint8_t *bytes);

#endif /* REGISTERS_H */
