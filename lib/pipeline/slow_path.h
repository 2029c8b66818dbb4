/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_SLOW_PATH_H
#define PIPELINE_SLOW_PATH_H

/**
 * @file
 * The slow path: any request, alone, wherever its segments end. It also decides about requests that
 * are refused, and about queries.
 */

#include "frame.h"
#include "kernel_groups.h"
#include "pipeline.h"

/** What it does with requests. */
struct slow_path {
	uint16_t udp_port; /**< of requests, in host order */
	bool queries;      /**< they are left to pipeline_answer_query() */
	const struct groups *groups;
};

/** What has become of a packet. */
struct slow_path_result {
	bool answered;
	enum netfc_status code; /**< of the reply, if answered */
	uint8_t op;             /**< likewise */
	uint8_t flags;          /**< exceptions of its lanes, */
	uint32_t lanes;         /**< if they have been computed */
};

/** Whether a packet is a request, be it one to be answered with an error. See slow_path_run(). */
bool slow_path_is_request(
	const struct slow_path *slow_path, const struct rte_mbuf *mbuf, struct frame *frame);

/**
 * Answer a packet if it is a request.
 *
 * @param frame of frame_parse()
 */
struct slow_path_result
slow_path_run(const struct slow_path *slow_path, struct rte_mbuf *mbuf, struct frame *frame);

/** See pipeline_answer_query(). */
void slow_path_answer_query(
	struct rte_mbuf *mbuf, struct frame *frame, const struct pipeline_answer *answer);

#endif /* PIPELINE_SLOW_PATH_H */
