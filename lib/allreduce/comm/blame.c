/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of what switches say: whose values are missing, why they refuse, what they grant. */
#include "comm/comm.h"

#include <stdio.h>

#include <aggregate_wire.h>

/* Who is to blame, and what it is called. */
struct blamed {
	unsigned int level, member;
	char name[TREE_NAME_BYTES];
};

static struct blamed
blame(const struct netfc_allreduce *comm, unsigned int level, unsigned int member)
{
	struct blamed blamed = {.level = level, .member = member};

	tree_name(&comm->options, level, member, blamed.name);
	return blamed;
}

/* Behind what was said. */
static int
note(struct netfc_allreduce *comm, const struct blamed *blamed, int status)
{
	comm->silent = (int)blamed->member;
	comm->silent_level = blamed->level;
	return status;
}

static int
silent(struct netfc_allreduce *comm, const struct peer *peer, const struct blamed *blamed,
	unsigned int count)
{
	char others[40] = "";

	if (count > 1)
		snprintf(others, sizeof(others), " (and %u more)", count - 1);
	if (blamed->level > 0)
		return error_set_for(comm, peer, NETFC_ALLREDUCE_SILENT,
			"%s%s is silent in job %u, says switch %s: that switch has died, or cannot "
			"reach the one above it. Look at it, then let all workers join again.",
			blamed->name, others, comm->options.job, peer->link.address.text);
	return error_set_for(comm, peer, NETFC_ALLREDUCE_SILENT,
		"%s%s of job %u is silent, says switch %s: it has died, is stopped, or cannot "
		"reach the switch. Look at worker %u, then let all workers join again.",
		blamed->name, others, comm->options.job, peer->link.address.text, blamed->member);
}

/* Why a member has failed, as text. */
static void
write_failure(unsigned int reason, char *text, size_t bytes)
{
	if (reason >= AGGREGATE_MISSING)
		snprintf(text, bytes, "its worker %u is silent or has failed",
			reason - AGGREGATE_MISSING);
	else if (reason == AGGREGATE_REASON_WINDOW)
		snprintf(text, bytes, "it was further ahead than the job's slots allow");
	else if (reason == AGGREGATE_REASON_FAILED)
		snprintf(text, bytes,
			"its deadline has passed, or it was told to end (abort, leave)");
	else if (reason == AGGREGATE_REASON_NO_JOB)
		snprintf(text, bytes, "it was started anew, and has lost its place");
	else if (reason == AGGREGATE_REASON_PARENT)
		snprintf(text, bytes, "the switch above, or another of its members, has failed");
	else
		snprintf(text, bytes, "it has not said why");
}

static int
failed(struct netfc_allreduce *comm, const struct peer *peer, const struct blamed *blamed,
	unsigned int reason)
{
	char why[80], whom[32] = "it and its workers";

	write_failure(reason, why, sizeof(why));
	if (blamed->level == 0)
		snprintf(whom, sizeof(whom), "worker %u", blamed->member);
	return error_set_for(comm, peer, NETFC_ALLREDUCE_FAILED,
		"%s of job %u has failed, says switch %s: %s. Look at %s, then let all workers join "
		"again.",
		blamed->name, comm->options.job, peer->link.address.text, why, whom);
}

/* A worker calls something else than the others; all of them are told the same. */
static int
mismatch(struct netfc_allreduce *comm, const struct peer *peer, const struct blamed *blamed)
{
	return note(comm, blamed,
		error_set_for(comm, peer, NETFC_ALLREDUCE_MISMATCH,
			"%s and others of job %u call different collectives, says switch %s: "
			"operation, format, count, root and label must be the same in all workers, in "
			"the same order, and the format one that the switch takes (formats=).",
			blamed->name, comm->options.job, peer->link.address.text));
}

int
error_of_absence(struct netfc_allreduce *comm, const struct peer *peer,
	const struct aggregate_message *reply)
{
	unsigned int member = reply->reason - AGGREGATE_MISSING, job = comm->options.job;
	unsigned int members = tree_members(&comm->options, reply->level);
	const struct blamed blamed = blame(comm, reply->level, member);
	const char *text = peer->link.address.text;

	if (member >= members)
		return error_set_for(comm, peer, NETFC_ALLREDUCE_PROTOCOL,
			"Switch %s says that worker %u is missing, and job %u has %u: install one "
			"release on both.",
			text, member, job, members);
	switch (reply->absence) {
	case AGGREGATE_ABSENT_LEFT:
		return note(comm, &blamed,
			error_set_for(comm, peer, NETFC_ALLREDUCE_LEFT,
				"%s has left job %u, says switch %s, and did not call this "
				"allreduce: look at why it ended, then let all workers join again.",
				blamed.name, job, text));
	case AGGREGATE_ABSENT_FAILED:
		if (reply->detail == AGGREGATE_REASON_MISMATCH)
			return mismatch(comm, peer, &blamed);
		return note(comm, &blamed, failed(comm, peer, &blamed, reply->detail));
	default:
		return note(comm, &blamed, silent(comm, peer, &blamed, reply->detail));
	}
}

