# SPDX-License-Identifier: BSD-3-Clause
"""Special values and the guard as ternary entries.

They come from the set's decision table: first one entry for each combination of operation, classes
and signs, then the fewest entries with the same effect (Table.minimise()).
"""

import dataclasses
import itertools
from typing import Any

from netfc.p4.source import Source
from netfc.p4.table import Match, Table, bits_of, low_bits, prefixes
from netfc.protocol import OPS, Flag

_SIGN, _ALL_BITS = 0x8000, 0xFFFF  # of the 16 bits that the decision table's values have
_NO_RESULT = 0x8000  # of the miTable
_ZERO, _FINITE, _INF, _NAN = range(4)  # classes, as the decision table numbers them
_LESS, _EQUAL, _GREATER = range(3)
_FROM_X, _FROM_Y, _FROM_CONSTANT = 1, 2, 3
# The entry of a class matches its encodings, and else only encodings of classes of lower rank.
_RANKS = {_ZERO: 0, _INF: 0, _NAN: 1, _FINITE: 2}
# The order of the entries for the same two classes.
_ORDER_EQUAL, _ORDER_NO_RESULT, _ORDER_GUARD, _ORDER_LESS, _ORDER_ANY = range(5)
_ORDERS = 5


@dataclasses.dataclass(frozen=True)
class _Operands:
    """The combination of operands that entries are for. signs: as in the packet."""

    op: int
    class_x: int
    class_y: int
    sign_x: int
    sign_y: int


class _Decider:
    """The table, and what its entries are computed from."""

    def __init__(self, source: Source, is_ordered: bool):
        self.source = source
        self.words = list(map(int, source.words("decide")))
        self.is_exact = source.tables.family == "exact"
        self.is_ordered = is_ordered  # theta <= 0, the larger operand first
        self.below = source.tables.format.bits - 16  # bits of operands below those of the values
        keys, compute = "op& x& y& difference& theta&", "compute(sign)"
        if self.is_exact:  # z has its sign already
            keys, compute = "op& x& y&", "compute()"
        actions = "take_x()", "take_y()", "take_minus_y()", "constant(value, flags)"
        self.table = Table("decide", keys, compute, *actions)

    def add(self, operands: _Operands) -> None:
        """The entries for a combination."""
        self._add_decisions(operands)
        are_finite = operands.class_x == operands.class_y == _FINITE
        if not self.is_exact and are_finite and operands.op <= OPS["sub"]:
            self._add_guard(operands)
            self._add_no_result(operands)

    def _word(self, operands: _Operands, compare: int) -> int:
        """The decision's word. For sub it is that of the addition of -y."""
        is_unsigned = self.source.is_posit and operands.class_y != _FINITE
        sign_y = operands.sign_y ^ (operands.op == OPS["sub"] and not is_unsigned)
        key = (operands.op - OPS["add"]) << 8 | operands.class_x << 6 | operands.class_y << 4
        return self.words[key | operands.sign_x << 3 | sign_y << 2 | compare]

    def _add_decisions(self, operands: _Operands) -> None:
        less, equal, greater = (self._word(operands, compare) for compare in range(3))
        if not self.is_exact:
            if equal != greater:
                self._decide(operands, _ORDER_EQUAL, equal, (0, _ALL_BITS))
            if less != greater:
                self._decide(operands, _ORDER_LESS, less, (_SIGN, _SIGN))
        self._decide(operands, _ORDER_ANY, greater, (0, 0))

    def _decide(self, operands: _Operands, order: int, word: int, difference: Match) -> None:
        """The entry for a word of the decision table."""
        action = "compute"
        args: tuple[int, ...] = () if self.is_exact else (bits_of(word, 20, 1),)
        where = bits_of(word, 16, 2)
        if where == _FROM_X:
            action, args = "take_x", ()
        elif where == _FROM_Y:
            action, args = self._take_y(operands), ()
        elif where == _FROM_CONSTANT:
            action = "constant"
            args = bits_of(word, 0, 16) << self.below, bits_of(word, 24, 4)
        self._entry(operands, order, action, args, difference=difference)

    def _add_guard(self, operands: _Operands) -> None:
        """Logarithms that differ by more than the guard: z is the larger operand."""
        guard = self.source.guard * self.source.tables.scale
        x_is_larger, y_is_larger = range(-_SIGN, -guard), range(guard + 1, _SIGN)
        for action, thetas, sign in (
            ("take_x", x_is_larger, 0),
            (self._take_y(operands), x_is_larger if self.is_ordered else y_is_larger, _SIGN),
        ):
            difference = (sign, _SIGN) if self.is_ordered else (0, 0)
            if thetas:
                first, last = thetas[0] & _ALL_BITS, thetas[-1] & _ALL_BITS
                for theta in prefixes(first, last, 16):
                    matches = {"difference": difference, "theta": theta}
                    self._entry(operands, _ORDER_GUARD, action, (), **matches)

    def _add_no_result(self, operands: _Operands) -> None:
        """Operands that differ but have the same log word, if the set has no result for them."""
        differ = bits_of(self._word(operands, _GREATER), 18, 2) != 0  # the page of the miTable
        if differ and self.source.words("mi")[1 << 16] == _NO_RESULT:
            args, theta = (0, int(Flag.UNDERFLOW)), (0, _ALL_BITS)
            self._entry(operands, _ORDER_NO_RESULT, "constant", args, theta=theta)

    def _entry(
        self, operands: _Operands, order: int, action: str, args: Any, **matches: Match
    ) -> None:
        matches["op"] = operands.op, 0xFF
        matches["x"] = self._operand(operands.class_x, operands.sign_x)
        matches["y"] = self._operand(operands.class_y, operands.sign_y)
        rank = _RANKS[operands.class_x] + _RANKS[operands.class_y]
        self.table.add(action, matches, args, rank * _ORDERS + order)

    def _operand(self, number_class: int, sign: int) -> Match:
        """What encodings of a class and sign match, together with those of lower rank."""
        every, inf = low_bits(16 + self.below), self.source.inf
        sign_bit = _SIGN << self.below
        value, mask = {
            _ZERO: (0, every if self.source.is_posit else every >> 1),
            _FINITE: (0, 0),
            _INF: (inf, every >> 1),
            _NAN: (inf, every if self.source.is_posit else inf),
        }[number_class]
        if not mask & sign_bit:
            value, mask = value | sign * sign_bit, mask | sign_bit
        return value, mask

    @staticmethod
    def _take_y(operands: _Operands) -> str:
        return "take_minus_y" if operands.op == OPS["sub"] else "take_y"


def decide_table(source: Source, is_ordered: bool = False) -> Table:
    """The decision table: special values and, in the paper's family, the guard.

    is_ordered: the program has the larger operand first
    """
    decider = _Decider(source, is_ordered)
    classes = range(_ZERO, _NAN + 1)
    for op, *pair in itertools.product(OPS.values(), classes, classes):
        if source.is_posit and _INF in pair:
            continue
        for signs in itertools.product((0, 1), repeat=2):
            # A posit's zero and NaR are one encoding each.
            if source.is_posit and any(
                number_class != _FINITE and sign != (number_class == _NAN)
                for number_class, sign in zip(pair, signs)
            ):
                continue
            decider.add(_Operands(op, *pair, *signs))
    decider.table.minimise()
    return decider.table
