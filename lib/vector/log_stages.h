/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_STAGES_H
#define VECTOR_LOG_STAGES_H

/**
 * @file
 * The kernel that looks up in match stages, whatever they are made of, with the set's own keys: the
 * integer steps between them are joined into one loop each. For any format.
 */

#include "log_shape.h"
#include "match.h"

struct log_stages {
	struct vector_kernel kernel;
	const struct match_stage *log, *mi, *exp;
	int32_t guard;
	uint16_t inf; /* the magnitude of infinity, 0x8000 for posits */
	uint16_t nan;
};

/* The same source for each instruction set: log_stages_lanes.c. */
void log_stages_use_plain(struct log_stages *kernel, bool posit);
void log_stages_use_avx2(struct log_stages *kernel, bool posit);
void log_stages_use_avx512(struct log_stages *kernel, bool posit);

#endif /* VECTOR_LOG_STAGES_H */
