/* SPDX-License-Identifier: BSD-3-Clause */
#include "member/talk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <aggregate_wire.h>

#include "clock.h"

#define RECEIVE_BYTES 65536
/* Replies to a leave are no longer than this. */
#define LARGEST_LEAVE (AGGREGATE_HEADER_BYTES + AGGREGATE_TAG_BYTES)

/* Leaves are more frequent, to get through a lossy network, and end after some 2 s. */
const struct aggregate_member_times join_times = {
	.ask = 20 * NS_PER_MS,
	.ask_most = 500 * NS_PER_MS,
	.wait = 2 * NS_PER_MS,
	.wait_most = 100 * NS_PER_MS,
	.leave = 20 * NS_PER_MS,
	.leave_most = 100 * NS_PER_MS,
	.leaves = 22,
};

/* When whoever waits is told what for. */
#define FIRST_NOTICE (3 * NS_PER_S)
#define NEXT_NOTICE (10 * NS_PER_S)
#define NOTICE_BYTES 512

/* One conversation with a switch. */
struct talk {
	struct member *member;
	bool twice;       /* segments are being tried */
	struct path path; /* the size of packets is being tried */
	uint64_t until;   /* ns: when to give up joining */
	uint64_t notice;  /* ns: when to tell what is waited for */
	bool over;
};

/* The switch waits for other workers. */
static bool
waits(const struct talk *talk)
{
	return talk->member->machine.state == AGGREGATE_MEMBER_WAITING;
}

/* All are here, but not at a switch above. */
static bool
waits_above(const struct talk *talk)
{
	return waits(talk) && talk->member->machine.decided > 1;
}

bool
member_fail(struct member *member, enum member_fault fault)
{
	member->problem = (struct member_problem){.fault = fault, .error = errno};
	return false;
}

static bool
fail_call(struct member *member, const char *what)
{
	member_fail(member, MEMBER_CALL);
	member->problem.what = what;
	return false;
}

static bool
refused(struct member *member, unsigned int code, unsigned int reason)
{
	member_fail(member, MEMBER_REFUSED);
	member->problem.code = code;
	member->problem.reason = reason;
	return false;
}

/* No answer, or none but that others are missing. */
static bool
give_up(const struct talk *talk)
{
	if (waits_above(talk))
		return member_fail(talk->member, MEMBER_WAITS_ABOVE);
	return member_fail(talk->member, waits(talk) ? MEMBER_WAITS : MEMBER_UNANSWERED);
}

static int
send_request(struct talk *talk, const struct aggregate_message *message)
{
	if (talk->path.trying != 0)
		return join_send_long(talk->member, message, talk->path.trying);
	return join_send(talk->member, message, talk->twice);
}

static bool
ask(struct talk *talk, uint64_t now)
{
	struct member *member = talk->member;
	struct aggregate_message message;
	const enum aggregate_member_action action =
		aggregate_member_poll(&member->machine, &join_times, 0, now, &message);

	if (action == AGGREGATE_DO_PART)
		return give_up(talk);
	if (action != AGGREGATE_DO_SEND)
		return true;
	if (send_request(talk, &message) == 0 || errno == EAGAIN || errno == EINTR ||
		link_softens(member->link, errno)) {
		/* Clear the pending error: if it persists, it will show again. */
		talk->twice &= member->link->soft_error == 0;
		return true;
	}
	if (!talk->twice)
		return fail_call(member, "send to");
	talk->twice = false;
	member->machine.next = now;
	return ask(talk, now);
}

/* Whether what a switch grants is valid, and no more than was requested. */
static bool
can_be_granted(const struct member *member, const struct aggregate_join *join)
{
	const struct netfc_allreduce_options *options = member->worker->options;
	const struct aggregate_join asked = {
		.workers = (uint8_t)options->workers,
		.slots = (uint16_t)options->slots,
		.bytes = (uint16_t)member->asked_bytes,
	};

	return aggregate_member_can_be_granted(&asked, join) && join->bytes % 4 == 0 &&
		address_port(&member->link->address) + join->shards - 1 <= UINT16_MAX;
}

