# SPDX-License-Identifier: BSD-3-Clause
"""A rank of the tests of netfc.torch, a process of its own: torch_rank.py BODY [ARGUMENT...].

Prints what BODY gives as a line of JSON, or {"error": text, "type": name, "seconds": how long}.
"""

import datetime
import json
import math
import os
import random
import signal
import sys
import threading
import time
import types

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

import torch_eights
import torch_values
from torch_store import tcp_store

import netfc.torch

RANK, SIZE = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
TYPES = {'float16': torch.float16, 'bfloat16': torch.bfloat16, 'float32': torch.float32,
         'float64': torch.float64, 'int32': torch.int32, 'int64': torch.int64}
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
    small = torch.ones(3, dtype=torch.int8)
    dist.all_reduce(small)
    product = torch.full((2,), 3.0)
    dist.all_reduce(product, dist.ReduceOp.PRODUCT)
    gathered = [torch.zeros(1) for _ in range(SIZE)]
    dist.all_gather(gathered, torch.tensor([float(RANK)]))
    objects = [None] * SIZE
    dist.all_gather_object(objects, RANK)
    dist.barrier()
    return {'columns': columns.tolist(), 'scalar': scalar.item(), 'small': small.tolist(),
            'started': [tensor.unique().tolist() for tensor in started],
            'product': product.tolist(), 'gathered': [int(one) for one in gathered],
            'objects': objects}


def meet():
    """All ranks are here; no collective, which would be one of the group's sequence."""
    store = dist.distributed_c10d._get_default_store()
    store.set(f'here {RANK}', '')
    store.wait([f'here {rank}' for rank in range(SIZE)])


def started_in_callbacks():
    """A callback that starts another reduction and waits for it, and one inside that."""
    first, second, third = (torch.full((3,), float(n)) for n in (1, 2, 3))

    def inner(_):
        dist.all_reduce(third, async_op=True).get_future().wait()
        return 'inner'

    def outer(_):
        future = dist.all_reduce(second, async_op=True).get_future().then(inner)
        return [future.wait(), 'outer']

    said = dist.all_reduce(first, async_op=True).get_future().then(outer).wait()
    return [said, first.tolist(), second.tolist(), third.tolist()]


def a_callback_that_waits_for_what_is_under_way():
    """At rank 0, for what was started after what it belongs to."""
    tensors = [torch.ones(3) for _ in range(5)]
    if RANK == 0:
        begin = threading.Event()
        works = [dist.all_reduce(tensors[0], async_op=True)]

        def wait_for_all(_):
            begin.wait()
            for work in works[1:]:
                work.wait()

        future = works[0].get_future().then(wait_for_all)
        meet()
        works += [dist.all_reduce(tensor, async_op=True) for tensor in tensors[1:]]
        begin.set()
        future.wait()
    else:
        meet()
        for tensor in tensors:
            dist.all_reduce(tensor)
    return [tensor.tolist() for tensor in tensors]


