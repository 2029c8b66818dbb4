/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_DEFENCE_H
#define SLOWLORIS_DEFENCE_H

/** @file What follows from registers: alarms, and which packets to drop. */

#include "detector.h"

/* A destination's registers were written: an attack may begin. */
void defence_watch(struct slowloris_worker *worker, struct destination *destination, uint16_t ratio,
	uint32_t established);
/* The same from time to time, whether it was written or not: an attack may begin or end. */
void defence_review(struct slowloris_worker *worker, struct destination *destination);
/* Whether to drop a packet; if so, its bit is set in the verdict. */
bool defence_drops(struct slowloris_worker *worker, unsigned int packet,
	const struct destination *destination, struct connection *connection);

#endif /* SLOWLORIS_DEFENCE_H */
