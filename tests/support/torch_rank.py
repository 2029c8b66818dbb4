# SPDX-License-Identifier: BSD-3-Clause
"""A rank of the tests of netfc.torch, a process of its own: torch_rank.py BODY [ARGUMENT...].

Prints what BODY gives as a line of JSON, or {"error": text, "type": name, "seconds": how long}.
"""

import datetime
import json
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

import torch_values
from torch_store import tcp_store

import netfc.torch

RANK, SIZE = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
TYPES = {'float16': torch.float16, 'bfloat16': torch.bfloat16, 'float32': torch.float32,
         'int32': torch.int32}
STEPS = 10


def reduce_all():
    """All types and operations; the results as numbers."""
    results = {}
    for name, kind in TYPES.items():
        for op in ('SUM', 'AVG', 'MIN', 'MAX'):
            tensor = torch.tensor(torch_values.values(RANK, name)).to(kind)
            where = tensor.data_ptr()
            dist.all_reduce(tensor, getattr(dist.ReduceOp, op))
            assert tensor.data_ptr() == where
            results[f'{name} {op}'] = tensor.tolist()
    return results


def reduce_half(*ops):
    """float16 with some operations, twice each; the results as numbers."""
    results = {}
    for op in ops * 2:
        tensor = torch.tensor(torch_values.values(RANK, 'float16')).to(torch.float16)
        dist.all_reduce(tensor, getattr(dist.ReduceOp, op))
        assert results.setdefault(op, tensor.tolist()) == tensor.tolist()
    return results


def reduce_others():
    """Not contiguous, of no dimension, empty, started ones, and what gloo does."""
    columns = torch.arange(12.).reshape(3, 4).t()
    dist.all_reduce(columns)
    scalar = torch.tensor(1.5)
    dist.all_reduce(scalar)
    dist.all_reduce(torch.empty(0))
    started = [torch.full((20_000,), float(n)) for n in range(5)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in started]
    for work in works:
        work.wait()
    doubles = torch.full((3,), 0.5, dtype=torch.float64)
    dist.all_reduce(doubles)
    product = torch.full((2,), 3.0)
    dist.all_reduce(product, dist.ReduceOp.PRODUCT)
    gathered = [torch.zeros(1) for _ in range(SIZE)]
    dist.all_gather(gathered, torch.tensor([float(RANK)]))
    objects = [None] * SIZE
    dist.all_gather_object(objects, RANK)
    dist.barrier()
    return {'columns': columns.tolist(), 'scalar': scalar.item(), 'doubles': doubles.tolist(),
            'started': [tensor.unique().tolist() for tensor in started],
            'product': product.tolist(), 'gathered': [int(one) for one in gathered],
            'objects': objects}


def subgroups():
    """A group inside: its first reduction joins a job of its own."""
    group = dist.new_group([0, 1])
    tensor = torch.tensor([RANK + 1.0])
    if RANK < 2:
        dist.all_reduce(tensor, group=group)
    everybody = torch.tensor([RANK + 1.0])
    dist.all_reduce(everybody)
    return [tensor.item(), everybody.item()]


def train(hook=''):
    """Ten steps with DistributedDataParallel; the weights as integers."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 300), torch.nn.ReLU(), torch.nn.Linear(300, 10))
    model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.05)
    if hook:
        model.register_comm_hook(dist.new_group(backend='netfc'), netfc.torch.mean_hook)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    torch.manual_seed(RANK)
    losses = []
    for _ in range(STEPS):
        inputs = torch.randn(32, 64)
        loss = torch.nn.functional.cross_entropy(model(inputs), inputs[:, :10].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    bits = torch.cat([weight.detach().reshape(-1) for weight in model.parameters()])
    return bits.view(torch.int32).tolist()


def die_in_training():
    """The last rank is killed between two steps; the others hear of it in the backward pass."""
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(5, 3))
    for step in range(100):
        if step == 3 and RANK == SIZE - 1:
            os.kill(os.getpid(), signal.SIGKILL)
        model(torch.ones(1, 5)).sum().backward()
    return 'not reached'


def different_shapes():
    dist.all_reduce(torch.ones(10 + RANK))
    return 'not reached'


def different_orders():
    for size in (100, 200)[::1 if RANK else -1]:
        dist.all_reduce(torch.ones(size))
    return 'not reached'


def fail_twice():
    """What is started after a failure fails at once, too; also as a work that nobody waited for."""
    try:
        different_shapes()
    except netfc.torch.AllreduceError as error:
        begun = time.monotonic()
        try:
            dist.all_reduce(torch.ones(5))
        except netfc.torch.AllreduceError as again:
            return [str(error) == str(again), time.monotonic() - begun < 1]
    return 'not reached'


def join_again():
    """A new group after a failure: what torchrun's restart does, in one process."""
    try:
        different_shapes()
    except netfc.torch.AllreduceError:
        dist.destroy_process_group()
        start(os.environ['STORE'] + 'again')
        tensor = torch.ones(3)
        dist.all_reduce(tensor)
        return tensor.tolist()
    return 'not reached'


def until_it_fails():
    """Says when it is under way."""
    dist.all_reduce(torch.ones(5))
    print(flush=True)
    while True:
        time.sleep(0.1)
        dist.all_reduce(torch.ones(5))


def stop_in_training():
    """The last rank is stopped: its process is there, and does nothing."""
    for step in range(100):
        if step == 3 and RANK == SIZE - 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        dist.all_reduce(torch.ones(5))
    return 'not reached'


def one_is_late(seconds):
    """The last rank comes later than others are patient with those who are gone."""
    dist.all_reduce(torch.ones(5))
    print(flush=True)
    if RANK == SIZE - 1:
        time.sleep(float(seconds))
    tensor = torch.ones(5)
    dist.all_reduce(tensor)
    return tensor.tolist()


def alone():
    """Nothing at all: whether the group comes about."""
    return 'not reached'


def start(path):
    """path: of a file that is the store, or of a TCPStore "host:port"."""
    options = None
    if 'SWITCHES' in os.environ:
        options = netfc.torch.Options(switches=tuple(os.environ['SWITCHES'].split()),
                                      join_timeout=5)
    backend = os.environ.get('BACKEND', 'netfc')
    timeout = datetime.timedelta(seconds=float(os.environ.get('TIMEOUT', '20')))
    if ':' in path:
        host, port = path.split(':')
        where = {'store': tcp_store(host, int(port), is_master=False, timeout=timeout)}
    else:
        where = {'init_method': 'file://' + path}
    dist.init_process_group(backend, rank=RANK, world_size=SIZE, pg_options=options,
                            timeout=timeout, **where)


def main():
    torch.set_num_threads(1)
    body, *arguments = sys.argv[1:]
    begun = time.monotonic()
    try:
        start(os.environ['STORE'])
        begun = time.monotonic()
        said = {'result': globals()[body](*arguments)}
        dist.destroy_process_group()
    except Exception as error:  # told by the test
        said = {'error': str(error), 'type': type(error).__name__,
                'seconds': time.monotonic() - begun}
    print(json.dumps(said), flush=True)


if __name__ == '__main__':
    main()
