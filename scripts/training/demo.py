# SPDX-License-Identifier: BSD-3-Clause
"""Workers train a small network, with the switch between them, in several ways.

Shows that training with the switch's sums gives the same weights each time, whatever is lost or
late, and what gloo, scaled integers and the paper's tables give; writes a report. With --p4 it
shows that the aggregating P4 program on BMv2 gives the weights that dpdk-netfc gives.
"""

import os
import sys
import time

import numpy

from aggregation import sums
from command import CommandLine, file_to_write, write_json
from training import p4_demo, p4_switch, report, tree_demo
from training.team import Run, train

NAMES = ("netfc", "gloo", "integers", "tables", "bf16", "fp8", "fp8 into bf16")
HIDDEN = (256, 1024)  # neurons of the two networks whose steps are timed
MEGABITS = (100, 0)
FIRSTS = range(1, 6)  # networks that begin with other weights, for the accuracy
STEPS, P4_STEPS, TREE_STEPS = 200, 2, 50
WORKERS, TREE_WORKERS = 4, 8
QUICK = {"workers": 2, "steps": 10, "timed_steps": 5}


def recorded(build, options):
    """A run of each way with its gradients: outcomes' figures, and weights by the way."""
    figures, weights = {}, {}
    for name in NAMES:
        outcome = train(build, Run(name, options.workers, options.steps, record=True))
        figures[name] = {
            "accuracies": accuracies(build, options, name, outcome), "torch": outcome.torch,
            "losses": outcome.losses.mean(0).tolist(),
            "link_bytes": int(numpy.mean(outcome.link_bytes)), **compared(outcome)}
        weights[name] = outcome.weights
        print(f"{name}: accuracy {numpy.mean(figures[name]['accuracies']):.4f}, "
              f"{figures[name]['wrong']:,} of "
              f"{outcome.got.size:,} gradients are not the exact mean, rounded once", flush=True)
    return figures, weights


def accuracies(build, options, name, outcome):
    """Of networks that begin with other weights, too; outcome: of the first."""
    size = options.workers, options.steps
    others = () if options.quick else FIRSTS[1:]
    return [outcome.accuracy] + [
        train(build, Run(name, *size, late=False, first=first)).accuracy for first in others]


def compared(outcome):
    """Gradients beside the exact means: how many are wrong, and each step's relative error."""
    errors = []
    for step, got in enumerate(outcome.got):
        right = sums.means(outcome.given[:, step])
        error = numpy.linalg.norm(got.astype("f8") - right)
        errors.append(float(error / numpy.linalg.norm(right.astype("f8"))))
    return {"errors": errors, "wrong": outcome.wrong(sums.means), "gradients": outcome.got.size}


def other_runs(options):
    """Runs that are to give the weights of the first of their way, by what is different."""
    dealt = tuple(reversed(range(options.workers)))
    size = options.workers, options.steps
    runs = {
        "5 % of packets lost": Run("netfc", *size, seed=2, loss=5),
        "ranks dealt out differently": Run("netfc", *size, seed=4, parts=dealt),
        "again, other delays": Run("netfc", *size, seed=1),
        "two lcores": Run("netfc", *size, seed=3, lcores=2),
        "`fp8_hook`, 5 % of packets lost": Run("fp8", *size, seed=2, loss=5),
        "`fp8_hook`, again, other delays": Run("fp8", *size, seed=1),
        "gloo, again": Run("gloo", *size, seed=1),
        "gloo, ranks dealt out differently": Run("gloo", *size, seed=4, parts=dealt),
    }
    return dict(list(runs.items())[:2]) if options.quick else runs


def repeated(build, options, weights):
    """How many weights other runs have differently than the first of their way."""
    differing = {}
    for name, run in other_runs(options).items():
        differing[name] = sums.differ(train(build, run).weights, weights[run.way])
        print(f"{name}: {differing[name]:,} of {weights[run.way].size:,} weights differ",
              flush=True)
    return differing


