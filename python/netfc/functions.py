# SPDX-License-Identifier: BSD-3-Clause
"""Functions of one number on numpy arrays: correctly rounded, one look-up for each element."""

import ctypes
import dataclasses
import functools
import os
from typing import Any, Self

import numpy
from numpy.typing import ArrayLike, NDArray

from netfc._native import arrays, given, libnetfc
from netfc._native.arrays import Encodings, Values
from netfc._native.to_odd import to_odd
from netfc._native.unchanging import Unchanging
from netfc.catalogue import SATURATING
from netfc.errors import LibraryError
from netfc.formats import Format
from netfc.protocol import FORMAT_IDS, FUNCTIONS

_FOREIGN = -7  # NETFC_ERR_FOREIGN


@dataclasses.dataclass(frozen=True)
class FixedPoint:
    """Fixed-point numbers: an int16 (two's complement) as a multiple of 2 ** -point.

    point: bits after the binary point, 0 to 15; 0: integers
    """

    point: int

    encodings = numpy.dtype(numpy.uint16)
    numbers = numpy.dtype(numpy.float64)

    def decode(self, bits: ArrayLike) -> Values:
        """The values of encodings.

        bits: integers from 0 to 65535, of any shape. Returns float64 of that shape. Raises
        ValueError for any other, TypeError for what is no number.
        """
        words = given.encodings("these are", bits, self.encodings).astype(numpy.int16)
        values: Values = numpy.ldexp(words.astype(numpy.float64), -self.point)
        return values

    def encode(self, values: ArrayLike) -> Encodings:
        """The encodings nearest to values, ties to even.

        values: real numbers of any shape. Returns uint16 of that shape. Raises ValueError for
        what does not fit, TypeError for what is no real number.
        """
        floats = to_odd(given.real_array("values are", values))
        with numpy.errstate(all="ignore"):
            multiples = _half_even(numpy.ldexp(floats, self.point))
        if not numpy.all((multiples >= -0x8000) & (multiples <= 0x7FFF)):
            end = numpy.ldexp(1.0, 15 - self.point)
            raise ValueError(f"a number is outside {-end} to {end - 2.0**-self.point}")
        encodings: Encodings = multiples.astype(numpy.int16).astype(numpy.uint16)
        return encodings

    def text(self, bits: int) -> str:
        """What an encoding stands for, as text: up to eight digits."""
        return f"{float(self.decode(bits)):.8g}"


def _half_even(numbers: Values) -> Values:
    """To nearest, ties to even. Not by rint(), which rounds as the program has set it."""
    below = numpy.floor(numbers)
    rest = numbers - below
    rounded: Values = below + ((rest > 0.5) | ((rest == 0.5) & (below % 2 == 1)))
    return rounded


def has_function(name: str, number_format: Format) -> bool:
    """Whether a format has a function of that name: of fp32 there are conversions to formats."""
    what = name.removeprefix("to_").removesuffix(SATURATING)
    return number_format.has_functions or (name in FUNCTIONS and what in FORMAT_IDS)


def slots_of(name: str, number_format: Format) -> tuple[Format | FixedPoint, Format | FixedPoint]:
    """How the argument and the result of a function are encoded, by its name in a format."""
    towards, _, what = name.partition("_")
    is_conversion = towards in ("to", "from") and name in FUNCTIONS
    if not is_conversion or not has_function(name, number_format):
        return number_format, number_format
    what = what.removesuffix(SATURATING)
    if what in FORMAT_IDS:
        return number_format, Format(what)
    fixed = FixedPoint(0 if what == "int16" else int(what.removeprefix("q")))
    if towards == "from":
        return fixed, number_format
    return number_format, fixed


