/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_H
#define AGGREGATE_H

/**
 * @file
 * Aggregation: element-wise sums, means, minima and maxima of vectors that many workers send,
 * correctly rounded, the same bits in whatever order they come.
 *
 *  - aggregate_format.h: formats, operations, instruction sets; chunks for one worker, or from one
 *  - aggregate_lanes.h: exact accumulators for many lanes
 *  - aggregate_wire.h: requests and replies on the wire
 *  - aggregate_slot.h: one chunk's life, and the verdict on a packet
 *  - aggregate_table.h: jobs, and all of it together; tags, where there is a key
 *  - aggregate_digits.h: exact partial sums
 *  - aggregate_leaf.h: trees of switches
 *  - aggregate_tag.h: how tags are computed
 *
 * Plain C, no ports, no DPDK. A server's loop, for each packet:
 * @code
 * code = aggregate_shard_read(shard, payload, length, &request, &seal);
 * if (code == AGGREGATE_NOT_OURS || code == AGGREGATE_FORGED) leave it alone
 * if (code != 0) aggregate_refuse(payload, length, code, 0) and send it back
 * aggregate_shard_packet(shard, &request, &sender, now, &outcome);
 * switch (aggregate_action_send(outcome.action)) {
 * AGGREGATE_SEND_NOTHING: drop the packet
 * AGGREGATE_SEND_REPLY: length = aggregate_write_reply(payload, length, &outcome),
 *	aggregate_seal_reply(&seal, payload, length), send it back
 * AGGREGATE_SEND_RESULT: the same; the reply may be longer or shorter than the request
 * AGGREGATE_SEND_RESULTS: for each worker w: aggregate_build_result() into a packet to
 *	aggregate_worker_sender(shard, outcome.index, w), port outcome.entry->ports[w]
 * AGGREGATE_SEND_UPWARDS: see aggregate_leaf.h
 * }
 * @endcode
 * and once a round: aggregate_shard_quiescent(); on shard 0 now and then aggregate_table_poll().
 */

#include "aggregate_slot.h"
#include "aggregate_digits.h"
#include "aggregate_format.h"
#include "aggregate_lanes.h"
#include "aggregate_leaf.h"
#include "aggregate_table.h"
#include "aggregate_wire.h"

#endif /* AGGREGATE_H */
