# SPDX-License-Identifier: BSD-3-Clause
"""The network that is trained, and which images it sees, step by step."""

import numpy
import torch
from torch import nn

BATCH = 32  # images for each rank and step
RATE, MOMENTUM = 0.05, 0.9


def make(hidden, first):
    """The network with so many hidden neurons; first: what its first weights are drawn from.

    Its last layers see all of an image, and are convolutions all the same: torch computes those
    with oneDNN, but linear layers with Debian's plain BLAS, in five times the time.
    """
    torch.manual_seed(first)
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, hidden, 4), nn.ReLU(), nn.Conv2d(hidden, 10, 1), nn.Flatten())


def digits(path):
    """What digits.save() has put there: images and their numbers, to train on and to test."""
    with numpy.load(path) as data:
        return [(torch.from_numpy(data[f"{use}_images"]), torch.from_numpy(data[f"{use}_numbers"]))
                for use in ("trained", "tested")]


def batches(images, part, parts, steps):
    """What one of the parts of so many images is, step by step: indices."""
    draw = torch.Generator().manual_seed(2)
    for _ in range(steps):
        step = torch.randint(0, images, (parts, BATCH), generator=draw)
        yield step[part]
