/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_LEAF_H
#define AGGREGATE_LEAF_H

/**
 * @file
 * Trees: a switch as a member of another one, its parent (struct aggregate_limits).
 *
 * A job whose place has levels joins the parent once all of its own members have joined: under the
 * same number and token, as the member that the first level names, with the rest of the list. Its
 * members are granted what the parent grants, or less. A chunk that all members have sent goes to
 * the parent, sums as digits, least and greatest as values; the parent's result is stored and goes
 * to all members. No timer is needed: when a member retransmits, the sums are sent again. The
 * parent's refusals are passed down to all members at once, and repeated to a member that
 * retransmits. A job that ends leaves the parent; a job that fails leaves at once. A job that the
 * parent no longer knows ends here as well.
 *
 * An owner's chunks (aggregate_format.h) are refused in trees: MISMATCH. Barriers go up.
 *
 * ## Who may call what
 * Joins and leaves to the parent are sent from UDP port P, by the thread of this switch's shard 0.
 * Shard s sends its chunks from port P + s, to the parent's port that aggregate_leaf_port()
 * returns: the parent may have another number of shards. A reply comes to the port that the request
 * was sent from, and goes to that shard's thread. A packet to these ports for which
 * aggregate_shard_read() returns NOT_OURS may be a reply: aggregate_leaf_read() decides.
 *
 * For each such reply:
 * @code
 * aggregate_leaf_reply(shard, &reply, &sender, now, &outcome);
 * if (aggregate_action_send(outcome.action) == AGGREGATE_SEND_RESULTS) as for a request: `reply` is
 *	then what aggregate_build_result() takes, values aside: those are outcome.entry->result;
 *	aggregate_leaf_seal() is what to tag them with
 * @endcode
 * For each outcome that is AGGREGATE_SEND_UPWARDS, before the shard's next packet:
 * @code
 * packets = aggregate_leaf_packets(shard, &outcome);
 * for (i = 0; i < packets; i++)
 *	length = aggregate_leaf_write(shard, &outcome, i, payload), send that to
 *	UDP port aggregate_leaf_port(shard, &outcome) of the parent
 * @endcode
 * And periodically, as often as aggregate_table_poll(), on shard 0:
 * @code
 * while (aggregate_leaf_poll(shard, now, &message))
 *	length = aggregate_leaf_build(shard, &message, payload), send that to the parent's UDP port
 * @endcode
 */

#include "aggregate_table.h"

/**
 * Get the next join or leave to send to the parent.
 *
 * @param shard shard 0
 * @return false: none is due
 */
bool
aggregate_leaf_poll(struct aggregate_shard *shard, uint64_t now, struct aggregate_message *message);

/**
 * Write it.
 *
 * @param payload aggregate_message_bytes(message), and AGGREGATE_TAG_BYTES if there is a cluster's
 *   key
 * @return its bytes, with its tag if there is one
 */
size_t aggregate_leaf_build(
	struct aggregate_shard *shard, const struct aggregate_message *message, uint8_t *payload);

/** The parent's UDP port that an outcome's chunk goes to. */
uint16_t
aggregate_leaf_port(const struct aggregate_shard *shard, const struct aggregate_outcome *outcome);

/** Packets that a chunk needs on its way up, at least 1. */
unsigned int
aggregate_leaf_packets(struct aggregate_shard *shard, const struct aggregate_outcome *outcome);

/**
 * Write one of them.
 *
 * @param packet 0 .. aggregate_leaf_packets() - 1
 * @param payload AGGREGATE_HEADER_BYTES, the limits' bytes, and AGGREGATE_TAG_BYTES if there is a
 *   cluster's key
 * @return its bytes, with its tag if there is one
 */
size_t aggregate_leaf_write(struct aggregate_shard *shard, const struct aggregate_outcome *outcome,
	unsigned int packet, uint8_t *payload);

/**
 * Read a reply, as aggregate_parse_reply(), and check its tag if tags are in use.
 *
 * @param length the tag's included
 * @return 0; AGGREGATE_NOT_OURS; or AGGREGATE_FORGED: counted as BAD_TAG
 */
int aggregate_leaf_read(struct aggregate_shard *shard, const uint8_t *payload, size_t length,
	struct aggregate_message *reply);

/** The seal for results and refusals that are passed down. */
void aggregate_leaf_seal(const struct aggregate_shard *shard,
	const struct aggregate_outcome *outcome, struct aggregate_seal *seal);

/**
 * Process a reply: check its source, port, session, id, and that a chunk waits for it; count it.
 *
 * @param shard the one that it came to
 * @param reply as aggregate_leaf_read() gave it; HANDED_DOWN, REFUSAL_DOWN: turned into a request
 * of the chunk, with `code` and `reason` if it is refused
 * @param outcome HANDED_DOWN, REFUSAL_DOWN, PARENT_ANSWERED, STRAY_REPLY or FORGED_REPLY
 */
void aggregate_leaf_reply(struct aggregate_shard *shard, struct aggregate_message *reply,
	const struct aggregate_sender *sender, uint64_t now, struct aggregate_outcome *outcome);

#endif /* AGGREGATE_LEAF_H */
