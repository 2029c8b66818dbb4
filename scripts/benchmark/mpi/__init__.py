# SPDX-License-Identifier: BSD-3-Clause
"""MPI_Allreduce by the switch, beside the algorithms of the MPI library."""
