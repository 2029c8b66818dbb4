# SPDX-License-Identifier: BSD-3-Clause
"""Two leaves in P4, run as Python, below a model of dpdk-netfc as their root: whichever message of a
chunk is lost, late or doubled, all workers have its result after few repetitions."""

import collections

import numpy as np
import pytest

import p4_jobs
import test_p4_leaf as one
from netfc import aggregation

LEAVES, WORKERS, SLOTS, FORM = 2, 2, 1, 'int32'
MESSAGES = LEAVES * 2 * (WORKERS + 1)  # of a chunk, if none is lost
EVERY = 3  # chunks: one of them has a mishap
CHUNKS = MESSAGES * EVERY
ROUNDS = 4  # of repetitions until there is a result
ROOT = -1


class Root:
    """What dpdk-netfc does with its members' digits (aggregate_slot.h); the sums are checked below."""

    def __init__(self, parents):
        self.parents, self.entries = parents, {}

    def take(self, leaf, frame):
        """Results, and to which leaf each."""
        self.parents[leaf].answer(frame)
        number = aggregation.HEADER.unpack_from(p4_jobs.payload_of(frame))[6]
        held, ports = self.entries.get(number % (2 * SLOTS), (number - 2 * SLOTS, {}))
        if number < held:
            return []
        if number > held:
            ports = {}
        self.entries[number % (2 * SLOTS)] = number, ports
        port = int.from_bytes(frame[34:36], 'big')
        if len(ports) == LEAVES:
            return [self.result(leaf, number, port)]
        if leaf in ports:
            return []
        ports[leaf] = port
        return [self.result(each, number, ports[each]) for each in ports] * (len(ports) == LEAVES)

    def result(self, leaf, number, port):
        parent = self.parents[leaf]
        return leaf, parent.reply(number, port, parent.result(number))


class Tree:
    """All of it, and the messages that are on their way. mishap: what happens to them."""

    def __init__(self, leaves, values, mishap):
        self.switches, self.mishap = [switch for switch, _ in leaves], mishap
        self.parents = [one.Parent(each, FORM) for each in values]
        self.root, self.queue, self.late = Root(self.parents), [], []
        self.sent, self.mishaps = collections.Counter(), 0
        self.workers = [[one.Worker(member, each, FORM, [one.LANES] * CHUNKS) for member in team]
                        for (_, team), each in zip(leaves, values)]

    def send(self, to, leaf, frame):
        """A message for the root, or for a leaf's switch, or for its worker (None)."""
        number = aggregation.HEADER.unpack_from(p4_jobs.payload_of(frame))[6]
        happens = (number % EVERY, number // EVERY) == (0, self.sent[number])
        self.sent[number] += 1
        self.mishaps += happens
        if happens and self.mishap == 'late':
            self.late.append((to, leaf, frame))
        elif not happens or self.mishap == 'doubled':
            self.queue += [(to, leaf, frame)] * (1 + happens)

    def from_workers(self, how):
        for leaf, team in enumerate(self.workers):
            for worker in team:
                for frame in how(worker):
                    self.send(one.WORKERS_PORT, leaf, frame)

    def step(self):
        to, leaf, frame = self.queue.pop(0)
        if to == ROOT:
            for below, reply in self.root.take(leaf, frame):
                self.send(one.PARENT_PORT, below, reply)
        elif to is None:
            self.workers[leaf][p4_jobs.payload_of(frame)[14]].take(frame, self.parents[leaf])
        else:
            for port, made in self.switches[leaf].receive(frame, to):
                self.send(ROOT if port == one.PARENT_PORT else None, leaf, made)

    def results(self):
        return sum(len(worker.results) for team in self.workers for worker in team)

    def run(self):
        """Until all workers have all results."""
        rounds = had = 0
        while self.results() < LEAVES * WORKERS * CHUNKS:
            self.from_workers(one.Worker.begun)
            if not self.queue and self.late:
                self.queue, self.late = self.late, []
            elif not self.queue:
                rounds = rounds + 1 if self.results() == had else 1
                had = self.results()
                assert rounds <= ROUNDS, f'{self.mishap}: message {self.mishaps - 1} of a chunk'
                self.from_workers(one.Worker.again)
            if self.queue:
                self.step()


@pytest.mark.parametrize('mishap', ['lost', 'late', 'doubled'])
@pytest.mark.parametrize('target', ['bmv2', 'bfrt'])
def test_each_message(target, mishap, monkeypatch):
    monkeypatch.setattr(one, 'SLOTS', SLOTS)
    monkeypatch.setattr(one, 'CHUNKS', CHUNKS)
    rng = np.random.default_rng(1)
    values = [[np.array([one.encodings(rng, FORM, one.LANES) for _ in range(WORKERS)])
               for _ in range(CHUNKS)] for _ in range(LEAVES)]
    tree = Tree([one.started(target, FORM, WORKERS) for _ in range(LEAVES)], values, mishap)
    tree.run()
    assert tree.mishaps == MESSAGES
