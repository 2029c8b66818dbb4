/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_RECEIVE_H
#define ALLREDUCE_RECEIVE_H

/**
 * @file
 * Receiving replies.
 */

#include "internal.h"

/*
 * Process all packets that a channel has received. Queue again what they show to be lost. Returns
 * OK, or has said what went wrong. Adds to *count how many there were.
 */
int receive_packets(struct netfc_allreduce *comm, struct channel *channel, unsigned int *count);

#endif /* ALLREDUCE_RECEIVE_H */
