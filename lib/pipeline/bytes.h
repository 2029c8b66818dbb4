/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_BYTES_H
#define PIPELINE_BYTES_H

/** @file Words and vectors at any address of a packet; bytes at any offset, whatever its segments.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_mbuf.h>
#include <rte_vect.h>

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

/** Whether no bit is set. */
static __rte_always_inline bool
is_zero_bytes16(bytes16 bytes)
{
#ifdef __SSE4_1__
	return _mm_testz_si128((__m128i)bytes, (__m128i)bytes) != 0;
#else
	uint64_t halves[2];

	memcpy(halves, &bytes, sizeof(halves));
	return (halves[0] | halves[1]) == 0;
#endif
}

static __rte_always_inline void
copy_bytes16(void *to, const void *from)
{
	bytes16 bytes;

	memcpy(&bytes, from, sizeof(bytes));
	memcpy(to, &bytes, sizeof(bytes));
}

/* A pointer to the bytes where they are in the first segment, else NULL. */
static inline void *
mbuf_bytes(struct rte_mbuf *mbuf, uint32_t offset, uint32_t length)
{
	if (offset + length > rte_pktmbuf_data_len(mbuf))
		return NULL;
	return rte_pktmbuf_mtod_offset(mbuf, void *, offset);
}

/*
 * Have a packet's first bytes in its first segment, where a device has put headers and payload
 * into several. False: there is no space for them, or the packet is shorter.
 */
static inline bool
mbuf_pull(struct rte_mbuf *mbuf, uint32_t length)
{
	while (rte_pktmbuf_data_len(mbuf) < length) {
		struct rte_mbuf *next = mbuf->next;
		uint16_t some;

		if (next == NULL)
			return false;
		some = (uint16_t)RTE_MIN(
			length - rte_pktmbuf_data_len(mbuf), (uint32_t)rte_pktmbuf_data_len(next));
		if (some > rte_pktmbuf_tailroom(mbuf))
			return false;
		memcpy(rte_pktmbuf_mtod_offset(mbuf, void *, rte_pktmbuf_data_len(mbuf)),
			rte_pktmbuf_mtod(next, const void *), some);
		mbuf->data_len = (uint16_t)(mbuf->data_len + some);
		rte_pktmbuf_data_len(next) = (uint16_t)(rte_pktmbuf_data_len(next) - some);
		next->data_off = (uint16_t)(next->data_off + some);
		if (rte_pktmbuf_data_len(next) > 0)
			continue;
		mbuf->next = next->next;
		mbuf->nb_segs--;
		next->next = NULL;
		next->nb_segs = 1;
		rte_pktmbuf_free_seg(next);
	}
	return true;
}

/* Overwrite bytes in any segments; the packet must be long enough. */
static inline void
mbuf_write(struct rte_mbuf *mbuf, uint32_t offset, const void *source, uint32_t length)
{
	const uint8_t *from = source;

	while (offset >= rte_pktmbuf_data_len(mbuf)) {
		offset -= rte_pktmbuf_data_len(mbuf);
		mbuf = mbuf->next;
	}
	while (length > 0) {
		uint32_t some = RTE_MIN(length, rte_pktmbuf_data_len(mbuf) - offset);

		memcpy(rte_pktmbuf_mtod_offset(mbuf, void *, offset), from, some);
		from += some;
		length -= some;
		offset = 0;
		mbuf = mbuf->next;
	}
}

#endif /* PIPELINE_BYTES_H */
