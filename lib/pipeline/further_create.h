/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_FURTHER_CREATE_H
#define PIPELINE_FURTHER_CREATE_H

/** @file What computes the operations further to the four, made of a pipeline's configuration. */

#include "further_groups.h"
#include "pipeline.h"

/**
 * Make the kernels of min, max, compare and fma, for all formats, and of the functions.
 *
 * @param further has none yet; further_clear() frees, in any case
 * @return 0, or an error of further_add(), or -ENOMEM
 */
int further_create(struct further_groups *further, const struct pipeline_config *config);

#endif /* PIPELINE_FURTHER_CREATE_H */