def collect(name):
    """Every collective with tensors of a type; what each should give is the test's to say."""
    own = torch.tensor(torch_values.values(RANK, name)).to(TYPES[name])
    count = own.numel() // SIZE * SIZE
    parts = own[:count].clone()
    results = {}
    out = torch.zeros(count // SIZE, dtype=own.dtype)
    dist.reduce_scatter(out, list(parts.chunk(SIZE)))
    results['reduce_scatter'] = out
    base = torch.zeros_like(out)
    scatter = getattr(dist, 'reduce_scatter_tensor', dist._reduce_scatter_base)
    scatter(base, parts, op=dist.ReduceOp.AVG)
    results['reduce_scatter_tensor'] = base
    gathered = [torch.zeros_like(out) for _ in range(SIZE)]
    dist.all_gather(gathered, out)
    results['all_gather'] = torch.cat(gathered)
    whole = torch.zeros(count, dtype=own.dtype)
    gather = getattr(dist, 'all_gather_into_tensor', dist._all_gather_base)
    gather(whole, out)
    results['all_gather_into_tensor'] = whole
    every_other = torch.zeros(2 * count, dtype=own.dtype)[::2]
    work = dist.broadcast(every_other if RANK else parts, 0, async_op=True)
    work.wait()
    results['broadcast'] = every_other if RANK else parts
    dist.barrier()
    return {key: value.tolist() for key, value in results.items()}


def refuse_parts():
    """What does not fit is refused by whom it concerns, before anything is sent."""
    said = []
    for body in (lambda: dist.all_gather([torch.zeros(2)] * (SIZE + 1), torch.zeros(2)),
                 lambda: dist.all_gather([torch.zeros(3)] * SIZE, torch.zeros(2)),
                 lambda: dist.reduce_scatter(torch.zeros(2), [torch.zeros(3)] * SIZE),
                 lambda: dist._reduce_scatter_base(torch.zeros(2), torch.zeros(2 * SIZE + 1))):
        try:
            body()
            said.append('')
        except (ValueError, RuntimeError) as error:
            said.append(str(error))
    dist.barrier()
    return said


def differ_in_root():
    """All call broadcast, and not with the same root."""
    dist.broadcast(torch.ones(5), RANK)


def shard_optimizer():
    """ZeroRedundancyOptimizer beside what it shards: the same weights."""
    from torch.distributed.optim import ZeroRedundancyOptimizer
    from torch.nn.parallel import DistributedDataParallel

    def train(make):
        torch.manual_seed(0)
        model = DistributedDataParallel(torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)))
        optimizer = make(model.parameters())
        torch.manual_seed(RANK)
        for _ in range(5):
            inputs = torch.randn(4, 8)
            loss = model(inputs).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return torch.cat([one.detach().reshape(-1) for one in model.parameters()]).tolist()

    return [train(lambda parameters: torch.optim.Adam(parameters, 0.01)),
            train(lambda parameters: ZeroRedundancyOptimizer(
                parameters, optimizer_class=torch.optim.Adam, lr=0.01))]


def shard_model():
    """FullyShardedDataParallel and DistributedDataParallel: the weights; a text where torch's needs
    a GPU."""
    if int(torch.__version__.split('.')[0]) < 2:
        return f'FSDP of torch {torch.__version__} needs a GPU'
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.nn.parallel import DistributedDataParallel

    def train(wrap, options):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(),
                                    torch.nn.Linear(16, 1))
        wrapped = wrap(model, **options)
        optimizer = torch.optim.SGD(wrapped.parameters(), 0.01)
        torch.manual_seed(RANK)
        for _ in range(5):
            loss = wrapped(torch.randn(4, 8)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return [one.detach() for one in wrapped.state_dict().values()]

    whole = train(DistributedDataParallel, {})
    sharded = train(FullyShardedDataParallel, {'device_id': torch.device('cpu')})
    return [[one.reshape(-1).tolist() for one in weights] for weights in (whole, sharded)]


def power_sgd():
    """torch's own hook, whose callbacks reduce: rank 1 approximations from step 2 on."""
    torch.manual_seed(1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(20, 30))
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=1,
                                        start_powerSGD_iter=2)
    model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    for _ in range(5):
        model(torch.full((4, 20), RANK + 1.0)).square().sum().backward()
    gradients = torch.cat([one.grad.reshape(-1) for one in model.parameters()])
    return gradients.view(torch.int32).tolist()


def copy_all():
    """Of types that gloo does not know; also tensors that are not contiguous."""
    results = {}
    for name in ('bfloat16', 'bool', 'int16', 'complex64', 'float32'):
        kind = getattr(torch, name)
        mine = (torch.arange(6).reshape(2, 3) * (RANK + 1) % 5).to(kind)
        sent = (mine.clone() if RANK == 1 else torch.zeros(2, 3, dtype=kind))
        dist.broadcast(sent, 1)
        turned = mine.t().contiguous().t() if RANK == 1 else torch.zeros(3, 2, dtype=kind).t()
        work = dist.broadcast(turned, 1, async_op=True)
        work.wait()
        assert not turned.is_contiguous() and torch.equal(sent, turned)
        gathered = [torch.zeros(2, 3, dtype=kind) for _ in range(SIZE)]
        dist.all_gather(gathered, mine)
        at_one = [torch.zeros(3, 2, dtype=kind).t() for _ in range(SIZE)] if RANK == 1 else None
        dist.gather(mine, at_one, 1)
        if at_one:
            assert all(map(torch.equal, at_one, gathered))
        part = torch.zeros(3, dtype=kind)
        dist.scatter(part, list(mine.new_ones(SIZE, 3)) if RANK == 0 else None, 0)
        if RANK == 0:
            dist.send(mine, 1)
        elif RANK == 1:
            received = torch.zeros(3, 2, dtype=kind).t()
            dist.recv(received, 0)
            assert torch.equal(received, gathered[0])
        results[name] = [torch.view_as_real(one).tolist() if one.is_complex() else one.tolist()
                         for one in (sent, *gathered, part)]
    return results


