/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "app.h"
#include "capture/capture.h"
#include "json.h"
#include "observe/state.h"
#include "ctrl_thread.h"

/* Why a capture has ended. */
enum capture_end {
	CAPTURE_NOT_YET,
	CAPTURE_STOPPED,
	CAPTURE_PACKETS,
	CAPTURE_BYTES,
	CAPTURE_ERROR,
};

/* A capture, running or ended. */
struct capture {
	struct app *app;
	char *path;
	uint32_t snaplen;
	uint64_t max_packets, max_bytes; /* UINT64_MAX: no limit */
	struct capture_file *file;       /* the thread's own */
	struct ctrl_work work;
	ctrl_thread thread;
	bool joined; /* it has ended and was joined */
	bool stop;

	uint64_t packets, bytes; /* written; by the thread, read by any */
	enum capture_end why;    /* likewise */
	int error;               /* CAPTURE_ERROR: an errno */

	/* Guarded by the state's lock: */
	bool running;
	struct capture_tap *tap[RTE_MAX_LCORE];
	struct capture_port_counters port[RTE_MAX_ETHPORTS]; /* `missed` set when it ends */
};

/* ---- the thread that writes, from the lcores' taps into the file ----------------------------- */

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

/* How many of these may still be written, with the file's end after them. */
static uint16_t
count_allowed(struct capture *capture, struct rte_mbuf **copies, uint16_t count)
{
	uint64_t bytes = capture->bytes + capture->app->port_count * CAPTURE_COUNTERS_BYTES;

	for (uint16_t i = 0; i < count; i++) {
		bytes += rte_pktmbuf_pkt_len(copies[i]); /* a whole block of the file */
		if (capture->packets + i == capture->max_packets)
			capture->why = CAPTURE_PACKETS;
		else if (bytes > capture->max_bytes)
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
	else if (capture->packets == capture->max_packets)
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

/* Packets of a port that the taps have missed so far. */
static uint64_t
missed_at(const struct capture *capture, uint16_t port)
{
	unsigned int lcore_id;
	uint64_t missed = 0;

	RTE_LCORE_FOREACH (lcore_id) {
		if (capture->tap[lcore_id] != NULL)
			missed += capture->tap[lcore_id]->missed[port];
	}
	return missed;
}

/* Free all taps, which no lcore uses any more. */
static void
free_taps(struct capture *capture)
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

/* Keep the counts of missed packets: later packets do not count as missed. */
static void
keep_missed(struct capture *capture)
{
	const struct app *app = capture->app;

	for (unsigned int p = 0; p < app->port_count; p++) {
		uint16_t port = app->port[p].id;

		capture->port[port].missed = missed_at(capture, port);
	}
}

/* Give the memory back and write the file's end, as far as that can be written. */
static void
finish(struct capture *capture)
{
	struct app *app = capture->app;

	pthread_mutex_lock(&app->state_lock);
	/* The library does not know a port that has gone. */
	for (unsigned int p = 0; p < app->port_count; p++) {
		if (capture->why != CAPTURE_ERROR && !port_is_gone(&app->port[p]))
			write_counters(capture, app->port[p].id);
	}
	free_taps(capture);
	capture->bytes = capture_file_size(capture->file);
	capture_file_close(capture->file);
	capture->file = NULL;
	capture->running = false;
	pthread_mutex_unlock(&app->state_lock);
}

/* What the thread runs. */
static void
write_capture(void *arg)
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

/* ---- start and stop -------------------------------------------------------------------------- */

static void
free_capture(struct capture *capture)
{
	free_taps(capture);
	capture_file_close(capture->file);
	free(capture->path);
	free(capture);
}

static int
create_taps(struct capture *capture, FILE *errors)
{
	struct app *app = capture->app;
	unsigned int lcore_id;
	uint64_t epoch = 0;

	RTE_LCORE_FOREACH (lcore_id) {
		struct capture_tap *tap;

		if (!lcore_works(&app->lcore[lcore_id]))
			continue;
		tap = capture_tap_create(lcore_id, capture->snaplen);
		if (tap == NULL) {
			fputs("no memory for copies; give the EAL more (-m MB)", errors);
			return -1;
		}
		if (epoch == 0)
			epoch = capture_tap_epoch(tap);
		tap->epoch = epoch;
		capture->tap[lcore_id] = tap;
	}
	return 0;
}

static struct capture *
create_capture(struct app *app, const struct capture_request *request, FILE *errors)
{
	struct capture *capture = calloc(1, sizeof(*capture));

	if (capture == NULL || (capture->path = strdup(request->path)) == NULL) {
		fprintf(errors, "no memory");
		free(capture);
		return NULL;
	}
	capture->app = app;
	capture->snaplen = request->snaplen;
	capture->max_packets = request->packets != 0 ? request->packets : UINT64_MAX;
	capture->max_bytes = request->bytes != 0 ? request->bytes : UINT64_MAX;
	capture->work = (struct ctrl_work){write_capture, capture};
	if (create_taps(capture, errors) == 0) {
		capture->file = capture_file_open(request->path, errors);
		if (capture->file != NULL)
			return capture;
	}
	free_capture(capture);
	return NULL;
}

/* Whether a capture is running; only the calling thread ever starts one. */
static bool
is_running(struct app *app)
{
	bool running;

	pthread_mutex_lock(&app->state_lock);
	running = app->capture != NULL && app->capture->running;
	pthread_mutex_unlock(&app->state_lock);
	return running;
}

/* Put a capture in place. It may have ended when this returns. */
static void
attach_taps(struct app *app, struct capture *capture)
{
	unsigned int lcore_id;

	pthread_mutex_lock(&app->state_lock);
	app->capture = capture;
	capture->running = true;
	RTE_LCORE_FOREACH (lcore_id)
		__atomic_store_n(
			&app->lcore[lcore_id].capture, capture->tap[lcore_id], __ATOMIC_RELEASE);
	pthread_mutex_unlock(&app->state_lock);
}

int
capture_start(struct app *app, const struct capture_request *request, FILE *errors)
{
	struct capture *capture;

	if (is_running(app)) {
		fprintf(errors, "there is a capture already, into '%s'; stop it first",
			app->capture->path);
		return -1;
	}
	capture = create_capture(app, request, errors);
	if (capture == NULL)
		return -1;
	capture_free(app);
	if (ctrl_thread_start(&capture->thread, "netfc-capture", &capture->work) != 0) {
		fprintf(errors, "cannot start a thread");
		free_capture(capture);
		return -1;
	}
	attach_taps(app, capture);
	return 0;
}

static void
end(struct capture *capture)
{
	if (capture->joined)
		return;
	__atomic_store_n(&capture->stop, true, __ATOMIC_RELAXED);
	ctrl_thread_join(capture->thread);
	capture->joined = true;
}

int
capture_stop(struct app *app, FILE *errors)
{
	if (!is_running(app)) {
		fprintf(errors, "there is no capture");
		return -1;
	}
	end(app->capture);
	return 0;
}

void
capture_free(struct app *app)
{
	struct capture *capture = app->capture;

	if (capture == NULL)
		return;
	end(capture);
	pthread_mutex_lock(&app->state_lock);
	app->capture = NULL;
	pthread_mutex_unlock(&app->state_lock);
	free_capture(capture);
}

/* ---- what there is to see -------------------------------------------------------------------- */

static json_t *
end_json(const struct capture *capture)
{
	static const char *const texts[] = {
		[CAPTURE_STOPPED] = "stopped",
		[CAPTURE_PACKETS] = "as many packets as asked for",
		[CAPTURE_BYTES] = "as many bytes as asked for",
	};
	char text[128];

	if (capture->why != CAPTURE_ERROR)
		return json_string(texts[capture->why]);
	snprintf(text, sizeof(text), "cannot write: %s", rte_strerror(capture->error));
	return json_string(text);
}

static uint64_t
missed(const struct capture *capture)
{
	const struct app *app = capture->app;
	uint64_t sum = 0;

	for (unsigned int p = 0; p < app->port_count; p++) {
		uint16_t port = app->port[p].id;

		sum += capture->running ? missed_at(capture, port) : capture->port[port].missed;
	}
	return sum;
}

json_t *
capture_json(const struct app *app)
{
	const struct capture *capture = app->capture;
	json_t *object = json_object();

	json_object_set_new(object, "running", json_boolean(capture != NULL && capture->running));
	if (capture == NULL)
		return object;
	json_object_set_new(object, "file", json_string(capture->path));
	json_object_set_new(object, "snaplen", json_integer(capture->snaplen));
	json_object_set_new(object, "packets", json_count(capture->packets));
	json_object_set_new(object, "bytes", json_count(capture->bytes));
	json_object_set_new(object, "missed", json_count(missed(capture)));
	if (!capture->running)
		json_object_set_new(object, "ended", end_json(capture));
	return object;
}
