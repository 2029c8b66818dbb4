/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RAMP_H
#define RAMP_H

/**
 * @file
 * How long an lcore sleeps that finds nothing: a microsecond more from round to round, up to a
 * limit within which its receive rings cannot overflow. Pure functions.
 */

#include <stdbool.h>
#include <stdint.h>

/** Rounds that find nothing before the first sleep: a gap between two bursts costs no sleep. */
#define RAMP_SPINS 16u

/** The longest sleep, in us: telemetry, timers and other lcores wait no longer for this one. */
#define RAMP_LONGEST_US 1000u

/** What a sleep lasts longer than it was asked to, in us. */
#define RAMP_WAKE_US 10u

/**
 * How long an lcore may sleep that serves a ring.
 *
 * @param packets that the ring holds
 * @param mbps at which they arrive, at most
 * @return the time in which the shortest packets fill the ring, less what waking up takes, in us
 *   (0 to RAMP_LONGEST_US); 0: the ring is too short for any sleep
 */
uint32_t ramp_limit_us(uint32_t packets, uint32_t mbps);

/**
 * How long to sleep after so many rounds in a row that found nothing.
 *
 * @param limit_us of ramp_limit_us(); 0: never sleep
 * @return us; 0: look again at once
 */
uint32_t ramp_us(uint32_t empty, uint32_t limit_us);

/** Whether sleeps grow no longer: time to wait for an interrupt. */
bool ramp_is_over(uint32_t empty, uint32_t limit_us);

#endif /* RAMP_H */
