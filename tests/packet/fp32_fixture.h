/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FP32_FIXTURE_H
#define FP32_FIXTURE_H

/**
 * @file
 * Requests of lanes of 32 bits, and of 16 beside them, through a pipeline; what comes out, beside
 * the reference.
 */

#include <stdint.h>

#include "packets.h"
#include "pipeline_fixture.h"

#define MOST_LANES 5457u /**< of a datagram over IPv4 */

/** A request. */
struct asked {
	unsigned int op, format, lanes;
	uint32_t x[MOST_LANES], y[MOST_LANES], z[MOST_LANES];
};

struct fixture {
	struct pipeline_fixture base;
	struct asked asked[PIPELINE_BURST];
	/** Of what is asked; then what comes out. */
	uint8_t frames[PIPELINE_BURST][PACKET_HEADERS + MOST_LANES * NETFC_WIDE_LANE_BYTES];
};

/** Table sets of fp16 and fp32. */
int fp32_set_up(void **state);

int fp32_tear_down(void **state);

void fp32_create_pipeline(struct fixture *f, enum match_kind match, enum vector_isa isa);

/** Ask for an operation with operands that matter or are random. */
void fp32_ask(struct asked *request, unsigned int op, unsigned int format, unsigned int lanes,
	uint64_t *seed);

/** Length in bytes of a request's frame. */
uint32_t fp32_length(const struct asked *request);

/** Write the frame of what is asked at an index. */
void fp32_write_request(struct fixture *f, unsigned int index);

/** Send the first frames, of these lengths, as one burst, cut into segments. */
void fp32_process(struct fixture *f, const uint32_t *lengths, unsigned int count, uint32_t cut);

/** Send the first of what is asked. */
void fp32_process_requests(struct fixture *f, unsigned int count, uint32_t cut);

/** What came out at an index has the right results, flags and checksum. */
void fp32_check_reply(const struct fixture *f, unsigned int index);

/** It is refused with a code, and otherwise as it was. */
void fp32_check_error(const struct fixture *f, unsigned int index, enum netfc_status code);

#endif /* FP32_FIXTURE_H */
