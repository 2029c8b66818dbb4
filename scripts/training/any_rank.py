# SPDX-License-Identifier: BSD-3-Clause
"""One rank that trains a small transformer, a process of its own: any_rank.py OPTIONS, a JSON object.

Says in a line of JSON the weights' hash, and how long steps took.
"""

import hashlib
import os
import pathlib
import re
import signal
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn

from netfc.torch import invariant
from netfc.torch.invariant.agreement import Ranks
from netfc.torch.invariant.sums import Sums
from training.rank import join, main

REDUCTIONS = 20
TEXT = pathlib.Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"
CONTEXT, UNIT, UNITS = 16, 4, 8
SAMPLES = 50 * UNIT * UNITS


class Network(nn.Module):
    """Two layers of a transformer that predict the next byte of a text."""

    def __init__(self, width=32):
        super().__init__()
        self.bytes = nn.Embedding(256, width)
        self.places = nn.Parameter(0.02 * torch.randn(CONTEXT, width))
        layer = nn.TransformerEncoderLayer(width, 2, 2 * width, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, 256)
        self.register_buffer("mask", torch.full((CONTEXT, CONTEXT), -torch.inf).triu(1))

    def forward(self, texts):
        """Of each byte, what comes next."""
        return self.head(self.layers(self.bytes(texts) + self.places, self.mask))


def texts():
    """Bytes to read, and those that come next."""
    read = torch.tensor(list(TEXT.read_bytes()))
    draw = torch.Generator().manual_seed(1)
    starts = torch.randint(0, len(read) - CONTEXT, (SAMPLES,), generator=draw)
    rows = starts[:, None] + torch.arange(CONTEXT)
    return read[rows], read[rows + 1]


def at_random(step, units, ranks):
    """Who computes what; some may have nothing to do."""
    draw = torch.Generator().manual_seed(step)
    return torch.randint(0, ranks, (units,), generator=draw).tolist()


class Run:
    """A training of so many steps, by one of the ways: "invariant", "gloo" or "netfc"."""

    def __init__(self, options):
        self._options = options
        torch.manual_seed(1)
        self.network = Network()
        self._read, self._next = texts()
        self._optimizer = torch.optim.AdamW(self.network.parameters(), 3e-3)
        deal = {"deal": at_random} if options["at_random"] else {}
        self._sampler = invariant.UnitSampler(SAMPLES, UNIT, UNITS, seed=1, **deal)
        self.seconds = []

    def _loss(self, network, batch):
        return nn.functional.cross_entropy(network(self._read[batch]).flatten(0, 1),
                                           self._next[batch].flatten())

    def invariant(self):
        """Units' gradients, added exactly."""
        training = invariant.Training(self.network, self._sampler)
        path = pathlib.Path(self._options["checkpoint"])
        if path.exists():
            state = torch.load(path)
            self.network.load_state_dict(state["network"])
            self._optimizer.load_state_dict(state["optimizer"])
            training.load_state_dict(state["training"])
        begun = time.monotonic()
        for step in training.steps(self._sampler, until=self._options["steps"]):
            for batch in step:
                self._die(step.number)
                step.backward(self._loss(self.network, batch))
            self._optimizer.step()
            self.seconds.append(time.monotonic() - begun)
            if self._options["kill_at"] is not None and self._options["rank"] == 0:
                torch.save({"network": self.network.state_dict(),
                            "optimizer": self._optimizer.state_dict(),
                            "training": training.state_dict()}, path)
            begun = time.monotonic()

    def _die(self, step):
        if self._options["kill_at"] == step and self._options["rank"] == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    def plain(self):
        """DistributedDataParallel: each rank the mean over its own samples, weighted."""
        options, sampler = self._options, self._sampler
        network = self.network
        sampler.rank, sampler.ranks = options["rank"], options["ranks"]
        if options["ranks"] > 1:
            network = nn.parallel.DistributedDataParallel(network)
        for step in range(options["steps"]):
            begun = time.monotonic()
            units = sampler.own(step)
            batch = sum((sampler.indices(step, unit) for unit in units), [])
            share = len(units) * options["ranks"] / sampler.units_of(step)
            self._optimizer.zero_grad()
            (self._loss(network, batch) * share).backward()
            self._optimizer.step()
            self.seconds.append(time.monotonic() - begun)

    def adding(self):
        """Seconds of a unit's backward pass, and of adding its gradients: the least of some."""
        parameters = list(self.network.parameters())
        sums = Sums(torch.float32, [one.shape for one in parameters])
        passes, additions = [], []
        for unit in range(4 * UNITS):
            self._optimizer.zero_grad()
            loss = self._loss(self.network, self._sampler.indices(0, unit % UNITS))
            begun = time.monotonic()
            loss.backward()
            passes.append(time.monotonic() - begun)
            begun = time.monotonic()
            sums.add_all([one.grad for one in parameters])
            additions.append(time.monotonic() - begun)
        return min(passes), min(additions)

    def reducing(self):
        """Seconds of a reduction of all gradients, as the way has it, without all else: the median
        of some."""
        gradients = [one.grad for one in self.network.parameters()]
        flat = torch.cat([one.reshape(-1) for one in gradients])
        sums = Sums(torch.float32, [one.shape for one in gradients])
        is_exact = self._options["way"] == "invariant"
        ranks = Ranks() if is_exact else None
        reductions = []
        for _ in range(REDUCTIONS):
            if is_exact:
                sums.add_all(gradients)
            dist.barrier()
            begun = time.monotonic()
            if is_exact:
                sums.start(ranks, UNITS).wait()
            else:
                dist.all_reduce(flat)
            reductions.append(time.monotonic() - begun)
            if is_exact:
                sums.finish()
        return statistics.median(reductions)

    def hash(self):
        """Of all weights."""
        digest = hashlib.sha256()
        for tensor in self.network.state_dict().values():
            digest.update(tensor.numpy().tobytes())
        return digest.hexdigest()[:12]


def link_bytes():
    """Received and sent by this host's link so far; 0 if it has none."""
    link = re.search(r"^ *eth0: *(.*)$", pathlib.Path("/proc/net/dev").read_text(), re.MULTILINE)
    counts = link[1].split() if link else [0] * 9
    return int(counts[0]) + int(counts[8])


def run(options):
    """The whole training; figures for JSON."""
    if options["ranks"] > 1:
        join("gloo" if options["way"] == "gloo" else "netfc", options)
    training = Run(options)
    before = link_bytes()
    (training.invariant if options["way"] == "invariant" else training.plain)()
    figures = {"hash": training.hash(), "seconds": training.seconds, "torch": torch.__version__,
               "weights": sum(one.numel() for one in training.network.parameters())}
    figures["link_bytes"] = link_bytes() - before
    figures["backward"], figures["adding"] = training.adding()
    if options["ranks"] > 1:
        figures["reducing"] = training.reducing()
        dist.barrier()
        dist.destroy_process_group()
    return figures


if __name__ == "__main__":
    main(run)
