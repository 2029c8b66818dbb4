/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TIMING_H
#define TIMING_H

/** @file One thing alone, timed. Errors are reported on stderr. */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <rte_mempool.h>

#include "match.h"
#include "options/options.h"
#include "pipeline.h"

#define PROGRAM "netfc-timing"

/** What --time takes besides the path of a capture. */
#define TIME_SUMS "sums"
#define TIME_TAGS "tags"

/** What the user asked for; strings belong to argv. */
struct timing_options {
	const char *time;                   /**< TIME_SUMS, TIME_TAGS or a capture */
	struct aggregate_options aggregate; /**< of sums and tags */
	double seconds;                     /**< of each of their figures */
	enum match_kind match;
	const char *tables;    /**< as dpdk-netfc takes them */
	const char *functions; /**< likewise; NULL: none */
	uint32_t rounds;       /**< of each figure */
};

/** Exact sums in memory, by format, operation, instruction set and data. 0 or -1. */
int time_sums(const struct timing_options *options);

/** Tags checked and made, by engine and size; and keys. 0, or -1: a tag was wrong, too. */
int time_tags(const struct timing_options *options);

struct capture;

/**
 * The parts of the pipeline, in TSC cycles, on the packets of a capture. The EAL has started.
 *
 * @return an object, or NULL
 */
json_t *time_capture(const struct timing_options *options, const struct capture *capture);

/* The packets of a capture file. */

/** The longest frame that is taken. */
#define CAPTURE_FRAME_BYTES 2048

/** Packets, and, if they are requests identical except for their operands, what those are. */
struct capture {
	uint32_t packets;
	uint16_t *length; /**< of each frame */
	uint8_t *frames;  /**< `packets` times CAPTURE_FRAME_BYTES */
	bool uniform;     /**< one operation, format and number of lanes, over IPv4 */
	unsigned int op, format;
	uint32_t lanes;  /**< of each packet */
	uint32_t *x, *y; /**< operands, `packets` times `lanes` each */
};

/**
 * Read a capture. Errors are reported on stderr.
 *
 * @return 0 or -1; capture_free() frees in both cases
 */
int capture_read(const char *path, struct capture *capture);

/** Free what capture_read() has allocated. */
void capture_free(struct capture *capture);

/** A packet's frame. */
static inline const uint8_t *
capture_frame(const struct capture *capture, uint32_t packet)
{
	return capture->frames + (uint64_t)packet * CAPTURE_FRAME_BYTES;
}

/** A result in a frame of a uniform capture, computed meanwhile. */
uint32_t capture_result(const struct capture *capture, const uint8_t *frame, uint32_t lane);

/** The status byte of such a frame. */
uint8_t capture_status(const uint8_t *frame);

/*
 * What is timed of a capture: whole packets through the pipeline, classification, and the swap of
 * addresses. If its requests are uniform, also the look-ups of their lanes alone, by DPDK's library
 * or through a match engine, and the steps of their program one by one. All in TSC cycles for one
 * pass over all packets.
 */

/** The keys of one look-up step for all lanes of the capture, and where they are looked up. */
struct look_up {
	const struct netfc_table *table;
	/** By the match engine measured, or an array where that is too large. */
	struct match_stage *stage;
	bool is_shared; /**< the stage is an earlier look-up's, too */
	bool is_match;  /**< false: the decision table, an array for all engines */
	uint32_t *keys;
};

/** All that is measured. */
struct parts {
	enum match_kind kind;
	const struct capture *capture;
	const struct pipeline *pipeline;
	struct pipeline_worker *worker;
	struct rte_mempool *pool;
	struct rte_mbuf *burst[PIPELINE_BURST]; /**< always the same, as from a pool's cache */
	/** Of uniform requests. */
	const struct netfc_set *set; /**< NULL: there are none, or no set for them */
	const struct netfc_program *program;
	uint32_t lanes; /**< of all packets together */
	unsigned int look_up_count;
	struct look_up look_up[NETFC_MAX_STEPS]; /**< in the program's order */
	bool has_stages;                         /**< false: the engine computes without tables */
};

/** Cycles of one pass, by step of the program. */
struct step_cycles {
	uint64_t step[NETFC_MAX_STEPS];
};

/** Find the keys of all look-ups and make their stages. 0, or -1, reported on stderr. */
int look_ups_create(struct parts *parts);
void look_ups_free(struct parts *parts);

/** The look-ups that go through match stages. */
uint64_t measure_look_ups(const struct parts *parts);

/** Whether measure_bare() has something to measure: the engine is on top of a library of DPDK. */
bool can_measure_bare(const struct parts *parts);

/** The same look-ups by the library's bulk look-up alone, its keys prepared as it wants them. */
uint64_t measure_bare(const struct parts *parts);

/** Every step of the program, over batches. */
void measure_steps(const struct parts *parts, struct step_cycles *cycles);

#endif /* TIMING_H */
