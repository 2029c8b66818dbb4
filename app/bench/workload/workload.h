/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WORKLOAD_H
#define WORKLOAD_H

/**
 * @file
 * Requests made before the run, each with the reply that it must get; and their operands.
 */

#include <stddef.h>
#include <stdint.h>

#include <netfc.h>

#include "options/options.h"

/* Pairs of operands: drawn at random, or read from a file. */

/** Two operands of one lane. */
struct pair {
	uint32_t x, y;
};

/** Pairs; after the last one, the first one is used again. */
struct operands {
	struct pair *pairs;
	size_t count;
	size_t capacity; /**< pairs that there is memory for */
};

/**
 * Get pairs as --operands asks for them. A file is text, or big-endian words if its name ends in
 * .bin. Errors are reported on stderr.
 *
 * @param wanted how many to draw; a file is read whole
 * @param operands empty at first; operands_free() frees them in any case
 * @return 0 or -1
 */
int operands_get(const struct options *options, const struct netfc_format *format, size_t wanted,
	struct operands *operands);

/** Free them. */
void operands_free(struct operands *operands);

/*
 * The workload: different requests, made before the run, each with the reply that it must get. They
 * are sent one after the other, from the first one again after the last, each time with another id.
 * So the run itself copies and compares bytes, and never computes.
 */

/** A function's table, where --op is one. */
struct function_table {
	const struct netfc_function *wide; /**< its slots have 32 bits; NULL: it has a table */
	uint16_t z[NETFC_FUNCTION_ENTRIES];
	uint8_t flags[NETFC_FUNCTION_ENTRIES];
};

/** A request and its reply. */
struct request {
	uint8_t *frame;     /**< the frame; id 0, z all wrong, UDP checksum zero */
	uint8_t *reply;     /**< the NetFC header, id 0, and x, y, z */
	uint16_t frame_sum; /**< what its UDP checksum covers, summed, without the id */
	uint16_t reply_sum; /**< the same of the reply */
	uint8_t op;         /**< as on the wire */
	uint64_t right;     /**< right replies so far */
};

struct workload {
	const struct netfc_set *set;
	const struct function_table *function; /**< NULL: another operation */
	struct flow flow;
	uint32_t count;          /**< requests */
	uint32_t lanes;          /**< of each request */
	uint32_t slot_bytes;     /**< of an operand of a lane */
	uint32_t operand_bytes;  /**< of x, and so of y and of z */
	uint32_t frame_length;   /**< of a request, and of a reply */
	uint32_t payload_offset; /**< of the NetFC header in a frame */
	uint32_t payload_length;
	struct request *requests;
	uint8_t *bytes; /**< memory of all requests and replies */
};

/**
 * Get the operands of a workload: read them all from a file, or draw as many as are needed. Errors
 * are reported on stderr.
 *
 * @param operands operands_free() frees them
 * @return 0 or -1
 */
int workload_get_operands(
	const struct options *options, const struct netfc_set *set, struct operands *operands);

/**
 * Make the workload. Errors are reported on stderr.
 *
 * @param set, function what the replies are computed with; NULL: no function
 * @param workload workload_free() frees it
 * @return 0 or -1
 */
int workload_create(const struct options *options, const struct netfc_set *set,
	const struct function_table *function, const struct operands *operands,
	struct workload *workload);

/** Free it. */
void workload_free(struct workload *workload);

/** A lane's x (which: 0), y (1) or z (2) in a NetFC payload. */
static inline uint32_t
workload_operand(
	const struct workload *workload, const uint8_t *payload, unsigned int which, uint32_t lane)
{
	const uint32_t width = workload->slot_bytes;
	const uint8_t *slot = payload + sizeof(struct netfc_hdr) +
		(size_t)which * workload->operand_bytes + (size_t)lane * width;
	uint32_t word = 0;

	for (uint32_t b = 0; b < width; b++)
		word = word << 8 | slot[b];
	return word;
}

#endif /* WORKLOAD_H */
