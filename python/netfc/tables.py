# SPDX-License-Identifier: BSD-3-Clause
"""Table sets of libnetfc on numpy arrays: computed as the switch does it, to the last bit."""

import ctypes
import dataclasses
import functools
import os
from types import MappingProxyType
from typing import Any, Self

import numpy
from numpy.typing import ArrayLike, NDArray

from netfc._native import arrays, given, libnetfc, loading
from netfc._native.arithmetic import Arithmetic
from netfc._native.unchanging import Unchanging
from netfc.errors import TableSetError
from netfc.formats import Format
from netfc.protocol import OPS, Flag, op_number

_NAME_BYTES = 32  # NETFC_SET_NAME_SIZE
_FEWEST = 1  # NETFC_COVER_OPTIMAL


@dataclasses.dataclass(frozen=True)
class Table:
    """One table of a table set.

    name: such as "log", "mi", "exp" or "decide"
    entries: uint32 of shape (pages, 2 ** key_bits), read-only: the memory of libnetfc itself
    page_names: of each page, such as "mi0"; the table's own where it has but one
    key_bits, value_bits: widths of a key within a page and of a value
    key_signed, value_signed: whether they are two's complement numbers of that width
    copies: how many copies a pipeline needs that looks the table up so often in one pass
    is_match: whether it sits in a match stage; the others are indexed directly
    """

    name: str
    entries: NDArray[numpy.uint32] = dataclasses.field(repr=False, compare=False)
    page_names: tuple[str, ...]
    key_bits: int
    value_bits: int
    key_signed: bool
    value_signed: bool
    copies: int
    is_match: bool


@dataclasses.dataclass(frozen=True)
class Step:
    """A step of a walk.

    what: the step in words, such as "theta = sat(j - i)"
    fields: what it wrote, words by the names of the fields
    table: the name of the table that was looked up; None in a step that only calculates
    """

    what: str
    fields: dict[str, int]
    table: str | None


@dataclasses.dataclass(frozen=True)
class Walk:
    """One operation on its way through the tables.

    op: its name; x, y, z: operands and result, encodings; flags: exception flags
    """

    op: str
    x: int
    y: int
    z: int
    flags: Flag
    steps: tuple[Step, ...]


