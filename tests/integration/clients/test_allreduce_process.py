# SPDX-License-Identifier: BSD-3-Clause
"""netfc.allreduce in a process that gets signals, or forks."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import sanitized
import switch
from test_allreduce import joined, serving

from netfc import allreduce

pytestmark = pytest.mark.skipif(
    sanitized.is_sanitized() and 'LD_PRELOAD' not in os.environ,
    reason='test_package.py runs these in a process that loads the address sanitizer first')


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
    with serving() as address:
        assert run("""
import numpy, os, sys
comm = join(workers=1)
child = os.fork()
if child == 0:
    sys.exit(0)  # which frees its copy of all objects
os.waitpid(child, 0)
array = numpy.ones(10, 'float32')
comm.allreduce(array)
print(array[0])
""", address) == '1.0\n'
