# SPDX-License-Identifier: BSD-3-Clause
"""A tree of three switches: a root, two leaves below it, and four workers at each leaf.

Switches and workers are processes in network namespaces. Shows that the sums of all eight workers
are the exact ones, rounded once, whatever switch a worker is at; then a leaf is killed, and everyone
is told which.
"""

import contextlib

import numpy

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


def three_switches(program):
    """The network of the demonstration."""
    return SwitchTree(program, (LEAVES, OF_EACH), AGGREGATE, demo.FRAMES, "fp32")


def run(build, count, log):
    """The demonstration, in a folder of a build, with so many values. Returns figures."""
    log(f"{LEAVES} leaves, {', '.join(map(address_of, range(LEAVES)))}, with {OF_EACH} workers each, "
        f"below the root, {ROOT_ADDRESS}")
    with contextlib.ExitStack() as stack:
        tree = stack.enter_context(three_switches(build / "app" / "dpdk-netfc"))
        workers, said = demo.begin(stack, build, tree, count)
        seconds = max(each["seconds"] for each in said)
        log(f"each worker has the sum of {count:,} float32 of all {WORKERS}, twice; "
            f"{seconds:.2f} s each")
        exact = sums.exact_sums(numpy.array([sums.gradients(n, count) for n in range(WORKERS)]))
        figures = {
            "values": count,
            "right": [sums.count_same(result, exact) for result in demo.results(tree, workers)],
            "same_again": [each["same"] for each in said],
            "seconds": seconds,
        }
        for rank, right in enumerate(figures["right"]):
            log(f"worker {rank % OF_EACH} of leaf {rank // OF_EACH}: {right:,} of {count:,} sums "
                f"correctly rounded, {demo.percent(right, count)}")
        tree.leaves[KILLED].kill()
        log(f"training goes on; leaf {KILLED} is killed")
        figures["told"] = {rank: worker.expect("failed") for rank, worker in enumerate(workers)}
    for rank, told in figures["told"].items():
        log(f"worker {rank % OF_EACH} of leaf {rank // OF_EACH} hears, {told['seconds']:.1f} s after "
            f"its latest result: {told['text']}")
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
