/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TRACE_FURTHER_H
#define TRACE_FURTHER_H

/** @file Traces of operations further to the four: functions, min, max, compare, fma, names. */

#include "app.h"
#include "capture/trace.h"

/**
 * What there is to see of a request that was computed, in host order, put into an object.
 *
 * @param functions in use
 * @param kept lanes
 * @param lane one of them
 */
void trace_further_show(const struct functions *functions, const struct trace_slot *slot,
	unsigned int kept, unsigned int lane, json_t *object);

#endif /* TRACE_FURTHER_H */
