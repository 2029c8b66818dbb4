/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLEEP_H
#define SLEEP_H

/**
 * @file
 * Sleep while nothing comes. An lcore that finds nothing sleeps on a ramp (ramp.h). At its end it
 * waits for receive interrupts, where all of its queues have them (or are sockets): it enables
 * them, looks at its queues once more, and waits. A wait ends after 10 ms at the latest, so that an
 * interrupt that never comes delays packets, but stops nothing; where that happens again and again,
 * the lcore stays on the ramp. No system call is made while packets come.
 */

#include <rte_atomic.h>

#include "app.h"

/** The longest wait for an interrupt, in ms. */
#define SLEEP_WAIT_MS 10

/**
 * Find out how each lcore may sleep; port_watch.h keeps that true. With --poll, none does. The
 * ports have been started; prints what each lcore does.
 */
void sleep_start(struct app *app);

/** No lcore runs any more: give back what that took. */
void sleep_stop(struct app *app);

/** An lcore's thread begins: timers that are exact. */
void sleep_begin_thread(const struct app *app);

/**
 * After a round that found nothing: sleep, if it is time.
 *
 * @param most_ms the longest wait for an interrupt
 */
void sleep_after_round(struct app *app, struct lcore *lcore, int most_ms);

/** After a round that found packets following one that did not. */
void sleep_end(const struct app *app, struct lcore *lcore);

/** Ring the bell of an lcore that sleeps. */
void sleep_ring(struct sleeper *sleeper);

/** Something was put into a ring from which another lcore takes: wake it, if it sleeps. */
static inline void
sleep_wake(struct sleeper *sleeper)
{
	/* Either this sees that it sleeps, or it sees what is in the ring before it does. */
	rte_atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(__atomic_load_n(&sleeper->wants_bell, __ATOMIC_RELAXED)))
		sleep_ring(sleeper);
}

/** After each round. */
static inline void
sleep_or_not(struct app *app, struct lcore *lcore, unsigned int found, int most_ms)
{
	if (found == 0)
		sleep_after_round(app, lcore, most_ms);
	else if (lcore->sleeper.empty != 0)
		sleep_end(app, lcore);
}

#endif /* SLEEP_H */
