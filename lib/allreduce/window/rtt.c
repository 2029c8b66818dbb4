/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/rtt.h"

#include "clock.h"

/* Until there is a sample; RFC 6298 says 1 s, for the Internet. */
#define FIRST_TIMEOUT (20 * NS_PER_MS)
/* The variation's least share of the time-out. */
#define GRANULARITY (100 * NS_PER_US)
/*
 * And as a share of the time itself. Behind a slow link's full queue all packets take equally long,
 * until another worker is late: then everything that is in flight is, and nothing is lost.
 */
#define SPREAD_SHARE 2

static uint64_t
greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t
within(const struct rtt *rtt, uint64_t ns)
{
	if (ns < rtt->timeout_min)
		return rtt->timeout_min;
	return ns > rtt->timeout_max ? rtt->timeout_max : ns;
}

void
rtt_init(struct rtt *rtt, uint64_t timeout_min, uint64_t timeout_max)
{
	*rtt = (struct rtt){.timeout_min = timeout_min, .timeout_max = timeout_max};
	rtt->timeout = within(rtt, FIRST_TIMEOUT);
}

void
rtt_sample(struct rtt *rtt, uint64_t ns)
{
	uint64_t error, spread;

	if (rtt->smoothed == 0) {
		rtt->least = ns;
		rtt->smoothed = ns > 0 ? ns : 1;
		rtt->variation = ns / 2;
	} else {
		if (ns < rtt->least)
			rtt->least = ns;
		if (ns > 2 * rtt->timeout)
			ns = 2 * rtt->timeout;
		error = ns > rtt->smoothed ? ns - rtt->smoothed : rtt->smoothed - ns;
		rtt->variation = rtt->variation - rtt->variation / 4 + error / 4;
		rtt->smoothed = rtt->smoothed - rtt->smoothed / 8 + ns / 8;
	}
	spread = greater(4 * rtt->variation, rtt->smoothed / SPREAD_SHARE);
	rtt->timeout = within(rtt, rtt->smoothed + greater(spread, GRANULARITY));
}

uint64_t
rtt_timeout(const struct rtt *rtt, unsigned int backoff)
{
	uint64_t ns = rtt->timeout;

	while (backoff-- > 0 && ns < rtt->timeout_max)
		ns *= 2;
	return within(rtt, ns);
}