def timed(build, options):
    """For each network and speed of links: each way's seconds of a step."""
    cases = [(hidden, megabits) for hidden in HIDDEN for megabits in MEGABITS]
    rows = []
    for hidden, megabits in cases[:1] if options.quick else cases:
        row = {"megabits": megabits, "seconds": {}}
        for name in ("netfc", "gloo"):
            run = Run(name, options.workers, options.timed_steps, megabits=megabits, late=False,
                      hidden=hidden)
            outcome = train(build, run)
            row["values"] = outcome.weights.size
            # The slowest rank's: the others wait for it.
            row["seconds"][name] = float(numpy.median(outcome.seconds, axis=1).max())
            print(f"{name}, {row['values']:,} weights, {report.link(megabits)}: "
                  f"{1e3 * row['seconds'][name]:.1f} ms a step", flush=True)
        rows.append(row)
    return rows


def run_all(build, options):
    """All figures. Raises CommandError."""
    ways, weights = recorded(build, options)
    return {
        "workers": options.workers, "steps": options.steps, "timed_steps": options.timed_steps,
        "weights": weights["netfc"].size, "cpus": len(os.sched_getaffinity(0)), "ways": ways,
        "differing": repeated(build, options, weights), "timed": timed(build, options)}


def broken(figures):
    """What the switch has promised and not kept."""
    names = [name for name, count in figures["differing"].items()
             if count and not name.startswith("gloo")]
    return names + (["gradients"] if figures["ways"]["netfc"]["wrong"] else [])


def check(parser, options):
    """What does not go together."""
    alone = bool(options.p4) + options.tree
    if alone > 1 or alone and (options.quick or options.report):
        parser.error("--p4 and --tree are demonstrations of their own: neither --quick nor --report "
                     "go with them")
    if options.report and not options.report.suffix:
        parser.error(f"--report {options.report}: give a name with a suffix, training.md; plots go "
                     "into the folder training")


def parsed():
    """The command line."""
    parser = CommandLine("demo training", __doc__, check)
    parser.add_argument("--workers", type=int, choices=(2, 4, 8),
                        help=f"(default {WORKERS}; with --tree {TREE_WORKERS})")
    parser.add_argument("--steps", type=int,
                        help=f"(default {STEPS}; with --p4 {P4_STEPS}, with --tree {TREE_STEPS})")
    parser.add_argument("--timed-steps", type=int, default=30, help="(default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="less of everything: "
                        "2 workers, 10 steps, and not all runs")
    parser.add_argument("--report", type=file_to_write, metavar="FILE",
                        help="write a page in Markdown there, its plots into a folder beside it")
    parser.add_argument("--p4", choices=(*p4_demo.KINDS, "all"), nargs="?", const="all",
                        help="instead: train a smaller network in fp16 through the P4 program of "
                        "docs/p4.md on BMv2, compiled to send results, or sums that the workers "
                        "round, or as both leaves of a tree whose root is dpdk-netfc, or once each "
                        "(default), and the same through dpdk-netfc; compare all gradients with "
                        "the exact ones, and the weights of both bit by bit; "
                        f"needs {', '.join(p4_switch.TOOLS)} on the PATH")
    parser.add_argument("--tree", action="store_true", help="instead: train with one switch, and "
                        f"with {tree_demo.LEAVES} leaves of a root, twice, the ranks dealt out "
                        "differently; compare the weights bit by bit, and count the bytes upwards")
    options = parser.parse_args()
    if options.steps is None:
        options.steps = P4_STEPS if options.p4 else TREE_STEPS if options.tree else STEPS
    options.workers = options.workers or (TREE_WORKERS if options.tree else WORKERS)
    if options.quick:
        vars(options).update(QUICK)
    return parser, options


def main():
    """The command line."""
    parser, options = parsed()
    missing = p4_switch.missing() if options.p4 else []
    if missing:
        parser.fail(f"not on the PATH: {', '.join(missing)} (p4c and behavioral-model)")
    way = p4_demo if options.p4 else tree_demo if options.tree else sys.modules[__name__]
    begun = time.monotonic()
    with parser.in_namespaces(as_user=True):
        figures = way.run_all(options.build, options)
    print(f"{time.monotonic() - begun:.0f} s")
    write_json(options.json, figures)
    if options.report:
        report.write(figures, options.report)
    failed = way.broken(figures)
    if failed:
        parser.fail(f"that is not what was promised: {', '.join(failed)}")


if __name__ == "__main__":
    main()
