# SPDX-License-Identifier: BSD-3-Clause
"""The control of a P4 program that computes a lane, translated (p4_python) and run on numpy arrays:
one element for each lane.

Where a condition differs between lanes, they are run again in two parts. Where a table gives them
different actions, each action is run for the lanes that have it.
"""

import functools

import numpy as np

import p4_python
import project_scripts
from p4_rows import ExactRows
from p4_runtime import Header, Record, Table
from p4_source import python_name

PROGRAM = project_scripts.PROJECT / 'p4' / 'netfc_v1model.p4'
NONE, COMPUTE = 0, 1  # of verdict_t
DIV = 4


class Differ(Exception):
    """Lanes that go different ways: where the condition holds."""

    def __init__(self, condition):
        super().__init__()
        self.condition = condition


class Lanes(np.ndarray):
    """Numbers, one for each lane, whose truth decides only where all have the same."""

    def __bool__(self):
        truth = np.asarray(self, dtype=bool)
        if truth.any() and not truth.all():
            raise Differ(truth)
        return bool(truth.all())


def lanes(numbers):
    """Numbers as Lanes."""
    return np.asarray(numbers, dtype=np.int64).view(Lanes)


def on_parts(function, *arrays):
    """What a function gives for lanes, all of which it is run on until none differ: arrays."""
    results, parts = None, [np.arange(len(arrays[0]))]
    while parts:
        part = parts.pop()
        try:
            found = function(*(lanes(array[part]) for array in arrays))
        except Differ as differ:
            parts += [part[differ.condition], part[~differ.condition]]
            continue
        if results is None:
            results = [np.zeros(len(arrays[0]), dtype=np.int64) for _ in found]
        for result, one in zip(results, found):
            result[part] = one
    return results


class LaneTable(Table):
    """A table that is looked up for all lanes at once."""

    def __init__(self, *arguments):
        self.columns = None  # of rows that are exact and of one action: sorted keys, arguments
        super().__init__(*arguments)

    def fill(self, rows):
        """Entries as the exporter's text has them, which must not contradict each other."""
        if isinstance(rows, ExactRows):
            self._fill_exact(rows)
            return
        for row in rows:
            assert all(mask is None or value & ~mask == 0 and mask < 1 << width
                       for (value, mask), width in zip(row.keys, self.widths)), row
            self.add(row.action.split('.')[-1], row.keys, row.args, row.order)
        if set(self.kinds) == {'exact'}:
            assert len(self.exact) == len(rows), f'{self.name}: a key is there twice'
        elif 'lpm' in self.kinds:
            assert len({str(keys) for _, keys, *_ in self.ternary}) == len(rows)

    def has_order(self):
        """Whether no two entries have the same priority."""
        return len({order for order, *_ in self.ternary}) == len(self.ternary)

    def _fill_exact(self, rows):
        action, limits = rows.action.split('.')[-1], [1 << width for width in self.widths]
        assert not self.exact and set(self.kinds) == {'exact'} and len(rows) <= self.size
        assert ((0 <= rows.keys) & (rows.keys < limits)).all()
        widths = [width for width, _ in self.actions[action]]
        assert ((0 <= rows.args) & (rows.args < [1 << width for width in widths])).all()
        keys = self._joined(rows.keys.T)
        order = np.argsort(keys)
        assert (np.diff(keys[order]) > 0).all(), f'{self.name}: a key is there twice'
        self.columns = action, keys[order], rows.args[order]

    def _joined(self, fields):
        """The fields of exact keys as one number."""
        assert sum(self.widths) < 63
        joined = np.zeros(len(fields[0]), dtype=np.int64)
        for field, width in zip(fields, self.widths):
            joined = joined << width | np.asarray(field)
        return joined

    def run(self, control, fields):
        """Runs on each lane the action that it finds. Returns where there was an entry."""
        if not any(isinstance(field, Lanes) for field in fields):
            return super().run(control, fields)  # the same for all lanes
        size = max(np.size(field) for field in fields)
        fields = [np.broadcast_to(np.asarray(field, np.int64) & (1 << width) - 1, size)
                  for field, width in zip(fields, self.widths)]
        hit, actions, arguments = self._find(fields)
        state = State(control)
        for number, (name, types) in enumerate(self.actions.items()):
            mask = actions == number
            if mask.any():
                values = [signed(column, width) if is_signed else column
                          for column, (width, is_signed) in zip(arguments[mask].T, types)]
                action = functools.partial(getattr(control, 'action_' + name), *map(lanes, values))
                state.run(mask, action)
        return hit.view(Lanes)

    def _find(self, fields):
        """For each lane whether there is an entry, the action's number and its arguments."""
        numbers = {name: number for number, name in enumerate(self.actions)}
        default, values = self.default
        actions = np.full(len(fields[0]), numbers[default])
        arguments = np.zeros((len(actions), max(map(len, self.actions.values()))), dtype=np.int64)
        arguments[:, :len(values)] = values
        hit = np.zeros(len(actions), dtype=bool)
        if self.columns:
            name, keys, args = self.columns
            wanted = self._joined(fields)
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            hit = keys[at] == wanted
            actions[hit] = numbers[name]
            arguments[hit, :args.shape[1]] = args[at[hit]]
        for keys, name, values in self._entries():
            match = ~hit
            for field, key in zip(fields, keys):
                if isinstance(key, range):
                    match &= (field >= key.start) & (field < key.stop)
                elif key[1] != 0:
                    match &= field & (-1 if key[1] is None else key[1]) == key[0]
            if match.any():
                hit, actions[match] = hit | match, numbers[name]
                arguments[match, :len(values)] = values
                if hit.all():
                    break
        return hit, actions, arguments

    def _entries(self):
        """Those that are not in columns, the first to decide first."""
        for keys, (action, values) in self.exact.items():
            yield [(key, None) for key in keys], action, values
        for _, keys, action, values in sorted(self.ternary, key=lambda entry: entry[0]):
            yield keys, action, values


