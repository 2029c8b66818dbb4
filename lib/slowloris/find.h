/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_FIND_H
#define SLOWLORIS_FIND_H

/** @file The records of a segment, looked up once more. */

#include "detector.h"

/* The records that a segment belongs to now: those found, unless tables have changed since. */
struct found_records find_again(const struct slowloris_worker *worker,
	const struct segment *segment, struct found_records found);

#endif /* SLOWLORIS_FIND_H */
