# SPDX-License-Identifier: BSD-3-Clause
"""A small transformer, trained on 1, 2, 3 and 4 processes with netfc.torch.invariant and with plain
DistributedDataParallel over gloo: the hashes of the weights.

With netfc.torch.invariant it is also trained with 10 % of packets lost, with units dealt out at
random, with two leaves below a root, and with a process that is killed: the others' checkpoint is
taken up by fewer, and theirs by more. All have the weights of one process, bit for bit.
"""

import contextlib
import dataclasses
import statistics

from benchmark.allreduce.links import Switched
from benchmark.allreduce.paths import MEMIF, Wired
from benchmark.allreduce.team import worker_cores
from children import Child
from command import CommandLine, head, row, write_json
from namespaces import CommandError
from switch_tree import SwitchTree
from switched import Network
from training.team import FRAMES, lose

PATIENCE = 1800
RANKS, MOST_RANKS, MEGABITS = 2, 32, (100, 1000, 0)
STEPS, QUICK = 30, 6
FORMATS = "fp32+int64"  # gradients; and counts, of which a leaf's are digits, too


@dataclasses.dataclass(frozen=True)
class Run:
    """ranks: how many. way: of any_rank. loss: of 100 packets of the aggregation each way. kill_at:
    the step in which rank 1 is killed; then: how many go on, one after the other. leaves: below a root, 0: one switch.
    megabits: a second of each link, each way, 0: no limit. memif: all are on one host, which shares
    memory with the switch."""

    ranks: int
    way: str = "invariant"
    loss: int = 0
    at_random: bool = False
    kill_at: int | None = None
    then: tuple[int, ...] = ()
    leaves: int = 0
    megabits: int = 0
    memif: bool = False

    def __str__(self):
        text = f"{self.ranks} process{'es' * (self.ranks > 1)}"
        text += f", {self.loss} % of packets lost" * bool(self.loss)
        text += ", dealt at random" * self.at_random
        text += f" below {self.leaves} switches and a root" * bool(self.leaves)
        if self.kill_at is not None:
            text += f", one killed in step {self.kill_at}, then {', then '.join(map(str, self.then))}"
        return text


