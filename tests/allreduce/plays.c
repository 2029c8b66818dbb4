/* SPDX-License-Identifier: BSD-3-Clause */
#include "plays.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"

#define COUNT 5000
#define HANGS_MS 600000 /* a call that is not over by then */

struct play
play_of(struct server *server)
{
	struct play play = {.place = place_at(server_port(server)), .worker = -1};

	play.options = worker_options(&play.place, 0, 1);
	return play;
}

struct netfc_allreduce *
play_join(const struct play *play, unsigned int w, unsigned int n)
{
	struct netfc_allreduce_options options = worker_options(&play->place, w, n);

	options.deadline_ms = play->options.deadline_ms;
	options.patience_ms = play->options.patience_ms;
	options.keepalive_ms = play->options.keepalive_ms;
	options.silence_ms = play->options.silence_ms;
	options.slots = play->options.slots;
	return worker_join(&options);
}

int
play_leave(struct netfc_allreduce *comm, int wrong)
{
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	return wrong;
}

int
play_reduce(struct netfc_allreduce *comm, unsigned int n)
{
	int32_t values[COUNT];
	int status;

	for (unsigned int i = 0; i < COUNT; i++)
		values[i] = 1;
	status = netfc_allreduce(comm, values, COUNT, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM);
	for (unsigned int i = 0; i < COUNT && status == NETFC_ALLREDUCE_OK; i++) {
		if (values[i] != (int32_t)n)
			status = -1;
	}
	return status;
}

int
play_fails(const struct play *play, struct netfc_allreduce *comm, unsigned int w, unsigned int n)
{
	uint64_t began = clock_now();
	int status = play_reduce(comm, n);
	uint64_t took = (clock_now() - began) / NS_PER_MS;
	const char *text = netfc_allreduce_error(comm);
	int wrong = status != play->expected || took > HANGS_MS ||
		(play->mention != NULL && strstr(text, play->mention) == NULL) ||
		play_reduce(comm, n) != NETFC_ALLREDUCE_BROKEN;

	if (play->expected == NETFC_ALLREDUCE_SILENT)
		wrong |= netfc_allreduce_silent_worker(comm) != play->worker;
	if (wrong)
		fprintf(stderr, "worker %u: %s after %llu ms: %s\n", w,
			status < 0 ? "WRONG VALUES" : netfc_allreduce_status_name(status),
			(unsigned long long)took, text);
	return wrong;
}
