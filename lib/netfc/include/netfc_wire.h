/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_WIRE_H
#define NETFC_WIRE_H

/**
 * @file
 * The NetFC header, version 1. It follows the UDP header; docs/protocol.md describes the protocol.
 *
 * The header is followed by x[n], y[n] and z[n], 16 bits each, those of binary32 32 bits, those of
 * formats of 8 bits 8; n is `count`. x, y and z of 8 bits are each filled up to an even number of
 * bytes. All numbers are big-endian.
 */

#include <stdint.h>

#include "netfc_format.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NETFC_UDP_PORT 20038 /**< unless configured */
#define NETFC_MAGIC 0x4e46   /**< "NF" */
#define NETFC_WIRE_VERSION 1
#define NETFC_OP_QUERY 16         /**< not arithmetic: the Slowloris query */
#define NETFC_OP_NAME 192         /**< likewise: the number of an operation by its name */
#define NETFC_NAME_LANES 8        /**< of such a request: x and y hold the name, padded with NUL */
#define NETFC_LANE_BYTES 6        /**< x, y and z */
#define NETFC_WIDE_LANE_BYTES 12  /**< likewise, of binary32 */
#define NETFC_NARROW_LANE_BYTES 3 /**< likewise, of formats of 8 bits */
/** The conversion to binary32, whose slots have 32 bits in every format. */
#define NETFC_TO_FP32 101
/** Functions from here up to the next two numbers have slots of 16 bits in a format of 8 bits, */
#define NETFC_WIDENED_OPS_FIRST 97
#define NETFC_WIDENED_OPS_LAST 143
/** but for these, from formats of 8 bits to formats of 8 bits. */
#define NETFC_TO_FP8_FIRST 104
#define NETFC_TO_FP8_LAST 109

/** The header. */
struct netfc_hdr {
	uint16_t magic;  /**< NETFC_MAGIC */
	uint8_t version; /**< NETFC_WIRE_VERSION */
	uint8_t op;      /**< enum netfc_op, netfc_extra_op, a function, or one of the above */
	uint8_t format;  /**< enum netfc_format_id */
	uint8_t status;  /**< request: 0; reply: see below */
	uint16_t count;  /**< lanes, at least 1 */
	uint32_t id;     /**< chosen by the sender, never changed */
} __attribute__((packed));

/** The bytes of a slot. */
static inline uint32_t
netfc_wire_slot_bytes(unsigned op, unsigned format)
{
	if (format == NETFC_FP32 || op == NETFC_TO_FP32)
		return 4;
	if (format != NETFC_FP8_E4M3 && format != NETFC_FP8_E5M2)
		return 2;
	if (op == NETFC_OP_NAME)
		return 2;
	return op >= NETFC_WIDENED_OPS_FIRST && op <= NETFC_WIDENED_OPS_LAST &&
			(op < NETFC_TO_FP8_FIRST || op > NETFC_TO_FP8_LAST)
		? 2
		: 1;
}

/** The bytes of x, and so of y and of z, of so many lanes. */
static inline uint32_t
netfc_wire_operand_bytes(unsigned op, unsigned format, uint32_t lanes)
{
	const uint32_t bytes = lanes * netfc_wire_slot_bytes(op, format);

	return bytes + bytes % 2;
}

/** Set in `status`: this is a reply. Bits 6-4: the code. Bits 3-0: exception flags. */
#define NETFC_STATUS_REPLY 0x80
#define NETFC_STATUS_CODE_SHIFT 4

/** The status codes: X(symbol, value, name, meaning), in the order in which they are checked. */
#define NETFC_STATUS_CODES(X)                                                     \
	X(OK, 0, "ok", "computed")                                                \
	X(VERSION, 1, "version", "the version is not 1")                          \
	X(OP, 2, "op", "no such operation")                                       \
	X(FORMAT, 3, "format", "no such format, or its table set is not loaded")  \
	X(LENGTH, 4, "length", "no lanes, or the datagram is too short for them") \
	X(QUERY, 5, "query", "queries are off")                                   \
	X(LANES, 6, "lanes", "more lanes than this switch computes")

/** Status codes of a reply. */
enum netfc_status {
#define NETFC_STATUS_ENUM_(symbol, value, name, meaning) NETFC_STATUS_##symbol = (value),
	NETFC_STATUS_CODES(NETFC_STATUS_ENUM_)
#undef NETFC_STATUS_ENUM_
	NETFC_STATUS_END
};

#ifdef __cplusplus
}
#endif

#endif /* NETFC_WIRE_H */
