# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a P4 program, by the names that they have there, and their entries."""

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from netfc.tables import TableSet

Words = NDArray[Any]
Match = tuple[int, int]  # value and mask

NETFC_CONTROL = "IngressPipe.netfc"  # of p4/include/netfc.p4, in every program
_KINDS = {"&": "ternary", "/": "lpm"}
_KEY_BITS = 32  # of a field at most


def low_bits(bits: int) -> int:
    """A mask of the lowest bits."""
    return (1 << bits) - 1


def bits_of(words: Any, low: int, bits: int) -> Any:
    """So many bits of words from bit `low` on."""
    return words >> low & low_bits(bits)


def runs(words: Words) -> Iterator[tuple[int, int]]:
    """The first and the last index of each run of equal rows."""
    differ = words[1:] != words[:-1]
    if differ.ndim > 1:
        differ = differ.any(axis=1)
    starts = [0, *map(int, numpy.flatnonzero(differ) + 1), len(words)]
    for start, end in itertools.pairwise(starts):
        yield start, end - 1


def prefixes(first: int, last: int, bits: int) -> Iterator[Match]:
    """The fewest prefixes that cover first to last."""
    while first <= last:
        size = 1 << bits
        while first & (size - 1) or first + size - 1 > last:
            size >>= 1
        yield first, (1 << bits) - size
        first += size


@dataclasses.dataclass(frozen=True)
class Key:
    """A key field. match: "exact", "lpm" (the longest prefix wins) or "ternary"."""

    name: str
    match: str


@dataclasses.dataclass(frozen=True)
class Action:
    """An action, by its name within the control that has the table."""

    name: str
    parameters: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Block:
    """Entries with the same action, a row each.

    values: of the key's fields
    masks: likewise; a prefix's length; in exact fields nothing
    args: the action's arguments
    priorities: in ternary tables, of all entries that match, the lowest wins
    """

    action: Action
    values: Words
    masks: Words
    args: Words
    priorities: Words


@dataclasses.dataclass
class _Entry:
    """A ternary entry, the fields of its key side by side in one number."""

    action: Action
    args: tuple[int, ...]
    priority: int
    value: int
    mask: int

    def overlaps(self, other: "_Entry") -> bool:
        """Whether some packet matches both."""
        return (self.value ^ other.value) & self.mask & other.mask == 0

    def covers(self, other: "_Entry") -> bool:
        """Whether this one matches all that the other one does."""
        return self.mask & ~other.mask == 0 and (self.value ^ other.value) & self.mask == 0

    def has_outcome_of(self, other: "_Entry") -> bool:
        """Whether both do the same."""
        return (self.action, self.args) == (other.action, other.args)

    @property
    def partners(self) -> tuple[Any, ...]:
        """The same of all that this one can be joined with."""
        return self.action, self.args, self.priority, self.mask


