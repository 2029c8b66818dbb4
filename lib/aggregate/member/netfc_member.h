/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MEMBER_H
#define NETFC_MEMBER_H

/**
 * @file
 * A leaf as a member (aggregate_member.h) for p4/leaf, which is Python and calls it by ctypes: with
 * payloads of UDP in place of messages. Not installed. Times are nanoseconds of any clock that only
 * goes forward.
 */

#include <stddef.h>
#include <stdint.h>

#define NETFC_MEMBER_API __attribute__((visibility("default")))

/** Bytes of the longest message. */
#define NETFC_MEMBER_BYTES 128

/** What joins say, as struct aggregate_join and struct aggregate_place do. */
struct netfc_member_job {
	uint64_t token;
	uint64_t incarnation; /**< not 0 */
	uint64_t silence;     /**< when a parent that does not answer is lost, ns */
	uint32_t tree_workers, below;
	uint16_t job, slots, bytes;
	uint8_t worker, workers;
	uint8_t levels;
	uint8_t level[8]; /**< of those above: members, index, and so on */
};

/** What came of the latest call that gave a struct netfc_member_answer. */
struct netfc_member_answer {
	uint64_t session;      /**< as granted; 0: none yet */
	uint64_t due;          /**< when to poll next; UINT64_MAX: never */
	uint16_t slots, bytes; /**< as granted */
	uint8_t shards;        /**< as granted */
	uint8_t decided;       /**< as granted: levels, 0 of who knows no trees */
	uint8_t state;         /**< enum aggregate_member_state */
	uint8_t action;        /**< enum aggregate_member_action */
	uint8_t code, reason;  /**< GIVE_UP: the reply's */
};

struct netfc_member;

/** The version of this library. */
NETFC_MEMBER_API const char *netfc_member_version(void);

/** A member that asks to join, and is to be polled at once; NULL: there is no memory. */
NETFC_MEMBER_API struct netfc_member *
netfc_member_new(const struct netfc_member_job *job, uint64_t now);

/** Free it. */
NETFC_MEMBER_API void netfc_member_free(struct netfc_member *member);

/** Leave: poll until the state is NONE. */
NETFC_MEMBER_API void
netfc_member_leave(struct netfc_member *member, uint64_t now, struct netfc_member_answer *answer);

/**
 * Time has passed.
 *
 * @param payload NETFC_MEMBER_BYTES
 * @return bytes of it to send; 0: none
 */
NETFC_MEMBER_API size_t netfc_member_poll(struct netfc_member *member, uint64_t now,
	uint8_t *payload, struct netfc_member_answer *answer);

/** A datagram has come. Action IGNORE: it is none for this member. */
NETFC_MEMBER_API void netfc_member_take(struct netfc_member *member, uint64_t now,
	const uint8_t *payload, size_t length, struct netfc_member_answer *answer);

#endif /* NETFC_MEMBER_H */
