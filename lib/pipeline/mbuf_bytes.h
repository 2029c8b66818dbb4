/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_MBUF_BYTES_H
#define PIPELINE_MBUF_BYTES_H

/** @file Bytes of a packet at any offset, whatever its segments. */

#include <string.h>

#include <rte_mbuf.h>

/* A pointer to the bytes where they are in the first segment, else NULL. */
static inline void *
mbuf_bytes(struct rte_mbuf *mbuf, uint32_t offset, uint32_t length)
{
	if (offset + length > rte_pktmbuf_data_len(mbuf))
		return NULL;
	return rte_pktmbuf_mtod_offset(mbuf, void *, offset);
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

#endif /* PIPELINE_MBUF_BYTES_H */
