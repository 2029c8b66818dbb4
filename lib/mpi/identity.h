/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_IDENTITY_H
#define NETFC_MPI_IDENTITY_H

/** @file Numbers that are equal for ranks of one node, and differ for others with high probability.
 */

#include <stdint.h>

/**
 * Of the node: one system, since it was started; one user, who may open files of the others; one
 * space of processes, so that they have each other's numbers; one network, for containers with
 * addresses of their own are hosts of their own.
 */
uint64_t identity_of_node(void);

/** Of a rank that shares nothing. */
uint64_t identity_of_rank(int rank);

#endif /* NETFC_MPI_IDENTITY_H */
