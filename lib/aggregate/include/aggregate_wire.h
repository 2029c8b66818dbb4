/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_WIRE_H
#define AGGREGATE_WIRE_H

/**
 * @file
 * Aggregation on the wire: the payload of a UDP datagram. All numbers are big-endian.
 *
 * The NetFC header (netfc_wire.h), 12 bytes more, then the values, which results overwrite. A join
 * has struct aggregate_join_wire in their place, and after it, if there is a tree of switches,
 * struct aggregate_place_wire. A sum or mean may have a part of exact partial sums in place of
 * values (aggregate_digits.h). Functions here work on plain memory: a contiguous payload, at any
 * address.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <netfc_arith.h>
#include <netfc_wire.h>

#include "aggregate_digits.h"
#include "aggregate_format.h"

#define AGGREGATE_UDP_PORT 20040  /**< of shard 0, unless configured; shard s: s more */
#define AGGREGATE_MAX_SHARDS 64   /**< of a switch */
#define AGGREGATE_HEADER_BYTES 24 /**< of struct aggregate_hdr */
#define AGGREGATE_STATUS_CODE 7   /**< the code in `status` that comes with a reason */

/** The header. */
struct aggregate_hdr {
	uint16_t magic;  /**< NETFC_MAGIC */
	uint8_t version; /**< NETFC_WIRE_VERSION */
	uint8_t op;      /**< enum aggregate_op */
	uint8_t format;  /**< enum aggregate_format, or AGGREGATE_INTO() of two; join and leave: not
			  * looked at */
	uint8_t status;  /**< as in struct netfc_hdr; a chunk's request: 0, AGGREGATE_LABELLED or
			  * AGGREGATE_OF_ZEROS */
	uint16_t count;  /**< values; join and leave: 0 */
	uint32_t id;     /**< the chunk's number; join and leave: any, chosen by the sender */
	uint16_t job;
	uint8_t worker; /**< 0 .. workers - 1 */
	uint8_t reason; /**< join: enum aggregate_feature; leave: why; chunk: AGGREGATE_OWNER +
			 * worker, or 0, and AGGREGATE_DIGITS; reply with AGGREGATE_STATUS_CODE:
			 * enum aggregate_reason; with code 0: enum aggregate_kind, a join's: enum
			 * aggregate_feature */
	union {
		uint64_t token;   /**< join: the job's secret */
		uint64_t session; /**< all else: identifies the job's incarnation */
	};
} __attribute__((packed));

/** Follows the header of a join. */
struct aggregate_join_wire {
	uint8_t workers; /**< of the job, 1 .. AGGREGATE_MAX_WORKERS */
	uint8_t shards;  /**< reply: chunk c goes to the UDP port of shard (c mod slots) mod shards
			  */
	uint16_t slots;  /**< asked for; reply: granted, a power of two */
	uint16_t bytes;  /**< maximum bytes of values in a chunk: requested; reply: granted */
	uint16_t least;  /**< request: the minimum it accepts, 0: none; reply: minimum bytes of
			    values in a chunk */
	union {
		uint64_t cookie;  /**< requests, and replies that refuse */
		uint64_t session; /**< reply with code 0; a member's request: keep-alive */
	};
	uint64_t incarnation; /**< of the process that joins, drawn for each join of a job: not 0 */
} __attribute__((packed));

/** What the sender of a join is or knows; in the reply: what the job's members may use. */
enum aggregate_feature {
	AGGREGATE_FEATURE_LABELS = 1,   /**< it knows labels; reply: all members do */
	AGGREGATE_FEATURE_LEAF = 2,     /**< it is a switch, and sends digits */
	AGGREGATE_FEATURE_ZEROS = 4,    /**< it knows chunks and results of zeros; reply: all do */
	AGGREGATE_FEATURE_DIVISORS = 8, /**< it knows divisors of digits; reply: all do */
};

/** Those that all members have to know. */
#define AGGREGATE_FEATURES_OF_ALL \
	(AGGREGATE_FEATURE_LABELS | AGGREGATE_FEATURE_ZEROS | AGGREGATE_FEATURE_DIVISORS)

/** In a chunk's byte `reason`: it carries a part in place of values. */
#define AGGREGATE_DIGITS 0x80

/**
 * In a request's status: a copy of nothing, with the label of the call that it begins in place of
 * values. All members' labels have to be the same.
 */
