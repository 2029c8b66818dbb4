/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_BYTES_H
#define PIPELINE_BYTES_H

/** @file Words and vectors at any address of a packet. */

#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

/** Sixteen bytes that are moved at once. */
typedef uint8_t bytes16 __attribute__((vector_size(16)));

/** A word as it stands in the packet. */
static __rte_always_inline uint16_t
load_16(const void *at)
{
	uint16_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static __rte_always_inline void
store_16(void *at, uint16_t word)
{
	memcpy(at, &word, sizeof(word));
}

static __rte_always_inline uint64_t
load_64(const void *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static __rte_always_inline void
store_64(void *at, uint64_t word)
{
	memcpy(at, &word, sizeof(word));
}

/** A big-endian field. */
static __rte_always_inline uint32_t
load_be16(const void *at)
{
	return rte_be_to_cpu_16(load_16(at));
}

static __rte_always_inline bytes16
load_bytes16(const void *at)
{
	bytes16 bytes;

	memcpy(&bytes, at, sizeof(bytes));
	return bytes;
}

static __rte_always_inline void
copy_bytes16(void *to, const void *from)
{
	bytes16 bytes;

	memcpy(&bytes, from, sizeof(bytes));
	memcpy(to, &bytes, sizeof(bytes));
}

#endif /* PIPELINE_BYTES_H */
