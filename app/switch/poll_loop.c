/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "aggregate/aggregation.h"
#include "forward/fdb.h"
#include "sleep/sleep.h"
#include "slowloris/slowloris_filter.h"
#include "setup.h"
#include "dpdk/reflect.h"
#include "capture/trace.h"
#include "transmit.h"

/* How often the main lcore does housekeeping, or, without rx queues, whether to quit. */
#define WATCH_US 1000

/* Leave the packets that are for others, in order; send the answers to those for the switch. */
static uint16_t
answer(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf **mbufs,
	struct frame *frames, uint16_t count)
{
	const struct endpoint *endpoint = &app->port[in].endpoint;
	uint16_t kept = 0;

	if (endpoint->count == 0)
		return count;
	for (uint16_t i = 0; i < count; i++) {
		enum drop_reason reason;

		switch (endpoint_handle(endpoint, mbufs[i], &frames[i], &reason)) {
		case VERDICT_ANSWER:
			lcore->counters.answers++;
			transmit_later(app, lcore, in, mbufs[i]);
			break;
		case VERDICT_DROP:
			lcore->counters.drops[reason]++;
			rte_pktmbuf_free(mbufs[i]);
			break;
		case VERDICT_AGGREGATE:
			if (i + 1 < count)
				aggregate_prefetch(mbufs[i + 1]);
			aggregate_receive(app, lcore, in, mbufs[i], &frames[i]);
			break;
		case VERDICT_NEIGHBOUR:
			parent_link_take_answer(app, lcore, in, mbufs[i], &frames[i]);
			break;
		case VERDICT_FORWARD:
			frames[kept] = frames[i];
			mbufs[kept++] = mbufs[i];
			break;
		}
	}
	transmit_flush(app, lcore);
	return kept;
}

static void
forward(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf **mbufs,
	const struct frame *frames, uint16_t count)
{
	switch (app->options.forward) {
	case FORWARD_BRIDGE:
		bridge_forward(app, lcore, in, mbufs, frames, count);
		break;
	case FORWARD_REFLECT:
		reflect(mbufs, frames, count);
		transmit(app, lcore, in, mbufs, count);
		break;
	case FORWARD_PAIR:
	case FORWARD_AUTO:
		transmit(app, lcore, app->port[in].out, mbufs, count);
		break;
	}
}

/* Never inlined: scripts/count-instructions counts from here to the return. */
static __rte_noinline void
handle_burst(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf **mbufs,
	uint16_t count)
{
	struct pipeline_worker *worker = __atomic_load_n(&lcore->worker, __ATOMIC_ACQUIRE);
	struct trace_slot *trace = __atomic_load_n(&lcore->trace, __ATOMIC_ACQUIRE);
	const struct endpoint *endpoint = &app->port[in].endpoint;
	const struct pipeline_gate gate = {endpoint_admit, endpoint};
	struct frame frames[PIPELINE_BURST];

	lcore->counters.busy_polls++;
	lcore->counters.rx_packets += count;
	pipeline_process_admitted(worker, endpoint->count > 0 ? &gate : NULL, mbufs, frames, count);
	if (unlikely(trace != NULL))
		trace_sample(trace, app->port[in].id, mbufs, frames, count);
	if (lcore->slowloris != NULL)
		count = slowloris_filter(lcore, worker, mbufs, frames, count);
	count = answer(app, lcore, in, mbufs, frames, count);
	if (count > 0)
		forward(app, lcore, in, mbufs, frames, count);
}

/* For each packet, from the return of the receive burst to the return of the last transmit burst.
 */
static void
handle_timed_burst(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf **mbufs,
	uint16_t count)
{
	uint64_t start = rte_rdtsc();

	handle_burst(app, lcore, in, mbufs, count);
	histogram_add_times(lcore->latency, rte_rdtsc() - start, count);
}

static uint16_t
poll_queue(struct app *app, struct lcore *lcore, const struct rx_queue *queue)
{
	uint16_t port = app->port[queue->port].id, count;
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct capture_tap *tap;

	if (unlikely(port_is_gone(&app->port[queue->port])))
		return 0;
	count = rte_eth_rx_burst(port, queue->queue, mbufs, app->options.rx_burst);
	lcore->counters.polls++;
	if (count == 0)
		return 0;
	tap = __atomic_load_n(&lcore->capture, __ATOMIC_ACQUIRE);
	if (unlikely(tap != NULL))
		capture_received(tap, port, queue->queue, mbufs, count);
	if (likely(lcore->latency == NULL))
		handle_burst(app, lcore, queue->port, mbufs, count);
	else
		handle_timed_burst(app, lcore, queue->port, mbufs, count);
	return count;
}

/* Measuring the load takes one clock reading per round, instead of two per burst. */
static void
count_cycles(struct lcore *lcore, unsigned int found)
{
	uint64_t now = rte_rdtsc(), spent = now - lcore->polled;

	lcore->polled = now;
	lcore->counters.cycles += spent;
	if (found > 0)
		lcore->counters.busy_cycles += spent;
}

static unsigned int
poll_all(struct app *app, struct lcore *lcore)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < lcore->rx_queue_count; i++)
		found += poll_queue(app, lcore, &lcore->rx_queue[i]);
	if (lcore->shard != NULL)
		found += aggregate_poll(app, lcore);
	count_cycles(lcore, found);
	/* Between bursts, an lcore holds nothing that others may free. */
	rte_rcu_qsbr_quiescent(app->qsbr, rte_lcore_id());
	__atomic_store_n(&lcore->rounds, lcore->rounds + 1, __ATOMIC_RELEASE);
	return found;
}