class Function(Unchanging):
    """A function of one number: Function("sqrt"), Function("exp", "bf16").

    name: a name of known_functions(): "rsqrt", "to_bf16", "from_q8"
    number_format: of the numbers: a name or a netfc.Format
    library: libnetfc; None: see netfc.TableSet

    name: the name
    meaning: what it computes, in words
    format: netfc.Format of the numbers
    argument, result: how x and f(x) are encoded: that format; another for "to_bf16"; FixedPoint
        for the one side of "to_int16", "from_q8" and the like
    entries: the encoding of f(x) for the encoding of every x, read-only, uint16 of shape (65536,);
        of formats of 8 bits of shape (256,), as arguments, and uint8, as results; fp32 is uint32
        as a result, and has none as an argument
    entry_flags: the exception flags with it, uint8 of that shape, bits of netfc.Flag

    Function.load() reads one of your own. A function never changes; its copies are itself,
    and it can be pickled. Raises ValueError for another name, LibraryError without libnetfc.
    """

    meaning: str
    argument: Format | FixedPoint
    result: Format | FixedPoint

    def __init__(
        self,
        name: str,
        number_format: str | Format = "fp16",
        library: libnetfc.Library | None = None,
    ):
        functions = (library or libnetfc.default()).functions
        handle = functions.netfc_function_by_name(given.c_text("function", name))
        if not handle:
            known = ", ".join(known_functions(library))
            raise ValueError(f"no function '{name}': there are {known}")
        if isinstance(number_format, str):
            number_format = Format(number_format)
        if not has_function(name, number_format):
            raise ValueError(f"{number_format.name} has no function '{name}', only conversions")
        format_handle = libnetfc.format_handle(functions, number_format.name)
        argument = _slot(functions, functions.netfc_function_argument(handle, format_handle))
        result = _slot(functions, functions.netfc_function_result(handle, format_handle))
        self._lanes: _Lanes | None = _Lanes(functions, handle, format_handle, result)
        self.name, self.format = name, number_format
        self.meaning = functions.netfc_function_meaning(handle).decode()
        self.argument, self.result = argument, result
        self._made = name, number_format

    @classmethod
    def load(cls, path: str | os.PathLike[str], library: libnetfc.Library | None = None) -> Self:
        """A function of your own, from a file that netfc-tables build --function has written.

        Raises OSError where the file cannot be read, ValueError where it is no such file or is
        damaged, LibraryError without libnetfc.
        """
        functions = (library or libnetfc.default()).functions
        handle = ctypes.c_void_p()
        file = os.fsencode(path)
        with open(path, "rb"):  # what Python says of a file that cannot be read says more
            error = functions.netfc_user_function_load(file, ctypes.byref(handle))
        if error != 0:
            what = "not a function file" if error == _FOREIGN else ""
            what = what or functions.netfc_strerror(error).decode()
            raise ValueError(f"{os.fsdecode(path)}: {what}")
        function = cls.__new__(cls)
        format_handle = functions.netfc_user_function_format(handle)
        number_format = Format(functions.netfc_format_name(format_handle).decode())
        size = 1 << number_format.bits
        z = (ctypes.c_uint16 * size).from_address(functions.netfc_user_function_z(handle))
        flags = (ctypes.c_uint8 * size).from_address(functions.netfc_user_function_flags(handle))
        table = numpy.array(z, number_format.encodings), numpy.array(flags, numpy.uint8)
        function._table = _read_only(*table)
        function._lanes = None
        function.name = functions.netfc_user_function_name(handle).decode()
        function.meaning = "a function of your own"
        function.format = function.argument = function.result = number_format
        functions.netfc_user_function_free(handle)
        return function

    @functools.cached_property
    def _table(self) -> tuple[Encodings, libnetfc.Flags]:
        """All entries, of what is a function of the library's."""
        assert self._lanes is not None
        size = self.argument.encodings.itemsize
        return _read_only(*self._lanes(numpy.arange(0 if size > 2 else 1 << 8 * size)))

    @property
    def entries(self) -> Encodings:
        """See above."""
        return self._table[0]

    @property
    def entry_flags(self) -> libnetfc.Flags:
        """See above."""
        return self._table[1]

    def __reduce__(self) -> tuple[Any, ...]:
        if self._made is None:  # of a file: it has its entries, and nothing of the library's
            return object.__new__, (type(self),), self.__dict__
        return super().__reduce__()

    def __repr__(self) -> str:
        return f"netfc.Function('{self.name}', '{self.format.name}')"

    def __call__(self, x: ArrayLike) -> NDArray[Any]:
        """f(x), element by element.

        x: numbers, which are rounded into `argument` first, or encodings (uint16), of any shape

        Returns float64 for numbers and uint16 for encodings, of that shape. Raises TypeError for
        what is no real number, ValueError for what does not fit a fixed-point argument.
        """
        return arrays.compute(self.argument, self._look_up, x, result=self.result)

    def flags(self, x: ArrayLike) -> NDArray[numpy.uint8]:
        """The exception flags of f(x), element by element: bits of netfc.Flag, as uint8."""
        (bits,) = arrays.encoded(self.argument, x)
        flags: NDArray[numpy.uint8] = self._computed(bits)[1]
        return flags

    def _look_up(self, x: Encodings) -> Encodings:
        return self._computed(x)[0]

    def _computed(self, x: Encodings) -> tuple[Encodings, libnetfc.Flags]:
        """f(x) and its flags, by the library, or from a file's table."""
        if self._lanes is not None:
            return self._lanes(x)
        return self.entries[x], self.entry_flags[x]


def _read_only(entries: Encodings, flags: libnetfc.Flags) -> tuple[Encodings, libnetfc.Flags]:
    entries.flags.writeable = flags.flags.writeable = False
    return entries, flags


@dataclasses.dataclass(frozen=True)
class _Lanes:
    """A function of the library's, lane by lane: encodings and flags of f(x), in the shape of x."""

    functions: Any
    handle: Any
    format_handle: Any
    result: Format | FixedPoint

    def __call__(self, x: NDArray[Any]) -> tuple[Encodings, libnetfc.Flags]:
        count = libnetfc.lanes_of(x)
        words = given.in_memory(x, numpy.uint32)
        z, flags = numpy.empty(x.shape, numpy.uint32), numpy.empty(x.shape, numpy.uint8)
        error = self.functions.netfc_function_lanes(
            self.handle,
            self.format_handle,
            words.ctypes.data,
            z.ctypes.data,
            flags.ctypes.data,
            count,
        )
        if error != 0:
            raise LibraryError(self.functions.netfc_strerror(error).decode())
        return z.astype(self.result.encodings), flags


def _slot(functions: Any, slot: libnetfc.Slot) -> Format | FixedPoint:
    if slot.format is None:
        return FixedPoint(slot.point)
    return Format(functions.netfc_format_name(ctypes.c_void_p(slot.format)).decode())


def known_functions(library: libnetfc.Library | None = None) -> dict[str, str]:
    """The functions that there are: what each computes, by its name.

    Raises LibraryError without libnetfc.
    """
    return dict(_known((library or libnetfc.default()).functions))


@functools.lru_cache
def _known(functions: Any) -> dict[str, str]:
    known: dict[str, str] = {}
    while handle := functions.netfc_function_known(len(known)):
        name = functions.netfc_function_name(handle).decode()
        known[name] = functions.netfc_function_meaning(handle).decode()
    return known