def signed(numbers, width):
    """Numbers of so many bits as two's complement."""
    return numbers - ((numbers >> width - 1 & 1) << width)


class State:
    """What actions may change: the fields of a control and of its structs."""

    def __init__(self, control):
        structs = [value for value in vars(control).values() if isinstance(value, (Header, Record))]
        self.before = [(owner, dict(vars(owner))) for owner in (control, *structs)]

    def run(self, mask, action):
        """Runs an action on the lanes of a mask."""
        if mask.all():
            action()
            return
        after = [dict(vars(owner)) for owner, _ in self.before]
        for owner, fields in self.before:
            vars(owner).update({name: value[mask] if isinstance(value, Lanes) else value
                                for name, value in fields.items()})
        given = [dict(vars(owner)) for owner, _ in self.before]
        action()
        for (owner, _), fields, old in zip(self.before, after, given):
            for name, value in vars(owner).items():
                if value is not old[name]:
                    fields[name] = lanes(np.broadcast_to(fields[name], len(mask)).copy())
                    fields[name][mask] = value
            vars(owner).update(fields)


class Lane:
    """A lane of a program that is compiled with these options, its tables filled from rows."""

    def __init__(self, tables, *options, number=0):
        program = p4_python.Switch(PROGRAM, *options, table=LaneTable)
        self.make, self.control = program.make, program.names['Lane']()
        self.types = program.translator.types
        prefix = f'IngressPipe.netfc.lane{number}.'
        for path, rows in tables.items():
            if path.startswith(prefix):
                self.table(path.removeprefix(prefix)).fill(rows)
        self.unused = dict(vars(self.control))  # without what lanes of an earlier run have left

    def table(self, path):
        """A table or a control by its path within the lane."""
        return functools.reduce(getattr, map(python_name, path.split('.')), self.control)

    def logarithms(self, operand, slots):
        """Log words of an operand's slots."""
        def run(slots):
            lane = self.make('lane_t')
            self.table(f'log_{operand}').apply(slots, lane)
            return (lane.i if operand == 'x' else lane.j,)

        return on_parts(run, slots)[0]

    def mi(self, differ, theta):
        """m by theta, for equal or for differing signs."""
        def run(theta):
            return self.table('mi').apply(differ, theta, lanes(np.zeros_like(theta)))

        return on_parts(run, theta)[0]

    def powers(self, negative, n):
        """The slots of 2^(n/k) with a sign, and the flags that they raise."""
        def run(n):
            lane = self.make('lane_t')
            lane.i, lane.negative = n, negative
            (z,) = self.table('power').apply(n, lanes(np.zeros_like(n)), lane)
            if hasattr(self.control, 'limits'):
                vars(self.control).clear()
                vars(self.control).update(self.unused, lane=lane)
                self.control.table_limits()
            return z, lane.flags

        return on_parts(run, n)

    def compute(self, op, x, y, flags='flags'):
        """z and flags of lanes; of a pair of lanes the flags of one."""
        def run(x, y):
            carried = [self.make('carried_t')] if 'carried_t' in self.types else []
            # A header goes round, in front of a packet that is as it was.
            again = op == DIV and any(isinstance(one, Header) for one in carried)
            for verdict in [NONE] * again + [COMPUTE]:
                lane = self.make('lane_t')
                lane.present = 1
                if hasattr(lane, 'x'):  # operands are copied, in programs of binary32
                    lane.x, lane.y = x, y
                (z,) = self.control.apply(1, verdict, op, x, y, *carried,
                                          lanes(np.zeros_like(x)), lane)
                assert verdict == COMPUTE or not (np.any(z) or np.any(lane.flags))
            return z, getattr(lane, flags)

        return on_parts(run, x, y)