static bool
granted(struct talk *talk, const struct aggregate_join *join)
{
	struct member *member = talk->member;

	keys_of_session(member);
	if (tree_is_there(member->worker->options) && join->place.decided == 0)
		return member_fail(member, MEMBER_NO_TREES);
	if (!can_be_granted(member, join)) {
		member_fail(member, MEMBER_BAD_GRANT);
		member->problem.granted = *join;
		return false;
	}
	member->slots = join->slots;
	member->shards = join->shards;
	member->bytes = join->bytes;
	member->least = join->least;
	member->knows_labels = (join->features & AGGREGATE_FEATURE_LABELS) != 0;
	member->knows_zeros = (join->features & AGGREGATE_FEATURE_ZEROS) != 0;
	member->knows_divisors = (join->features & AGGREGATE_FEATURE_DIVISORS) != 0;
	member->takes_digits = join->session != 0 && join->least == 0;
	talk->over = true;
	return true;
}

/*
 * The switch wants its cookie echoed, which proves our address. A request and a reply as long as a
 * chunk's packet show that such packets pass both ways.
 */
static bool
take_cookie(struct talk *talk, const struct aggregate_message *reply, bool is_new, size_t length,
	uint64_t now)
{
	if (talk->path.trying != 0) {
		if (length < AGGREGATE_HEADER_BYTES + talk->path.trying)
			return true;
		talk->path.trying = 0;
	} else if (!is_new) {
		return true;
	} else {
		path_begin(talk->member, &talk->path, reply->join.bytes);
	}
	talk->twice = false;
	talk->member->machine.next = now;
	return ask(talk, now);
}

static bool
take_reply(struct talk *talk, const struct aggregate_message *reply, size_t length, uint64_t now)
{
	struct member *member = talk->member;
	const bool latest = aggregate_member_is_latest(&member->machine, reply);
	const uint64_t sent = member->machine.sent;
	const enum aggregate_member_action action =
		aggregate_member_take(&member->machine, &join_times, reply, now);

	if (action == AGGREGATE_DO_IGNORE)
		return true;
	member->heard = now;
	link_heard(member->link);
	if (latest)
		rtt_sample(&member->rtt, now - sent);
	member->link->gso |= (reply->id & 1) != 0;
	switch (action) {
	case AGGREGATE_DO_ENTER:
		return granted(talk, &reply->join);
	case AGGREGATE_DO_PART:
		talk->over = true;
		return true;
	case AGGREGATE_DO_GIVE_UP:
		return refused(member, reply->code, reply->reason);
	case AGGREGATE_DO_WAIT:
		return true;
	default:
		return take_cookie(talk, reply, action == AGGREGATE_DO_ASK, length, now);
	}
}

