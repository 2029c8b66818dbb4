/* SPDX-License-Identifier: BSD-3-Clause */
#include "internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <aggregate_wire.h>

#include "clock.h"
#include "error.h"
#include "keys.h"
#include "net/socket.h"
#include "net/packets.h"
#include "net/transport.h"
#include "path.h"
#include "window/window.h"

#define RECEIVE_BYTES 65536

/* Interval between requests without an answer: doubled each time. */
#define FIRST_INTERVAL (20 * NS_PER_MS)
#define LAST_INTERVAL (500 * NS_PER_MS)
/* And while other workers are missing. */
#define FIRST_WAIT (2 * NS_PER_MS)
#define LAST_WAIT (100 * NS_PER_MS)

/* Maximum time for leaving; it asks more often, to get through a lossy network. */
#define LEAVE_TIME (2 * NS_PER_S)
#define LAST_LEAVE_INTERVAL (100 * NS_PER_MS)

/* When whoever waits is told what for. */
#define FIRST_NOTICE (3 * NS_PER_S)
#define NEXT_NOTICE (10 * NS_PER_S)
#define NOTICE_BYTES 512

/* One conversation with a switch. */
struct talk {
	struct netfc_allreduce *comm;
	struct peer *peer;
	uint8_t op;
	bool twice;        /* segments are being tried */
	struct path path;  /* the size of packets is being tried */
	uint32_t first_id; /* of the first request */
	uint32_t id;       /* of the latest request */
	uint64_t sent;     /* ns: when that was */
	uint64_t next;     /* ns: when to ask again */
	uint64_t interval; /* ns: without an answer */
	uint64_t wait;     /* ns: while workers are missing */
	uint64_t until;    /* ns: when to give up */
	uint64_t notice;   /* ns: when to tell what is waited for */
	bool waits;        /* the switch waits for other workers */
	bool waits_above;  /* all are here, but not at a switch above */
	bool bare; /* the latest request had no cookie, to see whether the switch is there */
	bool over;
};

/* The proof sent with a request: nothing, a cookie, or the session. */
static uint64_t
secret_of(const struct talk *talk)
{
	const struct peer *peer = talk->peer;

	if (talk->op == AGGREGATE_LEAVE)
		return peer->joined ? peer->session : peer->cookie;
	return talk->bare ? 0 : peer->cookie;
}

static int
send_request(struct talk *talk)
{
	if (path_is_tried(&talk->path))
		return join_send_long(talk->comm, talk->peer, talk->path.trying);
	return join_send(talk->comm, talk->peer, talk->op, secret_of(talk), talk->twice);
}

static int
ask(struct talk *talk, uint64_t now)
{
	talk->id = talk->comm->next_id;
	talk->sent = now;
	talk->next = now + (talk->waits ? talk->wait : talk->interval);
	if (send_request(talk) == 0 || errno == EAGAIN || errno == EINTR ||
		soft_error_record(talk->peer, errno, now)) {
		/* Clear the pending error: if it persists, it will show again. */
		talk->twice &= talk->peer->soft_error == 0;
		return NETFC_ALLREDUCE_OK;
	}
	if (!talk->twice)
		return error_of_call(talk->comm, talk->peer, "send to", errno);
	talk->twice = false;
	return ask(talk, now);
}

/* Whether what a switch grants is valid, and no more than was requested. */
static bool
can_be_granted(const struct talk *talk, const struct aggregate_join *join)
{
	const struct netfc_allreduce *comm = talk->comm;

	return join->workers == comm->options.workers && join->slots > 0 &&
		(join->slots & (join->slots - 1)) == 0 && join->slots <= comm->options.slots &&
		join->shards > 0 && join->shards <= PEERS_MAX_SHARDS && join->bytes >= 4 &&
		join->bytes % 4 == 0 && join->bytes <= talk->peer->asked_bytes &&
		join->least <= join->bytes &&
		address_port(&talk->peer->address) + join->shards - 1 <= UINT16_MAX;
}

