/* SPDX-License-Identifier: BSD-3-Clause */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <aggregate_wire.h>

#include "farewell.h"

const char *
netfc_allreduce_status_name(int status)
{
	switch (status) {
#define NAME_(symbol, name, meaning)   \
	case NETFC_ALLREDUCE_##symbol: \
		return name;
		NETFC_ALLREDUCE_STATUSES(NAME_)
#undef NAME_
	default:
		return NULL;
	}
}

const char *
netfc_allreduce_status_meaning(int status)
{
	switch (status) {
#define MEANING_(symbol, name, meaning) \
	case NETFC_ALLREDUCE_##symbol:  \
		return meaning;
		NETFC_ALLREDUCE_STATUSES(MEANING_)
#undef MEANING_
	default:
		return NULL;
	}
}

static void
write_error(struct netfc_allreduce *comm, int failed_switch, const char *format, va_list arguments)
{
	comm->silent_worker = -1;
	comm->failed_switch = failed_switch;
	vsnprintf(comm->error, sizeof(comm->error), format, arguments);
}

int
error_say(struct netfc_allreduce *comm, enum netfc_allreduce_status status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_error(comm, -1, format, arguments);
	va_end(arguments);
	return (int)status;
}

int
error_say_of(struct netfc_allreduce *comm, const struct peer *peer,
	enum netfc_allreduce_status status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_error(comm, (int)peer->index, format, arguments);
	va_end(arguments);
	return (int)status;
}

int
error_of_call(struct netfc_allreduce *comm, const struct peer *peer, const char *what, int error)
{
	const char *text = peer->address.text;

	if (error == ECONNREFUSED)
		return error_say_of(comm, peer, NETFC_ALLREDUCE_REFUSED,
			"Nothing listens on UDP port %s: is the switch running, with --aggregate "
			"and this address and port?",
			text);
	if (error == EMSGSIZE)
		return error_say_of(comm, peer, NETFC_ALLREDUCE_SYSTEM,
			"The path to switch %s does not take packets with chunks of %u bytes: let "
			"all workers ask for less (option bytes), or set a larger MTU.",
			text, comm->bytes);
	if (error == ENETUNREACH || error == EHOSTUNREACH)
		return error_say_of(comm, peer, NETFC_ALLREDUCE_SYSTEM,
			"There is no route to switch %s: check its address and \"ip route\".",
			text);
	if (error == EPERM || error == EACCES)
		return error_say_of(comm, peer, NETFC_ALLREDUCE_SYSTEM,
			"A firewall on this host or on the way forbids packets to switch %s: see "
			"\"nft list ruleset\".",
			text);
	return error_say_of(comm, peer, NETFC_ALLREDUCE_SYSTEM, "Cannot %s switch %s: %s.", what,
		text, strerror(error));
}

static int
silent(struct netfc_allreduce *comm, const struct peer *peer, unsigned int worker,
	unsigned int count)
{
	char others[40] = "";

	if (count > 1)
		snprintf(others, sizeof(others), " (and %u more)", count - 1);
	return error_say_of(comm, peer, NETFC_ALLREDUCE_SILENT,
		"Worker %u%s of job %u is silent, says switch %s: it has died, is stopped, or cannot "
		"reach the switch. Look at worker %u, then let all workers join again.",
		worker, others, comm->options.job, peer->address.text, worker);
}

/* What the switch told a worker that has failed, for people. */
static const char *
failure_text(unsigned int reason)
{
	switch (reason) {
	case AGGREGATE_REASON_WINDOW:
		return "it was further ahead than the job's slots allow";
	case AGGREGATE_REASON_FAILED:
		return "its deadline has passed, or it was told to end (abort, leave)";
	default:
		return "it has not said why";
	}
}

/* The worker does not call what others do; each of them hears the same. */
static int
mismatch(struct netfc_allreduce *comm, const struct peer *peer, unsigned int worker)
{
	int status = error_say_of(comm, peer, NETFC_ALLREDUCE_MISMATCH,
		"Worker %u and others of job %u do not call the same, says switch %s: "
		"operation, format, count and root have to be the same in all workers, in the same order.",
		worker, comm->options.job, peer->address.text);

	comm->silent_worker = (int)worker;
	return status;
}

