/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_TALK_H
#define ALLREDUCE_TALK_H

/** @file What parts of a member do for each other while it joins and leaves. */

#include "member/member.h"

/* When a worker joins and leaves again. */
extern const struct aggregate_member_times join_times;

/* What went wrong. False. */
bool member_fail(struct member *member, enum member_fault fault);

/*
 * Send a join or a leave that the machine has made. Returns as sendmsg().
 *
 * `segments`: try them first, by two more joins in one datagram, of the ids that are even and odd:
 * a reply to the second shows that segments arrive as datagrams. One that is not cut is of no use
 * where there are tags.
 */
int join_send(struct member *member, const struct aggregate_message *message, bool segments);

/*
 * Send a join as long as a chunk's packet with so many bytes of values, at most 65480. It has no
 * cookie, so it cannot create a member that never learns of it.
 */
int join_send_long(
	struct member *member, const struct aggregate_message *message, unsigned int values_bytes);

/*
 * Send what is due, if anything is: an error is a packet lost. Returns what the machine's poll did;
 * times and since are for that.
 */
enum aggregate_member_action join_say(struct member *member,
	const struct aggregate_member_times *times, uint64_t since, uint64_t now);

/* The switch has granted a session: make its keys. */
void keys_of_session(struct member *member);

/* Tag a join or a leave, if there are tags. Returns its bytes. */
size_t keys_tag_control(const struct member *member, uint8_t *payload, size_t length);

/*
 * Path MTU discovery to a switch. The kernel knows the MTU of its own device, and at best of some
 * after it; so a join probes the size, and an answer as long shows that it passes both ways. ICMP
 * messages are not trusted: anybody can send them.
 */

/* How few bytes of values in a chunk would do, unless the user wants a certain number. */
#define PATH_MIN_BYTES 8

/* A size that is being probed. */
struct path {
	unsigned int trying; /* bytes of values; 0: nothing is tried */
	unsigned int times;  /* sent */
};

/* The switch would grant so many bytes: probe them, if not every path takes them. */
void path_begin(const struct member *member, struct path *path, unsigned int granted);

/*
 * No answer has come in time. After a few times smaller chunks are asked for. False: what the user
 * wants does not pass.
 */
bool path_is_silent(struct member *member, struct path *path);

#endif /* ALLREDUCE_TALK_H */
