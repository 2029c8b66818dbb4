/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_MEMIF_H
#define ALLREDUCE_MEMIF_H

/**
 * @file
 * Memory shared with a switch on the same machine, as DPDK's memif ports have it (version 2.0 of
 * FD.io's memif): a ring of frames each way, and no kernel between. This is the side that connects
 * and that the memory is of.
 */

#include "net/rings.h"

#define MEMIF_PREFIX "memif:" /* of option interface; then the socket's path, and maybe ",id=N" */

/* Connect to a port that serves there. NULL: it can't be; errno says why. */
struct rings *memif_connect(const char *where);

#endif /* ALLREDUCE_MEMIF_H */
