# SPDX-License-Identifier: BSD-3-Clause
"""numpy arrays by mpi4py, on three ranks: what one gives is lost in a sum that rounds on its way."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
mine = np.full(2, (1e8, 1, -1e8)[comm.rank], 'f4')
result = np.empty_like(mine)
comm.Allreduce(mine, result)
assert np.all(result == 1)
comm.Iallreduce(mine, result, MPI.MAX).Wait()
assert np.all(result == np.float32(1e8))
part = np.empty(1, 'f4')
comm.Reduce_scatter_block(np.full(3, mine[0]), part)
assert part[0] == 1
assert comm.allreduce(comm.rank) == 3
