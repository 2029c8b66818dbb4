/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECEIVE_H
#define RECEIVE_H

/** @file Replies: received, classified, checked, counted. */

#include "bench.h"

/**
 * Receive a burst.
 *
 * @return how many packets there were
 */
unsigned int receive_replies(struct bench *bench);

#endif /* RECEIVE_H */
