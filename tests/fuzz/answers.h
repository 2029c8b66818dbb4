/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ANSWERS_H
#define ANSWERS_H

/**
 * @file
 * The kinds of answers that inputs of the pipeline should reach: by each worker, every operation
 * of every format, computed in requests of few lanes and of many, and every refusal.
 */

#include <netfc.h>

#include "pipeline.h"

/** Expect all that a worker of such a pipeline can answer. */
void answers_expect(unsigned int worker, const struct pipeline_config *config);

/** A worker has answered with that header. */
void answers_reached(unsigned int worker, const struct netfc_hdr *reply);

#endif /* ANSWERS_H */
