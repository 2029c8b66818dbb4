# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of the tests of netfc.torch's topk_hook: the same for ranks and for who checks them."""

import numpy as np

COUNT, STEPS = 61, 5


def gradients(rank, step):
    """A rank's, of very different sizes; no two are as great."""
    draw = np.random.default_rng([rank, step])
    return (draw.standard_normal(COUNT) * 2.0**draw.integers(-20, 20, COUNT)).astype(np.float32)
