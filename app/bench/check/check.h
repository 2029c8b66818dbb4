/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECK_H
#define CHECK_H

/**
 * @file
 * Replies: found in packets, compared with what they must be, and how accurate they are.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <netfc.h>

#include <rte_mbuf.h>

#include "frame.h"
#include "json.h"
#include "workload/workload.h"

/* What can be wrong with a reply: counted by kind, the first few kept. */

/**
 * Kinds: X(symbol, name, meaning). Everything that lists them comes from here.
 */
#define MISMATCHES(X)                                                                     \
	X(ID, "id", "an id that was never sent")                                          \
	X(ADDRESSES, "addresses", "addresses that are neither the request's nor swapped") \
	X(LENGTH, "length", "the datagram is longer or shorter than the request")         \
	X(HEADER, "header", "version, operation or format changed")                       \
	X(COUNT, "count", "another number of lanes")                                      \
	X(UNCOMPUTED, "uncomputed", "the request came back as it was")                    \
	X(REFUSED, "refused", "an error status")                                          \
	X(FLAGS, "flags", "other exception flags")                                        \
	X(OPERANDS, "operands", "x or y changed")                                         \
	X(RESULTS, "results", "another z")                                                \
	X(PADDING, "padding", "what fills x, y or z up to an even length changed")        \
	X(UDP_CHECKSUM, "udp_checksum", "the UDP checksum is wrong")                      \
	X(IP_CHECKSUM, "ip_checksum", "the IPv4 header's checksum is wrong")

enum mismatch {
#define MISMATCH_ENUM_(symbol, name, meaning) MISMATCH_##symbol,
	MISMATCHES(MISMATCH_ENUM_)
#undef MISMATCH_ENUM_
	MISMATCH_KINDS
};

/** Codes that fit into a status. */
#define STATUS_CODES 8

/** Mismatches that are kept as examples: of each kind, and in all. */
#define MISMATCH_EXAMPLES_OF_KIND 3
#define MISMATCH_EXAMPLES 12

/** One mismatch. */
struct mismatch_example {
	enum mismatch kind;
	uint32_t id;
	uint8_t op;
	bool has_lane; /**< lane, x and y are set */
	uint32_t lane;
	uint32_t x, y;          /**< as they were sent */
	uint32_t expected, got; /**< the field that differs; checksums: as in the packet */
};

/** All mismatches so far. */
struct mismatches {
	uint64_t replies[MISMATCH_KINDS]; /**< replies with a mismatch of that kind */
	uint64_t lanes;                   /**< wrong z */
	uint64_t refusals[STATUS_CODES];  /**< error statuses by code */
	unsigned int example_count;
	struct mismatch_example examples[MISMATCH_EXAMPLES];
};

/** Count a mismatch, and keep it if it is one of the first. */
void mismatch_note(struct mismatches *mismatches, const struct mismatch_example *example);

/** The kinds, as they are counted. */
extern const struct counter mismatch_kinds[MISMATCH_KINDS];

/** The name of a status code; "unknown" for others. */
const char *mismatch_status_name(unsigned int code);

/** Print counts and examples; nothing if there are none. */
void
mismatch_print(FILE *out, const struct mismatches *mismatches, const struct netfc_format *format);

/* A reply: found in a packet, compared with what it must be. */

/** The longest packet that is parsed. */
#define REPLY_BYTES UINT16_MAX

/** A received NetFC packet. */
struct reply {
	const uint8_t *bytes; /**< the frame in one piece */
	struct frame frame;
	const uint8_t *payload; /**< the NetFC header */
	uint32_t id;
};

/**
 * Look for NetFC in a packet.
 *
 * @param scratch REPLY_BYTES bytes, used if the packet has several segments
 * @return whether it is a NetFC packet
 */
bool reply_parse(const struct rte_mbuf *mbuf, uint8_t *scratch, struct reply *reply);

/** Whether a reply is the one that the request must get, to the last bit. */
bool reply_is_right(
	const struct workload *workload, const struct request *request, const struct reply *reply);

/**
 * Find out what is wrong with a reply. Slow: only for wrong replies.
 *
 * @return whether anything is
 */
bool reply_find_mismatches(const struct workload *workload, const struct request *request,
	const struct reply *reply, struct mismatches *mismatches);

/** The UDP checksum of a packet of that id. */
static inline rte_be16_t
reply_checksum(uint16_t sum, rte_be32_t id)
{
	uint32_t words = (uint32_t)sum + (id & 0xffff) + (id >> 16);
	uint16_t checksum;

	words = (words & 0xffff) + (words >> 16);
	words = (words & 0xffff) + (words >> 16);
	checksum = (uint16_t)~words;
	return checksum != 0 ? checksum : UINT16_MAX;
}

/*
 * How accurate the results are: right replies against the correctly rounded results. A lane's
 * accuracy is the paper's, exp(-|expected - result| / |expected|).
 */

/** Of many lanes. */
struct accuracy {
	uint64_t lanes;    /**< that count */
	uint64_t left_out; /**< where zero, an infinity or NaN is expected */
	uint64_t exact;    /**< of the lanes that count */
	uint64_t near;     /**< no more than one unit in the last place off, exact ones included */
	uint64_t infinite; /**< whose result is no finite number; left out of the mean square */
	double average, median, minimum;
	double mean_square; /**< error */
};

/** All operations together. */
#define ACCURACY_ALL 0

/** Of each operation, by enum netfc_op, and of all together. */
struct accuracies {
	struct accuracy of[NETFC_DIV + 1];
};

/**
 * Find the accuracy of all right replies.
 *
 * @return 0, or -1 (reported on stderr) if memory is short
 */
int accuracy_find(const struct workload *workload, struct accuracies *accuracies);

#endif /* CHECK_H */
