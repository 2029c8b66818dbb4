/* SPDX-License-Identifier: BSD-3-Clause */
#include "sleep/ramp.h"

/* Of the shortest Ethernet frame: 64 bytes, preamble and gap. */
#define SHORTEST_BITS ((64 + 8 + 12) * 8)

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint32_t
ramp_limit_us(uint32_t packets, uint32_t mbps)
{
	/* Megabits per second are bits per microsecond. */
	const uint64_t fills = mbps != 0 ? (uint64_t)packets * SHORTEST_BITS / mbps : UINT32_MAX;

	return fills > RAMP_WAKE_US ? (uint32_t)least(fills - RAMP_WAKE_US, RAMP_LONGEST_US) : 0;
}

uint32_t
ramp_us(uint32_t empty, uint32_t limit_us)
{
	return empty > RAMP_SPINS ? (uint32_t)least(empty - RAMP_SPINS, limit_us) : 0;
}

bool
ramp_is_over(uint32_t empty, uint32_t limit_us)
{
	return limit_us != 0 && empty > RAMP_SPINS + limit_us;
}