class TableSet(Arithmetic, Unchanging):
    """A table set, built in memory: TableSet("fp16_k1024"), TableSet("fp32_exact").

    name: as dpdk-netfc's --tables takes it; known_sets() has all of them
    library: libnetfc; None: that of the build which the environment variable NETFC_BUILD names,
        else the one that is installed

    name: the name
    format: netfc.Format of operands and results
    family: how its tables compute: "log" (the paper's), "exact" or "exact_small"
    scale: k; 0 in families without one
    tables: the tables, Table by name, in the order of the pipeline

    TableSet.load() reads one from a file. A table set never changes; threads may share it, its
    copies are itself, and one that was made by its name can be pickled. Raises TableSetError for a
    name that is none, LibraryError without libnetfc.
    """

    def __init__(self, name: str, library: libnetfc.Library | None = None):
        functions = (library or libnetfc.default()).functions
        self._open(functions, functions.netfc_set_build, given.c_text("table set", name), name)
        self._made = (self.name,)

    @classmethod
    def load(cls, path: str | os.PathLike[str], library: libnetfc.Library | None = None) -> Self:
        """A table set from a file that netfc-tables build has written.

        Raises OSError where the file cannot be read, TableSetError where it is no such file or is
        damaged, LibraryError without libnetfc.
        """
        functions = (library or libnetfc.default()).functions
        tables = cls.__new__(cls)
        file = os.fsencode(path)
        with open(path, "rb"):  # what Python says of a file that cannot be read says more
            tables._open(functions, functions.netfc_set_load, file, os.fsdecode(path))
        return tables

    def _open(self, functions: Any, function: Any, operand: bytes, what: str) -> None:
        """Has a function make the set of an operand; what: the operand in words."""
        self._functions = functions
        made = ctypes.c_void_p()
        error = function(operand, ctypes.byref(made))
        if error != 0:
            message = functions.netfc_strerror(error).decode()
            raise TableSetError(f"table set '{what}': {message}")
        self._handle = handle = loading.owned(made.value, functions.netfc_set_free)
        self.name: str = functions.netfc_set_name(handle).decode()
        format_handle = functions.netfc_set_format(handle)
        self.format = Format(functions.netfc_format_name(format_handle).decode())
        family = functions.netfc_set_family(handle)
        self.family: str = functions.netfc_family_name(family).decode()
        self.scale: int = functions.netfc_set_scale(handle)

    def __repr__(self) -> str:
        return f"netfc.TableSet('{self.name}')"

    def compute(self, op: str, x: ArrayLike, y: ArrayLike) -> NDArray[Any]:
        """x (op) y, lane by lane; op is add, sub, mul or div.

        x, y: numbers, which are rounded into the format first, or encodings (uint16), in any byte
            order, of any shapes that numpy broadcasts

        Returns float64 for numbers and uint16 for encodings, of their common shape; fp32_exact
        float32, and uint32 is what it takes and gives as encodings. Raises ValueError for another
        operation or shapes that do not fit, TypeError for what is no real number or for numbers
        with encodings.
        """
        number = op_number(op, OPS)

        def on_encodings(*lanes: NDArray[Any]) -> NDArray[Any]:
            return self._on_encodings(number, *lanes)[0]

        return arrays.compute(self.format, on_encodings, x, y)

    def flags(self, op: str, x: ArrayLike, y: ArrayLike) -> NDArray[numpy.uint8]:
        """The exception flags of compute(), lane by lane: bits of netfc.Flag, as uint8."""
        return self._on_encodings(op_number(op, OPS), *arrays.encoded(self.format, x, y))[1]

    def walk(self, op: str, x: ArrayLike, y: ArrayLike) -> Walk:
        """One operation with what every step wrote.

        x, y: one number each, or one encoding each. Raises as compute() does, and
        ValueError for more than one.
        """
        number = op_number(op, OPS)
        x_bits, y_bits = (int(bits) for bits in self._single(x, y))
        steps: list[Step] = []

        def note(program: Any, step: Any, lanes: Any, _: Any) -> None:
            steps.append(self._step(program.contents, step.contents, lanes.contents))

        result = self._functions.netfc_walk(
            self._handle, number, x_bits, y_bits, libnetfc.WALK_FUNCTION(note), None
        )
        return Walk(op, x_bits, y_bits, result.z, Flag(result.flags), tuple(steps))

    @functools.cached_property
    def tables(self) -> MappingProxyType[str, Table]:
        """The tables by their names."""
        count = self._functions.netfc_set_table_count(self._handle)
        tables = (self._table(index) for index in range(count))
        return MappingProxyType({table.name: table for table in tables})

    def occurs(self, name: str) -> NDArray[numpy.bool_]:
        """Which entries of a table some operation can look up, in the shape of its entries."""
        entries = self.tables[name].entries
        table, occurs = self._table_handle(name), self._functions.netfc_table_reachable
        found = numpy.array([occurs(table, index) for index in range(entries.size)])
        return found.reshape(entries.shape)

    def prefixes(self, name: str, page: int) -> NDArray[numpy.uint32]:
        """The fewest prefixes, the longest of which decides, that give those entries of a page.

        Returns a row for each, shorter ones first: the key, whose bits after the prefix are zero;
        the value; the prefix's length. Raises ValueError for another page.
        """
        pages = len(self.tables[name].page_names)
        if page not in range(pages):
            raise ValueError(f"table {name} has no page {page}: there are 0 to {pages - 1}")
        cover = self._functions.netfc_table_cover
        return libnetfc.prefixes(cover, self._table_handle(name), page, _FEWEST)

    def _table_handle(self, name: str) -> Any:
        return self._functions.netfc_set_table(self._handle, list(self.tables).index(name))

    def _on_encodings(
        self, number: int, *lanes: NDArray[Any]
    ) -> tuple[NDArray[Any], libnetfc.Flags]:
        return libnetfc.on_arrays(self._functions.netfc_compute, self._handle, number, *lanes)

    def _single(self, x: ArrayLike, y: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
        first, second = arrays.encoded(self.format, x, y)
        if first.size != 1:
            raise ValueError(f"a walk is of one lane, and there are {first.size}")
        return first.reshape(()), second.reshape(())

    def _step(self, program: Any, step: Any, lanes: Any) -> Step:
        written = (ctypes.c_uint8 * libnetfc.STEP_WRITES)()
        count = self._functions.netfc_step_writes(step, written)
        fields = {
            program.field_name[field].decode(): int(lanes.field[field][0])
            for field in written[:count]
        }
        is_lookup = step.kind == libnetfc.STEP_LOOKUP
        table = list(self.tables)[step.table] if is_lookup else None
        return Step(step.what.decode(), fields, table)

    def _table(self, index: int) -> Table:
        functions = self._functions
        table = functions.netfc_set_table(self._handle, index)
        pages = functions.netfc_table_pages(table)
        key_bits = functions.netfc_table_key_bits(table)
        return Table(
            name=functions.netfc_table_name(table).decode(),
            entries=self._entries(table).reshape(pages, 1 << key_bits),
            page_names=tuple(
                functions.netfc_table_page_name(table, page).decode() for page in range(pages)
            ),
            key_bits=key_bits,
            value_bits=functions.netfc_table_value_bits(table),
            key_signed=functions.netfc_table_key_signed(table),
            value_signed=functions.netfc_table_value_signed(table),
            copies=functions.netfc_table_copies(table),
            is_match=functions.netfc_table_is_match(table),
        )

    def _entries(self, table: Any) -> NDArray[numpy.uint32]:
        """The entries where they lie. The array keeps this table set, which owns them."""
        address = self._functions.netfc_table_entries(table)
        size = self._functions.netfc_table_size(table)
        memory: Any = (ctypes.c_uint32 * size).from_address(address)
        memory.owner = self
        return numpy.frombuffer(memoryview(memory).toreadonly(), dtype=numpy.uint32)


def known_sets(library: libnetfc.Library | None = None) -> list[str]:
    """The names of all table sets that can be built. Raises LibraryError without libnetfc."""
    functions = (library or libnetfc.default()).functions
    names: list[str] = []
    name = ctypes.create_string_buffer(_NAME_BYTES)
    while functions.netfc_set_known_name(len(names), name):
        names.append(name.value.decode())
    return names
