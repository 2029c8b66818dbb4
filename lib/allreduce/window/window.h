/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_WINDOW_H
#define ALLREDUCE_WINDOW_H

/**
 * @file
 * Scheduling of chunks: each slot takes its chunks one after the other.
 */

#include "internal.h"

/* An allreduce has been put at the queue's end: number its chunks, begin those that can be. */
void window_extend(struct netfc_allreduce *comm, struct netfc_allreduce_handle *handle);

/* A slot's result has been stored: start its next chunk; this may complete allreduces. */
void window_complete(struct netfc_allreduce *comm, struct peer *peer, uint32_t slot, uint64_t now);

/*
 * For tests: go on as if `chunks` more of each switch had been done, a multiple of twice the
 * slots. Nothing may be under way.
 */
void window_skip(struct netfc_allreduce *comm, uint64_t chunks);

#endif /* ALLREDUCE_WINDOW_H */