def train_brains():
    """A model of bfloat16, with a buffer of bool."""
    torch.manual_seed(RANK)
    model = torch.nn.Linear(20, 3).bfloat16()
    model.register_buffer('mask', torch.tensor([True, RANK == 0]))
    model = torch.nn.parallel.DistributedDataParallel(model)
    model(torch.full((4, 20), RANK + 1.0, dtype=torch.bfloat16)).sum().backward()
    return [*model.module.weight[0].tolist(), *model.module.weight.grad[0].tolist(),
            *model.module.mask.tolist()]


class Bucket:
    """What a communication hook is given, of one tensor."""

    def __init__(self, tensor, index=0):
        self._tensor, self._index = tensor, index

    def buffer(self):
        return self._tensor

    def index(self):
        return self._index


def fp8_steps(form, feedback):
    """What netfc.torch.fp8_hook makes of each step's gradients, of two buckets."""
    state = netfc.torch.Fp8State(format=form, block=torch_eights.BLOCK, feedback=bool(feedback))
    steps = []
    for step in range(torch_eights.STEPS):
        given = torch.from_numpy(torch_eights.gradients(RANK, step))
        futures = [netfc.torch.fp8_hook(state, Bucket(given.clone(), index)) for index in (0, 1)]
        one, other = (future.wait().tolist() for future in futures)
        assert one == other
        steps.append(one)
    return steps


def fp8_of_infinity():
    """Infinite and NaN in one step, and ones in the next."""
    state = netfc.torch.Fp8State()
    bad = torch.tensor([0.0, math.inf if RANK == 0 else 0.0, math.nan if RANK else 0.0, 0.0])
    return [netfc.torch.fp8_hook(state, Bucket(one)).wait().tolist() for one in (bad, torch.ones(4))]


def fp8_training(run):
    """A training with gradients of 8 bits; ranks are late by chance, by another one in each run."""
    torch.manual_seed(1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(
        torch.nn.Linear(20, 40), torch.nn.Tanh(), torch.nn.Linear(40, 1)), bucket_cap_mb=0.001)
    model.register_comm_hook(netfc.torch.Fp8State(block=64), netfc.torch.fp8_hook)
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    torch.manual_seed(RANK)
    late = random.Random(f'{run} {RANK}')
    losses = []
    for _ in range(60):
        inputs = torch.randn(16, 20)
        time.sleep(late.random() * 0.003)
        loss = (model(inputs) - inputs.sum(1, keepdim=True) / 4).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    weights = torch.cat([one.detach().reshape(-1) for one in model.parameters()])
    return {'weights': weights.numpy().tobytes().hex(), 'losses': losses}


