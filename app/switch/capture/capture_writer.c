/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_cycles.h>
#include <rte_lcore.h>

#include "capture/capture_writer.h"

/* How long to wait when there is nothing to write. */
#define PAUSE_US 1000

/* Free the copies of packets that the port refused; move the others to the front. */
static uint16_t
drop_refused(struct rte_mbuf **copies, uint16_t count)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (capture_note(copies[i])->refused)
			rte_pktmbuf_free(copies[i]);
		else
			copies[kept++] = copies[i];
	}
	return kept;
}

/* How many of these may still be written. */
static uint16_t
count_allowed(struct capture *capture, struct rte_mbuf **copies, uint16_t count)
{
	uint64_t bytes = capture->bytes;

	for (uint16_t i = 0; i < count; i++) {
		bytes += capture_file_bytes(copies[i]);
		if (capture->packets + i == capture->most_packets)
			capture->why = CAPTURE_PACKETS;
		else if (bytes > capture->most_bytes)
			capture->why = CAPTURE_BYTES;
		else
			continue;
		return i;
	}
	return count;
}

static void
write_copies(struct capture *capture, struct rte_mbuf **copies, uint16_t count)
{
	uint16_t allowed = count_allowed(capture, copies, count), written;

	written = capture_file_write(capture->file, copies, allowed, &capture->error);
	for (uint16_t i = 0; i < written; i++)
		capture->port[copies[i]->port].written++;
	capture->packets += written;
	capture->bytes = capture_file_size(capture->file);
	if (written < allowed)
		capture->why = CAPTURE_ERROR;
	else if (capture->packets == capture->most_packets)
		capture->why = CAPTURE_PACKETS;
}

/* Write what an lcore has copied, if the capture has not ended; returns how many there were. */
static unsigned int
take(struct capture *capture, const struct capture_tap *tap)
{
	struct rte_mbuf *copies[PIPELINE_BURST];
	unsigned int taken =
		rte_ring_sc_dequeue_burst(tap->copies, (void **)copies, RTE_DIM(copies), NULL);
	uint16_t count = drop_refused(copies, (uint16_t)taken);

	if (capture->why == CAPTURE_NOT_YET || capture->why == CAPTURE_STOPPED)
		write_copies(capture, copies, count);
	rte_pktmbuf_free_bulk(copies, count);
	return taken;
}

static unsigned int
take_all(struct capture *capture)
{
	unsigned int lcore_id, taken = 0;

	RTE_LCORE_FOREACH (lcore_id) {
		if (capture->tap[lcore_id] != NULL)
			taken += take(capture, capture->tap[lcore_id]);
	}
	return taken;
}

/* Take the taps away from the lcores; when this returns, no lcore uses one. */
static void
take_taps_away(struct capture *capture)
{
	struct app *app = capture->app;
	unsigned int lcore_id;

	pthread_mutex_lock(&app->state_lock);
	RTE_LCORE_FOREACH (lcore_id)
		__atomic_store_n(&app->lcore[lcore_id].capture, NULL, __ATOMIC_RELEASE);
	rte_rcu_qsbr_synchronize(app->qsbr, RTE_QSBR_THRID_INVALID);
	pthread_mutex_unlock(&app->state_lock);
}

uint64_t
capture_missed_at(const struct capture *capture, uint16_t port)
{
	unsigned int lcore_id;
	uint64_t missed = 0;

	RTE_LCORE_FOREACH (lcore_id) {
		if (capture->tap[lcore_id] != NULL)
			missed += capture->tap[lcore_id]->missed[port];
	}
	return missed;
}

void
capture_free_taps(struct capture *capture)
{
	for (unsigned int lcore_id = 0; lcore_id < RTE_MAX_LCORE; lcore_id++) {
		capture_tap_free(capture->tap[lcore_id]);
		capture->tap[lcore_id] = NULL;
	}
}

static void
write_counters(struct capture *capture, uint16_t port)
{
	capture->error = capture_file_write_counters(capture->file, port, &capture->port[port]);
	if (capture->error != 0)
		capture->why = CAPTURE_ERROR;
}

/* Keep the counts of missed packets: those that come from now on are not missed. */
static void
keep_missed(struct capture *capture)
{
	const struct app *app = capture->app;

	for (unsigned int p = 0; p < app->port_count; p++) {
		uint16_t port = app->port[p].id;

		capture->port[port].missed = capture_missed_at(capture, port);
	}
}

/* Give the memory back and write the file's end, as far as that can be written. */
static void
finish(struct capture *capture)
{
	struct app *app = capture->app;

	pthread_mutex_lock(&app->state_lock);
	for (unsigned int p = 0; p < app->port_count; p++) {
		if (capture->why != CAPTURE_ERROR)
			write_counters(capture, app->port[p].id);
	}
	capture_free_taps(capture);
	capture->bytes = capture_file_size(capture->file);
	capture_file_close(capture->file);
	capture->file = NULL;
	capture->running = false;
	pthread_mutex_unlock(&app->state_lock);
}

void
capture_write(void *arg)
{
	struct capture *capture = arg;

	while (capture->why == CAPTURE_NOT_YET) {
		if (__atomic_load_n(&capture->stop, __ATOMIC_RELAXED))
			capture->why = CAPTURE_STOPPED;
		else if (take_all(capture) == 0)
			rte_delay_us_sleep(PAUSE_US);
	}
	keep_missed(capture);
	take_taps_away(capture);
	while (take_all(capture) != 0)
		;
	finish(capture);
}
