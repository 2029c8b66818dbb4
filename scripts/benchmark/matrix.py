# SPDX-License-Identifier: BSD-3-Clause
"""Which comparisons are made: formats, operations, operands, lanes per packet."""

import itertools
from dataclasses import dataclass

from benchmark.peers.contenders import SETS
from netfc import FORMATS, OPS, formats, protocol

LANES = (1, 2, 4, 8, 16, 32, 64, 128, 243)
ENDS = (1, 243)
PAYLOAD = 1500 - 20 - 8 - 12  # of a packet over IPv4, after the header
OPERANDS = ("random", "gradients")
# Of its tables, as large as those of fp16_k1024, fewer entries are reached than a cache has.
SMALL_TABLE = "fp16_k8"


@dataclass(frozen=True)
class Cell:
    """A comparison. peers: whether those of DPDK take part, too."""

    format: str
    op: str
    operands: str
    lanes: int
    peers: bool

    @property
    def title(self):
        """For people."""
        plural = "" if self.lanes == 1 else "s"
        return f"{self.format} {self.op}, {self.operands}, {self.lanes} lane{plural}"


def _every(names, ops, operands, lanes, peers):
    return [Cell(*facts, peers) for facts in itertools.product(names, ops, operands, lanes)]


def full_lanes(format_name):
    """Of a full packet."""
    return protocol.lanes_in(PAYLOAD, formats.NUMBER_FORMATS[format_name].id)


def quick():
    """Enough to see that all of it works."""
    return _every(["fp16"], ["add"], ["random"], ENDS, True)


def usual():
    """fp16 additions with all peers over lanes per packet; the rest with one lane and full packets."""
    cells = _every(["fp16"], ["add"], ["random"], LANES, True)
    cells += _every(["fp16"], OPS, OPERANDS, ENDS, False)
    for name in SETS:
        cells += _every([name], OPS, ["random"], (1, full_lanes(name)), False)
    return _unique(cells)


def full():
    """Everything."""
    return _unique(usual() + _every(FORMATS, OPS, OPERANDS, LANES, False))


def _unique(cells):
    """Without those that are there already, with or without peers."""
    kept = {}
    for cell in cells:
        kept.setdefault((cell.format, cell.op, cell.operands, cell.lanes), cell)
    return list(kept.values())
