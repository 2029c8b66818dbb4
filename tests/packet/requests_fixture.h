/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REQUESTS_FIXTURE_H
#define REQUESTS_FIXTURE_H

/**
 * @file
 * Requests through a pipeline with the table sets of fp16 and perhaps of another format, and with
 * functions; their replies against the reference.
 */

#include "cases.h"
#include "packets.h"
#include "pipeline_fixture.h"

#define MAX_LANES 5457u /**< of 32 bits in a datagram over IPv4 */
#define MAX_FUNCTIONS 128

/** A request. */
struct asked {
	unsigned int op, format, lanes;
	unsigned int slot; /**< bytes of an operand on the wire */
	uint32_t x[MAX_LANES], y[MAX_LANES], z[MAX_LANES];
};

struct fixture {
	struct pipeline_fixture base;
	struct asked asked[PIPELINE_BURST];
	/** Those of the configuration, and their values and exception flags. */
	struct pipeline_function functions[MAX_FUNCTIONS];
	uint16_t z[MAX_FUNCTIONS][NETFC_FUNCTION_ENTRIES];
	uint8_t flags[MAX_FUNCTIONS][NETFC_FUNCTION_ENTRIES];
	/** The requests' frames, then the replies'. */
	uint8_t frames[PIPELINE_BURST][PACKET_HEADERS + MAX_LANES * NETFC_WIDE_LANE_BYTES];
};

/** Load fp16_k8 and another table set, or NULL for none. Returns 0. */
int requests_set_up(void **state, const char *set_name);

int requests_tear_down(void **state);

void requests_create_pipeline(struct fixture *f, enum match_kind match, enum vector_isa isa);

/** Add a function of the library to what the pipeline is to be made of. */
void requests_add_known(struct fixture *f, unsigned int number, unsigned int format);

/** Add one whose entries are in the fixture already. */
void requests_add_function(struct fixture *f, unsigned int number, unsigned int format);

/** Set everything but the operands. */
void request_set(struct asked *request, unsigned int op, unsigned int format, unsigned int lanes);

/** Make a request with operands from fp32_random_pairs(), cut to the slot. */
void request_ask(struct asked *request, unsigned int op, unsigned int format, unsigned int lanes,
	uint64_t *seed);

/** Make a request with operands of 16 bits among which those that matter are many. */
void request_ask_edges(struct asked *request, unsigned int op, unsigned int format,
	unsigned int lanes, uint64_t *seed);

/** Length in bytes of a request's frame. */
uint32_t request_length(const struct asked *request);

/** Write the frame of the request at an index. Padding is not 0. */
void request_write(struct fixture *f, unsigned int index);

/** Send the first frames, of these lengths, as one burst, cut into segments. */
void frames_process(struct fixture *f, const uint32_t *lengths, unsigned int count, uint32_t cut);

/** Write and send the first requests. */
void requests_process(struct fixture *f, unsigned int count, uint32_t cut);

/** z of a lane of the frame at an index. */
uint32_t request_result(const struct fixture *f, unsigned int index, unsigned int lane);

/** The reply at an index has the right results, flags and checksum, and nothing else changed. */
void request_check_reply(const struct fixture *f, unsigned int index);

/** The request at an index is refused with a code, and nothing else changed. */
void request_check_error(const struct fixture *f, unsigned int index, enum netfc_status code);

/** A request is refused with a code; those of fp16 before and after it are computed. */
void requests_check_refused(
	struct fixture *f, unsigned int op, unsigned int format, enum netfc_status code);

/**
 * Run the tests of a program for the table set that its only argument names.
 *
 * @return the exit status
 */
int requests_main(int argc, char **argv, const char **set_name, unsigned int *format);

#endif /* REQUESTS_FIXTURE_H */
