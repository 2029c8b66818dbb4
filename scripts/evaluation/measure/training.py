# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of a real network, trained by two workers on the handwritten digits of scikit-learn.

A network of 64, 32 and 10 neurons (ReLU, mean squared error) learns with averaged gradients,
as in distributed training. It needs neither a transcendental function nor BLAS, whose last bits
depend on the CPU, and adds sums in a fixed order: every machine records the same gradients.
"""

import numpy
from sklearn.datasets import load_digits

NEURONS = (64, 32, 10)
BATCH = 32  # samples per worker and step
EPOCHS = 20
RATE = 1.0  # learning rate
SEED = 3
RECORD_EVERY = 8  # steps
LARGEST = 0.01  # gradients recorded are smaller, as the paper's
PAIRS = 50000


def product(a, b):
    """The matrix product, each sum added up from first to last."""
    total = numpy.zeros((a.shape[0], b.shape[1]))
    for inner in range(a.shape[1]):
        total += a[:, inner, None] * b[inner]
    return total


def column_sums(a):
    """The sum of each column, added up from first to last."""
    total = numpy.zeros(a.shape[1])
    for row in a:
        total += row
    return total


class Network:
    """Two layers; `weights` is what training changes."""

    def __init__(self, rng):
        inputs, hidden, outputs = NEURONS
        self.weights = [
            rng.uniform(-0.2, 0.2, (inputs, hidden)),
            numpy.zeros(hidden),
            rng.uniform(-0.2, 0.2, (hidden, outputs)),
            numpy.zeros(outputs),
        ]

    def forward(self, images):
        """The hidden layer and the outputs for images, one a row."""
        first, first_bias, second, second_bias = self.weights
        hidden = numpy.maximum(product(images, first) + first_bias, 0)
        return hidden, product(hidden, second) + second_bias

    def gradients(self, images, targets):
        """The gradient of half the mean squared error by each weight."""
        hidden, outputs = self.forward(images)
        error = (outputs - targets) / outputs.size
        behind = product(error, self.weights[2].T) * (hidden > 0)
        return [
            product(images.T, behind),
            column_sums(behind),
            product(hidden.T, error),
            column_sums(error),
        ]

    def learn(self, gradients):
        """One step downhill."""
        for weight, gradient in zip(self.weights, gradients):
            weight -= RATE * gradient


def flat(gradients):
    """All gradients, one after the other."""
    return numpy.concatenate([gradient.ravel() for gradient in gradients])


def batches(count, rng):
    """Index pairs of both workers' batches; each worker has every other sample."""
    for _ in range(EPOCHS):
        order = [2 * rng.permutation(count // 2) + worker for worker in (0, 1)]
        for start in range(0, count // 2 - BATCH + 1, BATCH):
            yield [mine[start : start + BATCH] for mine in order]


def train():
    """Train. Returns the gradients recorded, of shape (2, n), and the share of digits known."""
    images, digits = load_digits(return_X_y=True)
    images, targets = images / 16, numpy.eye(10)[digits]
    rng = numpy.random.default_rng(SEED)
    network, recorded = Network(rng), []
    for step, parts in enumerate(batches(len(images), rng)):
        gradients = [network.gradients(images[part], targets[part]) for part in parts]
        network.learn([(a + b) / 2 for a, b in zip(*gradients)])
        if step % RECORD_EVERY == 0:
            recorded.append([flat(gradient) for gradient in gradients])
    known = numpy.mean(network.forward(images)[1].argmax(axis=1) == digits)
    return numpy.concatenate(recorded, axis=1), float(known)


def gradient_pairs():
    """PAIRS pairs of both workers' gradients of the same weight, float32, and what was trained.

    Taken evenly from the whole training. Left out: pairs with a zero (pixels that are always
    dark), which are trivial, and pairs with a gradient of LARGEST or more.
    """
    recorded, known = train()
    recorded = recorded.astype(numpy.float32)
    fit = numpy.all((recorded != 0) & (numpy.abs(recorded) < LARGEST), axis=0)
    usable = recorded[:, fit]
    chosen = numpy.arange(PAIRS) * usable.shape[1] // PAIRS
    pairs = usable[:, chosen]
    facts = {
        "recorded": int(recorded.shape[1]),
        "usable": int(usable.shape[1]),
        "known": known,
        "correlation": float(numpy.corrcoef(pairs)[0, 1]),
    }
    return pairs, facts
