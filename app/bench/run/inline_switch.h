/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INLINE_SWITCH_H
#define INLINE_SWITCH_H

/** @file The switch in this process, for --inline: dpdk-netfc on lcores of its own. */

#include "bench.h"

/** Make the switch, its rings and ports. 0, or -1 (reported on stderr). */
int inline_switch_create(struct bench *bench);

/** What it has done, for people. */
void inline_switch_print(FILE *out, const struct bench *bench);

/**
 * What it has done.
 *
 * @param values that were added up for the results that it has sent
 * @return an object; null without --inline
 */
json_t *inline_switch_json(const struct bench *bench, uint64_t values);

#endif /* INLINE_SWITCH_H */