int
error_of_lateness(struct netfc_allreduce *comm, const struct peer *peer, double seconds)
{
	const struct blamed blamed =
		blame(comm, peer->member.late_level, (unsigned int)peer->member.late);

	return note(comm, &blamed,
		error_set_for(comm, peer, NETFC_ALLREDUCE_TIMEOUT,
			"%s of job %u is late, says switch %s: it has not called this allreduce "
			"within %.1f s. Look at what keeps it, or give the allreduce longer (option "
			"deadline_ms).",
			blamed.name, comm->options.job, peer->link.address.text, seconds));
}

/* Reasons that only switches in trees give. */
static int
refused_in_tree(struct netfc_allreduce *comm, const struct peer *peer, unsigned int reason)
{
	const char *text = peer->link.address.text;
	unsigned int job = comm->options.job;

	switch (reason) {
	case AGGREGATE_REASON_LOOP:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_MISMATCH,
			"Switch %s, or one above it, is in the tree of job %u twice: no switch may be "
			"above itself (--aggregate parent=).",
			text, job);
	case AGGREGATE_REASON_PLACE:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_MISMATCH,
			"Switch %s, or one above it, does not take the place in job %u's tree: all "
			"workers of a switch must name the same place, each switch a different one, "
			"and all as many workers as there are (options levels, level, tree_workers).",
			text, job);
	case AGGREGATE_REASON_NO_PARENT:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_OFF,
			"Job %u's tree goes on above switch %s, or one above it, which has no parent: "
			"start it with --aggregate parent=, or name fewer levels.",
			job, text);
	case AGGREGATE_REASON_DIGITS:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_MISMATCH,
			"Switch %s, or one above it, takes no exact sums in job %u: start it with "
			"--aggregate digits=, which must name their format.",
			text, job);
	default:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_TIMEOUT,
			"The switch above switch %s, or one further above, does not answer in job "
			"%u, or knows no trees: look at it, and at --aggregate parent=; then let all "
			"workers join again.",
			text, job);
	}
}

int
error_of_reply(struct netfc_allreduce *comm, const struct peer *peer, unsigned int code,
	unsigned int reason)
{
	const char *text = peer->link.address.text;
	unsigned int job = comm->options.job;

	if (code == NETFC_STATUS_OP || code == NETFC_STATUS_FORMAT)
		return error_set_for(comm, peer, NETFC_ALLREDUCE_PROTOCOL,
			"Switch %s does not compute this %s: dpdk-netfc of this release computes all, "
			"a switch in P4 sums of fp16, and means where workers round them.",
			text,
			code == NETFC_STATUS_OP ? "operation" : "format, of values or of results");
	if (code != AGGREGATE_STATUS_CODE)
		return error_set_for(comm, peer, NETFC_ALLREDUCE_PROTOCOL,
			"Switch %s%s refuses with code %u of the NetFC protocol: library and switch "
			"may be from different releases; install one release on both.",
			text, tree_is_there(&comm->options) ? ", or one above it," : "", code);
	switch (reason) {
	case AGGREGATE_REASON_OFF:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_OFF,
			"Switch %s does not aggregate: start it with --aggregate.", text);
	case AGGREGATE_REASON_NO_JOB:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_NO_JOB,
			"Switch %s does not know job %u: it was restarted, or the job timed out; "
			"let all workers join again.",
			text, job);
	case AGGREGATE_REASON_MISMATCH:
		if (comm->life == ALLREDUCE_JOINED) {
			const struct blamed blamed = blame(comm, 0, comm->options.worker);

			return mismatch(comm, peer, &blamed);
		}
		return error_set_for(comm, peer, NETFC_ALLREDUCE_MISMATCH,
			"Worker %u does not join job %u as others did, says switch %s: workers, "
			"slots and bytes must be the same in all workers (or use another job "
			"number).",
			comm->options.worker, job, text);
	case AGGREGATE_REASON_FULL:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_FULL,
			"Switch %s, or one above it, has no place for job %u: no job is left, or it takes "
			"fewer workers than %u, or is drained, or, in P4, it was not told of that job. Wait until "
			"other jobs have ended, or start it with more (--aggregate jobs=,workers=).",
			text, job, comm->options.workers);
	case AGGREGATE_REASON_NO_SLOTS:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_NO_SLOTS,
			"Switch %s, or one above it, has no slot left for job %u: wait until other jobs "
			"have ended, let them ask for fewer (option slots), or start it with more "
			"(--aggregate slots=).",
			text, job);
	case AGGREGATE_REASON_TAKEN:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_TAKEN,
			"Switch %s does not give worker %u a place in job %u: another process has it, "
			"as where this worker was started anew while the job goes on, or another job, "
			"with another token, has the number. Let all workers join again, or take "
			"another job number.",
			text, comm->options.worker, job);
	case AGGREGATE_REASON_LOOP:
	case AGGREGATE_REASON_PLACE:
	case AGGREGATE_REASON_NO_PARENT:
	case AGGREGATE_REASON_PARENT:
	case AGGREGATE_REASON_DIGITS:
		return refused_in_tree(comm, peer, reason);
	case AGGREGATE_REASON_WINDOW:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_WINDOW,
			"Worker %u is further ahead in job %u than its slots allow, says switch "
			"%s: some worker joined anew, or twice; let all workers join again, with "
			"a new token.",
			comm->options.worker, job, text);
	default:
		break;
	}
	return error_set_for(comm, peer, NETFC_ALLREDUCE_PROTOCOL,
		"Switch %s refuses for reason %u, which this library does not know: install one "
		"release on both.",
		text, reason);
}

