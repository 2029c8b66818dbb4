# SPDX-License-Identifier: BSD-3-Clause
"""What a lane of a P4 program computes, against the library."""

import subprocess

import numpy as np

import switch


def library_results(name, op, x, y):
    """z and flags as libnetfc has them, in a process of its own: a build with sanitizers needs one."""
    operation = ('add', 'sub', 'mul', 'div')[op - 1]
    lines = ''.join(f'{operation} {a:x} {b:x}\n' for a, b in zip(x.tolist(), y.tolist()))
    answers = subprocess.run([switch.TABLE_BUILDER, 'calc', '--stream', '--hex', name], input=lines,
                             capture_output=True, text=True, check=True).stdout.split()
    z, flags = ([int(word, 16) for word in answers[column::5]] for column in (3, 4))
    assert len(z) == len(x)
    return np.array(z), np.array(flags)


def check(name, lane, op, x, y):
    """z and flags of the lane are the library's."""
    z, flags = lane.compute(op, x, y)
    expected_z, expected_flags = library_results(name, op, x, y)
    wrong = np.flatnonzero((z != expected_z) | (flags != expected_flags))
    assert wrong.size == 0, [
        f'{op}: {x[w]:x} {y[w]:x}: {z[w]:x} {flags[w]}, not '
        f'{expected_z[w]:x} {expected_flags[w]}' for w in wrong[:5]]