class Table:
    """A table and its entries.

    paths: of its instances, relative to the lane's control, or to `outer` where it is shared
    keys: names of its fields; "/" after one that is matched by prefixes, "&" by masks
    actions: such as "set(word)"
    shared: it is there once, not once for each lane
    control: the lane's control, but for its number
    lanes: that such a control computes
    outer: the control that has the lanes
    """

    def __init__(
        self,
        paths: str,
        keys: str,
        *actions: str,
        shared: bool = False,
        control: str = "lane",
        lanes: int = 1,
        outer: str = NETFC_CONTROL,
    ):
        self.paths = paths.split()
        self.keys = [Key(key.rstrip("&/"), _KINDS.get(key[-1], "exact")) for key in keys.split()]
        self.has_priority = any(key.match == "ternary" for key in self.keys)
        self._actions = [_action(action) for action in actions]
        self._shared, self._control, self._lanes, self._outer = shared, control, lanes, outer
        self._rows: list[Words] = []
        self._entries: list[_Entry] = []

    def instances(self, lanes: int) -> Iterator[tuple[str, str]]:
        """Each instance's control, and its own path."""
        controls = [self._outer]
        if not self._shared:
            numbers = range(lanes // self._lanes)
            controls = [f"{self._outer}.{self._control}{number}" for number in numbers]
        for control, path in itertools.product(controls, self.paths):
            whole = f"{control}.{path}"
            yield whole.rpartition(".")[0], whole

    def fill(self, keys: Sequence[Any], args: Sequence[Any], lengths: Any = 0) -> None:
        """Adds entries for the first action.

        keys, args: columns, or numbers that are the same in all entries
        lengths: of the last field's prefixes
        """
        columns = numpy.broadcast_arrays(*keys, *args, lengths)
        rows = numpy.column_stack(columns).astype(numpy.int64) & low_bits(32)
        if len(rows):
            self._rows.append(rows)

    def add(
        self,
        action: str,
        matches: Mapping[str, Match],
        args: Sequence[int] = (),
        priority: int = 0,
    ) -> None:
        """Adds a ternary entry.

        action: its name
        matches: by the names of fields; others match anything
        priority: see Block
        """
        found = next(known for known in self._actions if known.name == action)
        value = mask = 0
        for key in self.keys:
            part, care = matches.get(key.name, (0, 0))
            value, mask = value << _KEY_BITS | part, mask << _KEY_BITS | care
        self._entries.append(_Entry(found, tuple(args), priority, value, mask))

    def minimise(self) -> None:
        """Joins entries of one priority that differ in one bit, removes those that make no
        difference, then gives each entry a priority of its own."""
        self._entries.sort(key=lambda entry: entry.priority)
        while self._join():
            pass
        for at in reversed(range(len(self._entries))):
            if self._is_needless(at):
                del self._entries[at]
        for priority, entry in enumerate(self._entries):
            entry.priority = priority

    def blocks(self) -> Iterator[Block]:
        """The entries, in their order."""
        if self._rows:
            rows, fields = numpy.concatenate(self._rows), len(self.keys)
            values, args = rows[:, :fields], rows[:, fields:-1]
            masks = numpy.zeros_like(values)
            masks[:, -1] = rows[:, -1]
            yield Block(self._actions[0], values, masks, args, masks[:, 0])
        for action, group in itertools.groupby(self._entries, lambda entry: entry.action):
            entries = list(group)
            yield Block(
                action,
                self._fields([entry.value for entry in entries]),
                self._fields([entry.mask for entry in entries]),
                numpy.array([entry.args for entry in entries], numpy.int64),
                numpy.array([entry.priority for entry in entries]),
            )

    def __len__(self) -> int:
        return sum(map(len, self._rows)) + len(self._entries)

    def _fields(self, numbers: Sequence[int]) -> Words:
        """The fields that stand side by side."""
        shifts = range(_KEY_BITS * (len(self.keys) - 1), -1, -_KEY_BITS)
        fields = [[bits_of(number, shift, _KEY_BITS) for shift in shifts] for number in numbers]
        return numpy.array(fields, numpy.int64)

    def _join(self) -> bool:
        """Joins each entry with those after it, in their order. Returns whether there were any."""
        places: dict[tuple[Any, ...], list[int]] = {}
        for at, entry in enumerate(self._entries):
            places.setdefault(entry.partners, []).append(at)
        gone: set[int] = set()
        for at, entry in enumerate(self._entries):
            last = len(self._entries) if at in gone else at
            while (partner := self._partner(entry, places, last, gone)) is not None:
                bit = entry.value ^ self._entries[partner].value
                entry.mask, entry.value = entry.mask & ~bit, entry.value & ~bit
                gone.add(partner)
                last = partner
        self._entries = [entry for at, entry in enumerate(self._entries) if at not in gone]
        return bool(gone)

    def _partner(
        self, entry: _Entry, places: Mapping[tuple[Any, ...], list[int]], last: int, gone: set[int]
    ) -> int | None:
        """The first entry after `last` that the entry can be joined with."""
        for place in places.get(entry.partners, ()):
            if place > last and place not in gone:
                differ = entry.value ^ self._entries[place].value
                if differ & (differ - 1) == 0:
                    return place
        return None

    def _is_needless(self, at: int) -> bool:
        """Whether packets that match an entry would have the same outcome without it."""
        entry = self._entries[at]
        for below in itertools.islice(self._entries, at + 1, None):
            if entry.overlaps(below):
                if not entry.has_outcome_of(below):
                    return False
                if below.covers(entry):
                    return True
        return False


def copy(
    tables: TableSet,
    name: str,
    table: Table,
    widths: Sequence[int],
    slices: Sequence[tuple[int, int]] = ((0, 32),),
) -> Table:
    """Fills a table with those entries of a set's table that occur.

    widths: of the key's fields, which are parts of the set's key, the highest first
    slices: what each argument gets of a word: the lowest bit, and how many
    """
    words = tables.tables[name].entries.ravel()
    index = numpy.flatnonzero(tables.occurs(name).ravel()[: 1 << sum(widths)])
    lows = [sum(widths[field + 1 :]) for field in range(len(widths))]
    keys = [bits_of(index, low, width) for low, width in zip(lows, widths)]
    table.fill(keys, [bits_of(words[index], low, bits) for low, bits in slices])
    return table


def _action(text: str) -> Action:
    name, _, parameters = text.rstrip(")").partition("(")
    return Action(name, tuple(parameters.split(", ")) if parameters else ())
