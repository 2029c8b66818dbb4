# SPDX-License-Identifier: BSD-3-Clause
"""The floating-point environment of the program around changes no bit of what is computed here.

A rounding mode that it has set, or "flush to zero", which libraries built with -Ofast set by being
loaded, and torch.set_flush_denormal().
"""

import os
import subprocess
import sys

import pytest

import project_scripts
import sanitized
import switch

from allreduce_server import serving

pytestmark = sanitized.without_sanitizers

PYTHON = str(project_scripts.PROJECT / 'python')

SET = """
#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
int set(int mode, int flush)
{
	fesetround(mode == 0 ? FE_TONEAREST : mode == 1 ? FE_UPWARD : mode == 2 ? FE_DOWNWARD : FE_TOWARDZERO);
	_mm_setcsr((_mm_getcsr() & ~0x8040u) | (flush ? 0x8040u : 0));
	return 0;
}
#else
int set(int mode, int flush)
{
	unsigned long state;
	fesetround(mode == 0 ? FE_TONEAREST : mode == 1 ? FE_UPWARD : mode == 2 ? FE_DOWNWARD : FE_TOWARDZERO);
	__asm__ volatile("mrs %0, fpcr" : "=r"(state));
	state = (state & ~(1ul << 24)) | ((unsigned long)flush << 24);
	__asm__ volatile("msr fpcr, %0" : : "r"(state));
	return 0;
}
#endif
"""

# Prints all bits that come out. What is given is made of integers, which no environment changes.
PROGRAM = """
import ctypes, sys
import numpy as np
import netfc
from netfc import allreduce, formats, functions

library, build, address, mode, flush = sys.argv[1:]
draw = np.random.default_rng(4)
wide = np.concatenate([draw.integers(0, 2**64, 3000, np.uint64), np.arange(40, dtype=np.uint64),
                       draw.integers(0x3600 << 48, 0x4900 << 48, 3000, np.uint64)]).view('f8')
single = np.concatenate([draw.integers(0, 2**32, 3000, np.uint32), np.arange(40, dtype=np.uint32),
                         draw.integers(0, 2**23, 500, np.uint32) | np.uint32(1 << 31)]).view('f4')
halves = draw.integers(0, 2**16, 3000, np.uint16).view('f2')
whole = draw.integers(-2**63, 2**63, 3000)
longs = np.array([1 + 2.0**-11, 1 + 2.0**-24, 3.0], np.longdouble)
longs += np.longdouble(2) ** -60
texts = ['0.1', '1e-310', '1e-400', '1.00000005960464477539062500000001', '65519.99999999999999999999']

set_environment = ctypes.CDLL(library).set
given = (wide, single, halves, whole, longs)
set_environment(int(mode), int(flush))
tables = [netfc.TableSet(name, netfc.Library(build)) for name in (
    'fp16_k1024', 'fp16_exact', 'bf16_exact', 'posit16_k64', 'bf16_exact_small', 'fp32_exact', 'fp8_e5m2_exact')]
root = [netfc.Function(name, 'fp16', netfc.Library(build)) for name in ('sqrt', 'to_q8', 'from_q8', 'to_bf16')]

out = []
handles = netfc.Library(build).functions
for form in formats.NUMBER_FORMATS.values():
    for values in given:
        out.append(form.encode(values))
    out.append(form.encode([formats.parse_number(text) for text in texts]))
    handle = handles.netfc_fp32_format() if form.name == 'fp32' else handles.netfc_format_by_name(form.name.encode())
    out.append(np.array([handles.netfc_encode(handle, one) for one in wide.tolist()]))
    out.append(form.encode([2**70 + 2**62 + 1, 2**200, 7]))
    bits = np.arange(0, 2 ** min(form.bits, 16), 5).astype(form.encodings)
    out.append(form.decode(bits).view(f'u{form.numbers.itemsize}'))
    for op in ('add', 'mul', 'div'):
        out.append(form.exact(op, bits, bits[::-1], netfc.Library(build)))
for one in tables:
    x = draw.integers(0, 2**one.format.bits, 4000).astype(one.format.encodings)
    for op in ('add', 'sub', 'mul', 'div'):
        out += [one.compute(op, x, x[::-1]), one.flags(op, x, x[::-1])]
    out.append(one.add(single, single[::-1]).view('u1'))
for one in root:
    out.append(one(np.arange(2**16, dtype=np.uint16)))
fixed = functions.FixedPoint(8)
ties = np.concatenate([np.arange(-300, 300) / 512, np.array([2.0**-1060, -2.0**-1060])])
out += [fixed.encode(ties), fixed.decode(np.arange(2**16))]

with allreduce.Communicator(address, build=build) as comm:
    for values in (single, wide, halves, whole):
        for op in ('sum', 'min'):
            array = values.copy()
            comm.allreduce(array, op)
            out.append(array.view('u1'))
        if values.dtype != np.float16:
            out.append(comm.sum(values).reshape(1).view('u1'))
    out.append(comm.dot(single, single).reshape(1).view('u1'))
    for values, name in ((single, 'fp32'), (wide, 'fp64')):
        totals = allreduce.Totals(values.size, name, build=build)
        for _ in range(3):
            totals.add(values)
        out.append(comm.allreduce_totals(totals)[0].view('u1'))
set_environment(0, 0)
for bits in out:
    print(bits.tobytes().hex())
"""


@pytest.fixture(name='bits', scope='module')
def bits_for(tmp_path_factory):
    """What the program gives in an environment."""
    folder = tmp_path_factory.mktemp('environment')
    library = folder / 'set.so'
    subprocess.run(['cc', '-shared', '-fPIC', '-x', 'c', '-', '-o', library, '-lm'], input=SET, text=True, check=True)

    def bits(mode, flush):
        with serving() as address:
            done = subprocess.run([sys.executable, '-c', PROGRAM, library, switch.BUILD, address, str(mode), str(flush)],
                                  env=os.environ | {'PYTHONPATH': PYTHON},
                                  text=True, capture_output=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()
    return bits


def test_neither_rounding_mode_nor_flush_to_zero_changes_a_bit(bits):
    expected = bits(0, 0)
    assert len(expected) > 100
    for mode in range(4):
        for flush in (0, 1):
            found = bits(mode, flush)
            assert len(found) == len(expected)
            different = [at for at, (one, other) in enumerate(zip(found, expected)) if one != other]
            assert not different, (mode, flush, different)