int
error_of_absence(struct netfc_allreduce *comm, const struct peer *peer,
	const struct aggregate_message *reply)
{
	unsigned int worker = reply->reason - AGGREGATE_MISSING, job = comm->options.job;
	const char *text = peer->address.text;
	int status;

	if (worker >= comm->options.workers)
		return error_say_of(comm, peer, NETFC_ALLREDUCE_PROTOCOL,
			"Switch %s says that worker %u is missing, and job %u has %u: install one "
			"release on both.",
			text, worker, job, comm->options.workers);
	switch (reply->absence) {
	case AGGREGATE_ABSENT_LEFT:
		status = error_say_of(comm, peer, NETFC_ALLREDUCE_LEFT,
			"Worker %u has left job %u, says switch %s, and did not call this allreduce: "
			"look at why it ended, then let all workers join again.",
			worker, job, text);
		break;
	case AGGREGATE_ABSENT_FAILED:
		if (reply->detail == AGGREGATE_REASON_MISMATCH)
			return mismatch(comm, peer, worker);
		status = error_say_of(comm, peer, NETFC_ALLREDUCE_FAILED,
			"Worker %u of job %u has failed, says switch %s: %s. Look at worker %u, then "
			"let all workers join again.",
			worker, job, text, failure_text(reply->detail), worker);
		break;
	default:
		status = silent(comm, peer, worker, reply->detail);
		break;
	}
	comm->silent_worker = (int)worker;
	return status;
}

int
error_of_lateness(
	struct netfc_allreduce *comm, const struct peer *peer, unsigned int worker, double seconds)
{
	int status = error_say_of(comm, peer, NETFC_ALLREDUCE_TIMEOUT,
		"Worker %u of job %u is late, says switch %s: it has not called this allreduce within "
		"%.1f s. Look at what keeps it, or give the allreduce longer (option deadline_ms).",
		worker, comm->options.job, peer->address.text, seconds);

	comm->silent_worker = (int)worker;
	return status;
}

int
error_of_reply(struct netfc_allreduce *comm, const struct peer *peer, unsigned int code,
	unsigned int reason)
{
	const char *text = peer->address.text;
	unsigned int job = comm->options.job;

	if (code == NETFC_STATUS_OP || code == NETFC_STATUS_FORMAT)
		return error_say_of(comm, peer, NETFC_ALLREDUCE_PROTOCOL,
			"Switch %s does not compute this %s: dpdk-netfc of this release computes all, "
			"a switch in P4 sums of fp16, and means where workers round them.",
			text,
			code == NETFC_STATUS_OP ? "operation" : "format, of values or of results");
	if (code != AGGREGATE_STATUS_CODE)
		return error_say_of(comm, peer, NETFC_ALLREDUCE_PROTOCOL,
			"Switch %s refuses with code %u of the NetFC protocol: library and switch "
			"are of different releases, maybe; install one release on both.",
			text, code);
	switch (reason) {
	case AGGREGATE_REASON_OFF:
		return error_say_of(comm, peer, NETFC_ALLREDUCE_OFF,
			"Switch %s does not aggregate: start it with --aggregate.", text);
	case AGGREGATE_REASON_NO_JOB:
		return error_say_of(comm, peer, NETFC_ALLREDUCE_NO_JOB,
			"Switch %s does not know job %u: it was restarted, or the job timed out; "
			"let all workers join again.",
			text, job);
	case AGGREGATE_REASON_MISMATCH:
		if (comm->life == ALLREDUCE_JOINED)
			return mismatch(comm, peer, comm->options.worker);
		return error_say_of(comm, peer, NETFC_ALLREDUCE_MISMATCH,
			"Worker %u does not join job %u as others did, says switch %s: workers, "
			"slots and bytes have to be the same in all workers (or use another job "
			"number).",
			comm->options.worker, job, text);
	case AGGREGATE_REASON_FULL:
		return error_say_of(comm, peer, NETFC_ALLREDUCE_FULL,
			"Switch %s has no place for worker %u in job %u: no job, slot or worker "
			"number is left, or another process has it, or others have that job by "
			"another token, who run still or are an earlier run's. Let all workers take "
			"another job number, ask for fewer slots, or wait until other jobs have "
			"ended; or start the switch with more (--aggregate jobs=,slots=,workers=).",
			text, comm->options.worker, job);
	case AGGREGATE_REASON_WINDOW:
		return error_say_of(comm, peer, NETFC_ALLREDUCE_WINDOW,
			"Worker %u is further ahead in job %u than its slots allow, says switch "
			"%s: some worker joined anew, or twice; let all workers join again, with "
			"a new token.",
			comm->options.worker, job, text);
	default:
		break;
	}
	return error_say_of(comm, peer, NETFC_ALLREDUCE_PROTOCOL,
		"Switch %s refuses for reason %u, which this library does not know: install one "
		"release on both.",
		text, reason);
}

void
error_break(struct netfc_allreduce *comm, int status)
{
	struct netfc_allreduce_handle *handle;

	if (comm->life == ALLREDUCE_JOINED) {
		comm->life = ALLREDUCE_BROKEN;
		farewell_begin(comm, status);
	}
	while ((handle = TAILQ_FIRST(&comm->queue)) != NULL) {
		TAILQ_REMOVE(&comm->queue, handle, in_queue);
		handle->status = status;
	}
	comm->eager = 0;
	pthread_cond_broadcast(&comm->done);
}
