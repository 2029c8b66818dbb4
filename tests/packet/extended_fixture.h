/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXTENDED_FIXTURE_H
#define EXTENDED_FIXTURE_H

/**
 * @file
 * Requests of extended operations through a pipeline; what comes out, beside the
 * library.
 */

#include <stdint.h>

#include "packets.h"
#include "pipeline_fixture.h"

#define ENTRIES NETFC_FUNCTION_ENTRIES
#define MAX_FUNCTIONS 64
/** An operation above those of the library. */
#define OWN 193

struct fixture {
	struct pipeline_fixture base;
	struct pipeline_function functions[2 * MAX_FUNCTIONS];
	uint16_t z[2 * MAX_FUNCTIONS][ENTRIES];
	uint8_t flags[2 * MAX_FUNCTIONS][ENTRIES];
};

/** What a request asks for: x, y and z. */
struct asked {
	unsigned int op, format;
	uint16_t lanes;
	uint16_t x[1024], y[1024], z[1024];
};

/** A table set of fp16 alone, and no function. */
int extended_set_up(void **state);

int extended_tear_down(void **state);

/** Add a function of the library to what the pipeline is to be made of. */
void
extended_add_known(struct fixture *f, const struct netfc_function *function, unsigned int format);

/** Add one whose entries are in the fixture already. */
void extended_add_function(struct fixture *f, unsigned int number, unsigned int format);

/** A request of operands among which those that matter are many. */
void extended_fill_request(struct asked *request, unsigned int op, unsigned int format,
	uint16_t lanes, uint64_t *seed);

/** Requests as one burst, cut into segments; frames are what comes out. */
void extended_process(struct fixture *f, const struct asked *asked, uint8_t (*frames)[8192],
	unsigned int count, uint32_t cut);

/** Results, flags and checksum are right. */
void extended_check_reply(const struct fixture *f, const uint8_t *frame, const struct asked *asked);

/** Refused with a code, and otherwise as it was. */
void extended_check_error(const uint8_t *frame, const struct asked *asked, enum netfc_status code);

#endif /* EXTENDED_FIXTURE_H */