/* Joins, or leaves, get no answer. */
static int
unanswered(struct netfc_allreduce *comm, const struct peer *peer)
{
	const int status = error_of_silence(comm, peer);

	if (status != NETFC_ALLREDUCE_OK)
		return status;
	if (peer->member.forged != 0)
		return error_set_for(comm, peer, NETFC_ALLREDUCE_PROTOCOL,
			"Switch %s answers without a good tag: it has no key, or another one "
			"(--aggregate key=, option key_file, NETFC_KEY_FILE).",
			peer->link.address.text);
	return error_set_for(comm, peer, NETFC_ALLREDUCE_TIMEOUT,
		"Switch %s does not answer: check that it is running with --aggregate, the address and "
		"port, what filters packets on the way, and whether it wants tags (--aggregate key=).",
		peer->link.address.text);
}

static int
silent_though_asked(struct netfc_allreduce *comm, const struct peer *peer)
{
	const struct member_problem *problem = &peer->member.problem;
	const int status = error_of_silence(comm, peer);

	if (status != NETFC_ALLREDUCE_OK)
		return status;
	return error_set_for(comm, peer, NETFC_ALLREDUCE_TIMEOUT,
		"Switch %s has not answered for %.1f s, though asked %u times whether it is there: it "
		"is down, or out of reach.",
		peer->link.address.text, (double)problem->ns / 1e9, problem->questions);
}

int
error_of_member(struct netfc_allreduce *comm, const struct peer *peer)
{
	const struct member_problem *problem = &peer->member.problem;
	const struct aggregate_join *granted = &problem->granted;
	const struct netfc_allreduce_options *options = &comm->options;
	const char *text = peer->link.address.text;

	switch (problem->fault) {
	case MEMBER_CALL:
		return error_of_call(comm, peer, problem->what, problem->error);
	case MEMBER_REFUSED:
		return error_of_reply(comm, peer, problem->code, problem->reason);
	case MEMBER_NO_TREES:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_PROTOCOL,
			"Switch %s knows no trees: install one release on switches and workers.",
			text);
	case MEMBER_BAD_GRANT:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_PROTOCOL,
			"Switch %s grants %u workers, %u slots, %u shards and chunks of %u to %u bytes, "
			"which cannot be: install one release on switch and workers.",
			text, granted->workers, granted->slots, granted->shards, granted->least,
			granted->bytes);
	case MEMBER_WAITS_ABOVE:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_WAITING,
			"All %u workers of switch %s have joined job %u, but not all of its tree's %u "
			"within %.1f s: start the others, or look at the switches above (option "
			"join_ms).",
			options->workers, text, options->job, options->tree_workers,
			options->join_ms / 1e3);
	case MEMBER_WAITS:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_WAITING,
			"Not all %u workers have joined job %u at switch %s within %.1f s: start the "
			"others, or look at why they do not get there (option join_ms).",
			options->workers, options->job, text, options->join_ms / 1e3);
	case MEMBER_UNANSWERED:
		return unanswered(comm, peer);
	case MEMBER_SILENT:
		return silent_though_asked(comm, peer);
	case MEMBER_TOO_LONG:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_ARGUMENT,
			"Chunks of %u bytes make packets of %u, which do not get to switch %s and "
			"back: let all workers set option bytes to %u, or to 0.",
			problem->bytes, problem->packet, text, problem->fit);
	case MEMBER_MTU:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_ARGUMENT,
			"Chunks of %u bytes make packets of %u, and the path to switch %s takes %u (its "
			"MTU): let all workers set option bytes to %u.",
			problem->bytes, problem->packet, text, problem->mtu, problem->fit);
	case MEMBER_INTERRUPTED:
		return error_set_for(comm, peer, NETFC_ALLREDUCE_INTERRUPTED,
			"A signal came while switch %s was being asked: call again.", text);
	case MEMBER_ABORTED:
		return error_set(comm, NETFC_ALLREDUCE_ABORTED,
			"netfc_allreduce_abort() was called while joining.");
	case MEMBER_FORKED:
		return NETFC_ALLREDUCE_BROKEN;
	case MEMBER_FINE:
		break;
	}
	return NETFC_ALLREDUCE_OK;
}
