/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_WRITER_H
#define SLOWLORIS_WRITER_H

/** @file The writer lock, and the segments that are left to its holder. */

#include "detector.h"

/* Take the writer lock if it is free; never waits. */
bool writer_trylock(struct slowloris_worker *worker);
/* Count what others have left meanwhile, and release the lock. */
void writer_unlock(struct slowloris_worker *worker);
/* Leave a segment to the lock's holder, in the ring. */
void writer_leave(struct slowloris_worker *worker, struct segment *segment);
/* Count what others have left; the lock's holder only. */
void writer_drain(struct slowloris_worker *worker);
/* Whether all that anybody has left has been counted. */
bool writer_is_quiet(const struct slowloris *detector);

#endif /* SLOWLORIS_WRITER_H */
