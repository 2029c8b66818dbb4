/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_WALK_H
#define PIPELINE_WALK_H

/**
 * @file
 * The general walk: any packet, alone, header by header, wherever its segments end. It also decides
 * about requests that are refused, and about queries.
 */

#include "branch.h"
#include "further_groups.h"
#include "request.h"

/** What it needs to know of a pipeline. */
struct walk {
	uint16_t udp_port; /**< in host order */
	bool queries;      /**< they are left to pipeline_answer_query() */
	uint32_t loaded;   /**< formats, a bit each */
	struct group group[GROUPS];
	struct further_groups further;
};

/** What has become of a packet. */
struct walked {
	bool answered;
	enum netfc_status code; /**< of the reply, if answered */
	uint8_t op;             /**< likewise */
	uint8_t flags;          /**< exceptions of its lanes, */
	uint32_t lanes;         /**< if they have been computed */
};

/**
 * Parse a packet, answer it if it is a request.
 *
 * @param frame what it is goes here
 * @param lanes an lcore's working memory, for stages
 */
struct walked walk_packet(const struct walk *walk, struct rte_mbuf *mbuf, struct frame *frame,
	struct netfc_lanes *lanes);

#endif /* PIPELINE_WALK_H */
