# SPDX-License-Identifier: BSD-3-Clause
"""netfc.allreduce in a process that gets signals, or forks."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import sanitized
import switch
from allreduce_server import serving
from test_allreduce import joined

from netfc import _allreduce, allreduce
from netfc.protocol import Flag

pytestmark = sanitized.without_sanitizers


def test_interrupt():
    """Ctrl-C ends waiting; the communicator says that it is broken."""
    over = threading.Event()
    with serving() as address:
        def other():
            with joined(address, 1, 2):
                over.wait(60)
        thread = threading.Thread(target=other)
        thread.start()
        comm = joined(address, 0, 2)
        timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            comm.allreduce(np.ones(5, np.float32))
        with pytest.raises(allreduce.AllreduceError, match='abort'):
            comm.allreduce(np.ones(5, np.float32))
        comm.close()
        over.set()
        thread.join()


@contextlib.contextmanager
def beside(address, late, arrays):
    """Worker 0 of two. Worker 1 is late by so many seconds with each of its arrays; what it says of
    each is yielded, too, and is complete in the end."""
    here, said = threading.Event(), []

    def other():
        with joined(address, 1, 2) as comm:
            here.wait(60)
            for array in arrays:
                time.sleep(late)
                try:
                    comm.allreduce(array)
                    said.append(np.unique(array).tolist())
                except allreduce.AllreduceError as error:
                    said.append(error.status)

    thread = threading.Thread(target=other)
    thread.start()
    comm = joined(address, 0, 2)
    here.set()
    yield comm, said
    thread.join()
    comm.close()


def test_interrupt_at_the_end(monkeypatch):
    """Of a reduction that was done when Ctrl-C was seen to, wait() tells it all the same."""
    monkeypatch.setattr(_allreduce, '_SLICE_MS', 60_000)
    with serving() as address, beside(address, 0.6, [np.full(5, 65504, np.float16)]) as (comm, _):
        array = np.full(5, 65504, np.float16)
        handle = comm.start(array)
        timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            handle.wait()
            time.sleep(60)
        assert handle.wait() == Flag.OVERFLOW and np.isinf(array).all()


def test_what_a_handler_raises_ends_an_allreduce():
    """The caller may change the values from then on: nobody gets a sum of both."""
    class Tick(Exception):
        pass

    def tick(*_):
        raise Tick

    arrays = [np.ones(400_000, np.float32) for _ in range(2)]
    before = signal.signal(signal.SIGALRM, tick)
    with serving() as address, beside(address, 1.0, arrays) as (comm, said):
        mine = np.ones(400_000, np.float32)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Tick):
            comm.allreduce(mine)
        mine[:] = 100
        with pytest.raises(allreduce.AllreduceError, match='abort'):
            comm.allreduce(np.ones(400_000, np.float32))
    signal.signal(signal.SIGALRM, before)
    assert said == ['failed', 'broken']


def run(program, address):
    """What a program in a process of its own prints."""
    begin = (f'from netfc import allreduce\n'
             f'def join(**options):\n'
             f'    return allreduce.Communicator({address!r}, worker=0, token=5,\n'
             f'                                  build={str(switch.BUILD)!r}, **options)\n')
    package = os.path.dirname(os.path.dirname(allreduce.__file__))
    done = subprocess.run([sys.executable, '-c', begin + program], capture_output=True, text=True,
                          env={**os.environ, 'PYTHONPATH': package})
    return done.stdout or done.stderr


@pytest.mark.parametrize('tick', [0.5, 0.01])
def test_signals_do_not_put_off_the_end_of_joining(tick):
    """A timer of the program's own."""
    with serving() as address:
        assert run(f"""
import signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, {tick}, {tick})
try:
    join(workers=2, join_timeout=1.0)
except allreduce.AllreduceError as error:
    print(error.status)
""", address).strip() in ('waiting', 'timeout')


def test_a_forked_process_that_ends_leaves_the_job_alone():
    """It frees its copy of the communicator. What else an interpreter frees at its end is not of interest, and
    gcc 12's address sanitizer stands still there: its allocator may be locked by a thread that fork() left out."""
    with serving() as address:
        assert run("""
import numpy, os
comm = join(workers=1)
child = os.fork()
if child == 0:
    del comm
    os._exit(0)
os.waitpid(child, 0)
array = numpy.ones(10, 'float32')
comm.allreduce(array)
print(array[0])
""", address) == '1.0\n'


def test_a_forked_process_has_no_part_in_the_job():
    """Its chunks would be taken for those of the process that has joined."""
    with serving() as address:
        assert run("""
import numpy, os, sys
comm = join(workers=1)
handle = comm.start(numpy.ones(10, 'float32'))
child = os.fork()
if child == 0:
    for use in (handle.wait, lambda: comm.allreduce(numpy.full(10, 7, 'float32')),
                lambda: comm.sum(numpy.ones(3)), lambda: comm.stats):
        try:
            use()
        except allreduce.AllreduceError as error:
            print(error.status, 'forked' in str(error))
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
handle.wait()
array = numpy.ones(10, 'float32')
comm.allreduce(array)
print(array[0])
""", address) == 'broken True\n' * 4 + '1.0\n'


def test_a_forked_process_does_not_wait_for_its_parents_threads():
    """One of them waits for the same handle."""
    with serving() as address:
        assert run("""
import netfc._allreduce, numpy, os, signal, sys, threading, time
netfc._allreduce._SLICE_MS = 60_000
file = os.memfd_create('job')
comm = allreduce.Communicator((), worker=0, workers=2, token=5,
                              memory=f'/proc/{os.getpid()}/fd/{file}')
handle = comm.start(numpy.ones(10, 'float32'))
def wait():
    try:
        handle.wait()
    except allreduce.AllreduceError as error:
        print(error.status)
thread = threading.Thread(target=wait)
thread.start()
while not handle._lock.locked():
    time.sleep(0.01)
child = os.fork()
if child == 0:
    signal.alarm(20)
    wait()
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
comm.abort()
thread.join()
""", address) == 'broken\naborted\n'


def test_totals_last_as_long_as_the_process():
    with serving() as address:
        assert run("""
import atexit, numpy
comm = join(workers=1)
def last():
    print(comm.allreduce_totals(totals)[0].sum())
    comm.leave()
atexit.register(last)
totals = allreduce.Totals(100_000, build=BUILD)
totals.add(numpy.ones(100_000, 'float32'))
""".replace('BUILD', repr(str(switch.BUILD))), address) == '100000.0\n'
