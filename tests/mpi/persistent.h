/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_TESTS_MPI_PERSISTENT_H
#define NETFC_TESTS_MPI_PERSISTENT_H

/** @file Persistent reductions by MPI 4's names, in an MPI library that has them by its own. */

#include <mpi.h>

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Reduce_init MPIX_Reduce_init
#define MPI_Reduce_scatter_init MPIX_Reduce_scatter_init
#define MPI_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init
#endif

#endif /* NETFC_TESTS_MPI_PERSISTENT_H */
