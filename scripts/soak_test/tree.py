# SPDX-License-Identifier: BSD-3-Clause
"""A tree of switches for a long time: workers and leaves are killed, and started again.

Two leaves below a root, two workers each, which add up vectors and compare every sum with the exact
one. Every few seconds a worker or a leaf is killed; all others have to hear of it in time, and
begin anew.
"""

import itertools
import json
import os
import random
import select
import subprocess
import sys
import time

from aggregation import sums
from netfc import allreduce
from netfc.telemetry import Telemetry
from soak_test import watch
from switch_tree import SwitchTree

FANS = (2, 2)
WORKERS = FANS[0] * FANS[1]
LEVELS, STALL = len(FANS), 4
TIMERS_S = 1  # of workers and switches, which look now and then
# Slots of some jobs: those that have failed are there until they are idle.
AGGREGATE = f"slots=1024,stall={STALL},idle=10"
FRAMES, VALUES = 256, 5000
KILL_AFTER_S = (1, 3)
PATIENCE_S = 120
SETTLE_S = 30  # until jobs without workers are over


class Worker:
    """A process that takes part in one job after the other. A context manager."""

    def __init__(self, build, host, options):
        self._words = [sys.executable, "-P", "-m", "soak_test.tree_worker",
                       json.dumps({**options, "build": str(build)})]
        self._host = host
        self._process = self._start()

    def _start(self):
        return self._host.start(*self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.communicate()

    def order(self, job, token):
        """Join a job."""
        self._process.stdin.write(f"{job} {token}\n")
        self._process.stdin.flush()

    def listen(self):
        """What it says next."""
        if not select.select([self._process.stdout], [], [], PATIENCE_S)[0]:
            raise RuntimeError("a worker says nothing")
        return json.loads(self._process.stdout.readline() or '{"event": "end"}')

    def replace(self):
        """Kills it, and starts another one."""
        self._process.kill()
        self._process.communicate()
        self._process = self._start()


class TreeSoak:
    """What happens to a tree, and what has come of it."""

    def __init__(self, tree, workers):
        self._tree, self._workers = tree, workers
        self._draw = random.Random(3)
        self._jobs = itertools.count(1)
        self._victims = itertools.cycle(("worker", "leaf"))
        self.killed = {"worker": 0, "leaf": 0}
        self.sums = self.wrong = self.others = 0
        self.longest, self.told = 0.0, ""

    def play(self):
        """One job: all join, something is killed, all others hear of it; it is started again."""
        job, token = next(self._jobs), allreduce.draw_token()
        for worker in self._workers:
            worker.order(job, token)
        for worker in self._workers:
            self._expect(worker, "joined")
        time.sleep(self._draw.uniform(*KILL_AFTER_S))
        victim = next(self._victims)
        dead = self._kill(victim)
        for number, worker in enumerate(self._workers):
            if number == dead:
                continue
            said = self._expect(worker, "failed")
            self.sums += said["sums"]
            self.wrong += said["wrong"]
            if said["seconds"] > self.longest:
                self.longest, self.told = said["seconds"], f"a {victim} killed: {said['text']}"
        self.killed[victim] += 1

    def _kill(self, victim):
        """Returns the number of the worker that is killed; None: it is a leaf."""
        if victim == "worker":
            number = self._draw.randrange(WORKERS)
            self._workers[number].replace()
            return number
        leaf = self._draw.choice(self._tree.leaves)
        leaf.kill()
        leaf.start_again()
        return None

    def _expect(self, worker, event):
        said = worker.listen()
        if said["event"] != event:
            raise RuntimeError(f"a worker was to say {event}, but: {said}")
        return said

    def sample(self):
        """The root, which lives all the time."""
        with Telemetry(self._tree.telemetry) as telemetry:
            heaps = [telemetry.ask(f"/eal/heap_info,{heap}")
                     for heap in telemetry.ask("/eal/heap_list")]
            jobs = telemetry.ask("/netfc/aggregate")
        return {"resident_kb": watch.resident_kb(self._tree.switch),
                "open_files": watch.open_files(self._tree.switch),
                "heap_bytes": sum(heap["Alloc_size"] for heap in heaps),
                "jobs": jobs["jobs"]}

    def settle(self):
        """The state when all jobs are over, or so much later."""
        limit = time.monotonic() + SETTLE_S
        while self.sample()["jobs"] and time.monotonic() < limit:
            time.sleep(0.5)
        return self.sample()


def judge(soak, first, last, stops):
    """The report: what was measured, and what of it must hold. stops: what all switches ended with."""
    growth = last["resident_kb"] - first["resident_kb"]
    heap_growth = last["heap_bytes"] - first["heap_bytes"]
    limit = LEVELS * STALL + TIMERS_S
    return {
        "workers_killed": soak.killed["worker"], "leaves_killed": soak.killed["leaf"],
        "vectors": soak.sums, "wrong_vectors": soak.wrong, "longest_wait_s": soak.longest,
        "longest_wait": soak.told,
        "memory_growth_kb": growth, "heap_growth_bytes": heap_growth,
        "checks": {
            "no wrong sum": soak.wrong == 0 and soak.sums > 0,
            f"all heard of it within {limit} s, levels x stall": soak.longest <= limit,
            "no job is left": last["jobs"] == 0,
            "no packet buffer leaked": all(stats["mbufs_leaked"] == 0 for stats in stops),
            f"memory grew by less than {watch.MAX_GROWTH_KB} kB":
                growth < watch.MAX_GROWTH_KB,
            f"the EAL's heap grew by less than {watch.MAX_HEAP_MOVES} bytes":
                heap_growth < watch.MAX_HEAP_MOVES,
            "no more open files": last["open_files"] <= first["open_files"],
        },
    }


def start_workers(stack, build, tree):
    """Of all leaves, in order."""
    values = [sums.gradients(rank, VALUES).tolist() for rank in range(WORKERS)]
    (tree.folder / "values").write_text(json.dumps(values), encoding="ascii")
    workers = []
    for leaf in tree.leaves:
        for number, host in leaf.hosts.items():
            workers.append(stack.enter_context(Worker(build, host, {
                "worker": number, "workers": FANS[1], "rank": len(workers), "switch": leaf.address,
                "place": {"path": leaf.path, "workers": WORKERS},
                "values": str(tree.folder / "values"), "silence": LEVELS * STALL})))
    return workers


def run(asked, stack):
    """The report."""
    tree = stack.enter_context(SwitchTree(
        asked.build / "app" / "dpdk-netfc", FANS, AGGREGATE, FRAMES, "fp32"))
    soak = TreeSoak(tree, start_workers(stack, asked.build, tree))
    soak.play()
    first, end = soak.settle(), time.monotonic() + 60 * asked.minutes
    for number in itertools.count(1):
        soak.play()
        if number % 10 == 0:
            print(f"{sum(soak.killed.values())} killed, {soak.sums:,} sums of {VALUES:,} values, "
                  f"{soak.wrong} wrong, longest wait {soak.longest:.1f} s", flush=True)
        if time.monotonic() > end:
            break
    last = soak.settle()
    return judge(soak, first, last, [json.loads(switch.stop()) for switch in tree.switches[::-1]])