#define AGGREGATE_LABELLED 0x01
#define AGGREGATE_LABEL_BYTES 4

/**
 * In a request's status: all of the chunk's values are +0, and it is a header alone. A result of
 * that kind: AGGREGATE_ZEROS. In an encoding of any format, +0 is all zero bits.
 */
#define AGGREGATE_OF_ZEROS 0x02

/** Maximum switches above a worker's switch. */
#define AGGREGATE_MAX_LEVELS 4

/** Maximum workers of a tree. */
#define AGGREGATE_MAX_TREE_WORKERS (UINT32_C(1) << 24)

/** One level of a tree: the place of a switch's member. */
struct aggregate_level {
	uint8_t members; /**< 1 .. AGGREGATE_MAX_WORKERS */
	uint8_t index;   /**< less than that */
};

/** Follows struct aggregate_join_wire in a tree; then `levels` times struct aggregate_level, from
 * the lowest. */
struct aggregate_place_wire {
	uint8_t levels;
	uint8_t decided;
	uint16_t zero;
	uint32_t workers;
	uint32_t below; /**< workers behind the sender; a worker's: 1 */
} __attribute__((packed));

/** Why a request was refused: X(symbol, value, name, meaning). */
#define AGGREGATE_REASONS(X)                                                              \
	X(NONE, 0, "none", "not refused")                                                 \
	X(OFF, 1, "off", "this switch does not aggregate")                                \
	X(WAITING, 2, "waiting", "not all workers are here: join again")                  \
	X(NO_JOB, 3, "no-job", "no such job: never joined, or timed out")                 \
	X(MISMATCH, 4, "mismatch", "not what the others asked for")                       \
	X(FULL, 5, "full", "no job is left, or it takes fewer workers")                   \
	X(WINDOW, 6, "window", "the chunk is further ahead than the job's slots allow")   \
	X(COOKIE, 8, "cookie", "join again with the cookie of this reply")                \
	X(FAILED, 9, "failed", "leave: the worker gave up for a reason of its own")       \
	X(LOOP, 10, "loop", "the switch has the job at another level of its tree")        \
	X(PLACE, 11, "place", "no possible place in the tree, or not as the others'")     \
	X(NO_PARENT, 12, "no-parent", "the tree goes on above a switch without parent")   \
	X(PARENT, 13, "parent", "the switch above does not answer, or knows no trees")    \
	X(TAKEN, 14, "taken", "another process has the place, or another job the number") \
	X(DIGITS, 15, "digits", "no exact sums: the switch was started without digits=")  \
	X(NO_SLOTS, 16, "no-slots", "no slot is left")

/** Reasons; AGGREGATE_MISSING + w: worker w's values are missing, enum aggregate_absence. */
enum aggregate_reason {
#define AGGREGATE_REASON_ENUM_(symbol, value, name, meaning) AGGREGATE_REASON_##symbol = (value),
	AGGREGATE_REASONS(AGGREGATE_REASON_ENUM_)
#undef AGGREGATE_REASON_ENUM_
	AGGREGATE_MISSING = 64,
};

/**
 * Why a worker's values are missing: X(symbol, value, name, meaning). It is in the first byte of
 * the values of a reply with reason AGGREGATE_MISSING + w. The second byte, if any, is the reason
 * why the worker failed, or how many workers are silent, late or have left. In a reply without
 * values, the two bytes of count hold them. The upper four bits of the first byte are the level of
 * the switch that the worker is a member of: 0 for the switch that answers, 1 for its parent.
 */
#define AGGREGATE_ABSENCES(X)                                        \
	X(SILENT, 0, "silent", "nothing is heard from it")           \
	X(LATE, 1, "late", "it has not sent them, and may be alive") \
	X(LEFT, 2, "left", "it has left the job")                    \
	X(FAILED, 3, "failed", "it has failed, and says so")

enum aggregate_absence {
#define AGGREGATE_ABSENCE_ENUM_(symbol, value, name, meaning) AGGREGATE_ABSENT_##symbol = (value),
	AGGREGATE_ABSENCES(AGGREGATE_ABSENCE_ENUM_)
#undef AGGREGATE_ABSENCE_ENUM_
	AGGREGATE_ABSENCE_COUNT
};

