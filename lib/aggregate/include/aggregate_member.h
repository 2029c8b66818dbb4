/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_MEMBER_H
#define AGGREGATE_MEMBER_H

/**
 * @file
 * A member of a job, from its first join until it has left: (state, event, now) -> action.
 *
 * Members are the library's workers, a switch below another one, who speaks for a P4 switch, and
 * the load generator's workers. Each of them is a driver, which has the sockets and the clock, and
 * says what it asks for; this decides what is sent when, what answers it and what follows. Nothing
 * here allocates, waits, or knows what time it is. Times are ticks of any kind. Not thread-safe,
 * but that `state` and `refused` may be read by any thread (relaxed).
 *
 * A driver of aggregate_member_begin() and aggregate_member_ask():
 * @code
 * whenever aggregate_member_due() has come, or the last action was AGGREGATE_DO_ASK:
 *	action = aggregate_member_poll(member, times, since, now, &message)
 *	if it is AGGREGATE_DO_SEND: complete message.join (workers, slots, bytes, ...), and send it
 * for each reply to a join or a leave:
 *	action = aggregate_member_take(member, times, &reply, now)
 *	if it is AGGREGATE_DO_ENTER: check what is granted, or aggregate_member_refuse()
 * @endcode
 */

#include <stdbool.h>
#include <stdint.h>

#include "aggregate_wire.h"

/** What a member is to the switch that it joins: X(symbol, name, meaning). */
#define AGGREGATE_MEMBER_STATES(X)                                          \
	X(NONE, "none", "there is none above")                              \
	X(GATHERING, "gathering", "not all are here yet")                   \
	X(ASKING, "asking", "it has been asked, and has not answered")      \
	X(WAITING, "waiting", "it waits for other members")                 \
	X(JOINED, "joined", "all is well")                                  \
	X(REFUSED, "refused", "it has refused the join, or knows no trees") \
	X(LOST, "lost", "it knows the job no more")                         \
	X(LEAVING, "leaving", "the job is over, and it is told")

enum aggregate_member_state {
#define AGGREGATE_MEMBER_ENUM_(symbol, name, meaning) AGGREGATE_MEMBER_##symbol,
	AGGREGATE_MEMBER_STATES(AGGREGATE_MEMBER_ENUM_)
#undef AGGREGATE_MEMBER_ENUM_
	AGGREGATE_MEMBER_STATE_COUNT
};

/** What follows from an event. */
enum aggregate_member_action {
	AGGREGATE_DO_NOTHING, /**< it changes nothing */
	AGGREGATE_DO_IGNORE,  /**< this is no answer to a message of this state */
	AGGREGATE_DO_SEND,    /**< send the message */
	AGGREGATE_DO_ASK,     /**< a cookie has come: poll at once */
	AGGREGATE_DO_WAIT,    /**< the switch waits for other members */
	AGGREGATE_DO_ENTER,   /**< it lets the member in: check what it grants */
	AGGREGATE_DO_GO_ON,   /**< it knows the member */
	AGGREGATE_DO_BLAME,   /**< it has not answered as many questions as there may be */
	AGGREGATE_DO_GIVE_UP, /**< it refuses: the reply's code and reason say why */
	AGGREGATE_DO_END,     /**< it knows the job no more: for `refused` */
	AGGREGATE_DO_PART,    /**< it has let the member go, or has been told often enough */
};

/** When messages are sent again, in ticks. Of two, the first is doubled each time up to the second.
 */
struct aggregate_member_times {
	uint64_t ask, ask_most;     /**< joins that get no answer */
	uint64_t wait, wait_most;   /**< joins while other members are missing */
	uint64_t leave, leave_most; /**< leaves */
	uint32_t leaves;            /**< so many of them at most */
	uint32_t questions;         /**< joins of one who is in without an answer; 0: any number */
	uint64_t alive;             /**< those: how long after the one before, or after `since` */
};

