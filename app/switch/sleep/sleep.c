/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_log.h>

#include "sleep/interrupts.h"
#include "sleep/limits.h"
#include "sleep/plan.h"
#include "sleep/ramp.h"
#include "sleep/sleep.h"

/* Packets in a row that no interrupt has announced, before an lcore waits for none any more. */
#define MISSED_MOST 3

RTE_LOG_REGISTER(sleep_logtype, netfc.sleep, NOTICE)

void
sleep_begin_thread(const struct app *app)
{
	/* The kernel would add 50 us to each sleep. */
	if (!app->options.poll)
		prctl(PR_SET_TIMERSLACK, 1000);
}

static void
disarm(const struct app *app, struct lcore *lcore)
{
	if (lcore->sleeper.armed)
		interrupts_disable(app, lcore);
	__atomic_store_n(&lcore->sleeper.wants_bell, false, __ATOMIC_RELAXED);
	lcore->sleeper.armed = false;
	lcore->sleeper.timed_out = false;
}

/* What others put into its ring before they see that is found in the round to come. */
static int
arm(const struct app *app, struct lcore *lcore)
{
	lcore->sleeper.armed = true;
	if (lcore->shard != NULL)
		__atomic_store_n(&lcore->sleeper.wants_bell, true, __ATOMIC_SEQ_CST);
	rte_atomic_thread_fence(__ATOMIC_SEQ_CST);
	return interrupts_enable(app, lcore);
}

void
sleep_ring(struct sleeper *sleeper)
{
	if (__atomic_exchange_n(&sleeper->wants_bell, false, __ATOMIC_RELAXED))
		eventfd_write(sleeper->bell, 1);
}

static void
give_up_interrupts(struct lcore *lcore, const char *why)
{
	lcore->sleeper.interrupts = false;
	rte_log(RTE_LOG_NOTICE, sleep_logtype,
		"Sleep: lcore %u no longer waits for receive interrupts: %s\n", rte_lcore_id(),
		why);
}

void
sleep_end(const struct app *app, struct lcore *lcore)
{
	struct sleeper *sleeper = &lcore->sleeper;

	if (sleeper->timed_out && ++sleeper->missed == MISSED_MOST)
		give_up_interrupts(lcore, "packets came without");
	disarm(app, lcore);
	sleeper->empty = 0;
}

/* A signal ends it, as that of a TAP interface does where a packet comes. */
static void
sleep_us(uint32_t us)
{
	const struct timespec time = {.tv_nsec = us * 1000L};

	nanosleep(&time, NULL);
}

static void
wait_for_interrupt(struct lcore *lcore, int most_ms)
{
	struct sleeper *sleeper = &lcore->sleeper;
	struct epoll_event event;

	sleeper->timed_out = epoll_wait(sleeper->epoll, &event, 1, most_ms) == 0;
	if (sleeper->timed_out)
		return;
	lcore->counters.interrupts++;
	sleeper->missed = 0;
	/* Some drivers see the packet only after its interrupt: look again soon. */
	sleeper->empty = 0;
}

static void
sleep_now(struct app *app, struct lcore *lcore, uint32_t us, int most_ms)
{
	const unsigned int lcore_id = rte_lcore_id();
	uint64_t begin = lcore->polled;

	rte_rcu_qsbr_thread_offline(app->qsbr, lcore_id);
	if (lcore->sleeper.armed)
		wait_for_interrupt(lcore, most_ms);
	else
		sleep_us(us);
	rte_rcu_qsbr_thread_online(app->qsbr, lcore_id);
	/* Online again: a port that vanishes is not closed meanwhile. */
	if (lcore->sleeper.armed && !lcore->sleeper.timed_out)
		disarm(app, lcore);
	lcore->polled = rte_rdtsc();
	lcore->counters.cycles += lcore->polled - begin;
	lcore->counters.sleep_cycles += lcore->polled - begin;
}

void
sleep_after_round(struct app *app, struct lcore *lcore, int most_ms)
{
	struct sleeper *sleeper = &lcore->sleeper;
	uint32_t limit_us = __atomic_load_n(&sleeper->limit_us, __ATOMIC_RELAXED);
	uint32_t us;

	if (limit_us == 0)
		return;
	us = ramp_us(++sleeper->empty, limit_us);
	if (us == 0)
		return;
	if (sleeper->interrupts && !sleeper->armed && ramp_is_over(sleeper->empty, limit_us)) {
		if (arm(app, lcore) == 0)
			return;
		disarm(app, lcore);
		give_up_interrupts(lcore, "the device does not enable them");
	}
	sleep_now(app, lcore, us, most_ms);
}

/* ---- start and stop -------------------------------------------------------------------------- */

void
sleep_start(struct app *app)
{
	if (!app->options.poll) {
		limits_set(app);
		interrupts_open(app);
	}
	plan_print(app);
}

void
sleep_stop(struct app *app)
{
	interrupts_close(app);
}
