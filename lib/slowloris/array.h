/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_ARRAY_H
#define SLOWLORIS_ARRAY_H

/** @file Memory that lcores read in random order: its pages should be large. */

#include <stddef.h>

/**
 * Allocate memory: the EAL's if that is in hugepages, else the process's own, for which the kernel
 * is asked for transparent hugepages. The EAL does not ask for them.
 *
 * @return zeroes, aligned to a cache line; NULL where memory is short
 */
void *array_create(const char *name, size_t bytes, int socket_id);

/** Give it back; NULL is allowed. */
void array_free(void *array, size_t bytes);

/** How much the array takes of the process's own memory, not the EAL's. */
size_t array_own_bytes(size_t bytes);

#endif /* SLOWLORIS_ARRAY_H */
