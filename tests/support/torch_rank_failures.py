# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of torch_rank.py: ranks that differ, are late, stop or die."""

import contextlib
import datetime
import gc
import os
import resource
import signal
import time
import weakref

import torch
import torch.distributed as dist

from torch_rank_collectives import meet
from torch_rank_group import RANK, SIZE, start

import netfc.torch
import netfc.torch.meeting
import netfc.torch.process


def one_does_not_use_a_group(seconds):
    """A group inside, whose first reduction the last rank does not call; or it ends."""
    group = dist.new_group(timeout=datetime.timedelta(seconds=float(os.environ['TIMEOUT'])))
    meet()  # the last rank must not end while the others are still connecting in new_group()
    if RANK == SIZE - 1:
        time.sleep(float(seconds))
        return 'not reached'
    dist.all_reduce(torch.ones(5), group=group)
    return 'not reached'


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


def one_has_a_child():
    """Of the last rank: it reduces, which is an error. The others wait for its parent meanwhile, and look at how all
    others are."""
    dist.all_reduce(torch.ones(1))
    tensor, said = torch.ones(3), ''
    if RANK == SIZE - 1:
        reading, writing = os.pipe()
        if os.fork() == 0:
            signal.alarm(60)
            try:
                dist.all_reduce(tensor)
            except netfc.torch.AllreduceError as error:
                os.write(writing, str(error).encode())
            os._exit(0)
        os.close(writing)
        with open(reading, encoding='utf-8') as file:
            said = file.read()
        time.sleep(3)
    dist.all_reduce(tensor)
    return [said, tensor.tolist()]


def monitored_barriers():
    """All come; then the last one does not."""
    dist.monitored_barrier()
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=20), wait_all_ranks=True)
    if RANK < SIZE - 1:
        dist.monitored_barrier(timeout=datetime.timedelta(seconds=2))
    return 'not reached'


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


def different_shapes_one_of_nothing():
    """The next reduction is the same at all ranks."""
    dist.all_reduce(torch.ones(10 * RANK))
    dist.all_reduce(torch.ones(10))
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


def free_after_a_failure():
    """Whether the group that has failed is freed, and leaves its job, when it is destroyed."""
    group = weakref.ref(dist.distributed_c10d._get_default_group())
    for _ in range(2):
        with contextlib.suppress(netfc.torch.AllreduceError):
            different_shapes()
        with contextlib.suppress(netfc.torch.AllreduceError):
            dist.all_reduce(torch.ones(5 + RANK), async_op=True).wait()
    dist.destroy_process_group()
    end = time.monotonic() + 60
    while group() is not None and time.monotonic() < end:
        gc.collect()
        time.sleep(0.01)
    is_freed = group() is None
    start(os.environ['STORE'] + 'again')
    return is_freed


def fail_functionally():
    """torch's functional collectives wait in C++, which hears of no failure."""
    try:
        # pylint: disable-next=import-outside-toplevel
        from torch.distributed import _functional_collectives as functional
    except ImportError:
        return 'none here'
    if not hasattr(torch.ops, '_c10d_functional'):
        return 'none here'
    summed = functional.all_reduce(torch.ones(10 + RANK), 'sum', dist.group.WORLD)
    return summed.wait().tolist() if hasattr(summed, 'wait') else summed.tolist()


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


def _said(collective, *arguments, **options):
    """What becomes of a collective: its first argument, or the error's text."""
    try:
        collective(*arguments, **options)
    except netfc.torch.AllreduceError as error:
        return str(error)
    return arguments[0].tolist() if arguments else 'done'


def _until_restarted(number):
    """The test starts the switch anew when all ranks have come here."""
    meet_again(number)
    _until_told(number)


def _until_told(number):
    print(flush=True)
    while not os.path.exists(f"{os.environ['STORE']}.{number}"):
        time.sleep(0.02)


def meet_again(number):
    """As meet(), for a further time."""
    store = dist.distributed_c10d._get_default_store()
    store.set(f'here again {number} {RANK}', '')
    store.wait([f'here again {number} {rank}' for rank in range(SIZE)])


def go_on():
    """Calls in four groups, before and after the switch is started anew, twice."""
    few = datetime.timedelta(seconds=4)
    callback, other, alone = dist.new_group(), dist.new_group(), dist.new_group(timeout=few)

    def reduced(group=None):
        return _said(dist.all_reduce, torch.ones(3), group=group)

    def called_back():
        tensor = torch.ones(2)
        future = dist.all_reduce(torch.ones(1), group=callback, async_op=True).get_future()
        future.then(lambda _: dist.all_reduce(tensor, group=callback)).wait()
        return tensor.tolist()

    before = [reduced(), reduced(other), reduced(alone), called_back()]
    _until_restarted(1)
    lost = [_said(lambda: dist.all_reduce(torch.ones(3), async_op=True).wait()), reduced(callback), reduced(other), reduced(alone)]
    again = [reduced(), reduced(), called_back(), netfc.torch.stats()['reductions']]
    _until_restarted(2)
    lost.append(reduced())
    again.append(reduced())
    differ = [_said(dist.barrier, group=other) if RANK else reduced(other) for _ in range(2)]
    missed = [reduced(alone), reduced(alone)] if RANK == 0 else ['', '']
    meet_again(3)
    return [before, lost, again, differ, missed, netfc.torch.stats(other)['reductions']]