static bool
receive(struct talk *talk)
{
	struct member *member = talk->member;
	uint8_t payload[RECEIVE_BYTES];
	struct aggregate_message reply;
	unsigned int errors = 0;
	bool fine = true;
	ssize_t length;

	while (fine && !talk->over) {
		length = link_receive(member->link, payload, sizeof(payload));
		if (length < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (length < 0 && link_softens(member->link, errno)) {
			if (errors++ < LINK_MAX_SOFT_ERRORS)
				continue;
			break;
		}
		if (length < 0)
			return fail_call(member, "receive from");
		if (keys_read_reply(member, payload, (size_t)length, &reply))
			fine = take_reply(talk, &reply, (size_t)length, clock_now());
	}
	return fine;
}

/* Sleep until a packet comes or it is time to ask again. */
static bool
pause_talk(struct talk *talk, uint64_t now)
{
	uint64_t next = aggregate_member_due(&talk->member->machine, &join_times, 0);
	uint64_t then = next < talk->until ? next : talk->until;
	struct timespec timeout = clock_timespec(clock_until(now, then));

	/* Leaving is short: who is told of a signal would leave nothing. */
	return link_sleep(talk->member->link, talk->member->worker->wake, &timeout) ||
		member_is_leaving(talk->member) || member_fail(talk->member, MEMBER_INTERRUPTED);
}

/* Report what joining waits for, if the user wants to know. */
static void
notify(struct talk *talk, uint64_t now)
{
	const struct netfc_allreduce_options *options = talk->member->worker->options;
	const struct link *link = talk->member->link;
	const char *switch_text = link->address.text;
	char text[NOTICE_BYTES];

	if (options->notice == NULL || member_is_leaving(talk->member) || now < talk->notice)
		return;
	talk->notice = now + NEXT_NOTICE;
	if (waits_above(talk))
		snprintf(text, sizeof(text),
			"Worker %u waits for those of other switches in job %u's tree, above switch %s.",
			options->worker, options->job, switch_text);
	else if (waits(talk))
		snprintf(text, sizeof(text),
			"Worker %u waits for the others of job %u's %u workers to join at switch %s.",
			options->worker, options->job, options->workers, switch_text);
	else
		snprintf(text, sizeof(text),
			"Worker %u waits for switch %s, which does not answer%s.", options->worker,
			switch_text,
			link_misses(link) ? ": its packets come to another queue of the device"
				: link->soft_error == ECONNREFUSED
				? ": nothing listens on that UDP port"
				: link->soft_error != 0 ? ": the network refuses packets to it"
							: "");
	options->notice(options->notice_context, text);
}

/* Who is told what is waited for may fork, and what comes then is its parent's. */
static bool
is_no_fork(struct member *member)
{
	return member->worker->process == getpid() || member_fail(member, MEMBER_FORKED);
}

static bool
hold(struct talk *talk)
{
	struct member *member = talk->member;
	bool fine = true;

	while (fine && !talk->over) {
		uint64_t now = clock_now();

		if (atomic_load(&member->worker->aborted))
			return member_fail(member, MEMBER_ABORTED);
		if (now >= talk->until)
			return give_up(talk);
		notify(talk, now);
		if (now >= aggregate_member_due(&member->machine, &join_times, 0))
			fine = path_is_silent(member, &talk->path) && is_no_fork(member) &&
				ask(talk, now);
		fine = fine && is_no_fork(member) && pause_talk(talk, now) && receive(talk);
	}
	return fine;
}

/* A signal has come: the next call goes on from here. */
static void
keep(const struct talk *talk)
{
	struct worker *worker = talk->member->worker;

	if (worker->talk == NULL)
		worker->talk = malloc(sizeof(*talk));
	if (worker->talk != NULL)
		*worker->talk = *talk;
}

void
member_forget(struct worker *worker)
{
	free(worker->talk);
	worker->talk = NULL;
}

static void
begin(struct member *member)
{
	const struct worker *worker = member->worker;
	const struct netfc_allreduce_options *options = worker->options;

	aggregate_member_begin(&member->machine, options->job, (uint8_t)options->worker,
		options->token, member->incarnation);
	aggregate_member_ask(&member->machine, &join_times, clock_now());
}

bool
member_join(struct member *member, uint64_t until)
{
	struct worker *worker = member->worker;
	struct talk talk = {
		.member = member,
		.twice = worker->options->gso && !link_has_rings(member->link),
		.notice = clock_now() + FIRST_NOTICE,
	};
	bool fine;

	if (worker->talk != NULL) {
		talk = *worker->talk;
		member_forget(worker);
	} else {
		begin(member);
	}
	talk.until = until;
	fine = hold(&talk);
	if (!fine && member->problem.fault == MEMBER_INTERRUPTED)
		keep(&talk);
	return fine;
}

bool
member_leave(struct member *member)
{
	struct talk talk = {.member = member, .until = NEVER};

	if (!aggregate_member_leave(
		    &member->machine, &join_times, AGGREGATE_REASON_NONE, clock_now()))
		return true;
	return hold(&talk);
}

void
member_part(struct member *member, uint8_t reason, uint64_t now)
{
	if (aggregate_member_leave(&member->machine, &join_times, reason, now))
		join_say(member, &join_times, 0, now);
}

bool
member_is_leaving(const struct member *member)
{
	return member->machine.state == AGGREGATE_MEMBER_LEAVING;
}

void
member_part_again(struct member *member, uint64_t now)
{
	if (member_is_leaving(member))
		join_say(member, &join_times, 0, now);
}

/* The switch has answered: it has been told, or no longer has the job, which is just as good. */
void
member_hear(struct member *member)
{
	struct aggregate_message reply;
	uint8_t payload[LARGEST_LEAVE];
	ssize_t length;

	while ((length = link_receive(member->link, payload, sizeof(payload))) >= 0) {
		if (keys_read_reply(member, payload, (size_t)length, &reply))
			aggregate_member_take(&member->machine, &join_times, &reply, clock_now());
	}
}

bool
member_take(struct member *member, const struct aggregate_message *reply, uint64_t now)
{
	if (aggregate_member_take(&member->machine, &join_times, reply, now) != AGGREGATE_DO_END)
		return true;
	if (reply->code != NETFC_STATUS_OK && reply->code != AGGREGATE_STATUS_CODE)
		return refused(member, reply->code, reply->reason);
	return refused(member, AGGREGATE_STATUS_CODE, member->machine.refused);
}