def reduce_into():
    """Values of 8 and 16 bits into wider ones."""
    into, eights = netfc.torch.all_reduce_into, torch.tensor([0x7E, 0xB8, 0], dtype=torch.uint8)
    means, sums, started = (torch.zeros(3) for _ in range(3))
    into(sums, eights, format='fp8_e4m3')
    into(means, eights, dist.ReduceOp.AVG, format='fp8_e4m3')
    columns = torch.zeros(2, 2).t()  # not contiguous
    into(columns, torch.tensor([[0x7E, 0xB8], [0, 0]], dtype=torch.uint8).t(), format='fp8_e4m3')
    halves, brains = torch.zeros(2), torch.zeros(2)
    into(halves, torch.tensor([60000.0, 1.5], dtype=torch.float16))
    into(brains, torch.tensor([3.0, 1.5], dtype=torch.bfloat16))
    into(started, eights, format='fp8_e4m3', async_op=True).wait()
    in_place = eights.clone()
    into(in_place, in_place, format='fp8_e4m3')
    into(torch.zeros(0), torch.zeros(0, dtype=torch.uint8), format='fp8_e4m3')
    return {'eights': sums.tolist(), 'means': means.tolist(), 'halves': halves.tolist(),
            'brains': brains.tolist(), 'started': started.tolist(), 'in place': in_place.tolist(),
            'columns': columns.reshape(-1).tolist()}


def reduce_float8():
    """torch's own types."""
    told = {}
    for name in ('float8_e4m3fn', 'float8_e5m2'):
        given = torch.tensor([1.0 + RANK, -2.0]).to(getattr(torch, name))
        wider = torch.zeros(2)
        netfc.torch.all_reduce_into(wider, given)
        dist.all_reduce(given)
        told |= {name: given.float().tolist(), f'{name} wider': wider.tolist()}
    return told


def fp8_refused(which):
    """What raises."""
    into, eights = netfc.torch.all_reduce_into, torch.zeros(3, dtype=torch.uint8)
    match which:
        case 'type':
            into(torch.zeros(3, dtype=torch.float64), eights, format='fp8_e4m3')
        case 'name':
            into(torch.zeros(3), eights)
        case 'other name':
            into(torch.zeros(3), torch.zeros(3, dtype=torch.float16), format='fp8_e4m3')
        case 'size':
            into(torch.zeros(2), eights, format='fp8_e4m3')
        case 'operation':
            into(torch.zeros(3), eights, dist.ReduceOp.PRODUCT, format='fp8_e4m3')
        case 'least':
            into(torch.zeros(3), eights, dist.ReduceOp.MIN, format='fp8_e4m3')
        case 'hook':
            state = netfc.torch.Fp8State(dist.new_group(backend='gloo'))
            netfc.torch.fp8_hook(state, Bucket(torch.zeros(3)))
        case 'format':
            netfc.torch.Fp8State(format='fp8')
        case 'results':
            netfc.torch.Fp8State(results=torch.int32)


def reduce_to_one(op):
    """All types, to rank 1: its results, and that others' values stay."""
    results = {}
    for name, kind in TYPES.items():
        tensor = torch.tensor(torch_values.values(RANK, name)).to(kind)
        before = tensor.clone()
        dist.reduce(tensor, 1, getattr(dist.ReduceOp, op))
        results[name] = tensor.tolist()
        assert RANK == 1 or torch.equal(tensor, before)
    strange = torch.ones(1).expand(3)  # is only read
    if RANK == 1:
        strange = torch.ones(3)
    work = dist.reduce(strange, 1, async_op=True)
    work.wait()
    assert strange.tolist() == [float(SIZE if RANK == 1 else 1)] * 3
    return results


def reduce_coalesced(op):
    """Several tensors of each type at once."""
    results = {}
    for name, kind in TYPES.items():
        values = torch.tensor(torch_values.values(RANK, name)).to(kind)
        parts = [values[:100].clone(), values[100:101].clone(), values[101:].clone()]
        dist.all_reduce_coalesced(parts, getattr(dist.ReduceOp, op))
        results[name] = torch.cat(parts).tolist()
    small = [torch.ones(2, dtype=torch.int8), torch.ones(3, dtype=torch.int8)]
    dist.all_reduce_coalesced(small, async_op=True).wait()
    assert small[0].tolist() == [SIZE] * 2 and small[1].tolist() == [SIZE] * 3
    return results


