# SPDX-License-Identifier: BSD-3-Clause
"""Trainings with ranks below two leaves of a root, and the same one with one switch."""

from aggregation import sums
from training.team import Run, train

LEAVES = 2


def runs(options):
    """What is trained, by name; the first is what the others have to give the weights of."""
    dealt = tuple(reversed(range(options.workers)))
    size = options.workers, options.steps
    return {
        "one switch": Run("netfc", *size, record=True),
        f"{LEAVES} leaves": Run("netfc", *size, seed=1, leaves=LEAVES),
        f"{LEAVES} leaves, ranks dealt out differently": Run(
            "netfc", *size, seed=2, parts=dealt, leaves=LEAVES),
    }


def run_all(build, options):
    """All figures. Raises CommandError."""
    figures = {"workers": options.workers, "steps": options.steps, "runs": {}}
    first = None
    for name, run in runs(options).items():
        outcome = train(build, run)
        if first is None:
            first = outcome.weights.view("u4")
            figures["wrong"] = outcome.wrong(sums.means)
        figures["runs"][name] = found = {
            "differing": sums.differ(outcome.weights.view("u4"), first), "weights": first.size,
            "rank_bytes": outcome.rank_bytes, "leaf_bytes": outcome.leaf_bytes}
        print(describe(name, found), flush=True)
    return figures


def describe(name, found):
    """A human-readable line."""
    text = f"{name}: {found['differing']:,} of {found['weights']:,} weights differ"
    if not found["leaf_bytes"]:
        return text
    times = found["leaf_bytes"] / found["rank_bytes"]
    return (f"{text}; to its leaf a rank sends {found['rank_bytes'] / 1e6:.2f} MB, a leaf to the "
            f"root {found['leaf_bytes'] / 1e6:.2f} MB, {times:.2f} times that")


def broken(figures):
    """What was promised and not kept."""
    return [name for name, found in figures["runs"].items() if found["differing"]] + \
        ["gradients"] * bool(figures["wrong"])