static int
granted(struct talk *talk, const struct aggregate_message *reply)
{
	const struct aggregate_join *join = &reply->join;
	struct peer *peer = talk->peer;

	if (tree_is_there(&talk->comm->options) && join->place.decided == 0)
		return error_set_for(talk->comm, peer, NETFC_ALLREDUCE_PROTOCOL,
			"Switch %s knows no trees: install one release on switches and workers.",
			peer->address.text);
	if (!can_be_granted(talk, join))
		return error_set_for(talk->comm, peer, NETFC_ALLREDUCE_PROTOCOL,
			"Switch %s grants %u workers, %u slots, %u shards and chunks of %u to %u bytes, "
			"which cannot be: install one release on switch and workers.",
			peer->address.text, join->workers, join->slots, join->shards, join->least,
			join->bytes);
	peer->slots = join->slots;
	peer->shards = join->shards;
	peer->bytes = join->bytes;
	peer->least = join->least;
	peer->session = aggregate_granted_session(reply);
	peer->knows_labels = (join->features & AGGREGATE_FEATURE_LABELS) != 0;
	peer->takes_digits = join->session != 0 && join->least == 0;
	keys_of_session(talk->comm, peer);
	peer->first_alive = talk->comm->next_id;
	peer->joined = true;
	talk->over = true;
	return NETFC_ALLREDUCE_OK;
}

static bool
is_answer_to_latest(const struct talk *talk, const struct aggregate_message *reply)
{
	return reply->id >> 1 == talk->id >> 1;
}

/* A reply to one of the talk's own requests: others come late, from another time or another host.
 */
static bool
is_answer(const struct talk *talk, const struct aggregate_message *reply)
{
	const struct netfc_allreduce *comm = talk->comm;
	uint64_t secret = talk->op == AGGREGATE_JOIN ? comm->options.token : secret_of(talk);

	return reply->op == talk->op && reply->job == comm->options.job &&
		reply->worker == comm->options.worker && reply->token == secret &&
		reply->id - talk->first_id < comm->next_id - talk->first_id;
}

/*
 * The switch wants its cookie echoed, which proves our address. A request and a reply as long as a
 * chunk's packet show that such packets pass both ways.
 */
static int
take_cookie(struct talk *talk, const struct aggregate_message *reply, size_t length, uint64_t now)
{
	bool news = reply->join.cookie != talk->peer->cookie;

	if (!is_answer_to_latest(talk, reply))
		return NETFC_ALLREDUCE_OK;
	if (path_is_tried(&talk->path)) {
		if (length < AGGREGATE_HEADER_BYTES + talk->path.trying)
			return NETFC_ALLREDUCE_OK;
		path_is_good(&talk->path);
	} else if (!news) {
		return NETFC_ALLREDUCE_OK;
	} else {
		path_begin(talk->comm, talk->peer, &talk->path, reply->join.bytes);
	}
	talk->peer->cookie = reply->join.cookie;
	talk->twice = talk->bare = false;
	return ask(talk, now);
}

