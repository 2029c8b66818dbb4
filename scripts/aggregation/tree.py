# SPDX-License-Identifier: BSD-3-Clause
"""A tree of three switches: a root, two leaves below it, and four workers at each leaf.

Switches and workers are processes in network namespaces. Shows that the sums of all eight workers
are the exact ones, rounded once, whatever switch a worker is at; then a leaf is killed, and everyone
is told which.
"""

import contextlib

from aggregation import demo, sums
from switch_tree import SwitchTree

LEAVES, OF_EACH = 2, 4
WORKERS = LEAVES * OF_EACH
ROOT_ADDRESS = "10.1.0.100"
KILLED = 1
AGGREGATE = f"slots=256,stall={demo.STALL}"


def address_of(leaf):
    """A leaf's."""
    return f"10.1.0.{101 + leaf}"


def name_of(rank):
    """Which worker it is, and of which leaf."""
    return f"{rank % OF_EACH} of leaf {rank // OF_EACH}"


def run(build, count, log):
    """The demonstration, in a folder of a build, with so many values. Returns figures."""
    log(f"{LEAVES} leaves, {', '.join(map(address_of, range(LEAVES)))}, with {OF_EACH} workers each, "
        f"below the root, {ROOT_ADDRESS}")
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(SwitchTree(
            build / "app" / "dpdk-netfc", (LEAVES, OF_EACH), AGGREGATE, demo.FRAMES, "fp32"))
        workers, values, got, figures = demo.added_up(stack, build, tree, count, log, f" {WORKERS}")
        exact = sums.exact_sums(values)
        figures |= {"values": count, "right": [sums.count_same(result, exact) for result in got]}
        for rank, right in enumerate(figures["right"]):
            log(f"worker {name_of(rank)}: {right:,} of {count:,} sums correctly rounded, "
                f"{demo.percent(right, count)}")
        tree.leaves[KILLED].kill()
        log(f"training goes on; leaf {KILLED} is killed")
        figures["told"] = demo.heard(workers, name_of, log)
    return figures


def are_right(figures):
    """Whether the sums are as the documentation promises."""
    full = [figures["values"]] * WORKERS
    return figures["right"] == full and figures["same_again"] == full


def not_told(figures):
    """Why the workers were not told of the leaf that was killed; None: they were.

    Those of the other leaf hear of it from theirs; its own, that it does not answer.
    """
    for rank, told in figures["told"].items():
        own = rank // OF_EACH == KILLED
        named = address_of(KILLED) in told["text"] if own else told["leaf"] == KILLED
        if not named:
            return (f"worker {rank} was not told that leaf {KILLED} is gone, but: {told['text']} "
                    "(a machine that is too busy may take others for silent: try again)")
    return None


def main():
    """The command line."""
    demo.show("demo tree", __doc__, run, are_right, not_told)


if __name__ == "__main__":
    main()
