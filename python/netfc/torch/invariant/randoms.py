# SPDX-License-Identifier: BSD-3-Clause
"""Random state that depends on seed, step and unit, and on no rank."""

import hashlib
import random
import struct

import numpy
import torch

AFTER_UNITS, ORDER, BEFORE_UNITS = -1, -2, -3  # in the place of a unit


def seed_of(seed: int, step: int, unit: int) -> int:
    """A seed of 63 bits for a unit of a step, for random numbers of one's own."""
    words = struct.pack("<qqq", seed, step, unit)
    digest = hashlib.blake2b(words, digest_size=8, person=b"netfc unit").digest()
    return int.from_bytes(digest, "little") >> 1


def set_random_state(seed: int, step: int, unit: int) -> None:
    """Of torch, numpy and Python: what is drawn from here on is the unit's."""
    drawn = seed_of(seed, step, unit)
    # torch.manual_seed() formats the stack for a GPU that may come: as long as a small unit takes.
    torch.default_generator.manual_seed(drawn)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(drawn)
    numpy.random.seed(drawn & 0xFFFFFFFF)
    random.seed(drawn)
