# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of the tests of netfc.torch's fp8_hook: the same for ranks and for who checks them."""

import numpy as np

COUNT, BLOCK, STEPS = 61, 8, 4


def gradients(rank, step):
    """A rank's: blocks of very different sizes, one of zeros, and a zero among others."""
    draw = np.random.default_rng([rank, step])
    values = draw.standard_normal(COUNT) * 2.0**(8 * (np.arange(COUNT) // BLOCK) - 30)
    values[:BLOCK] = 0
    values[BLOCK + 1] = 0
    return values.astype(np.float32)
