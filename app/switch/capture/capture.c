/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include "capture/capture.h"
#include "capture/capture_writer.h"
#include "json/json_count.h"
#include "observe/state.h"

/* ---- start and stop -------------------------------------------------------------------------- */

static void
free_capture(struct capture *capture)
{
	capture_free_taps(capture);
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
			fprintf(errors, "no memory for copies: %s; give the EAL more (-m MB)",
				rte_strerror(rte_errno));
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
	capture->most_packets = request->packets != 0 ? request->packets : UINT64_MAX;
	capture->most_bytes = request->bytes != 0 ? request->bytes : UINT64_MAX;
	capture->work = (struct side_work){capture_write, capture};
	if (create_taps(capture, errors) == 0) {
		capture->file = capture_file_open(request->path, errors);
		if (capture->file != NULL)
			return capture;
	}
	free_capture(capture);
	return NULL;
}

/* Whether there is a capture that has not ended; only the calling thread ever starts one. */
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
give_taps_out(struct app *app, struct capture *capture)
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
	if (side_thread_start(&capture->thread, "netfc-capture", &capture->work) != 0) {
		fprintf(errors, "cannot start a thread");
		free_capture(capture);
		return -1;
	}
	give_taps_out(app, capture);
	return 0;
}

static void
end(struct capture *capture)
{
	if (capture->joined)
		return;
	__atomic_store_n(&capture->stop, true, __ATOMIC_RELAXED);
	side_thread_join(capture->thread);
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

		sum += capture->running ? capture_missed_at(capture, port)
					: capture->port[port].missed;
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
