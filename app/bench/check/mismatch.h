/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MISMATCH_H
#define MISMATCH_H

/** @file What can be wrong with a reply: counted by kind, the first few kept. */

#include <stdint.h>
#include <stdio.h>

#include <netfc.h>

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

/** The name of a kind, for programs, and its meaning, for people. */
const char *mismatch_name(enum mismatch kind);
const char *mismatch_meaning(enum mismatch kind);

/** The name of a status code; "unknown" for others. */
const char *mismatch_status_name(unsigned int code);

/** Print counts and examples; nothing if there are none. */
void
mismatch_print(FILE *out, const struct mismatches *mismatches, const struct netfc_format *format);

#endif /* MISMATCH_H */
