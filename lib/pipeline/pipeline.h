/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_H
#define PIPELINE_H

/**
 * @file
 * A burst of packets through the match stages: parse, gather lanes, stages, write back in place.
 *
 * Each packet is parsed once. The lanes of all requests of a burst, whatever their packets, are
 * gathered into batches, one per table set and operation, which go through the set's program stage
 * by stage, or at once through a kernel; a kernel computes many lanes of one packet where they are.
 * Results, status and checksum are then written into the packets; nothing is ever dropped,
 * allocated, logged or locked here.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include <netfc.h>

#include "frame.h"
#include "kernel_groups.h"
#include "match.h"
#include "vector.h"

/** Packets per burst at most. */
#define PIPELINE_BURST 64

/** The kernels of all that is computed. It never changes, so lcores share it. */
struct pipeline;

struct classifier;

/** An lcore's working memory. */
struct pipeline_worker;

/** What an lcore counts. It alone writes; others may read at any time. */
struct pipeline_counters {
	uint64_t netfc_packets;            /**< requests, those answered with an error included */
	uint64_t lanes;                    /**< lanes computed */
	uint64_t errors[NETFC_STATUS_END]; /**< requests by the status code of their reply */
	uint64_t exceptions[4]; /**< replies by exception flag: bit 0 invalid, ... 3 underflow */
	/** Requests computed of extended operations, by number, from NETFC_MIN on. */
	uint64_t extended[UINT8_MAX + 1];
};

/** A function of one number, of a user's own or one of libnetfc. */
struct pipeline_function {
	const char *name; /**< shorter than NETFC_FUNCTION_NAME_SIZE */
	uint8_t number, format;
	const uint16_t *z;    /**< of every x, NETFC_FUNCTION_ENTRIES; NULL: slots of 32 bits */
	const uint8_t *flags; /**< as many */
};

/** What a pipeline is made of. */
struct pipeline_config {
	enum match_kind match;
	enum vector_isa isa; /**< the best that kernels may use, up to vector_isa_best() */
	uint16_t udp_port;   /**< in host order */
	bool queries;        /**< leave queries to pipeline_answer_query(), do not refuse them */
	int socket_id;       /**< NUMA node of its memory, or SOCKET_ID_ANY */
	/** Table sets by format; NULL: not loaded. They must outlive the pipeline. */
	const struct netfc_set *sets[NETFC_SET_FORMAT_END];
	/** Functions; each number and format once. They are not needed any more afterwards. */
	const struct pipeline_function *functions;
	unsigned int function_count;
};

/**
 * Make the stages of all table sets. The EAL must have been initialised.
 *
 * @param config what to make them of
 * @param pipeline where the new pipeline goes; free it with pipeline_free()
 * @return 0; an error of match_create() or vector_create(); -E2BIG (too many functions); or -EEXIST
 * (two functions of one number and format)
 */
int pipeline_create(const struct pipeline_config *config, struct pipeline **pipeline);

/** What a pipeline begins with, see classify(). */
const struct classifier *pipeline_classifier(const struct pipeline *pipeline);

/** Free a pipeline; NULL is allowed. */
void pipeline_free(struct pipeline *pipeline);

/**
 * What computes a format, human-readable.
 *
 * @return the description of its kernel, or NULL: match stages, step by step
 */
const char *pipeline_describe_kernel(const struct pipeline *pipeline, unsigned int format);

/**
 * Make the working memory of one lcore.
 *
 * @return the worker, or NULL where memory is short; free it with pipeline_worker_free()
 */
struct pipeline_worker *pipeline_worker_create(const struct pipeline *pipeline, int socket_id);

/** Free an lcore's working memory; NULL is allowed. */
void pipeline_worker_free(struct pipeline_worker *worker);

/** What the worker has counted. */
const struct pipeline_counters *pipeline_worker_counters(const struct pipeline_worker *worker);

/** Looks at requests before they are computed. */
struct pipeline_gate {
	/**
	 * Whether a request is to be computed and answered; frame->refused is set where it is not.
	 * It may complete the UDP checksum, in the packet and in frame->checksum, and move bytes
	 * into the first segment.
	 */
	bool (*admit)(const void *context, struct rte_mbuf *mbuf, struct frame *frame);
	const void *context;
};

/**
 * Parse and compute a burst, in place.
 *
 * @param worker the calling lcore's
 * @param mbufs packets, exclusively owned, in one or more segments each
 * @param frames what each of them is goes here, for forwarding
 * @param count 0..PIPELINE_BURST
 */
void pipeline_process(struct pipeline_worker *worker, struct rte_mbuf **mbufs, struct frame *frames,
	uint16_t count);

/** The same of the requests that a gate lets in; NULL: of all. */
void pipeline_process_admitted(struct pipeline_worker *worker, const struct pipeline_gate *gate,
	struct rte_mbuf **mbufs, struct frame *frames, uint16_t count);

/** What a query is answered with. */
struct pipeline_answer {
	uint16_t ratio;       /**< connections per byte, fp16 */
	uint32_t connections; /**< open now */
	uint64_t bytes;
};

/** The IPv4 address, in host order, that a packet with frame->query asks about. */
uint32_t pipeline_query_destination(struct rte_mbuf *mbuf, const struct frame *frame);

/**
 * Answer a packet with frame->query, which becomes frame->answered. The counters after the ratio
 * are written where the datagram has space for them.
 *
 * @param worker the calling lcore's
 */
void pipeline_answer_query(struct pipeline_worker *worker, struct rte_mbuf *mbuf,
	struct frame *frame, const struct pipeline_answer *answer);

#endif /* PIPELINE_H */
