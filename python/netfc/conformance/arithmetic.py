# SPDX-License-Identifier: BSD-3-Clause
"""Checks of what is computed: operations, functions, flags, and how many lanes at once."""

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy

from netfc import catalogue, protocol
from netfc._native.arrays import Encodings
from netfc.conformance import operands
from netfc.conformance.check import Check, Failed, NotOffered
from netfc.conformance.exact import Exact, Results
from netfc.conformance.kit import Kit, with_results
from netfc.errors import LibraryError
from netfc.formats import NUMBER_FORMATS, Format
from netfc.functions import Function, slots_of
from netfc.tables import TableSet, known_sets

FLAGGED = 16  # requests of one lane for each flag
AT_ONCE = 4096  # requests of all pairs of 16 bits that are made at a time
PROBES = 512
_EXTENDED = tuple(row.name for row in catalogue.EXTENDED)


class Oracle(Protocol):
    """What an operation gives."""

    def results(self, op: str, *operands_: Encodings) -> Results:
        """z and flags, lane by lane."""


class OfTables:
    """A table set of libnetfc; what needs none is correctly rounded."""

    def __init__(self, name: str):
        self.set = TableSet(name)
        self._exact = Exact(self.set.format)

    def results(self, op: str, *operands_: Encodings) -> Results:
        """z and flags, lane by lane."""
        if op in _EXTENDED:
            return self._exact.results(op, *operands_)
        return self.set.compute(op, *operands_), self.set.flags(op, *operands_)


class Loaded(NamedTuple):
    """A table set that the switch has: by its name, and what it gives."""

    name: str
    oracle: Oracle

    @property
    def saturates(self) -> bool:
        """Whether what is too large becomes the greatest number."""
        return self.name.endswith(catalogue.SATURATING)


def oracle_of(name: str, form: Format) -> Oracle:
    """What a table set gives. Raises NotOffered where that needs libnetfc, and there is none."""
    if "_k" not in name:
        return Exact(form, name.endswith(catalogue.SATURATING))
    try:
        return OfTables(name)
    except LibraryError as error:
        raise NotOffered(f"what {name} gives is not known without libnetfc: {error}") from error


def table_set(kit: Kit, form: Format) -> Loaded:
    """The set that the switch computes a format with: as --tables says, or found out."""
    found: dict[str, Loaded] = kit.found.setdefault("table sets", {})
    if form.name not in found:
        found[form.name] = _named(kit, form) or _found_out(kit, form)
    return found[form.name]


def format_of(name: str) -> Format | None:
    """The format of a table set, by the set's name: the longest that it begins with."""
    fitting = [each for each in NUMBER_FORMATS if name.startswith(f"{each}_")]
    return NUMBER_FORMATS[max(fitting, key=len)] if fitting else None


def _named(kit: Kit, form: Format) -> Loaded | None:
    names = [name for name in kit.settings.tables if format_of(name) == form]
    return Loaded(names[0], oracle_of(names[0], form)) if names else None


def _candidates(form: Format) -> list[str]:
    """Names of sets, the likely ones first."""
    exact = [f"{form.name}_exact"]
    exact += [f"{form.name}{catalogue.SATURATING}"] if form.bits == 8 else []
    if form.bits != 16:
        return exact
    try:
        known = known_sets()
    except LibraryError:
        return exact
    scaled = [name for name in known if name.startswith(f"{form.name}_k")]
    return exact + sorted(scaled, key=lambda name: (-len(name.split("_k")[1]), name))


def _found_out(kit: Kit, form: Format) -> Loaded:
    """The set whose results are most like the switch's."""
    kit.require(protocol.OPS["add"], form)
    asked = {}
    for op in ("add", "mul"):
        x, y = (each[::13][:PROBES] for each in operands.pairs(form, op))
        if form.bits == 8:
            x, y = (each[::128] for each in operands.pairs(form, op))
        asked[op] = x, y
    answered = {
        op: _z(kit, form, op, *lanes)
        for op, lanes in asked.items()
        if kit.computes(protocol.OPS[op], form)
    }
    best, most = None, -1
    for name in _candidates(form):
        loaded = Loaded(name, oracle_of(name, form))
        alike = sum(
            int((loaded.oracle.results(op, *asked[op])[0] == z).sum()) for op, z in answered.items()
        )
        if alike > most:
            best, most = loaded, alike
        if most == sum(map(len, answered.values())):
            break
    assert best is not None
    return best


def _z(kit: Kit, form: Format, op: str, x: Encodings, y: Encodings) -> Encodings:
    """What the switch computes."""
    sent = list(requests(kit, form, protocol.OPS[op], [x, y]))
    replies = kit.replies([request for request, _ in sent])
    return numpy.concatenate([protocol.results(reply) for reply in replies])


# ---- requests of many lanes ------------------------------------------------------------------


