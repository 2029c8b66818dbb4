# SPDX-License-Identifier: BSD-3-Clause
"""What the switch must answer, worked out a second time.

Written from the protocol and the definition of the table sets alone, in plain Python and
double precision, and sharing nothing with the C library: where the two agree, byte for byte,
neither has slipped. It is slow (some microseconds a lane) and meant to be read.
"""

from .arithmetic import (
    ADD,
    DIV,
    DIVISION_BY_ZERO,
    INVALID,
    MUL,
    OPERATIONS,
    OVERFLOW,
    QUERY,
    SUB,
    UNDERFLOW,
    calc,
    exact_result,
)
from .extended import COMPARE, EXTENDED, FMA, MAX, MIN, calc_extended
from .formats import FORMATS, FORMATS_BY_NAME, Posit
from .fp32 import FP32, calc_fp32
from .narrow import E4M3, E5M2, NARROW, NarrowFormat, NarrowSet
from .packets import (
    ERRORS,
    EXCEPTIONS,
    HEADER_BYTES,
    MAGIC,
    REPLY_BIT,
    UDP_PORT,
    VERSION,
    parse,
    reflect,
    switch,
    u16,
    update_checksum,
    word_sum,
)
from .tables import LogSet, NO_RESULT, table_set, table_sets

__all__ = [
    'ADD',
    'COMPARE',
    'DIV',
    'DIVISION_BY_ZERO',
    'E4M3',
    'E5M2',
    'ERRORS',
    'EXCEPTIONS',
    'EXTENDED',
    'FMA',
    'FORMATS',
    'FORMATS_BY_NAME',
    'FP32',
    'HEADER_BYTES',
    'INVALID',
    'LogSet',
    'MAGIC',
    'MAX',
    'MIN',
    'MUL',
    'NARROW',
    'NO_RESULT',
    'NarrowFormat',
    'NarrowSet',
    'OPERATIONS',
    'OVERFLOW',
    'Posit',
    'QUERY',
    'REPLY_BIT',
    'SUB',
    'UDP_PORT',
    'UNDERFLOW',
    'VERSION',
    'calc',
    'calc_extended',
    'calc_fp32',
    'exact_result',
    'parse',
    'reflect',
    'switch',
    'table_set',
    'table_sets',
    'u16',
    'update_checksum',
    'word_sum',
]
