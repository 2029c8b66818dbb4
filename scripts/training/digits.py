# SPDX-License-Identifier: BSD-3-Clause
"""The handwritten digits that come with scikit-learn."""

import numpy
import sklearn.datasets

TESTED = 360  # images that nothing is trained on


def save(path):
    """Writes images of shape (n, 1, 8, 8), float32 from 0 to 1, and their numbers, for numpy.

    To train on and to test, in an order of chance that is the same each time. Ranks read the file,
    which takes them less time than to load scikit-learn.
    """
    data = sklearn.datasets.load_digits()
    order = numpy.random.RandomState(1).permutation(len(data.target))
    images = (data.images[order, None] / 16).astype(numpy.float32)
    numbers = data.target[order].astype(numpy.int64)
    numpy.savez(path, tested_images=images[:TESTED], tested_numbers=numbers[:TESTED],
                trained_images=images[TESTED:], trained_numbers=numbers[TESTED:])
