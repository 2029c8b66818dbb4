#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two workers' gradients averaged by a switch, compared with their average in double precision.

    ./average.py 10.0.0.2

Needs netfc (python3-netfc) and a switch that answers at an address, but not libnetfc.
"""

import argparse
import sys

import numpy
from numpy.typing import NDArray

import netfc

WEIGHTS = 10_000


def gradients(seed: int) -> NDArray[numpy.float64]:
    """What a worker might have computed: small numbers of very different magnitudes."""
    draw = numpy.random.default_rng(seed)
    signs: NDArray[numpy.float64] = draw.choice([-1.0, 1.0], WEIGHTS)
    return signs * 10 ** draw.uniform(-4, -1, WEIGHTS)


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(description="Average two workers' gradients in a switch.")
    parser.add_argument("address", help="the switch's")
    parser.add_argument("--port", type=int, default=20038)
    asked = parser.parse_args()

    first, second = gradients(1), gradients(2)
    try:
        with netfc.Client(asked.address, asked.port, number_format="fp16") as client:
            average = client.mul(client.add(first, second), 0.5)
            counters = client.counters
    except netfc.ClientError as error:
        print(f"average.py: {error}", file=sys.stderr)
        return 1
    off = numpy.abs(average - (first + second) / 2)
    print(f"{WEIGHTS} averages by way of {counters.sent} datagrams")
    print(f"mean error {off.mean():.2e}, mean size {numpy.abs(average).mean():.2e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
