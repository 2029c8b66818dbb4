# SPDX-License-Identifier: BSD-3-Clause
"""Trainings through the aggregating P4 program on BMv2, or two as leaves below dpdk-netfc, and the
same ones through dpdk-netfc alone."""

import numpy

from aggregation import sums
from training.team import Run, train

HIDDEN = 8  # neurons: 8,994 weights, as BMv2 forwards some thousand packets a second
SWITCHES = ("BMv2", "dpdk-netfc")
# By what the program sends: the way of the gradients, what they are to be, and in words.
KINDS = {"results": ("half sums", sums.half_sums_divided,
                     "the exact sum, rounded once to fp16, over the number of workers"),
         "sums": ("half means", sums.half_means, "the exact mean, rounded once to fp16"),
         "tree": ("half means", sums.half_means, "the exact mean, rounded once to fp16")}


def run_all(build, options):
    """All figures. Raises CommandError."""
    kinds = KINDS if options.p4 == "all" else [options.p4]
    return {"workers": options.workers, "steps": options.steps,
            "kinds": {kind: compared(build, options, kind) for kind in kinds}}


def compared(build, options, kind):
    """A training through each switch: wrong gradients, and weights that differ."""
    way, right, meaning = KINDS[kind]
    figures, weights = {}, {}
    for switch in SWITCHES:
        program = kind if switch == "BMv2" else ""
        outcome = train(build, Run(way, options.workers, options.steps, record=True, hidden=HIDDEN,
                                   program=program))
        wrong = outcome.wrong(right)
        # The slowest rank's: the others wait for it.
        seconds = float(numpy.median(outcome.seconds, axis=1).max())
        figures[switch] = {"wrong": wrong, "gradients": outcome.got.size, "seconds": seconds,
                           "losses": outcome.losses.mean(0).tolist()}
        weights[switch] = outcome.weights.view("u4")
        print(f"{kind}, {switch}: {wrong:,} of {outcome.got.size:,} gradients are not "
              f"{meaning}; {1e3 * seconds:.0f} ms a step", flush=True)
    size, differing = outcome.weights.size, sums.differ(weights["BMv2"], weights["dpdk-netfc"])
    print(f"{kind}: {differing:,} of {size:,} weights have other bits with BMv2 than with "
          "dpdk-netfc", flush=True)
    figures.update(weights=size, differing=differing)
    return figures


def broken(figures):
    """What was promised and not kept."""
    return [f"{what} ({kind})" for kind, found in figures["kinds"].items()
            for what, count in (("weights", found["differing"]),
                                ("gradients", sum(found[switch]["wrong"] for switch in SWITCHES)))
            if count]
