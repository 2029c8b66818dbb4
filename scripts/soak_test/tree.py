# SPDX-License-Identifier: BSD-3-Clause
"""A tree of switches for a long time: workers and leaves are killed, and started again.

Two leaves below a root, two workers each, which add up vectors and compare every sum with the exact
one. Every few seconds a worker or a leaf is killed; all others have to hear of it in time, and
begin anew.
"""

import itertools
import json
import random
import time

from aggregation import sums
from aggregation.demo import start_workers
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
SLOTS = 32
KILL_AFTER_S = (1, 3)
SETTLE_S = 30  # until jobs without workers are over


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
            worker.tell(f"{job} {token}")
        for worker in self._workers:
            worker.expect("joined")
        time.sleep(self._draw.uniform(*KILL_AFTER_S))
        victim = next(self._victims)
        dead = self._kill(victim)
        for number, worker in enumerate(self._workers):
            if number == dead:
                continue
            said = worker.expect("failed")
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

    def sample(self):
        """The root, which lives all the time."""
        with Telemetry(self._tree.telemetry) as telemetry:
            return {**watch.held(self._tree.switch, telemetry),
                    "jobs": telemetry.ask("/netfc/aggregate")["jobs"]}

    def settle(self):
        """The state when all jobs are over, or so much later."""
        limit = time.monotonic() + SETTLE_S
        while self.sample()["jobs"] and time.monotonic() < limit:
            time.sleep(0.5)
        return self.sample()


def judge(soak, first, last, stops):
    """The report: what was measured, and what of it must hold. stops: what all switches ended with."""
    growth, held = watch.growth(first, last)
    limit = LEVELS * STALL + TIMERS_S
    return {
        "workers_killed": soak.killed["worker"], "leaves_killed": soak.killed["leaf"],
        "vectors": soak.sums, "wrong_vectors": soak.wrong, "longest_wait_s": soak.longest,
        "longest_wait": soak.told, **growth,
        "checks": {
            "no wrong sum": soak.wrong == 0 and soak.sums > 0,
            f"all heard of it within {limit} s, levels x stall": soak.longest <= limit,
            "no job is left": last["jobs"] == 0,
            "no packet buffer leaked": all(stats["mbufs_leaked"] == 0 for stats in stops), **held,
        },
    }


def run(asked, stack):
    """The report."""
    tree = stack.enter_context(SwitchTree(
        asked.build / "app" / "dpdk-netfc", FANS, AGGREGATE, FRAMES, "fp32"))
    values = tree.folder / "values"
    values.write_text(json.dumps([sums.gradients(rank, VALUES).tolist()
                                  for rank in range(WORKERS)]),
                      encoding="ascii")
    soak = TreeSoak(tree, start_workers(
        stack, asked.build, tree, values=values, pause=0,
        ways={"slots": SLOTS, "silence": LEVELS * STALL}))
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