/** A member. All zero: of no job. */
struct aggregate_member {
	uint32_t state;      /**< enum aggregate_member_state */
	uint32_t id;         /**< of the latest message: a multiple of AGGREGATE_MEMBER_IDS */
	uint32_t before;     /**< answers to messages up to this one are not waited for any more */
	uint32_t cookie_id;  /**< of the message that the cookie came for */
	uint32_t unanswered; /**< leaves; or joins of one who is in, if they are counted */
	uint16_t job;
	uint8_t worker;
	uint8_t reason;  /**< why it leaves, as in a leave */
	uint8_t refused; /**< enum aggregate_reason: of REFUSED and LOST */
	uint8_t decided; /**< struct aggregate_place, of the latest answer that has it */
	bool bare;       /**< the next join has no cookie, to see whether the switch is there */
	uint64_t token, incarnation;
	uint64_t cookie;   /**< 0: none yet */
	uint64_t session;  /**< as granted; 0: none yet */
	uint64_t sent;     /**< when the latest message was */
	uint64_t next;     /**< when the next one is due */
	uint64_t interval; /**< between that one and the one after it */
};

/** A message may be sent several times with different ids, from its own to so many less 1 more. */
#define AGGREGATE_MEMBER_IDS 4

/**
 * Be in a job's waiting room: GATHERING.
 *
 * @param incarnation drawn for each join of a job, never 0: ids begin with it as well
 */
void aggregate_member_begin(struct aggregate_member *member, uint16_t job, uint8_t worker,
	uint64_t token, uint64_t incarnation);

/** Join: ASKING. */
void aggregate_member_ask(
	struct aggregate_member *member, const struct aggregate_member_times *times, uint64_t now);

/** Be of no job, without a word: NONE. */
void aggregate_member_forget(struct aggregate_member *member);

/**
 * Leave, or have nothing to leave: NONE.
 *
 * @param reason as in a leave
 * @return whether the switch has to be told: LEAVING
 */
bool aggregate_member_leave(struct aggregate_member *member,
	const struct aggregate_member_times *times, uint8_t reason, uint64_t now);

/** What the switch grants cannot be: REFUSED. */
void aggregate_member_refuse(struct aggregate_member *member, uint8_t reason, uint8_t decided);

/**
 * When the next message is due; UINT64_MAX: none.
 *
 * @param since of one who is in: since when the switch owes an answer, or nothing was sent; else
 *   not looked at
 */
uint64_t aggregate_member_due(const struct aggregate_member *member,
	const struct aggregate_member_times *times, uint64_t since);

/**
 * Time has passed.
 *
 * @param since as of aggregate_member_due(): questions from before it do not count
 * @param message what to send, a join as far as the member knows it: op, worker, job, id, token or
 *   session, reason, cookie and incarnation
 * @return NOTHING, SEND, BLAME or PART
 */
enum aggregate_member_action
aggregate_member_poll(struct aggregate_member *member, const struct aggregate_member_times *times,
	uint64_t since, uint64_t now, struct aggregate_message *message);

/**
 * A reply to a join or leave.
 *
 * @return IGNORE: it has to be nothing but a stray; NOTHING, ASK, WAIT, ENTER, GO_ON, GIVE_UP, END
 * or PART
 */
enum aggregate_member_action
aggregate_member_take(struct aggregate_member *member, const struct aggregate_member_times *times,
	const struct aggregate_message *reply, uint64_t now);

/** Whether a reply answers the latest message, which was sent at member->sent. */
static inline bool
aggregate_member_is_latest(
	const struct aggregate_member *member, const struct aggregate_message *reply)
{
	return reply->id - member->id < AGGREGATE_MEMBER_IDS;
}

/** Whether a switch grants what can be, and no more than was asked for. */
bool aggregate_member_can_be_granted(
	const struct aggregate_join *asked, const struct aggregate_join *granted);

/** The name of a state: "joined". */
const char *aggregate_member_state_name(enum aggregate_member_state state);

#endif /* AGGREGATE_MEMBER_H */
