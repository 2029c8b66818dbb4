# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of torch_rank.py: reductions, other collectives, groups."""

import hashlib
import threading
import time

import numpy as np
import torch
import torch.distributed as dist

import torch_values
from torch_rank_group import RANK, SIZE

import netfc.torch
import netfc.torch.staged

TYPES = {'float16': torch.float16, 'bfloat16': torch.bfloat16, 'float32': torch.float32,
         'float64': torch.float64, 'int32': torch.int32, 'int64': torch.int64,
         'int16': torch.int16, 'int8': torch.int8, 'uint8': torch.uint8}
WIDER = (torch.float32, torch.bfloat16, torch.float16)


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


def _any_bits(kind):
    """Of a type: any; numbers of similar magnitude; zeros, subnormal numbers and others."""
    draw = np.random.default_rng(RANK)
    bits = torch.finfo(kind).bits if kind.is_floating_point else torch.iinfo(kind).bits
    drawn = draw.integers(0, 2**bits - 1, 3000, dtype=f'uint{bits}', endpoint=True)
    drawn[1000:2000] &= 2**(bits - 1) | 2**(bits // 2) - 1
    drawn[2000:] = np.array(draw.standard_normal(1000)).astype(f'float{max(bits, 16)}') \
        .view(f'uint{max(bits, 16)}').astype(f'uint{bits}')
    return torch.from_numpy(drawn.view(f'int{bits}')).view(kind)


def _digest(tensor):
    return hashlib.sha256(tensor.contiguous().view(torch.int8).numpy().tobytes()).hexdigest()


def reduce_any_bits():
    """Digests of all results of all types, of 8 bits into wider ones, too, and of a long vector."""
    said = {}
    for op in (dist.ReduceOp.SUM, dist.ReduceOp.AVG, dist.ReduceOp.MIN, dist.ReduceOp.MAX):
        for name, kind in TYPES.items():
            tensor = _any_bits(kind)
            dist.all_reduce(tensor, op)
            said[f'{name} {op}'] = _digest(tensor)
        for form in ('fp8_e4m3', 'fp8_e5m2'):
            for kind in WIDER if op in (dist.ReduceOp.SUM, dist.ReduceOp.AVG) else ():
                output = torch.empty(3000, dtype=kind)
                netfc.torch.all_reduce_into(output, _any_bits(torch.uint8), op, format=form)
                said[f'{form} {kind} {op}'] = _digest(output)
        long = _any_bits(torch.float32).repeat(100)
        works = [dist.all_reduce(long, op, async_op=True), dist.all_reduce(torch.ones(1), op, async_op=True)]
        for work in works:
            work.wait()
        said[f'long {op}'] = _digest(long)
    return said


def reduce_staged(device):
    """In pieces of 100 values, through other memory: contiguous, and not."""
    if device == 'cuda' and not torch.cuda.is_available():
        return 'no GPU'
    netfc.torch.staged.PIECE = 100
    if device == 'cpu':
        netfc.torch.staged.is_meant = lambda tensor: True
    results = {}
    for name in ('float32', 'int16'):
        values = torch.tensor(torch_values.values(RANK, name)).to(TYPES[name]).to(device)
        apart = torch.stack([values, values], 1)[:, 0]
        assert not apart.is_contiguous()
        dist.all_reduce(values)
        dist.all_reduce(apart, async_op=True).wait()
        results[name] = [values.tolist(), apart.tolist()]
    return results


def reduce_in_inference_mode():
    """What is copied to its place by another thread, as rank 1 is late."""
    with torch.inference_mode():
        columns = torch.full((2, 3), float(RANK)).t()
        narrow, received = torch.ones(3, dtype=torch.int8), torch.zeros(2, 2)[:, 1]
        parts = [torch.zeros(2, 2).t() for _ in range(SIZE)]
        received.fill_(RANK)
        for call in (lambda: dist.all_reduce(columns), lambda: dist.all_reduce(narrow),
                     lambda: dist.all_gather(parts, torch.full((2, 2), float(RANK))),
                     lambda: (dist.send if RANK else dist.recv)(received, 1 - RANK)):
            time.sleep(0.2 * RANK)
            call()
        return [one.tolist() for one in (columns, narrow, *parts, received)]


def reduce_half(*ops):
    """float16 with some operations, twice each; the results as numbers."""
    results = {}
    for op in ops * 2:
        tensor = torch.tensor(torch_values.values(RANK, 'float16')).to(torch.float16)
        dist.all_reduce(tensor, getattr(dist.ReduceOp, op))
        assert results.setdefault(op, tensor.tolist()) == tensor.tolist()
    return results


def collect_nothing():
    """Tensors without values, by all collectives."""
    nothing, parts = torch.empty(0), [torch.empty(0) for _ in range(SIZE)]
    for op in (dist.ReduceOp.SUM, dist.ReduceOp.PRODUCT):
        dist.all_reduce(nothing, op)
    dist.reduce(nothing, 0)
    dist.broadcast(nothing, 0)
    dist.all_gather(parts, nothing)
    dist.reduce_scatter(nothing, parts)
    dist.all_reduce(nothing, async_op=True).wait()


def reduce_others():
    """Not contiguous, of no dimension, empty, started ones, and what gloo does."""
    columns = torch.arange(12.).reshape(3, 4).t()
    dist.all_reduce(columns)
    scalar = torch.tensor(1.5)
    dist.all_reduce(scalar)
    collect_nothing()
    started = [torch.full((20_000,), float(n)) for n in range(5)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in started]
    for work in works:
        work.wait()
    truths = torch.tensor([RANK == 0, False, True])
    dist.all_reduce(truths)
    all_true = torch.tensor([RANK == 0, False, True])
    dist.all_reduce(all_true, dist.ReduceOp.MIN)
    product = torch.full((2,), 3.0)
    dist.all_reduce(product, dist.ReduceOp.PRODUCT)
    gathered = [torch.zeros(1) for _ in range(SIZE)]
    dist.all_gather(gathered, torch.tensor([float(RANK)]))
    objects = [None] * SIZE
    dist.all_gather_object(objects, RANK)
    dist.barrier()
    return {'columns': columns.tolist(), 'scalar': scalar.item(),
            'truths': truths.tolist(), 'all_true': all_true.tolist(),
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
    turned = torch.zeros(SIZE, count // SIZE, dtype=own.dtype).t()
    gather(turned, out)
    results['all_gather_into_turned'] = turned.reshape(-1)
    every_other = torch.zeros(2 * count, dtype=own.dtype)[::2]
    work = dist.broadcast(every_other if RANK else parts, 0, async_op=True)
    work.wait()
    results['broadcast'] = every_other if RANK else parts
    sizes = [count - 100, 0, *[0] * (SIZE - 3), 100][:SIZE]
    uneven = torch.zeros(2 * sizes[RANK], dtype=own.dtype)[::2]
    work = dist.reduce_scatter(uneven, list(own[:count].split(sizes)), async_op=True)
    work.wait()
    results['reduce_scatter_uneven'] = uneven
    gathered = [torch.zeros(1, size, dtype=own.dtype) for size in sizes]
    dist.all_gather(gathered, uneven)
    results['all_gather_uneven'] = torch.cat(gathered, 1)[0]
    dist.barrier()
    return {key: value.tolist() for key, value in results.items()}


def refuse_parts():
    """What does not fit is refused by whom it concerns, before anything is sent."""
    said = []
    for body in (lambda: dist.all_gather([torch.zeros(2)] * (SIZE + 1), torch.zeros(2)),
                 lambda: dist.all_gather([torch.zeros(3)] * SIZE, torch.zeros(2)),
                 lambda: dist.reduce_scatter(torch.zeros(2), [torch.zeros(3)] * SIZE),
                 lambda: dist._reduce_scatter_base(torch.zeros(2), torch.zeros(2 * SIZE + 1)),
                 lambda: dist.all_gather([torch.zeros(n) for n in range(SIZE - 1)], torch.zeros(RANK)),
                 lambda: dist.group.WORLD.allgather([[torch.zeros(n).double() for n in range(SIZE)]],
                                                    [torch.zeros(RANK)]),
                 lambda: dist.all_gather([torch.zeros(n, device='meta') for n in range(SIZE)],
                                         torch.zeros(RANK, device='meta'))):
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
        # Each rank gives rank r its first r values, none to rank 0.
        parts = [mine.reshape(-1)[:rank] for rank in range(SIZE)]
        exchanged = [torch.zeros(2 * RANK, dtype=kind)[::2] for _ in range(SIZE)]
        work = dist.all_to_all(exchanged, parts, async_op=True)
        work.wait()
        assert all(torch.equal(one, whole.reshape(-1)[:RANK]) for one, whole in zip(exchanged, gathered))
        results[name] = [torch.view_as_real(one).tolist() if one.is_complex() else one.tolist()
                         for one in (sent, *gathered, part)]
    return results


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
    factors = [torch.full((2,), 2.), torch.full((3,), 3.)]  # gloo's
    dist.all_reduce_coalesced(factors, dist.ReduceOp.PRODUCT, async_op=True).wait()
    assert factors[0].tolist() == [2. ** SIZE] * 2 and factors[1].tolist() == [3. ** SIZE] * 3
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
        try:
            dist.all_gather([torch.empty_like(one) for _ in range(SIZE - 1)] + [one], torch.ones(one.shape))
        except ValueError as error:
            assert str(error) == said[-1]
        else:
            said.insert(0, 'all_gather takes it')
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


def groups_one_after_another(count):
    """Each is destroyed, though the program still has it: the counts of each, and what the first says."""
    groups, counts = [], []
    for _ in range(int(count)):
        groups.append(dist.new_group())
        dist.all_reduce(torch.ones(3), group=groups[-1])
        dist.barrier(groups[-1])
        dist.destroy_process_group(groups[-1])
        stats = netfc.torch.stats(groups[-1])
        counts.append([stats['reductions'], stats['values'], stats['slots']])
        dist.barrier()
    try:
        groups[0].allreduce([torch.ones(3)])
    except netfc.torch.AllreduceError as error:
        return [counts, str(error)]
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


def exchange_columns():
    """Each of two ranks asks for the other's numbers before it sends its own."""
    mine, theirs = (torch.full((4, 4), float(value))[:, 1] for value in (RANK + 1, 0))
    works = dist.batch_isend_irecv([dist.P2POp(dist.irecv, theirs, 1 - RANK),
                                    dist.P2POp(dist.isend, mine, 1 - RANK)])
    for work in works:
        work.wait()
    return theirs.tolist()
