/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <aggregate_wire.h>

#include "clock.h"
#include "comm/error.h"
#include "member/keys.h"
#include "link/link.h"
#include "member/path.h"

#define RECEIVE_BYTES 65536

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
	struct netfc_allreduce *comm;
	struct peer *peer;
	bool twice;       /* segments are being tried */
	struct path path; /* the size of packets is being tried */
	uint64_t until;   /* ns: when to give up joining */
	uint64_t notice;  /* ns: when to tell what is waited for */
	bool over;
};

static bool
is_leaving(const struct talk *talk)
{
	return talk->peer->member.state == AGGREGATE_MEMBER_LEAVING;
}

/* The switch waits for other workers. */
static bool
waits(const struct talk *talk)
{
	return talk->peer->member.state == AGGREGATE_MEMBER_WAITING;
}

/* All are here, but not at a switch above. */
static bool
waits_above(const struct talk *talk)
{
	return waits(talk) && talk->peer->member.decided > 1;
}

static int
send_request(struct talk *talk, const struct aggregate_message *message)
{
	if (path_is_tried(&talk->path))
		return join_send_long(talk->comm, talk->peer, message, talk->path.trying);
	return join_send(talk->comm, talk->peer, message, talk->twice);
}

static int give_up(struct talk *talk);

static int
ask(struct talk *talk, uint64_t now)
{
	struct peer *peer = talk->peer;
	struct aggregate_message message;
	const enum aggregate_member_action action =
		aggregate_member_poll(&peer->member, &join_times, 0, now, &message);

	if (action == AGGREGATE_DO_PART)
		return give_up(talk);
	if (action != AGGREGATE_DO_SEND)
		return NETFC_ALLREDUCE_OK;
	if (send_request(talk, &message) == 0 || errno == EAGAIN || errno == EINTR ||
		link_softens(&peer->link, errno)) {
		/* Clear the pending error: if it persists, it will show again. */
		talk->twice &= peer->link.soft_error == 0;
		return NETFC_ALLREDUCE_OK;
	}
	if (!talk->twice)
		return error_of_call(talk->comm, peer, "send to", errno);
	talk->twice = false;
	peer->member.next = now;
	return ask(talk, now);
}

/* Whether what a switch grants is valid, and no more than was requested. */
static bool
can_be_granted(const struct talk *talk, const struct aggregate_join *join)
{
	const struct netfc_allreduce_options *options = &talk->comm->options;
	const struct aggregate_join asked = {
		.workers = (uint8_t)options->workers,
		.slots = (uint16_t)options->slots,
		.bytes = (uint16_t)talk->peer->asked_bytes,
	};

	return aggregate_member_can_be_granted(&asked, join) && join->bytes % 4 == 0 &&
		address_port(&talk->peer->link.address) + join->shards - 1 <= UINT16_MAX;
}

static int
granted(struct talk *talk, const struct aggregate_message *reply)
{
	const struct aggregate_join *join = &reply->join;
	struct peer *peer = talk->peer;

	keys_of_session(talk->comm, peer);
	if (tree_is_there(&talk->comm->options) && join->place.decided == 0)
		return error_set_for(talk->comm, peer, NETFC_ALLREDUCE_PROTOCOL,
			"Switch %s knows no trees: install one release on switches and workers.",
			peer->link.address.text);
	if (!can_be_granted(talk, join))
		return error_set_for(talk->comm, peer, NETFC_ALLREDUCE_PROTOCOL,
			"Switch %s grants %u workers, %u slots, %u shards and chunks of %u to %u bytes, "
			"which cannot be: install one release on switch and workers.",
			peer->link.address.text, join->workers, join->slots, join->shards,
			join->least, join->bytes);
	peer->slots = join->slots;
	peer->shards = join->shards;
	peer->bytes = join->bytes;
	peer->least = join->least;
	peer->knows_labels = (join->features & AGGREGATE_FEATURE_LABELS) != 0;
	peer->knows_zeros = (join->features & AGGREGATE_FEATURE_ZEROS) != 0;
	peer->knows_divisors = (join->features & AGGREGATE_FEATURE_DIVISORS) != 0;
	peer->takes_digits = join->session != 0 && join->least == 0;
	talk->over = true;
	return NETFC_ALLREDUCE_OK;
}

/*
 * The switch wants its cookie echoed, which proves our address. A request and a reply as long as a
 * chunk's packet show that such packets pass both ways.
 */
