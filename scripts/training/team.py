# SPDX-License-Identifier: BSD-3-Clause
"""Ranks in network namespaces at the ports of the switch, and one training of theirs."""

import contextlib
import dataclasses
import json

import numpy

from aggregation import sums
from benchmark.allreduce.links import Switched
from benchmark.allreduce.team import worker_cores
from children import Child
from namespaces import CommandError
from switch_tree import SwitchTree
from switched import Network
from training import digits
from training.p4_switch import ProgramNetwork
from training.p4_tree import ProgramTree

FRAMES = 1024  # of a port each way
PATIENCE = 300  # seconds for one training


@dataclasses.dataclass(frozen=True)
class Run:
    """How a training goes on.

    way: of hooks.HOOKS. ranks: how many. parts: which part of the data each rank has, None: that of
    its number. seed: how late ranks are. loss: of 100 packets of the aggregation each way. lcores:
    of the switch. megabits: a second of each link, each way, 0: unlimited; then neither loss nor
    lcores. record: keep the gradients. late: ranks are late by chance. hidden: neurons of the layer
    that has most weights. first: what the first weights are drawn from. program: the P4 program's
    kind of results (p4_switch.KINDS) where BMv2 is the switch, "": dpdk-netfc. leaves: below a root,
    with as many ranks each; 0: one switch.
    """

    way: str
    ranks: int
    steps: int
    parts: tuple[int, ...] | None = None
    seed: int = 0
    loss: int = 0
    lcores: int = 1
    megabits: int = 0
    record: bool = False
    late: bool = True
    bucket_mb: float = 0.2
    hidden: int = 256
    first: int = 1
    program: str = ""
    leaves: int = 0


@dataclasses.dataclass
class Outcome:
    """weights: of rank 0, all others' are the same or the run fails. losses, seconds: of shape
    (ranks, steps). torch: its version. link_bytes: received and sent by each rank. rank_bytes,
    leaf_bytes: of the aggregation, in a tree: sent by a rank to its leaf, by a leaf to the root.
    given, got:
    gradients, if recorded: before the reduction, of shape (ranks, steps, values), and after it, of
    shape (steps, values)."""

    weights: numpy.ndarray
    losses: numpy.ndarray
    seconds: numpy.ndarray
    accuracy: float
    torch: str
    link_bytes: list[int]
    rank_bytes: float
    leaf_bytes: float
    given: numpy.ndarray | None
    got: numpy.ndarray | None

    def wrong(self, right):
        """How many gradients are not what right() makes of those given in a step."""
        return sum(sums.differ(got, right(self.given[:, step]))
                   for step, got in enumerate(self.got))


def train(build, run):
    """A training, from its first to its last step. Raises CommandError."""
    with make_network(build, run) as network, contextlib.ExitStack() as stack:
        digits.save(network.folder / "digits.npz")
        places = [(host, leaf) for leaf in network.leaves for host in leaf.hosts.values()]
        hosts = [host for host, _ in places]
        counted = [hosts, [leaf.middle for leaf in network.leaves]] if run.leaves else []
        for host in hosts:
            lose(host, run.loss)
        for namespace in sum(counted, []):
            count_upwards(namespace)
        before = list(map(link_bytes, hosts))
        ranks = [stack.enter_context(start(build, network, place, rank, run))
                 for rank, place in enumerate(places)]
        told = [rank.listen(PATIENCE) for rank in ranks]
        traffic = [after - former for after, former in zip(map(link_bytes, hosts), before)]
        for rank, said in enumerate(told):
            if "error" in said:
                raise CommandError(f"rank {rank}: {said['error']}")
        upwards = list(map(mean_upwards, counted)) or [0, 0]
        return collect(network.folder, run, told, traffic, upwards)


def make_network(build, run):
    """A host for each rank, at the switch."""
    program = build / "app" / "dpdk-netfc"
    if run.program == "tree":
        return ProgramTree(build, run.ranks)
    if run.program:
        return ProgramNetwork(run.ranks, run.program)
    if run.megabits:
        return Switched(program, run.ranks, run.megabits, 0, FRAMES)
    if run.leaves:
        fans = run.leaves, run.ranks // run.leaves
        return SwitchTree(program, fans, "slots=512", FRAMES, "fp32")
    shards = ["--aggregate"] if run.lcores == 1 else ["--aggregate", f"shards={run.lcores}"]
    return Network(program, range(run.ranks), shards, FRAMES, run.lcores)


def lose(host, share):
    """So many of 100 packets of the aggregation are lost at a host's link, each way."""
    if not share:
        return
    host.run("nft", "table netdev lossy {" + "".join(
        f" chain {hook} {{ type filter hook {hook} device eth0 priority 0; udp {port} 20040-20055"
        f" numgen random mod 100 < {share} drop; }};"
        for hook, port in (("ingress", "sport"), ("egress", "dport"))) + " }")


def count_upwards(namespace):
    """Counts bytes of the aggregation that leave its eth0 for a switch."""
    namespace.run("nft", "table netdev upwards { counter sent { }; chain out {"
                         " type filter hook egress device eth0 priority 0;"
                         " udp dport 20040-20055 counter name sent; }; }")


def mean_upwards(namespaces):
    """Of what they have counted."""
    listed = [json.loads(each.run("nft", "-j", "list", "counters"))["nftables"]
              for each in namespaces]
    counts = [entry["counter"]["bytes"] for entries in listed for entry in entries
              if "counter" in entry]
    return sum(counts) / len(counts)


def start(build, network, place, rank, run):
    """A rank's process. place: its host, and its switch."""
    host, leaf = place
    parts = run.parts or range(run.ranks)
    options = {**dataclasses.asdict(run), "rank": rank, "part": parts[rank],
               "seed": run.seed * run.ranks + rank, "digits": network.folder / "digits.npz",
               "cpus": worker_cores("netfc" if run.lcores == 1 else "all"),
               "store": network.folder / "store", "path": network.folder / f"rank{rank}"}
    return Child(host, "training.rank", options, NETFC_BUILD=str(build), NETFC_SWITCH=leaf.address,
                 GLOO_SOCKET_IFNAME="eth0", OMP_NUM_THREADS="1", **network.environment)


def link_bytes(host):
    """Received and sent by a host's link."""
    stats = json.loads(host.ip("-j", "-s", "link", "show", "dev", "eth0"))[0]["stats64"]
    return stats["rx"]["bytes"] + stats["tx"]["bytes"]


def collect(folder, run, told, traffic, upwards):
    """The outcome, from the ranks' files."""
    files = [numpy.load(folder / f"rank{rank}.npz") for rank in range(run.ranks)]
    weights = files[0]["weights"]
    for rank, file in enumerate(files):
        if not numpy.array_equal(weights.view("u4"), file["weights"].view("u4")):
            raise CommandError(f"rank {rank} has other weights than rank 0")
    given = got = None
    if run.record:
        given = numpy.array([steps_of(folder / f"rank{rank}.given", run)
                             for rank in range(run.ranks)])
        got = steps_of(folder / "rank0.got", run)
    return Outcome(weights, numpy.array([file["losses"] for file in files]),
                   numpy.array([file["seconds"] for file in files]), told[0]["accuracy"],
                   told[0]["torch"], traffic, *upwards, given, got)


def steps_of(path, run):
    """Recorded gradients, of shape (steps, values)."""
    return numpy.fromfile(path, numpy.float32).reshape(run.steps, -1)