def network_of(build, run):
    """Hosts at a switch, or at leaves of a root."""
    program = build / "app" / "dpdk-netfc"
    if run.leaves:
        return SwitchTree(program, (run.leaves, run.ranks // run.leaves),
                          f"slots=512,digits={FORMATS}", FRAMES, FORMATS)
    if run.memif:
        return Wired(program, run.ranks, MEMIF, "digits=fp32")
    if run.megabits:
        return Switched(program, run.ranks, run.megabits, 0, FRAMES, ["digits=fp32"])
    return Network(program, range(max(2, run.ranks, *run.then)), ["--aggregate", "digits=fp32"], FRAMES)


def trained(build, run, steps):
    """What its ranks say in the end. Raises CommandError."""
    with network_of(build, run) as network:
        places = [(host, leaf) for leaf in network.leaves for host in leaf.hosts.values()]
        if run.memif:
            places = places[:1] * run.ranks
        for host, _ in places:
            lose(host, run.loss)
        if run.kill_at is None:
            return once(build, network, places[: run.ranks], run, steps)
        killed(build, network, places[: run.ranks], run, steps)
        for turn, ranks in enumerate(run.then, 1):
            until = run.kill_at + (steps - run.kill_at) * turn // len(run.then)
            told = once(build, network, places[:ranks],
                        dataclasses.replace(run, ranks=ranks, kill_at=steps), until)
    return told


def killed(build, network, places, run, steps):
    """Until a rank is killed. Raises CommandError if the others go on."""
    try:
        once(build, network, places, run, steps)
    except CommandError:
        return
    raise CommandError("a rank was killed, and the others have not noticed")


def once(build, network, places, run, steps):
    """From the checkpoint on, if there is one."""
    with contextlib.ExitStack() as stack:
        store = network.folder / f"store{run.ranks}"
        children = [stack.enter_context(child(build, network, place, rank, run, steps, store))
                    for rank, place in enumerate(places)]
        told = [each.listen(PATIENCE) for each in children]
    for rank, said in enumerate(told):
        if "error" in said:
            raise CommandError(f"rank {rank}: {said['error']}")
    if len({said["hash"] for said in told}) != 1:
        raise CommandError(f"{run}: ranks have different weights")
    return told


def child(build, network, place, rank, run, steps, store):
    """A rank's process. place: its host, and its switch."""
    host, leaf = place
    way = {f"NETFC_{name.upper()}": value for name, value in
           (network.arguments()[rank] if run.memif else {}).items()}
    options = {**dataclasses.asdict(run), "rank": rank, "steps": steps, "store": store,
               "checkpoint": network.folder / "checkpoint", "cpus": worker_cores("netfc")}
    return Child(host, "training.any_rank", options, NETFC_BUILD=str(build),
                 NETFC_SWITCH=leaf.address, GLOO_SOCKET_IFNAME="lo" if run.memif else "eth0", OMP_NUM_THREADS="1",
                 **network.environment, **way)


def all_runs(options):
    """What is compared: by way, each of which is to give one hash, or does not."""
    ranks = range(1, 5)
    middle = options.steps // 2
    others = [
        Run(4, at_random=True),
        Run(4, loss=10),
        Run(4, leaves=2),
        Run(4, kill_at=middle, then=(3,) if options.quick else (3, 5)),
    ]
    if options.quick:
        ranks, others = (1, 2), others[-2:]
    return [Run(n) for n in ranks] + others, [Run(n, "gloo") for n in ranks]


def described(run, told):
    """Figures of a run."""
    seconds = [statistics.median(said["seconds"][1:]) for said in told]
    return {"run": str(run), "hash": told[0]["hash"], "ms": 1e3 * max(seconds),
            "weights": told[0]["weights"], "torch": told[0]["torch"],
            "adding": min(said["adding"] for said in told),
            "backward": min(said["backward"] for said in told),
            "reduction_ms": 1e3 * max(said.get("reducing", 0) for said in told),
            "link_bytes": max(said["link_bytes"] for said in told)}


def run_all(build, options):
    """All figures. Raises CommandError."""
    exact, plain = all_runs(options)
    figures = {"steps": options.steps}
    for name, runs in (("netfc.torch.invariant", exact), ("DistributedDataParallel, gloo", plain)):
        print(f"{head(name, 'hash of the weights', 'ms a step')}", flush=True)
        figures[name] = []
        for run in runs:
            figures[name].append(described(run, trained(build, run, options.steps)))
            print(row(run, *(figures[name][-1][key] for key in ("hash",)),
                      round(figures[name][-1]["ms"])), flush=True)
        hashes = {one["hash"] for one in figures[name]}
        print(f"{len(hashes)} hash{'es' * (len(hashes) > 1)}\n", flush=True)
    return figures


def timed(build, options):
    """Seconds of a step and of its reduction beside DistributedDataParallel's, on links of limited
    speed and, but for gloo, by memif."""
    links = [(f"{megabits} Mbit/s" if megabits else "no limit", way, {"megabits": megabits})
             for megabits in options.megabits for way in ("invariant", "netfc", "gloo")]
    links += [("memif", way, {"memif": True}) for way in ("invariant", "netfc")]
    rows = []
    print(head("link", "way", "ms a step", "ms a reduction", "bytes of a rank's link a step"), flush=True)
    for link, way, how in links:
        run = Run(options.ranks, way, **how)
        found = described(run, trained(build, run, options.steps))
        rows.append({**found, "way": way, "link": link})
        print(row(link, way, f"{found['ms']:.1f}", f"{found['reduction_ms']:.1f}",
                  f"{found['link_bytes'] / options.steps:,.0f}" if found["link_bytes"] else ""), flush=True)
    share = min(one["adding"] for one in rows) / min(one["backward"] for one in rows)
    print(f"\nadding a unit's gradients exactly takes {100 * share:.1f} % of its backward pass")
    return {"steps": options.steps, "ranks": options.ranks, "timed": rows, "adding": share}


def check(parser, options):
    """What does not go together."""
    if options.time and options.quick:
        parser.error("--quick: not with --time")
    if not options.time and (options.ranks or options.megabits):
        parser.error("--ranks, --megabits: only with --time")


def main():
    """The command line."""
    parser = CommandLine("demo any-number", __doc__, check)
    parser.add_argument("--steps", type=int, least=4, default=STEPS, help="(default %(default)s)")
    parser.add_argument("--quick", action="store_true",
                        help=f"1 and 2 processes, 4 below two leaves, 4 of which one is killed, {QUICK} steps")
    parser.add_argument("--time", action="store_true",
                        help="instead: time of a step beside DistributedDataParallel's, by the"
                        " switch and by gloo")
    parser.add_argument("--ranks", type=int, least=2, most=MOST_RANKS, help=f"with --time (default {RANKS})")
    parser.add_argument("--megabits", type=int, least=0, nargs="+",
                        help=f"with --time: of links, 0: no limit (default: {' '.join(map(str, MEGABITS))})")
    options = parser.parse_args()
    options.ranks, options.megabits = options.ranks or RANKS, options.megabits or MEGABITS
    if options.quick:
        options.steps = QUICK
    with parser.in_namespaces(as_user=True):
        figures = (timed if options.time else run_all)(options.build, options)
    write_json(options.json, figures)
    exact = figures.get("netfc.torch.invariant", ())
    if len({one["hash"] for one in exact}) > 1:
        parser.fail("that is not what was promised: weights depend on the number of processes")


if __name__ == "__main__":
    main()