static int
worker_main(void *arg)
{
	struct app *app = arg;
	struct lcore *lcore = &app->lcore[rte_lcore_id()];

	sleep_begin_thread(app);
	lcore->polled = rte_rdtsc();
	while (!app_should_quit(app))
		sleep_or_not(app, lcore, poll_all(app, lcore), SLEEP_WAIT_MS);
	rte_rcu_qsbr_thread_offline(app->qsbr, rte_lcore_id());
	return 0;
}

/* Detects the end of traffic by the receive counters of all lcores. */
struct watch {
	uint64_t next;  /* when to look again */
	uint64_t since; /* when the last packet was counted */
	uint64_t received;
	bool silent;                    /* for as long as allowed: lcores look once more */
	uint64_t rounds[RTE_MAX_LCORE]; /* that they had made when that began */
};

static uint64_t
received_by_all(const struct app *app)
{
	uint64_t received = 0;
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id)
		received += app->lcore[lcore_id].counters.rx_packets;
	return received;
}

static uint64_t
rounds_of(const struct lcore *lcore)
{
	return __atomic_load_n(&lcore->rounds, __ATOMIC_ACQUIRE);
}

/* Whether each lcore has begun and ended a round since the silence was noticed. */
static bool
have_looked_again(const struct app *app, const struct watch *watch)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		const struct lcore *lcore = &app->lcore[lcore_id];

		if (lcore_works(lcore) && rounds_of(lcore) - watch->rounds[lcore_id] < 2)
			return false;
	}
	return true;
}

static void
note_silence(const struct app *app, struct watch *watch)
{
	unsigned int lcore_id;

	watch->silent = true;
	RTE_LCORE_FOREACH (lcore_id)
		watch->rounds[lcore_id] = rounds_of(&app->lcore[lcore_id]);
}

/* If the process was stopped, or lcores had no CPU, packets may wait that nobody has looked for. */
static void
watch_traffic(struct app *app, struct watch *watch, uint64_t now)
{
	const bool looked_again = watch->silent && have_looked_again(app, watch);
	uint64_t received = received_by_all(app);
	uint32_t limit_ms = __atomic_load_n(&app->options.idle_exit_ms, __ATOMIC_RELAXED);

	if (limit_ms == 0 || received != watch->received) {
		watch->received = received;
		watch->since = now;
	}
	if (now - watch->since < rte_get_tsc_hz() / MS_PER_S * limit_ms || limit_ms == 0)
		watch->silent = false;
	else if (!watch->silent)
		note_silence(app, watch);
	else if (looked_again)
		app_quit(app);
}

static void
do_housekeeping(struct app *app, struct lcore *lcore, struct watch *watch)
{
	const struct aggregation *aggregation = app->aggregation;
	uint64_t now = rte_rdtsc();

	if (now < watch->next)
		return;
	watch->next = now + rte_get_tsc_hz() / US_PER_S * WATCH_US;
	watch_traffic(app, watch, now);
	if (app->fdb != NULL)
		fdb_maintain(app->fdb, now);
	if (aggregation != NULL) {
		aggregate_table_poll(aggregation->table, now);
		if (aggregate_table_is_drained(aggregation->table))
			app_quit(app);
	}
	if (aggregation != NULL && aggregation->parent_link != NULL)
		parent_link_poll(app, lcore, now);
}

/* An lcore without queues does not sleep for lack of packets: its cycles do not count. */
static void
sleep_a_little(struct lcore *lcore)
{
	rte_delay_us_sleep(WATCH_US);
	lcore->polled = rte_rdtsc();
}

/* What other lcores learn, and a parent is owed, waits for the main lcore. */
static int
main_waits_ms(const struct app *app)
{
	bool others_learn = rte_lcore_count() > 1 && (app->fdb != NULL || app->slowloris != NULL);
	bool others_wait =
		others_learn || (app->aggregation != NULL && app->aggregation->parent_link != NULL);

	return others_wait ? WATCH_US * MS_PER_S / US_PER_S : SLEEP_WAIT_MS;
}

static void
main_lcore(struct app *app)
{
	struct lcore *lcore = &app->lcore[rte_lcore_id()];
	const int most_ms = main_waits_ms(app);
	struct watch watch = {
		.since = rte_rdtsc(),
	};

	sleep_begin_thread(app);
	lcore->polled = watch.since;
	while (!app_should_quit(app)) {
		unsigned int found = poll_all(app, lcore);

		do_housekeeping(app, lcore, &watch);
		if (lcore->slowloris != NULL)
			slowloris_maintain(lcore->slowloris, rte_rdtsc());
		if (lcore_works(lcore))
			sleep_or_not(app, lcore, found, most_ms);
		else
			sleep_a_little(lcore);
	}
	rte_rcu_qsbr_thread_offline(app->qsbr, rte_lcore_id());
}

static void
go_online(struct app *app, unsigned int lcore_id)
{
	rte_rcu_qsbr_thread_register(app->qsbr, lcore_id);
	rte_rcu_qsbr_thread_online(app->qsbr, lcore_id);
}

void
poll_run(struct app *app)
{
	unsigned int lcore_id;

	app->started = rte_rdtsc();
	go_online(app, rte_lcore_id());
	RTE_LCORE_FOREACH_WORKER (lcore_id) {
		if (!lcore_works(&app->lcore[lcore_id]))
			continue;
		go_online(app, lcore_id);
		rte_eal_remote_launch(worker_main, app, lcore_id);
	}
	main_lcore(app);
	rte_eal_mp_wait_lcore();
	aggregation_drain(app);
	app->stopped = rte_rdtsc();
}