/** An absence on the wire: this * level + enum aggregate_absence. */
#define AGGREGATE_ABSENCE_LEVEL 16

/** What the values of a result are. */
enum aggregate_kind {
	AGGREGATE_ROUNDED = 0,      /**< results */
	AGGREGATE_SUMS = 1,         /**< sums to be rounded, aggregate_registers.h */
	AGGREGATE_ACKNOWLEDGED = 2, /**< none: others get them, or nobody */
	AGGREGATE_ZEROS = 3,        /**< results, all of them +0, and no flag: it has none */
};

/**
 * The place in a tree of a join's sender, in host order. Switches join their parent with the rest
 * of their members' list.
 */
struct aggregate_place {
	uint8_t levels; /**< switches above the one that is joined */
	/**
	 * Reply: 1 + levels above the answering switch at which it was decided. 0 in requests, and
	 * in replies of switches that do not support trees.
	 */
	uint8_t decided;
	uint32_t workers; /**< of the whole tree; 0, and levels 0: there is no tree */
	uint32_t below;   /**< of them behind the sender; a worker's: 1 */
	struct aggregate_level level[AGGREGATE_MAX_LEVELS]; /**< of those above, from below */
};

/** What a join requests or is granted, in host order. */
struct aggregate_join {
	uint8_t workers;
	uint8_t shards;
	uint16_t slots;
	uint16_t bytes;
	uint16_t least;   /**< as on the wire; granted: smaller chunks are padded with zeros */
	uint8_t features; /**< enum aggregate_feature; of a reply with another code than 0: 0 */
	union {
		uint64_t cookie;
		uint64_t session;
	};
	uint64_t incarnation;
	struct aggregate_place place;
};

/** A request or a reply, in host order. */
struct aggregate_message {
	uint8_t op;     /**< enum aggregate_op */
	uint8_t format; /**< as on the wire; join and leave: anything */
	uint8_t worker;
	uint8_t owner;  /**< of a chunk's request: AGGREGATE_OWNER + worker, or 0 */
	uint8_t reason; /**< 0 in requests but leaves; results: enum aggregate_kind */
	uint8_t code;   /**< enum netfc_status or AGGREGATE_STATUS_CODE; 0 in requests */
	uint8_t flags;  /**< enum netfc_flag, of all lanes; 0 in requests */
	uint16_t count; /**< values */
	uint16_t job;
	uint8_t absence; /**< reason AGGREGATE_MISSING + w: enum aggregate_absence */
	uint8_t detail;  /**< of the absence; 0: not known */
	uint8_t level;   /**< of the absence: 0: the switch that answers; 1: its parent */
	uint32_t id;     /**< the chunk's number */
	uint32_t label;  /**< of the call that a copy of nothing begins; 0: none */
	union {
		uint64_t token;   /**< join */
		uint64_t session; /**< all else */
	};
	bool zeros;  /**< a chunk's request: its values are all +0, and `values` is NULL */
	bool marked; /**< by a router, that was congested (RFC 3168): whoever has the packet sets it
		      */
	const uint8_t *values;      /**< in the payload, big-endian; NULL: none */
	struct aggregate_part part; /**< in their place, in a request; parts 0: none */
	struct aggregate_join join; /**< of a join; else zero */
};

/** The name of a reason, "missing" from AGGREGATE_MISSING on; NULL: no such reason. */
const char *aggregate_reason_name(unsigned int reason);

/** The name of an absence: "late"; NULL: no such absence. */
const char *aggregate_absence_name(unsigned int absence);

/** Results of aggregate_parse_request() and aggregate_parse_reply() besides 0. */
#define AGGREGATE_NOT_OURS (-1) /**< no magic, too short to be answered, or the wrong direction */

/**
 * Read a request.
 *
 * @param payload, length the UDP datagram's
 * @param message filled in if 0 is returned
 * @return 0; AGGREGATE_NOT_OURS: not to be answered; or the code to answer with, see
 *   aggregate_refuse(): NETFC_STATUS_VERSION, _OP, _FORMAT or _LENGTH, checked in this order
 *   (_OP: no such operation or owner, or digits of another operation than sum and mean; _LENGTH: a
 *   reduction with count 0, a join or leave with values, a copy with values from another worker
 *   than its owner, a label that is 0 or not of a copy of nothing, zeros in place of no values or
 *   followed by anything, a part that is malformed, does not fit the format's digits and the
 *   chunk's lanes, has a divisor and is of no mean, or is followed by anything, or a payload that
 * is too short; it may be too long if there are values). A place in a tree is read unchecked, its
 * list only if it is no longer than the maximum of levels: aggregate_place_is_good().
 */