def requests(
    kit: Kit,
    form: Format,
    op: int,
    lanes: Sequence[Encodings],
    counts: Sequence[int] | None = None,
) -> Iterator[tuple[bytes, slice]]:
    """Requests for all lanes, and which each has. counts: of lanes, in turn; None: all that go."""
    most = kit.most_lanes(op, form)
    sizes = itertools.cycle(counts or [most])
    slot = f"u{protocol.slot_bytes(form.id, op)}"
    at = 0
    while at < len(lanes[0]):
        part = slice(at, min(at + next(sizes), len(lanes[0])))
        columns = [each[part].astype(slot) for each in lanes]
        # What is not read has anything in it.
        columns += [
            columns[0] ^ 0x5A if n == 1 else columns[0] ^ 0xA5 for n in range(len(columns), 3)
        ]
        x, y, z = columns
        yield protocol.request(op, form.id, x, y, kit.requests.new_id(), z), part
        at = part.stop


def compare(
    kit: Kit,
    form: Format,
    op: int,
    lanes: Sequence[Encodings],
    results: Results,
    counts: Sequence[int] | None = None,
) -> None:
    """Has the switch compute, and compares. Raises Failed."""
    z, flags = results
    sent = list(requests(kit, form, op, lanes, counts))
    expected = [
        with_results(request, z[part], int(numpy.bitwise_or.reduce(flags[part])))
        for request, part in sent
    ]
    name = protocol.OP_NAMES.get(op, f"op {op}")
    kit.expect([request for request, _ in sent], expected, f"{name} in {form.name}")


