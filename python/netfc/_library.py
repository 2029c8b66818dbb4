# SPDX-License-Identifier: BSD-3-Clause
"""libnetfc from Python: the number formats, the exact results and the table sets.

Arrays are numpy's, of dtype uint16 (encodings) or float64 (values), all of the same shape.
"""

import ctypes
import os

import numpy

OPS = {"add": 1, "sub": 2, "mul": 3, "div": 4}
FORMATS = {"fp16": 1, "posit16": 2, "bf16": 3, "posit16_es2": 4}
SYMBOLS = {"add": "+", "sub": "-", "mul": "x", "div": "/"}


class NetfcError(Exception):
    """What the library refused, in its own words."""


class _Result(ctypes.Structure):
    _fields_ = [("z", ctypes.c_uint16), ("flags", ctypes.c_uint8)]


_PROTOTYPES = {
    "netfc_strerror": (ctypes.c_char_p, [ctypes.c_int]),
    "netfc_format_by_name": (ctypes.c_void_p, [ctypes.c_char_p]),
    "netfc_format_title": (ctypes.c_char_p, [ctypes.c_void_p]),
    "netfc_decode": (ctypes.c_double, [ctypes.c_void_p, ctypes.c_uint16]),
    "netfc_encode": (ctypes.c_uint16, [ctypes.c_void_p, ctypes.c_double]),
    "netfc_exact": (_Result, [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint16, ctypes.c_uint16]),
    "netfc_set_build": (ctypes.c_int, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]),
    "netfc_set_free": (None, [ctypes.c_void_p]),
    "netfc_compute": (
        ctypes.c_uint8,
        [ctypes.c_void_p, ctypes.c_int] + [ctypes.c_void_p] * 4 + [ctypes.c_uint32],
    ),
}


class Library:
    """The shared library, from a build folder or wherever the system finds it."""

    def __init__(self, build=None):
        path = "libnetfc.so.0"
        if build is not None:
            path = os.path.join(os.path.abspath(build), "lib", "netfc", path)
        self.functions = ctypes.CDLL(path)
        for name, (result, arguments) in _PROTOTYPES.items():
            function = getattr(self.functions, name)
            function.restype, function.argtypes = result, arguments

    def format(self, name):
        """The format of that name, one of FORMATS."""
        return Format(self, name)

    def set(self, name):
        """Build the table set of that name."""
        return TableSet(self, name)


class Format:
    """A 16-bit number format."""

    def __init__(self, library, name):
        self.name = name
        self.id = FORMATS[name]
        self._functions = library.functions
        self._handle = self._functions.netfc_format_by_name(name.encode())
        decode = self._functions.netfc_decode
        self._values = numpy.array([decode(self._handle, bits) for bits in range(65536)])

    @property
    def title(self):
        """What the format is, for people."""
        return self._functions.netfc_format_title(self._handle).decode()

    def decode(self, bits):
        """The values of encodings; NaN for NaN and NaR."""
        return self._values[bits]

    def encode(self, values):
        """The encodings of values, correctly rounded."""
        encode = self._functions.netfc_encode
        flat = [encode(self._handle, value) for value in numpy.ravel(values)]
        return numpy.array(flat, dtype=numpy.uint16).reshape(numpy.shape(values))

    def exact(self, op, x, y):
        """The correctly rounded results of x (op) y, op one of OPS."""
        exact, op_id = self._functions.netfc_exact, OPS[op]
        results = [exact(self._handle, op_id, int(a), int(b)).z for a, b in zip(x, y)]
        return numpy.array(results, dtype=numpy.uint16)


class TableSet:
    """A table set, built in memory; computes as the switch does, to the last bit."""

    def __init__(self, library, name):
        self._functions = library.functions
        self._handle = ctypes.c_void_p()
        error = self._functions.netfc_set_build(name.encode(), ctypes.byref(self._handle))
        if error != 0:
            message = self._functions.netfc_strerror(error).decode()
            raise NetfcError(f"table set '{name}': {message}")

    def __del__(self):
        if getattr(self, "_handle", None):
            self._functions.netfc_set_free(self._handle)

    def compute(self, op, x, y):
        """x (op) y, lane by lane."""
        x = numpy.ascontiguousarray(x, dtype=numpy.uint16)
        y = numpy.ascontiguousarray(y, dtype=numpy.uint16)
        if x.shape != y.shape:
            raise ValueError(f"x and y differ in shape: {x.shape} and {y.shape}")
        z = numpy.empty_like(x)
        self._functions.netfc_compute(
            self._handle, OPS[op], x.ctypes.data, y.ctypes.data, z.ctypes.data, None, x.size
        )
        return z