static int
take_reply(struct talk *talk, const struct aggregate_message *reply, size_t length, uint64_t now)
{
	struct netfc_allreduce *comm = talk->comm;

	if (!is_answer(talk, reply))
		return NETFC_ALLREDUCE_OK;
	talk->peer->heard = now;
	soft_error_clear(talk->peer);
	if (is_answer_to_latest(talk, reply))
		rtt_sample(&talk->peer->channel[0].rtt, now - talk->sent);
	if ((reply->id & 1) != 0)
		talk->peer->gso = true;
	if (reply->code == NETFC_STATUS_OK && talk->op == AGGREGATE_JOIN)
		return granted(talk, reply);
	if (talk->op == AGGREGATE_LEAVE) {
		talk->over = true; /* if it is refused, the job is not there, which is as well */
		return NETFC_ALLREDUCE_OK;
	}
	if (reply->code == AGGREGATE_STATUS_CODE && reply->reason == AGGREGATE_REASON_COOKIE)
		return take_cookie(talk, reply, length, now);
	if (reply->code == AGGREGATE_STATUS_CODE && reply->reason == AGGREGATE_REASON_WAITING) {
		if (!talk->waits)
			talk->next = now + talk->wait;
		talk->waits = true;
		talk->waits_above = reply->join.place.decided > 1;
		return NETFC_ALLREDUCE_OK;
	}
	return error_of_reply(comm, talk->peer, reply->code, reply->reason);
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
		length = transport_receive(&talk->peer->channel[0], payload, sizeof(payload));
		if (length < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (length < 0 && soft_error_record(talk->peer, errno, clock_now())) {
			if (errors++ < MAX_SOFT_ERRORS)
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
	const char *text = talk->peer->address.text;
	int status;

	if (talk->waits_above)
		return error_set_for(comm, talk->peer, NETFC_ALLREDUCE_WAITING,
			"All %u workers of switch %s have joined job %u, but not all of its tree's %u "
			"within %.1f s: start the others, or look at the switches above (option "
			"join_ms).",
			comm->options.workers, text, comm->options.job, comm->options.tree_workers,
			comm->options.join_ms / 1e3);
	if (talk->waits)
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
	uint64_t then = talk->next < talk->until ? talk->next : talk->until;
	struct timespec timeout = clock_timespec(clock_until(now, then));

	/* Leaving is short: who is told of a signal would leave nothing. */
	if (!transport_sleep(talk->peer, talk->comm->wake, &timeout) && talk->op == AGGREGATE_JOIN)
		return error_set_for(talk->comm, talk->peer, NETFC_ALLREDUCE_INTERRUPTED,
			"A signal came while switch %s was being asked: call again.",
			talk->peer->address.text);
	return NETFC_ALLREDUCE_OK;
}

static void
lengthen(uint64_t *interval, uint64_t most)
{
	*interval = *interval * 2 < most ? *interval * 2 : most;
}

/* It is time to ask again. An outdated cookie may be why the switch is silent: every other request
 * has none. */
static void
ask_later(struct talk *talk)
{
	if (talk->waits) {
		lengthen(&talk->wait, LAST_WAIT);
		talk->bare = false;
	} else {
		lengthen(&talk->interval,
			talk->op == AGGREGATE_LEAVE ? LAST_LEAVE_INTERVAL : LAST_INTERVAL);
		talk->bare = talk->peer->cookie != 0 && !talk->bare;
	}
}

/* Report what joining waits for, if the user wants to know. */
static void
notify(struct talk *talk, uint64_t now)
{
	const struct netfc_allreduce_options *options = &talk->comm->options;
	const char *switch_text = talk->peer->address.text;
	char text[NOTICE_BYTES];

	if (options->notice == NULL || talk->op != AGGREGATE_JOIN || now < talk->notice)
		return;
	talk->notice = now + NEXT_NOTICE;
	if (talk->waits_above)
		snprintf(text, sizeof(text),
			"Worker %u waits for those of other switches in job %u's tree, above switch %s.",
			options->worker, options->job, switch_text);
	else if (talk->waits)
		snprintf(text, sizeof(text),
			"Worker %u waits for the others of job %u's %u workers to join at switch %s.",
			options->worker, options->job, options->workers, switch_text);
	else
		snprintf(text, sizeof(text),
			"Worker %u waits for switch %s, which does not answer%s.", options->worker,
			switch_text,
			transport_misses(talk->peer)
				? ": its packets come to another queue of the device"
				: talk->peer->soft_error == ECONNREFUSED
				? ": nothing listens on that UDP port"
				: talk->peer->soft_error != 0
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
		if (now >= talk->next) {
			ask_later(talk);
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

static int
begin(struct talk *talk)
{
	talk->first_id = talk->comm->next_id;
	talk->notice = clock_now() + FIRST_NOTICE;
	return ask(talk, clock_now());
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

int
join_peer(struct netfc_allreduce *comm, struct peer *peer, uint64_t until)
{
	int status = NETFC_ALLREDUCE_OK;
	struct talk talk = {
		.comm = comm,
		.peer = peer,
		.op = AGGREGATE_JOIN,
		.twice = comm->options.gso && !transport_has_rings(peer),
		.interval = FIRST_INTERVAL,
		.wait = FIRST_WAIT,
	};

	if (comm->talk != NULL) {
		talk = *comm->talk;
		join_forget(comm);
	} else {
		status = begin(&talk);
	}
	talk.until = until;
	if (status == NETFC_ALLREDUCE_OK)
		status = hold(&talk);
	return status == NETFC_ALLREDUCE_INTERRUPTED ? keep(&talk) : status;
}

int
join_leave(struct netfc_allreduce *comm, struct peer *peer)
{
	struct talk talk = {
		.comm = comm,
		.peer = peer,
		.op = AGGREGATE_LEAVE,
		.interval = FIRST_INTERVAL,
		.until = clock_now() + LEAVE_TIME,
	};
	int status = begin(&talk);

	return status == NETFC_ALLREDUCE_OK ? hold(&talk) : status;
}
