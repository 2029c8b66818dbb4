/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <aggregate_wire.h>

#include "clock.h"
#include "comm/comm.h"

#define KEY_VARIABLE "NETFC_KEY_FILE"

static bool
init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;
	bool done;

	if (pthread_condattr_init(&attributes) != 0)
		return false;
	done = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
		pthread_cond_init(condition, &attributes) == 0;
	pthread_condattr_destroy(&attributes);
	return done;
}

struct netfc_allreduce *
netfc_allreduce_new(void)
{
	struct netfc_allreduce *comm = calloc(1, sizeof(*comm));

	if (comm == NULL)
		return NULL;
	TAILQ_INIT(&comm->all);
	TAILQ_INIT(&comm->calls.queue);
	comm->worker.options = &comm->options;
	comm->worker.process = getpid();
	comm->silent = comm->failed_switch = -1;
	comm->worker.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (comm->worker.wake >= 0 && pthread_mutex_init(&comm->lock, NULL) == 0 &&
		init_condition(&comm->work) && init_condition(&comm->done) &&
		init_condition(&comm->entered))
		return comm;
	if (comm->worker.wake >= 0)
		close(comm->worker.wake);
	free(comm);
	return NULL;
}

/* Wake the waiters of unfinished collectives. */
static void
abort_all(struct netfc_allreduce *comm, const char *function)
{
	lock_enter(comm);
	if (comm->life == ALLREDUCE_JOINED)
		error_break(comm,
			error_set(comm, NETFC_ALLREDUCE_ABORTED,
				"%s was called: let all workers join again.", function));
	progress_wake(comm);
	lock_leave(comm);
}

void
netfc_allreduce_abort(struct netfc_allreduce *comm)
{
	if (is_forked(comm))
		return;
	atomic_store(&comm->worker.aborted, true);
	eventfd_write(comm->worker.wake, 1);
	abort_all(comm, "netfc_allreduce_abort()");
}

/* From here on nothing is in flight and nobody uses the peers. */
static void
part(struct netfc_allreduce *comm)
{
	progress_stop(comm);
	pthread_mutex_lock(&comm->lock);
	comm->life = ALLREDUCE_APART;
	comm->keepalive_until = 0;
	pthread_mutex_unlock(&comm->lock);
}

/* What was aborted before a call is no matter of it; what is during the call, is. */
static void
forget_abort(struct netfc_allreduce *comm)
{
	eventfd_t value;

	atomic_store(&comm->worker.aborted, false);
	eventfd_read(comm->worker.wake, &value);
}

/* Joining has failed: free the places at the switches, without waiting for replies. */
static void
withdraw(struct netfc_allreduce *comm)
{
	for (unsigned int k = 0; k < comm->peers; k++)
		member_part(&comm->peer[k].member, AGGREGATE_REASON_NONE, clock_now());
}

static void
close_all(struct netfc_allreduce *comm)
{
	member_forget(&comm->worker);
	free(comm->names);
	comm->names = NULL;
	local_close(comm);
	peers_close(comm);
	keys_free(&comm->worker);
}

static int
leave(struct netfc_allreduce *comm)
{
	int status = NETFC_ALLREDUCE_OK;
	bool busy;

	if (!lock_enter(comm))
		return NETFC_ALLREDUCE_BROKEN;
	busy = !TAILQ_EMPTY(&comm->calls.queue);
	lock_leave(comm);
	if (busy)
		abort_all(comm, "netfc_allreduce_leave()");
	part(comm);
	if (comm->worker.talk != NULL)
		withdraw(comm);
	for (unsigned int k = 0; k < comm->peers && comm->worker.talk == NULL; k++) {
		struct peer *peer = &comm->peer[k];
		int left = member_leave(&peer->member) ? NETFC_ALLREDUCE_OK
						       : error_of_member(comm, peer);

		status = status == NETFC_ALLREDUCE_OK ? left : status;
	}
	close_all(comm);
	return status;
}

int
netfc_allreduce_leave(struct netfc_allreduce *comm)
{
	if (!is_forked(comm))
		forget_abort(comm);
	return leave(comm);
}

static int
join_all(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	uint64_t until = clock_now() + options->join_ms * NS_PER_MS;
	int status;

	if (options->memory != NULL)
		return local_join(comm, options, until);
	status = comm->worker.talk != NULL ? NETFC_ALLREDUCE_OK : peers_open(comm, options);
	for (unsigned int k = 0; k < comm->peers && status == NETFC_ALLREDUCE_OK; k++) {
		struct peer *peer = &comm->peer[k];

		if (peer->member.machine.state != AGGREGATE_MEMBER_JOINED &&
			!member_join(&peer->member, until))
			status = error_of_member(comm, peer);
	}
	if (status == NETFC_ALLREDUCE_OK)
		status = peers_complete(comm, options);
	return status;
}

/* They belong to the caller. */
static struct netfc_allreduce_options
without_pointers(struct netfc_allreduce_options options)
{
	options.switches = NULL;
	options.bind_address = options.interface = options.key_file = options.memory = NULL;
	return options;
}

static int
start_thread(struct netfc_allreduce *comm)
{
	int error = progress_start(comm);

	if (error != 0)
		return error_set(comm, NETFC_ALLREDUCE_SYSTEM, "Cannot start a thread: %s.",
			strerror(error));
	return NETFC_ALLREDUCE_OK;
}

