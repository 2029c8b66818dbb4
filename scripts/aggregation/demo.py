# SPDX-License-Identifier: BSD-3-Clause
"""Four workers and a switch that adds up what they send.

Each worker is a process in a network namespace of its own. Shows that the sums are the exact ones,
rounded once, beside float32 sums in two orders, which differ; then one of the workers is killed,
and the others are told which.
"""

import contextlib

import numpy

from aggregation import sums
from children import Child
from command import CommandLine, narrator, write_json
from netfc import allreduce
from switched import SWITCH_ADDRESS, Network

WORKERS = 4
KILLED = 2
STALL = 4  # seconds after which the switch names who is missing; workers are heard each second
FRAMES = 256  # twice as many as a worker sends before it waits for results
FORWARD, BACKWARD = list(range(WORKERS)), list(reversed(range(WORKERS)))


def start_workers(stack, build, network, **options):
    """Processes on all hosts, of all leaves in order. options: more of worker.py's."""
    workers, whole = [], sum(len(leaf.hosts) for leaf in network.leaves)
    for leaf in network.leaves:
        for number, host in enumerate(leaf.hosts.values()):
            workers.append(stack.enter_context(Child(host, "aggregation.worker", {
                "worker": number, "workers": len(leaf.hosts), "rank": len(workers),
                "switch": leaf.address, "place": leaf.path and (leaf.path, whole), "build": build,
                "folder": network.folder, **options})))
    return workers


def added_up(stack, build, network, count, log, whom):
    """Has a network's workers add up so many values each; whom: of how many, for the log.

    Returns the workers, what all gave and what each got, and figures.
    """
    workers, token = start_workers(stack, build, network, count=count), allreduce.draw_token()
    for worker in workers:
        worker.tell(f"0 {token}")
    for worker in workers:
        worker.expect("joined")
    said = [worker.expect("sums") for worker in workers]
    seconds = max(each["seconds"] for each in said)
    log(f"each worker has the sum of {count:,} float32 of all{whom}, twice; {seconds:.2f} s each")
    got = [numpy.load(network.folder / f"worker{rank}.npy") for rank in range(len(workers))]
    given = numpy.array([sums.gradients(rank, count) for rank in range(len(workers))])
    return workers, given, got, {"seconds": seconds, "same_again": [each["same"] for each in said]}


def heard(workers, names, log, but=None):
    """What all but one say of what was killed, by their numbers."""
    told = {number: worker.expect("failed") for number, worker in enumerate(workers)
            if number != but}
    for number, one in told.items():
        log(f"worker {names(number)} hears, {one['seconds']:.1f} s after its latest result: {one['text']}")
    return told


def one_switch(program):
    """The network of the demonstration."""
    return Network(program, range(WORKERS), ["--aggregate", f"stall={STALL}"], FRAMES)


def figures_of(results, values):
    """How many sums of whom are the exact ones, rounded once."""
    exact = sums.exact_sums(values)
    orders = [sums.sums_in_order(values, order) for order in (FORWARD, BACKWARD)]
    differing = numpy.flatnonzero(orders[0] != orders[1])
    lane = int(differing[0]) if len(differing) else 0
    return {
        "values": values.shape[1],
        "switch": [sums.count_same(result, exact) for result in results],
        "orders": [sums.count_same(order, exact) for order in orders],
        "orders_differ": len(differing),
        "example": {"value": lane, "exact": float(exact[lane]), "switch": float(results[0][lane]),
                    "orders": [float(order[lane]) for order in orders],
                    "inputs": [float(value) for value in values[:, lane]]},
    }


def run(build, count, log):
    """The demonstration, in a folder of a build, with so many values. Returns figures."""
    log(f"{WORKERS} workers in network namespaces, each on a link of its own to the switch, "
        f"{SWITCH_ADDRESS}")
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(one_switch(build / "app" / "dpdk-netfc"))
        workers, values, got, figures = added_up(stack, build, network, count, log, "")
        figures = {**figures_of(got, values), **figures}
        log("these are compared with exact sums")
        print(describe_sums(figures), flush=True)
        workers[KILLED].kill()
        log(f"training goes on; worker {KILLED} is killed")
        figures["told"] = heard(workers, str, log, but=KILLED)
    return figures


def percent(part, whole):
    """Rounded down: only all of them are 100.00 %."""
    hundredths = 10_000 * part // whole
    return f"{hundredths // 100}.{hundredths % 100:02} %"


def describe_sums(figures):
    """Human-readable lines."""
    count, example = figures["values"], figures["example"]

    def row(name, right, value):
        return f"  {name:<34} {right:>12,} {percent(right, count):>10} {value:>16.9g}"

    names = ["float32, " + " + ".join(map(str, order)) for order in (FORWARD, BACKWARD)]
    lines = [f"{'':<36} {'correctly rounded':>23}{'value ' + str(example['value']):>18}"]
    lines += [row(f"the switch, worker {number}", right, example["switch"])
              for number, right in enumerate(figures["switch"])]
    lines += [row(name, right, value) for name, right, value
              in zip(names, figures["orders"], example["orders"])]
    lines.append(f"  {figures['orders_differ']:,} of the float32 sums depend on the order; "
                 "the switch's sums have the same bits each time")
    return "\n".join(["", *lines, ""])


def are_right(figures):
    """Whether the sums are as the documentation promises."""
    full = [figures["values"]] * WORKERS
    return figures["switch"] == full and figures["same_again"] == full


def not_told(figures):
    """Why the workers were not told of the one that was killed, and of it alone; None: they were.

    Who is silent is all that a switch can tell. On a machine that is too busy, it is one that lives.
    """
    for number, told in figures["told"].items():
        if told["status"] != "silent":
            return f"worker {number} was not told that one is silent, but: {told['text']}"
        if told["worker"] != KILLED or " more)" in told["text"]:
            return (f"the switch cannot tell who was killed: for {STALL} s it has not heard others, "
                    "either, which live. This machine is too busy: try again")
    return None


def show(name, description, run, are_right, not_told):
    """The command line of a demonstration, which ends with what went wrong, if anything did.

    run(build, values, log): gives the figures. are_right(figures): whether they are what was promised.
    not_told(figures): who was not told of what was killed, and why; None: all were.
    """
    parser = CommandLine(name, description)
    parser.add_argument("--values", type=int, most=100_000_000, default=1_000_000,
                        help="that each worker has (default %(default)s)")
    options = parser.parse_args()
    with parser.in_namespaces(as_user=True):
        figures = run(options.build, options.values, narrator())
    write_json(options.json, figures)
    if not are_right(figures):
        parser.fail("that is not what was promised")
    reason = not_told(figures)
    if reason:
        parser.fail(reason)


def main():
    """The command line."""
    show("demo sums", __doc__, run, are_right, not_told)


if __name__ == "__main__":
    main()