static int
take_cookie(struct talk *talk, const struct aggregate_message *reply, bool is_new, size_t length,
	uint64_t now)
{
	if (path_is_tried(&talk->path)) {
		if (length < AGGREGATE_HEADER_BYTES + talk->path.trying)
			return NETFC_ALLREDUCE_OK;
		path_is_good(&talk->path);
	} else if (!is_new) {
		return NETFC_ALLREDUCE_OK;
	} else {
		path_begin(talk->comm, talk->peer, &talk->path, reply->join.bytes);
	}
	talk->twice = false;
	talk->peer->member.next = now;
	return ask(talk, now);
}

static int
take_reply(struct talk *talk, const struct aggregate_message *reply, size_t length, uint64_t now)
{
	struct peer *peer = talk->peer;
	const bool latest = aggregate_member_is_latest(&peer->member, reply);
	const uint64_t sent = peer->member.sent;
	const enum aggregate_member_action action =
		aggregate_member_take(&peer->member, &join_times, reply, now);

	if (action == AGGREGATE_DO_IGNORE)
		return NETFC_ALLREDUCE_OK;
	peer->heard = now;
	link_heard(&peer->link);
	if (latest)
		rtt_sample(&peer->rtt, now - sent);
	peer->link.gso |= (reply->id & 1) != 0;
	switch (action) {
	case AGGREGATE_DO_ENTER:
		return granted(talk, reply);
	case AGGREGATE_DO_PART:
		talk->over = true;
		return NETFC_ALLREDUCE_OK;
	case AGGREGATE_DO_GIVE_UP:
		return error_of_reply(talk->comm, peer, reply->code, reply->reason);
	case AGGREGATE_DO_WAIT:
		return NETFC_ALLREDUCE_OK;
	default:
		return take_cookie(talk, reply, action == AGGREGATE_DO_ASK, length, now);
	}
}

static int
receive(struct talk *talk)
{
	uint8_t payload[RECEIVE_BYTES];
	struct aggregate_message reply;
	int status = NETFC_ALLREDUCE_OK;
	unsigned int errors = 0;
	ssize_t length;

	while (status == NETFC_ALLREDUCE_OK && !talk->over) {
		length = link_receive(&talk->peer->link, payload, sizeof(payload));
		if (length < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (length < 0 && link_softens(&talk->peer->link, errno)) {
			if (errors++ < LINK_MAX_SOFT_ERRORS)
				continue;
			break;
		}
		if (length < 0)
			return error_of_call(talk->comm, talk->peer, "receive from", errno);
		if (keys_read_reply(talk->comm, talk->peer, payload, (size_t)length, &reply))
			status = take_reply(talk, &reply, (size_t)length, clock_now());
	}
	return status;
}

static int
give_up(struct talk *talk)
{
	struct netfc_allreduce *comm = talk->comm;
	const char *text = talk->peer->link.address.text;
	int status;

	if (waits_above(talk))
		return error_set_for(comm, talk->peer, NETFC_ALLREDUCE_WAITING,
			"All %u workers of switch %s have joined job %u, but not all of its tree's %u "
			"within %.1f s: start the others, or look at the switches above (option "
			"join_ms).",
			comm->options.workers, text, comm->options.job, comm->options.tree_workers,
			comm->options.join_ms / 1e3);
	if (waits(talk))
		return error_set_for(comm, talk->peer, NETFC_ALLREDUCE_WAITING,
			"Not all %u workers have joined job %u at switch %s within %.1f s: start the "
			"others, or look at why they do not get there (option join_ms).",
			comm->options.workers, comm->options.job, text,
			comm->options.join_ms / 1e3);
	status = error_of_silence(comm, talk->peer);
	if (status != NETFC_ALLREDUCE_OK)
		return status;
	if (talk->peer->forged != 0)
		return error_set_for(comm, talk->peer, NETFC_ALLREDUCE_PROTOCOL,
			"Switch %s answers without a good tag: it has no key, or another one "
			"(--aggregate key=, option key_file, NETFC_KEY_FILE).",
			text);
	return error_set_for(comm, talk->peer, NETFC_ALLREDUCE_TIMEOUT,
		"Switch %s does not answer: check that it is running with --aggregate, the address and "
		"port, what filters packets on the way, and whether it wants tags (--aggregate key=).",
		text);
}

/* Sleep until a packet comes or it is time to ask again. */
static int
pause_talk(struct talk *talk, uint64_t now)
{
	uint64_t next = aggregate_member_due(&talk->peer->member, &join_times, 0);
	uint64_t then = next < talk->until ? next : talk->until;
	struct timespec timeout = clock_timespec(clock_until(now, then));

	/* Leaving is short: who is told of a signal would leave nothing. */
	if (!link_sleep(&talk->peer->link, talk->comm->wake, &timeout) && !is_leaving(talk))
		return error_set_for(talk->comm, talk->peer, NETFC_ALLREDUCE_INTERRUPTED,
			"A signal came while switch %s was being asked: call again.",
			talk->peer->link.address.text);
	return NETFC_ALLREDUCE_OK;
}

/* Report what joining waits for, if the user wants to know. */
static void
notify(struct talk *talk, uint64_t now)
{
	const struct netfc_allreduce_options *options = &talk->comm->options;
	const char *switch_text = talk->peer->link.address.text;
	char text[NOTICE_BYTES];

	if (options->notice == NULL || is_leaving(talk) || now < talk->notice)
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
			link_misses(&talk->peer->link)
				? ": its packets come to another queue of the device"
				: talk->peer->link.soft_error == ECONNREFUSED
				? ": nothing listens on that UDP port"
				: talk->peer->link.soft_error != 0
				? ": the network refuses packets to it"
				: "");
	options->notice(options->notice_context, text);
}

