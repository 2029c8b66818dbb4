/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SEND_H
#define SEND_H

/** @file Requests of the workload, each with an id, put into packets and sent. */

#include "bench.h"

/**
 * Send requests; what the port does not take now is kept for the next time.
 *
 * @param allowed how many, those kept included
 * @return how many were sent
 */
unsigned int send_requests(struct bench *bench, uint64_t allowed);

/** Give up those kept. */
void send_abandon(struct bench *bench);

#endif /* SEND_H */
