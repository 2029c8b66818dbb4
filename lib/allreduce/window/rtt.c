/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/rtt.h"

#include "clock.h"

/* Until there is a sample; RFC 6298 says 1 s, for the Internet. */
#define FIRST_TIMEOUT (20 * NS_PER_MS)
/* The variation's least share of the time-out. */
#define GRANULARITY (100 * NS_PER_US)
/*
 * And as shares of the time itself, at least and at most. Behind a slow link's full queue
 * all packets take equally long, until another worker is late: then everything that is in flight
 * is, and nothing is lost.
 */
#define MIN_SPREAD(low) ((low) / 2)
#define MAX_SPREAD(low) (2 * (low))
/* How fast higher samples move it, and lower ones what a full window takes: one of so many. */
#define LOW_SHARE 64
/* Quarters; one less after so many results none of which came twice. */
#define MAX_STRETCH 6
#define STRETCH_RESULTS 256

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

uint64_t
rtt_stretched(const struct rtt *rtt, uint64_t amount)
{
	return amount * (4 + rtt->stretch) / 4;
}

static void
set_timeout(struct rtt *rtt)
{
	uint64_t spread = 4 * rtt->variation;

	if (spread > MAX_SPREAD(rtt->low))
		spread = MAX_SPREAD(rtt->low);
	spread = greater(greater(spread, MIN_SPREAD(rtt->low)), GRANULARITY);
	rtt->timeout = within(rtt, rtt_stretched(rtt, greater(rtt->low + spread, rtt->full)));
}

/* One late worker is no reason to wait long ever after. */
static uint64_t
bounded(const struct rtt *rtt, uint64_t ns)
{
	return ns > 2 * rtt->timeout ? 2 * rtt->timeout : ns;
}

void
rtt_full_window(struct rtt *rtt, uint64_t ns)
{
	rtt->full = bounded(rtt, ns);
	set_timeout(rtt);
}

void
rtt_sample(struct rtt *rtt, uint64_t ns)
{
	uint64_t error;

	if (rtt->smoothed == 0) {
		rtt->least = rtt->low = ns;
		rtt->smoothed = ns > 0 ? ns : 1;
		rtt->variation = ns / 2;
	} else {
		if (ns < rtt->least)
			rtt->least = ns;
		ns = bounded(rtt, ns);
		rtt->low = ns < rtt->low ? ns : rtt->low + (ns - rtt->low) / LOW_SHARE;
		/* The window may never be full again. */
		if (ns < rtt->full)
			rtt->full -= (rtt->full - ns) / LOW_SHARE;
		error = ns > rtt->smoothed ? ns - rtt->smoothed : rtt->smoothed - ns;
		rtt->variation = rtt->variation - rtt->variation / 4 + error / 4;
		rtt->smoothed = rtt->smoothed - rtt->smoothed / 8 + ns / 8;
	}
	if (++rtt->results >= STRETCH_RESULTS && rtt->stretch > 0) {
		rtt->stretch--;
		rtt->results = 0;
	}
	set_timeout(rtt);
}

void
rtt_too_short(struct rtt *rtt)
{
	if (rtt->stretch < MAX_STRETCH)
		rtt->stretch++;
	rtt->results = 0;
	set_timeout(rtt);
}

uint64_t
rtt_timeout(const struct rtt *rtt, unsigned int backoff)
{
	uint64_t ns = rtt->timeout;

	while (backoff-- > 0 && ns < rtt->timeout_max)
		ns *= 2;
	return within(rtt, ns);
}
