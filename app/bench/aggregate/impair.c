/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>

#include "aggregate/team.h"
#include "exact.h"

static uint64_t
share_of(double percent)
{
	return (uint64_t)(percent / 100 * 0x1p32);
}

void
impair_init(struct impair *impair, double loss, double duplicate, double reorder, uint64_t seed,
	struct rte_mempool *pool)
{
	*impair = (struct impair){
		.lose = share_of(loss),
		.duplicate = share_of(duplicate),
		.reorder = share_of(reorder),
		.seed = seed,
		.pool = pool,
	};
}

static bool
happens(struct impair *impair, uint64_t share)
{
	return share != 0 && (uint32_t)next_random(&impair->seed) < share;
}

/* It takes another's place, or one that is free. */
static struct rte_mbuf *
exchange(struct impair *impair, struct rte_mbuf *mbuf)
{
	unsigned int place = (unsigned int)(next_random(&impair->seed) % IMPAIR_HELD);
	struct rte_mbuf *other = impair->held[place];

	impair->held[place] = mbuf;
	impair->held_count += other == NULL;
	impair->reordered++;
	return other;
}

unsigned int
impair_packet(struct impair *impair, struct rte_mbuf *mbuf, struct rte_mbuf **out)
{
	unsigned int count = 0;

	if (happens(impair, impair->lose)) {
		impair->lost++;
		rte_pktmbuf_free(mbuf);
		return 0;
	}
	if (happens(impair, impair->duplicate)) {
		out[count] = rte_pktmbuf_copy(mbuf, impair->pool, 0, UINT32_MAX);
		if (out[count] != NULL) {
			impair->duplicates++;
			count++;
		}
	}
	if (happens(impair, impair->reorder))
		mbuf = exchange(impair, mbuf);
	if (mbuf != NULL)
		out[count++] = mbuf;
	return count;
}

struct rte_mbuf *
impair_release(struct impair *impair)
{
	for (unsigned int place = 0; impair->held_count > 0 && place < IMPAIR_HELD; place++) {
		struct rte_mbuf *mbuf = impair->held[place];

		if (mbuf == NULL)
			continue;
		impair->held[place] = NULL;
		impair->held_count--;
		return mbuf;
	}
	return NULL;
}