/* Ready, unless aborted at the last moment. */
static int
open_up(struct netfc_allreduce *comm)
{
	int status = NETFC_ALLREDUCE_OK;

	pthread_mutex_lock(&comm->lock);
	if (atomic_load(&comm->worker.aborted)) {
		status = error_set(comm, NETFC_ALLREDUCE_ABORTED,
			"netfc_allreduce_abort() was called while joining.");
	} else {
		comm->life = ALLREDUCE_JOINED;
		comm->error[0] = '\0';
		comm->silent = comm->failed_switch = -1;
		pthread_cond_signal(&comm->work); /* for its keep-alives */
	}
	pthread_mutex_unlock(&comm->lock);
	return status;
}

/* All names of the options in one text; NULL: there is no memory. */
static char *
names_of(const struct netfc_allreduce_options *options)
{
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	if (file == NULL)
		return NULL;
	for (unsigned int k = 0; k < options->switch_count; k++)
		fprintf(file, "%s\n", options->switches[k]);
	fprintf(file, "%s\n%s\n%s", options->bind_address != NULL ? options->bind_address : "",
		options->interface != NULL ? options->interface : "",
		options->key_file != NULL ? options->key_file : "");
	fclose(file);
	return text;
}

/*
 * Whether a call goes on with the join that a signal has interrupted: it asks for the same. How
 * long to wait may be another time.
 */
static bool
goes_on(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	const struct netfc_allreduce_options *before = &comm->options;
	char *names;
	bool same;

	if (comm->worker.talk == NULL)
		return false;
	names = names_of(options);
	same = names != NULL && comm->names != NULL && strcmp(names, comm->names) == 0 &&
		options->switch_count == before->switch_count && options->job == before->job &&
		options->token == before->token && options->worker == before->worker &&
		options->workers == before->workers && options->slots == before->slots &&
		options->bytes == before->bytes && options->gso == before->gso &&
		options->tree_workers == before->tree_workers &&
		options->levels == before->levels &&
		memcmp(options->level, before->level, sizeof(options->level)) == 0;
	free(names);
	return same;
}

/* Read the cluster's key, of that file or the one that is named by the variable; or none. */
static int
read_key(struct netfc_allreduce *comm, const char *file)
{
	char error[AGGREGATE_SECRET_ERROR_BYTES];
	const char *named_by = file != NULL ? "option key_file" : KEY_VARIABLE;
	struct aggregate_secret *secret;

	if (file == NULL)
		file = secure_getenv(KEY_VARIABLE);
	if (file == NULL)
		return NETFC_ALLREDUCE_OK;
	if (file[0] == '\0')
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The cluster's key: %s is empty: name its file, or leave it out for packets "
			"without tags.",
			named_by);
	secret = aggregate_secret_read(file, error, sizeof(error));
	if (secret == NULL)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT, "The cluster's key: %s.", error);
	return keys_make(&comm->worker, secret)
		? NETFC_ALLREDUCE_OK
		: error_set(comm, NETFC_ALLREDUCE_MEMORY, "There is not enough memory for keys.");
}

/* Leave what was joined before. */
static int
begin_join(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	leave(comm);
	comm->names = names_of(options);
	comm->calls.next_chunk = 0;
	return options->memory == NULL ? read_key(comm, options->key_file) : NETFC_ALLREDUCE_OK;
}

int
netfc_allreduce_join(struct netfc_allreduce *comm, const struct netfc_allreduce_options *given)
{
	struct netfc_allreduce_options options;
	bool again;
	int status;

	if (is_forked(comm))
		return NETFC_ALLREDUCE_BROKEN;
	forget_abort(comm);
	status = options_read(comm, given, &options);
	if (status != NETFC_ALLREDUCE_OK) {
		leave(comm);
		return options_read(comm, given, &options); /* its error is the latest */
	}
	again = goes_on(comm, &options);
	status = again ? NETFC_ALLREDUCE_OK : begin_join(comm, &options);
	comm->options = without_pointers(options);
	if (status == NETFC_ALLREDUCE_OK)
		status = join_all(comm, &options);
	if (status == NETFC_ALLREDUCE_OK)
		status = start_thread(comm);
	if (status == NETFC_ALLREDUCE_OK)
		status = open_up(comm);
	if (status == NETFC_ALLREDUCE_OK || comm->worker.talk != NULL || is_forked(comm))
		return status;
	part(comm);
	withdraw(comm);
	close_all(comm);
	return status;
}

static void
free_handles(struct netfc_allreduce *comm)
{
	struct netfc_allreduce_handle *handle;

	while ((handle = TAILQ_FIRST(&comm->all)) != NULL) {
		TAILQ_REMOVE(&comm->all, handle, in_all);
		free(handle);
	}
}

/* In a forked process some handles may be on the stacks of threads that are not there. */
void
netfc_allreduce_free(struct netfc_allreduce *comm)
{
	if (comm == NULL)
		return;
	if (!is_forked(comm)) {
		progress_stop(comm);
		free_handles(comm);
		pthread_cond_destroy(&comm->entered);
		pthread_cond_destroy(&comm->done);
		pthread_cond_destroy(&comm->work);
		pthread_mutex_destroy(&comm->lock);
	}
	close_all(comm);
	close(comm->worker.wake);
	free(comm);
}