static int
hold(struct talk *talk)
{
	int status = NETFC_ALLREDUCE_OK;

	while (status == NETFC_ALLREDUCE_OK && !talk->over) {
		uint64_t now = clock_now();

		if (is_forked(talk->comm)) /* by who is told what is waited for */
			return NETFC_ALLREDUCE_BROKEN;
		if (atomic_load(&talk->comm->aborted))
			return error_set(talk->comm, NETFC_ALLREDUCE_ABORTED,
				"netfc_allreduce_abort() was called while joining.");
		if (now >= talk->until)
			return give_up(talk);
		notify(talk, now);
		if (now >= aggregate_member_due(&talk->peer->member, &join_times, 0)) {
			status = path_is_silent(talk->comm, talk->peer, &talk->path);
			if (status == NETFC_ALLREDUCE_OK)
				status = ask(talk, now);
		}
		if (status == NETFC_ALLREDUCE_OK)
			status = pause_talk(talk, now);
		if (status == NETFC_ALLREDUCE_OK)
			status = receive(talk);
	}
	return status;
}

/* A signal has come: the next call goes on from here. */
static int
keep(const struct talk *talk)
{
	struct netfc_allreduce *comm = talk->comm;

	if (comm->talk == NULL)
		comm->talk = malloc(sizeof(*talk));
	if (comm->talk != NULL)
		*comm->talk = *talk;
	return NETFC_ALLREDUCE_INTERRUPTED;
}

void
join_forget(struct netfc_allreduce *comm)
{
	free(comm->talk);
	comm->talk = NULL;
}

static void
begin(struct netfc_allreduce *comm, struct peer *peer)
{
	const struct netfc_allreduce_options *options = &comm->options;

	aggregate_member_begin(&peer->member, options->job, (uint8_t)options->worker,
		options->token, comm->incarnation);
	aggregate_member_ask(&peer->member, &join_times, clock_now());
}

int
join_peer(struct netfc_allreduce *comm, struct peer *peer, uint64_t until)
{
	struct talk talk = {
		.comm = comm,
		.peer = peer,
		.twice = comm->options.gso && !link_has_rings(&peer->link),
		.notice = clock_now() + FIRST_NOTICE,
	};
	int status;

	if (comm->talk != NULL) {
		talk = *comm->talk;
		join_forget(comm);
	} else {
		begin(comm, peer);
	}
	talk.until = until;
	status = hold(&talk);
	return status == NETFC_ALLREDUCE_INTERRUPTED ? keep(&talk) : status;
}

int
join_leave(struct netfc_allreduce *comm, struct peer *peer)
{
	struct talk talk = {.comm = comm, .peer = peer, .until = NEVER};

	if (!aggregate_member_leave(&peer->member, &join_times, AGGREGATE_REASON_NONE, clock_now()))
		return NETFC_ALLREDUCE_OK;
	return hold(&talk);
}
