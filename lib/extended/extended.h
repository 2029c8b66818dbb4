/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXTENDED_H
#define EXTENDED_H

/**
 * @file
 * Kernels of the extended operations: min, max, compare and fma, which need no tables, and
 * functions of one number, each an array that the slot of x indexes, or a conversion. They compute
 * the lanes of packets alone, and give, bit for bit, what netfc_extra(), netfc_function_lanes() or
 * a user's function gives.
 */

#include <stdint.h>

#include <netfc.h>

#include "vector.h"

/**
 * Make the kernel of min, max, compare and fma.
 *
 * @param format of all operands and results, 8 or 16 bits wide
 * @param isa the best instruction set to use, up to vector_isa_best()
 * @param socket_id NUMA node of the memory, or SOCKET_ID_ANY
 * @param kernel where the new kernel goes; free it with vector_free()
 * @return 0 or -ENOMEM
 */
int extended_create(const struct netfc_format *format, enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel);

/**
 * Make the kernel of a function of one number: 256 KiB.
 *
 * @param slot_bits the width of slots, 8 or 16
 * @param z its value for every x, NETFC_FUNCTION_ENTRIES; not needed any more afterwards
 * @param flags the exception flags of every x, as many; likewise
 * @param isa, socket_id, kernel as above
 * @return 0 or -ENOMEM
 */
int extended_function_create(unsigned int slot_bits, const uint16_t *z, const uint8_t *flags,
	enum vector_isa isa, int socket_id, struct vector_kernel **kernel);

/**
 * Make the kernel of a conversion whose slots have 32 bits: from binary32, or to it.
 *
 * @param function one that the format has, see netfc_function_has_format()
 * @param format of the lanes
 * @param isa, socket_id, kernel as above
 * @return 0, -ENOMEM, or -ENOTSUP if the function is no such conversion
 */
int
extended_conversion_create(const struct netfc_function *function, const struct netfc_format *format,
	enum vector_isa isa, int socket_id, struct vector_kernel **kernel);

#endif /* EXTENDED_H */