def go_on_through_restarts():
    """Rank 1 comes late to where all go on; the switch is started anew meanwhile, or is not there."""
    def reduced():
        begin = time.monotonic()
        return [_said(dist.all_reduce, torch.ones(3)), time.monotonic() - begin]

    said = [reduced()]
    _until_restarted(1)
    said.append(reduced())
    if RANK == 1:
        _until_told(2)
    said.append(reduced())
    _until_restarted(3)
    said.append(reduced())
    said.append(reduced())
    _until_restarted(4)
    return [*said, reduced()]


def stop_in_training():
    """The last rank is stopped: its process is there, and does nothing."""
    for step in range(100):
        if step == 3 and RANK == SIZE - 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        dist.all_reduce(torch.ones(5))
    return 'not reached'


def one_is_late(seconds, apart='0'):
    """The last rank comes later than others are patient with those who are gone.

    apart: seconds between any two of the others.
    """
    dist.all_reduce(torch.ones(5))
    print(flush=True)
    time.sleep(float(seconds) if RANK == SIZE - 1 else RANK * float(apart))
    tensor = torch.ones(5)
    dist.all_reduce(tensor)
    return tensor.tolist()


def leave_early():
    """The last one destroys the group where others reduce."""
    dist.all_reduce(torch.ones(10))
    if RANK == SIZE - 1:
        dist.destroy_process_group()
        time.sleep(4)
        return 'left'
    dist.all_reduce(torch.ones(20))
    return 'not reached'


def alone():
    """Nothing at all: whether the group comes about."""
    return 'not reached'


def reduce_integers_and_send():
    """Each rank reduces and sends, the last one receives before it reduces."""
    tensor, other = torch.full((3,), RANK, dtype=torch.int32), torch.zeros(3)
    if RANK == 0:
        work = dist.all_reduce(tensor, async_op=True)
        dist.send(torch.ones(3), 1)
    else:
        dist.recv(other, 0)
        work = dist.all_reduce(tensor, async_op=True)
    work.wait()
    return tensor.tolist()


def groups_with_few_jobs():
    """Two groups, and a third one that has no number until another is left."""
    further = dist.new_group()
    sums = []
    for group in (None, further):
        tensor = torch.ones(2)
        dist.all_reduce(tensor, group=group)
        sums.append(tensor.tolist())
    said = ''
    try:
        dist.new_group()
    except ValueError as error:
        said = str(error)
    dist.destroy_process_group(further)
    again = torch.ones(2)
    dist.all_reduce(again, group=dist.new_group())
    return [[*sums, again.tolist()], said]


def fail_to_explain():
    """Others' reports cannot be read, for a reason that is not the store's."""
    def reports(*_):
        raise OSError('reports are gone')

    netfc.torch.meeting.Meeting.reports = reports
    said = []
    for count in (10 + RANK, 5):
        try:
            dist.all_reduce(torch.ones(count))
        except netfc.torch.AllreduceError as error:
            said.append(str(error))
    return said


def share_without(what):
    """A group inside whose ranks cannot share memory: it is full, is another job's, is not there,
    or they are on several machines."""
    offered = netfc.torch.meeting.Meeting.offered
    if what == 'full' and RANK == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, resource.RLIM_INFINITY))
    elif what == 'machine' and RANK == 1:
        netfc.torch.process._machine = lambda: 'another'
    elif what == 'closed' and RANK == 1:
        netfc.torch.meeting.Meeting.offered = lambda *_: '/proc/self/fd/999'
    elif what == 'other' and RANK == 1:
        netfc.torch.meeting.Meeting.offered = lambda *of_whom: _of_another_job(offered(*of_whom))
    tensor = torch.full((3,), RANK + 1.0)
    dist.all_reduce(tensor, group=dist.new_group(backend='netfc'))
    return tensor.tolist()


def _of_another_job(path):
    """The same memory; its first words are the number of the job."""
    file = os.memfd_create('other')
    with open(path, 'rb') as memory:
        content = bytearray(memory.read())
    content[0] ^= 1
    os.write(file, content)
    return f'/proc/self/fd/{file}'
