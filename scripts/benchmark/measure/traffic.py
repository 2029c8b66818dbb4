# SPDX-License-Identifier: BSD-3-Clause
"""Captures of requests: which lanes, in which packets."""

import numpy

from evaluation.measure import datasets
from netfc import capture, formats, protocol

SEED = 4
# Packets of a capture: enough operands that look-ups are spread over the tables, and few enough
# packets to stay in the second-level cache, where a NIC would put them.
MAX_PACKETS, MIN_PACKETS, LANES = 1024, 128, 32768
GRADIENTS = "gradients.npy"


def packets(lanes):
    """How many packets a capture has."""
    return max(MIN_PACKETS, min(MAX_PACKETS, LANES // lanes))


def frame_bytes(format_name, lanes):
    """The length of a frame, without its check sequence."""
    operand = protocol.operand_bytes(protocol.FORMAT_IDS[format_name], lanes)
    return max(60, capture.NETFC_OFFSET + protocol.HEADER.size + 3 * operand)


class Traffic:
    """Makes captures in a folder; gradients, which take some seconds to train, are kept in another.
    """

    def __init__(self, folder, kept):
        self._folder, self._kept, self._gradients = folder, kept, None

    def operands(self, format_name, kind, count):
        """x and y, `count` each.

        random: finite numbers, uniform over their encodings; gradients: those of two workers that
        train together, the evaluation's data set III.
        """
        number_format = formats.NUMBER_FORMATS[format_name]
        if kind == "random":
            numbers = datasets.finite_encodings(number_format)
            return numpy.random.default_rng(SEED).choice(numbers, (2, count))
        pairs = number_format.encode(self._pairs())
        return pairs[:, numpy.arange(count) * 7 % pairs.shape[1]]

    def make(self, format_name, op, operands, lanes):
        """A capture; returns its path."""
        path = self._folder / f"{format_name}-{op}-{operands}-{lanes}.pcap"
        if not path.exists():
            frames = self.frames(format_name, op, operands, lanes, packets(lanes))
            capture.write(path, frames)
        return path

    def frames(self, format_name, op, operands, lanes, count):
        """That many frames, of that many lanes each."""
        format_id = protocol.FORMAT_IDS[format_name]
        x, y = self.operands(format_name, operands, count * lanes)
        for number in range(count):
            part = slice(number * lanes, (number + 1) * lanes)
            # fma's z: as good as any
            z = x[part][::-1] if op == "fma" else None
            payload = protocol.request(protocol.number_of(op), format_id, x[part], y[part], number, z)
            yield capture.udp_frame(payload)

    def _pairs(self):
        if self._gradients is None:
            path = self._kept / GRADIENTS
            if not path.exists():
                # Takes a second to import, for what most runs do not need.
                from evaluation.measure import training  # pylint: disable=import-outside-toplevel

                numpy.save(path, training.gradient_pairs()[0])
            self._gradients = numpy.load(path)
        return self._gradients
