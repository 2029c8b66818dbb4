/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "fuzz.h"

static struct rte_mbuf *
segment_of(const uint8_t *bytes, uint32_t length)
{
	struct rte_mbuf *segment = calloc(1, sizeof(*segment));

	FUZZ_CHECK(segment != NULL);
	segment->buf_addr = malloc(length);
	FUZZ_CHECK(segment->buf_addr != NULL || length == 0);
	if (length > 0)
		memcpy(segment->buf_addr, bytes, length);
	segment->buf_len = segment->data_len = (uint16_t)length;
	segment->pkt_len = length;
	segment->nb_segs = 1;
	rte_mbuf_refcnt_set(segment, 1);
	return segment;
}

struct rte_mbuf *
chain_of(const uint8_t *frame, uint32_t length, uint32_t cut)
{
	struct rte_mbuf *head = segment_of(frame, RTE_MIN(cut, length)), *last = head;

	for (uint32_t done = head->data_len; done < length; done += last->data_len) {
		uint32_t some = RTE_MIN(cut, length - done);

		head->nb_segs++;
		if (head->nb_segs == CHAIN_SEGMENTS)
			some = length - done;
		last->next = segment_of(frame + done, some);
		last = last->next;
	}
	head->pkt_len = length;
	return head;
}

void
chain_bytes(const struct rte_mbuf *mbuf, uint8_t *frame)
{
	for (; mbuf != NULL; mbuf = mbuf->next) {
		memcpy(frame, rte_pktmbuf_mtod(mbuf, const void *), mbuf->data_len);
		frame += mbuf->data_len;
	}
}

void
chain_free(struct rte_mbuf *mbuf)
{
	while (mbuf != NULL) {
		struct rte_mbuf *next = mbuf->next;

		free(mbuf->buf_addr);
		free(mbuf);
		mbuf = next;
	}
}
