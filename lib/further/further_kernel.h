/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FURTHER_KERNEL_H
#define FURTHER_KERNEL_H

/**
 * @file
 * Kernels of the operations further to the four: functions of one number, each an array that the
 * slot of x indexes, and min, max, compare and fma.
 *
 * A kernel computes the lanes of a packet where they are, and gives, bit for bit, what
 * netfc_function_table(), a function of a user's own, or netfc_extra() gives. Kernels never change,
 * so lcores may share them.
 */

#include <stdint.h>

#include <netfc.h>

#include "vector.h"

/** A kernel. Its functions are for further_run() and further_free(). */
struct further_kernel {
	void (*run)(const struct further_kernel *kernel, struct vector_packet *packet);
	void (*free)(struct further_kernel *kernel);
	/** A function's entries by the slot of x, as it stands in packets; NULL: it is none. */
	uint32_t *entries;
};

/** What an entry holds: z, as it is to stand in a packet, and above it the exception flags. */
#define FURTHER_ENTRY_FLAGS_SHIFT 16

/**
 * Make the kernel of a function of one number: 256 KiB.
 *
 * @param z its value for every x, NETFC_FUNCTION_ENTRIES; not needed any more afterwards
 * @param flags the exception flags of every x, as many; likewise
 * @param isa the best instruction set to use, up to vector_isa_best()
 * @param socket_id NUMA node of the memory, or SOCKET_ID_ANY
 * @param kernel where the new kernel goes; free it with further_free()
 * @return 0 or -ENOMEM
 */
int further_function_create(const uint16_t *z, const uint8_t *flags, enum vector_isa isa,
	int socket_id, struct further_kernel **kernel);

/**
 * Make the kernel of min, max, compare or fma.
 *
 * @param format of all operands and results
 * @param isa the best instruction set to use, up to vector_isa_best()
 * @param socket_id NUMA node of the memory, or SOCKET_ID_ANY
 * @param kernel where the new kernel goes; free it with further_free()
 * @return 0 or -ENOMEM
 */
int further_extra_create(const struct netfc_format *format, enum netfc_extra_op op,
	enum vector_isa isa, int socket_id, struct further_kernel **kernel);

/** Free a kernel; NULL is allowed. */
void further_free(struct further_kernel *kernel);

/** Compute the lanes of a packet, where they are; its results are filled in. */
static inline void
further_run(const struct further_kernel *kernel, struct vector_packet *packet)
{
	kernel->run(kernel, packet);
}

#endif /* FURTHER_KERNEL_H */
