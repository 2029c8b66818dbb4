/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NEIGHBOUR_H
#define NEIGHBOUR_H

/** @file The link addresses of other hosts, found by ARP and neighbour discovery. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "endpoint/addresses.h"
#include "frame.h"

/* IPv6 neighbour discovery (RFC 4861): solicitations and advertisements, both ways. */

/** Bytes of a solicitation, including the Ethernet header. */
#define DISCOVERY_SOLICITATION_BYTES 86

/**
 * Whether an IPv6 packet is a neighbour solicitation.
 *
 * @param target the address that it asks for
 */
bool discovery_solicited_address(
	const struct rte_mbuf *mbuf, const struct frame *frame, uint8_t target[16]);

/**
 * Neighbour solicitation to advertisement, in place (section 7.2.4).
 *
 * @return false: it is to be discarded (section 7.1.1), or its header is not in the first segment
 */
bool discovery_answer(
	struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac);

/**
 * Write a solicitation, a whole frame (section 7.2.2).
 *
 * @param mac, own addresses of the sender
 * @param target the address that it asks for
 * @param frame DISCOVERY_SOLICITATION_BYTES
 */
void discovery_write_solicitation(const struct rte_ether_addr *mac, const uint8_t own[16],
	const uint8_t target[16], uint8_t *frame);

/**
 * Whether an IPv6 packet is a valid advertisement that was asked for (section 7.1.2).
 *
 * @param own address that asked
 * @param target the address that was asked for
 * @param mac where it is
 */
bool discovery_read_advertisement(const struct rte_mbuf *mbuf, const struct frame *frame,
	const uint8_t own[16], const uint8_t target[16], struct rte_ether_addr *mac);

/*
 * Address resolution of a host on the link, by ARP (RFC 826) or neighbour discovery (RFC 4861), for
 * packets that the switch originates.
 *
 * One lcore asks: once a second until there is an answer, again when the host is silent, and every
 * half minute. Any lcore may process an answer, and read where the host is, a single word.
 *
 * An answer counts only if the switch has asked, and only from a port where it has asked, and
 * without a VLAN tag: questions have none, and what is sent there has none. Of two
 * that contradict each other the first counts; and as long as the host is heard where it was, it
 * has not moved.
 */

/** Maximum bytes of a question. */
#define NEIGHBOUR_QUESTION_BYTES DISCOVERY_SOLICITATION_BYTES

/** Unanswered questions after which a host is unreachable. */
#define NEIGHBOUR_TRIES 3

/** Where it is. */
struct neighbour_place {
	struct rte_ether_addr mac;
	uint16_t port; /**< index of the switch's port */
};

/** What is counted: X(name, meaning). */
#define NEIGHBOUR_COUNTERS(X)                                                             \
	X(questions, "address resolution requests for the parent or its gateway")         \
	X(answers, "answers to them")                                                     \
	X(moves, "of these, answers that named another place than before")                \
	X(tagged, "answers with a VLAN tag, not believed: packets there would have none") \
	X(disbelieved, "other answers, not believed: unasked for, or contradicting")

struct neighbour_counters {
#define NEIGHBOUR_FIELD_(name, meaning) uint64_t name;
	NEIGHBOUR_COUNTERS(NEIGHBOUR_FIELD_)
#undef NEIGHBOUR_FIELD_
};

/** A neighbour. Initially zero, except for the first fields. */
struct neighbour {
	struct address address; /**< the host's */
	struct address own;     /**< source address of questions: same family */
	uint64_t hz;            /**< ticks of a second */
	/* The asking lcore's. */
	uint64_t next;           /* when it may ask again */
	unsigned int unanswered; /* questions since the host was last heard */
	/* Words that any lcore may read, and an lcore that processes an answer may write. */
	uint64_t place;    /* 0: not known */
	uint64_t asked;    /* ticks */
	uint64_t answered; /* ticks */
	uint64_t heard;    /* ticks, of anything else */
	struct neighbour_counters counters;
};

/**
 * Whether to ask now.
 *
 * @param now ticks, not 0
 * @param owed since when it owes an answer, 0: it owes none
 * @param heard when something that proves it there was last heard of it, 0: never
 */
bool neighbour_poll(struct neighbour *neighbour, uint64_t now, uint64_t owed, uint64_t heard);

/** Where it is; false: not known. */
bool neighbour_find(const struct neighbour *neighbour, struct neighbour_place *place);

/** Whether nothing but answers with VLAN tags has come. */
bool neighbour_is_tagged(const struct neighbour *neighbour);

/** Whether it has been asked for, and did not answer. */
bool neighbour_is_gone(const struct neighbour *neighbour);

/**
 * Write a question: a whole frame.
 *
 * @param mac of the port where it leaves
 * @param frame NEIGHBOUR_QUESTION_BYTES
 * @return its bytes
 */
uint16_t neighbour_write_question(
	const struct neighbour *neighbour, const struct rte_ether_addr *mac, uint8_t *frame);

/**
 * Process an answer.
 *
 * @param mbuf an ARP reply or an ICMPv6 packet that is addressed to the switch
 * @param frame of it
 * @param port, id index of the port where it came in, and the ethdev's id
 * @param now ticks
 * @return false: it is none of this neighbour's
 */
bool neighbour_take_answer(struct neighbour *neighbour, const struct rte_mbuf *mbuf,
	const struct frame *frame, uint16_t port, uint16_t id, uint64_t now);

#endif /* NEIGHBOUR_H */