def reduce_odd_views():
    """Refused before anything is sent, or right."""
    said = []
    for one in (torch.ones(1).expand(5), torch.ones(9).as_strided((3, 3), (2, 1)),
                torch._efficientzerotensor((5,))):
        try:
            dist.all_reduce(one)
        except ValueError as error:
            said.append(str(error))
    conjugate = torch.tensor([1 + 2j, 3 + 4j]).conj()
    assert conjugate.imag.is_neg()
    dist.all_reduce(conjugate.imag)
    negative = torch._neg_view(torch.tensor([1., 2.]))
    dist.all_reduce(negative)
    every_other = torch.arange(6.)
    dist.all_reduce(every_other[::2])
    images = torch.arange(24.).reshape(1, 2, 3, 4)
    if RANK == 0:
        images = images.to(memory_format=torch.channels_last)
    dist.all_reduce(images)
    return [said, conjugate.imag.tolist(), negative.tolist(), every_other.tolist(),
            images.reshape(-1).tolist()]


def wait_for_a_while():
    """A work's wait(timeout): it goes on afterwards; rank 1 comes later."""
    dist.all_reduce(torch.ones(1))
    tensor = torch.ones(3)
    said = ''
    if RANK == 0:
        work = dist.all_reduce(tensor, async_op=True)
        begun = time.monotonic()
        try:
            work.wait(datetime.timedelta(seconds=0.3))
        except RuntimeError as error:
            said = str(error)
        assert time.monotonic() - begun >= 0.3
        meet()
    else:
        meet()
        work = dist.all_reduce(tensor, async_op=True)
    work.wait(timeout=datetime.timedelta(seconds=60))
    work.wait()
    return [said, tensor.tolist()]


def monitored_barriers():
    """All come; then the last one does not."""
    dist.monitored_barrier()
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=20), wait_all_ranks=True)
    if RANK < SIZE - 1:
        dist.monitored_barrier(timeout=datetime.timedelta(seconds=2))
    return 'not reached'


def hooks_of_others():
    """mean_hook of the default group, and for models whose gradients it cannot have."""
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1, bias=False))
    model.register_comm_hook(None, netfc.torch.mean_hook)
    model(torch.full((1, 2), RANK + 1.0)).sum().backward()
    said = []
    for group, device in ((dist.new_group(backend='gloo'), 'cpu'), (None, 'meta')):
        bucket = types.SimpleNamespace(buffer=lambda: torch.ones(1, device=device))
        try:
            netfc.torch.mean_hook(group, bucket)
        except ValueError as error:
            said.append(str(error))
    return [model.module.weight.grad.tolist(), *said]


def many_groups(count):
    """As many groups of all ranks: a reduction in each, and the slots that each has."""
    groups = [dist.new_group() for _ in range(int(count))]
    slots = []
    for group in (None, *groups):
        tensor = torch.ones(3)
        dist.all_reduce(tensor, group=group)
        assert tensor.tolist() == [SIZE] * 3
        slots.append(netfc.torch.stats(group)['slots'])
    return slots


def one_does_not_use_a_group(seconds):
    """A group inside, whose first reduction the last rank does not call; or it ends."""
    group = dist.new_group(timeout=datetime.timedelta(seconds=float(os.environ['TIMEOUT'])))
    if RANK == SIZE - 1:
        time.sleep(float(seconds))
        return 'not reached'
    dist.all_reduce(torch.ones(5), group=group)
    return 'not reached'


def count_all():
    """What is counted; the last rank is late for the second reduction."""
    none = netfc.torch.stats()
    dist.all_reduce(torch.ones(1000))
    if RANK == SIZE - 1:
        time.sleep(6)
    dist.all_reduce(torch.ones(1000))
    after = netfc.torch.stats(dist.group.WORLD)
    try:
        netfc.torch.stats(dist.new_group(backend='gloo'))
    except TypeError as error:
        return [none, after, str(error)]
    return 'not reached'


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
    """path: of a file that is the store, a TCPStore "host:port", or rank 0's "tcp://host:port"."""
    options = None
    if 'SWITCHES' in os.environ:
        options = netfc.torch.Options(switches=tuple(os.environ['SWITCHES'].split()),
                                      join_timeout=5)
    backend = os.environ.get('BACKEND', 'netfc')
    timeout = datetime.timedelta(seconds=float(os.environ.get('TIMEOUT', '20')))
    if path.startswith('tcp:'):
        where = {'init_method': path}
    elif ':' in path:
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