def flagged(flags: Encodings) -> Encodings:
    """Some lanes of each flag."""
    kinds = [numpy.flatnonzero(flags == kind) for kind in numpy.unique(flags)]
    return numpy.concatenate([kind[:: max(1, len(kind) // FLAGGED)][:FLAGGED] for kind in kinds])


def check_lanes(kit: Kit, form: Format, op: int, lanes: Sequence[Encodings], gives: Results) -> str:
    """All lanes in as few requests as go, and some of each flag in requests of their own."""
    alone = flagged(gives[1])
    compare(kit, form, op, [each[alone] for each in lanes], (gives[0][alone], gives[1][alone]), [1])
    compare(kit, form, op, lanes, gives)
    return f"{len(lanes[0]):,} lanes"


# ---- checks ----------------------------------------------------------------------------------


def arithmetic(kit: Kit, form: Format, op: str) -> str:
    """An operation of a table set."""
    number = protocol.number_of(op)
    kit.require(number, form)
    loaded = table_set(kit, form)
    if kit.settings.long and form.bits == 16:
        return f"{loaded.name}: {_every_pair(kit, form, op, loaded.oracle)}"
    x, y = operands.pairs(form, op)
    return f"{loaded.name}: " + check_lanes(
        kit, form, number, [x, y], loaded.oracle.results(op, x, y)
    )


def _every_pair(kit: Kit, form: Format, op: str, oracle: Oracle) -> str:
    """All 2^32 pairs."""
    number = protocol.number_of(op)
    for start in range(0, 1 << form.bits, 8):
        x, y = operands.every_pair(form, start, start + 8)
        compare(kit, form, number, [x, y], oracle.results(op, x, y))
    return f"{1 << 2 * form.bits:,} lanes"


def extended(kit: Kit, form: Format, op: str) -> str:
    """min, max, compare and fma."""
    number = protocol.number_of(op)
    kit.require(number, form)
    x, y = operands.pairs(form, "mul" if op == "fma" else "add")
    saturates = op == "fma" and form.bits == 8 and _saturates(kit, form)
    lanes = [x, y]
    if op == "fma":
        draw = numpy.random.default_rng(8)
        x, y = x[::7], y[::7]
        near = Exact(form).results("mul", x, y)[0] ^ draw.choice(
            numpy.array([0, 1, 1 << form.bits - 1], form.encodings), len(x)
        )
        other = draw.integers(0, 1 << form.bits, len(x)).astype(form.encodings)
        lanes = [x, y, numpy.where(draw.integers(0, 2, len(x)) == 1, near, other)]
    return check_lanes(kit, form, number, lanes, Exact(form, saturates).results(op, *lanes))


def _saturates(kit: Kit, form: Format) -> bool:
    return kit.computes(1, form) and table_set(kit, form).saturates


def function(kit: Kit, name: str) -> str:
    """A function or conversion, in all formats that it is loaded for."""
    number = protocol.FUNCTIONS[name]
    offered = [form for form in NUMBER_FORMATS.values() if kit.computes(number, form)]
    if not offered:
        kit.require(number, NUMBER_FORMATS["fp16"])
    done = 0
    for form in offered:
        x, gives = _function_results(kit, name, form)
        check_lanes(kit, form, number, [x], gives)
        done += len(x)
    return f"{', '.join(form.name for form in offered)}: {done:,} lanes"


def _function_results(kit: Kit, name: str, form: Format) -> tuple[Encodings, Results]:
    """Arguments of a function, and what it gives."""
    argument, result = slots_of(name, form)
    try:
        known = Function(name, form)
    except LibraryError as error:
        raise NotOffered(f"what functions give is not known without libnetfc: {error}") from error
    bits = 8 * argument.encodings.itemsize
    draw = numpy.random.default_rng(protocol.FUNCTIONS[name])
    if bits == 8 or kit.settings.long and bits == 16:
        x: operands.Words = numpy.arange(1 << bits)
    else:
        edges = operands.specials(form if isinstance(argument, Format) else NUMBER_FORMATS["fp16"])
        x = numpy.concatenate([edges.astype(numpy.int64), draw.integers(0, 1 << bits, 4096)])
    arguments: Encodings = x.astype(argument.encodings)
    z, flags = known(arguments), known.flags(arguments)
    if result == form and form.bits == 8 and not name.startswith("to_") and _saturates(kit, form):
        z = _saturated(form, arguments, z, flags)
    return arguments, (z, flags)


def _saturated(form: Format, x: Encodings, z: Encodings, flags: Encodings) -> Encodings:
    """Results as a set has them that gives the greatest number for what is too large."""
    exact = Exact(form, True)
    too_large = (flags & (protocol.Flag.OVERFLOW | protocol.Flag.DIVBYZERO)) != 0
    too_large |= numpy.isinf(exact.decode(z))
    signs = numpy.where(numpy.isinf(exact.decode(z)), z, x) & (1 << form.bits - 1)
    return numpy.where(too_large, signs | exact.greatest, z).astype(form.encodings)


def vectors(kit: Kit, form: Format) -> str:
    """Requests of 1 to all lanes."""
    op = protocol.OPS["add"]
    kit.require(op, form)
    most = kit.most_lanes(op, form)
    total = most * (most + 1) // 2
    draw = numpy.random.default_rng(form.id)
    x, y = draw.integers(0, 1 << form.bits, (2, total), numpy.uint64).astype(form.encodings)
    oracle = table_set(kit, form).oracle
    compare(kit, form, op, [x, y], oracle.results("add", x, y), range(1, most + 1))
    return f"1 to {most} lanes"


def own_functions(kit: Kit) -> str:
    """Functions of users have names of theirs, which nobody knows: what else is about them."""
    kit.learn(list(protocol.USER_FUNCTIONS))
    loaded = [
        number
        for number in protocol.USER_FUNCTIONS
        if any(kit.computes(number, form) for form in NUMBER_FORMATS.values())
    ]
    if not loaded:
        raise NotOffered("no function of a user's own is loaded")
    if loaded != list(range(loaded[0], loaded[0] + len(loaded))) or loaded[0] != 193:
        raise Failed(f"numbers of users' own functions are {loaded}: not 193 and on")
    return f"{len(loaded)} functions"


_ROUNDED = (
    "IEEE formats follow IEEE 754, with a single NaN: the quiet NaN with only the top fraction bit"
    " set (fp16 0x7E00, bf16 0x7FC0, fp32 0x7FC00000, fp8_e4m3 0x7F, fp8_e5m2 0x7E)."
)
_POSITS = (
    "For posits, x / 0 and any NaR operand give NaR (0x8000); zero has no sign; results never round"
    " to zero or NaR but saturate at the greatest and least posit."
)
_TABLES = (
    "For the loaded table set, results equal those of `netfc-tables calc SET OP X Y`, to the last"
    " bit."
)
_FMA = "z = x · y + z, rounded once; formats as above"
_ORDERED = "every format except fp32, without a table set"
_LANES = "Lanes do not influence each other."
_FUNCTIONS = "The header's format is that of x: to_bf16 in format 1 takes fp16 and gives bf16."
_OWN = "users' own functions, numbered in the order in which they are loaded"


def _checks() -> Iterator[Check]:
    """All of them."""
    for form in NUMBER_FORMATS.values():
        special = _POSITS if form.name.startswith("posit") else _ROUNDED
        for op in protocol.OPS:
            clause = _TABLES if op == "add" else special
            number = 1000 + 10 * form.id + protocol.OPS[op]
            run: Callable[[Kit], str | None] = functools.partial(arithmetic, form=form, op=op)
            yield Check(number, f"{op} in {form.name}", clause, "special-values", run)
        for op in protocol.EXTRA_OPS if form.has_functions else ():
            clause = _FMA if op == "fma" else _ORDERED
            number = 1000 + 10 * form.id + protocol.EXTRA_OPS[op]
            run = functools.partial(extended, form=form, op=op)
            yield Check(number, f"{op} in {form.name}", clause, "functions", run)
        run = functools.partial(vectors, form=form)
        yield Check(
            1100 + form.id,
            f"vectors of 1 to all lanes of {form.name}",
            _LANES,
            "special-values",
            run,
        )
    for name, number in protocol.FUNCTIONS.items():
        run = functools.partial(function, name=name)
        yield Check(1200 + number, name, _FUNCTIONS, "functions", run)
    yield Check(1400, "users' own functions", _OWN, "functions", own_functions)


CHECKS = tuple(_checks())
