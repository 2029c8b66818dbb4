# SPDX-License-Identifier: BSD-3-Clause
"""One rank of a training, a process of its own: rank.py OPTIONS, a JSON object.

Says in a line of JSON how it went, and keeps weights, losses and, if asked for, what each step's
gradients were before and after the reduction, in a file of numpy.
"""

import contextlib
import datetime
import json
import os
import random
import sys
import time

import numpy
import torch
import torch.distributed as dist

from training import hooks, model

TIMEOUT = datetime.timedelta(minutes=10)
JITTER_S = 0.004  # that a rank may be late by in a step, so that the order of arrival differs


class Record:
    """A hook that keeps each step's gradients, as all buckets of a step have them."""

    def __init__(self, hook):
        self._hook, self._given, self._got = hook, [], []

    def __call__(self, bucket):
        self._given.append(bucket.buffer().clone())
        place = len(self._got)
        self._got.append(None)
        return self._hook(bucket).then(lambda future: self._keep(place, future.value()))

    def _keep(self, place, reduced):
        self._got[place] = reduced.to(torch.float32, copy=True)  # float16 from some hooks
        return reduced

    def end_step(self, given, got):
        """Adds the step to open files; got: None where what came back is not asked for."""
        given.write(torch.cat(self._given).numpy().tobytes())
        if got is not None:
            got.write(torch.cat(self._got).numpy().tobytes())
        self._given.clear()
        self._got.clear()


def accuracy(network, images, numbers):
    """How many images are taken for what they are, of all."""
    with torch.no_grad():
        return (network(images).argmax(1) == numbers).float().mean().item()


def train(options, network, record, data):
    """All steps; losses, and seconds of each step."""
    images, numbers = data
    optimizer = torch.optim.SGD(network.parameters(), model.RATE, model.MOMENTUM)
    late = random.Random(options["seed"])
    losses, seconds = [], []
    for batch in model.batches(len(images), options["part"], options["ranks"], options["steps"]):
        if options["late"]:
            time.sleep(late.random() * JITTER_S)
        begun = time.monotonic()
        loss = torch.nn.functional.cross_entropy(network(images[batch]), numbers[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seconds.append(time.monotonic() - begun)
        losses.append(loss.item())
        record()
    return losses, seconds


@contextlib.contextmanager
def recording(options, hook):
    """The hook to use, and what to call at the end of each step."""
    if not options["record"]:
        yield hook, lambda: None
        return
    record = Record(hook)
    with contextlib.ExitStack() as stack:
        given = stack.enter_context(open(options["path"] + ".given", "wb"))
        got = None
        if options["rank"] == 0:  # the others got the same, or their weights would differ
            got = stack.enter_context(open(options["path"] + ".got", "wb"))
        yield record, lambda: record.end_step(given, got)


def join(backend, options):
    """Be a rank of the process group."""
    dist.init_process_group(backend, init_method=f"file://{options['store']}", timeout=TIMEOUT,
                            rank=options["rank"], world_size=options["ranks"])


def run(options):
    """The whole training; figures for JSON."""
    backend, make_hook = hooks.HOOKS[options["way"]]
    join(backend, options)
    # The P4 program reduces gradients; what else DistributedDataParallel does is gloo's.
    others = dist.new_group(backend="gloo") if options["program"] else dist.group.WORLD
    network = torch.nn.parallel.DistributedDataParallel(
        model.make(options["hidden"], options["first"]), bucket_cap_mb=options["bucket_mb"],
        process_group=others)
    trained, tested = model.digits(options["digits"])
    with recording(options, make_hook()) as (hook, record):
        network.register_comm_hook(hook, call_hook)
        losses, seconds = train(options, network, record, trained)
    weights = torch.cat([one.detach().reshape(-1) for one in network.parameters()])
    numpy.savez(options["path"], weights=weights.numpy(), losses=losses, seconds=seconds)
    reached = accuracy(network.module, *tested)
    dist.barrier(others)
    dist.destroy_process_group()
    return {"accuracy": reached, "torch": torch.__version__}


def call_hook(hook, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """torch wants a hook to be a function with these annotations."""
    return hook(bucket)


def main(body):
    """The command line. body: what a rank does with its options."""
    options = json.loads(sys.argv[1])
    os.sched_setaffinity(0, options["cpus"])
    torch.set_num_threads(1)
    try:
        said = body(options)
    except Exception as error:  # pylint: disable=broad-except # told by the demonstration
        said = {"error": str(error)}
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(run)