int
aggregate_parse_request(const uint8_t *payload, size_t length, struct aggregate_message *message);

/**
 * Read a reply, on the client's side.
 *
 * @return 0, and the message's code says whether it was refused; or AGGREGATE_NOT_OURS: not an
 *   aggregation's reply, too short for its values, or longer than its zeros
 */
int aggregate_parse_reply(const uint8_t *payload, size_t length, struct aggregate_message *message);

/** Whether there is a tree. */
static inline bool
aggregate_place_is_there(const struct aggregate_place *place)
{
	return place->levels != 0 || place->workers != 0;
}

/** Whether a join's place is valid: levels, members, indices and workers are in range. */
bool aggregate_place_is_good(const struct aggregate_join *join);

/** Whether a request has a part of digits in place of values. */
static inline bool
aggregate_has_digits(const struct aggregate_message *request)
{
	return request->part.parts != 0;
}

/** Whether all of so many bytes are 0, at any address. */
static inline bool
aggregate_is_zero(const uint8_t *bytes, size_t length)
{
	return length > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0;
}

/** Bytes of a request: header, and values, a part or a join's structs. */
size_t aggregate_message_bytes(const struct aggregate_message *message);

/**
 * Write a request, without its values or its part: they go to `payload + AGGREGATE_HEADER_BYTES`.
 *
 * @param payload at least aggregate_message_bytes(message)
 * @param message its code, flags, reason and values are ignored
 */
void aggregate_build_request(uint8_t *payload, const struct aggregate_message *message);

/**
 * Turn a request in place into a successful reply: writes status and reason, and keeps the rest.
 *
 * @param kind enum aggregate_kind of a result; a join's: enum aggregate_feature; else 0
 * @param flags enum netfc_flag
 */
void aggregate_accept(uint8_t *payload, uint8_t kind, uint8_t flags);

/**
 * Turn a request in place into a reply that refuses it.
 *
 * @param payload, length as aggregate_parse_request() had them
 * @param code what it returned, or AGGREGATE_STATUS_CODE
 * @param reason with AGGREGATE_STATUS_CODE: why
 */
void aggregate_refuse(uint8_t *payload, size_t length, uint8_t code, uint8_t reason);

/**
 * Write why a worker's values are missing into a reply that refuses for that reason.
 *
 * @param bytes of values in the reply; 0: it goes into count
 * @param absence enum aggregate_absence
 */
void aggregate_write_absence(
	uint8_t *payload, size_t bytes, uint8_t absence, uint8_t level, uint8_t detail);

/** Write what a join is granted, and the cookie or the session, into its reply. */
void aggregate_write_join(uint8_t *payload, const struct aggregate_join *join);

/**
 * Write a result for a worker: the header of its own request as a reply, then the values.
 *
 * @param payload AGGREGATE_HEADER_BYTES + bytes
 * @param request any worker's request of the chunk, in host order; with a `code`: it is refused for
 *   its `reason`, and a missing worker's `absence`, `level` and `detail`
 * @param worker whose result it is
 * @param kind enum aggregate_kind
 * @param flags enum netfc_flag
 * @param values, bytes as on the wire; may be the payload's values; 0 bytes: there are none
 */
void aggregate_build_result(uint8_t *payload, const struct aggregate_message *request,
	uint8_t worker, uint8_t kind, uint8_t flags, const uint8_t *values, size_t bytes);

/**
 * The session that a join's reply with code 0 grants. A switch with preconfigured jobs grants none
 * (0): the token serves as session.
 */
static inline uint64_t
aggregate_granted_session(const struct aggregate_message *reply)
{
	return reply->join.session != 0 ? reply->join.session : reply->token;
}

/** Which shard's UDP port a chunk is sent to; `slots` and `shards` as granted. */
static inline uint32_t
aggregate_shard_of(uint32_t chunk, uint32_t slots, uint32_t shards)
{
	return (chunk & (slots - 1)) % shards;
}

#endif /* AGGREGATE_WIRE_H */
