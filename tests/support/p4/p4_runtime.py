# SPDX-License-Identifier: BSD-3-Clause
"""What a P4 program that was made Python runs on: headers, registers, tables, checksums, packets."""

class Header:
    """A header: its fields, and whether it is there."""

    def __init__(self, fields):
        self.valid_ = False
        self.types_ = fields
        for name in fields:
            setattr(self, name, 0)


class Record:
    """A struct: headers and numbers."""


class Register:
    """An array of registers, of numbers or of structs."""

    def __init__(self, size, fields=()):
        self.size, self.words, self.fields = size, {}, fields

    def read(self, index):
        assert index < self.size
        return self.words.get(index, zeros(self.fields) if self.fields else 0)

    def write(self, index, value):
        assert index < self.size
        self.words[index] = value


def zeros(fields):
    """A struct, all zero."""
    record = Record()
    for name in fields:
        setattr(record, name, 0)
    return record


def csum16(fields):
    """The internet checksum of fields."""
    total, bits = 0, 0
    for width, value in fields:
        total, bits = total << width | value & (1 << width) - 1, bits + width
    words = [total >> at & 0xFFFF for at in range(0, bits, 16)]
    folded = sum(words)
    while folded >> 16:
        folded = (folded & 0xFFFF) + (folded >> 16)
    return ~folded & 0xFFFF


def saturated(number, least, most):
    """A number or lanes of them, cut off at the ends of a range."""
    if isinstance(number, int):
        return max(least, min(most, number))
    return number.clip(least, most)


class Sum:
    """TNA's checksum unit: one sum, of the packet at hand."""

    def __init__(self):
        self.total = 0

    def subtract(self, fields):
        """Take fields out."""
        self.total += csum16([(w, v) for w, v in fields if v is not None])

    def get(self):
        """What is left of a right checksum: the sum of all other words."""
        return folded(self.total)

    def update(self, fields):
        """The checksum of fields."""
        return csum16([(w, v) for w, v in fields if v is not None])

    def update_udp(self, fields):
        """A zero is written as ones."""
        return self.update(fields) or 0xFFFF


def folded(total):
    """A sum with its carries added."""
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


class Table:
    """A table and its entries."""

    def __init__(self, name, widths, kinds, actions, size, default, entries):
        self.name, self.widths, self.kinds, self.sorted = name, widths, kinds, True
        self.actions, self.size, self.default = actions, size, default
        self.exact, self.ternary = {}, []
        for number, (keys, action, arguments) in enumerate(entries):
            self.add(action, keys, arguments, number)

    def add(self, action, keys, arguments, priority):
        """keys: (value, mask), the mask None where the field is exact."""
        assert action in self.actions, (self.name, action)
        assert len(arguments) == len(self.actions[action])
        assert all(value < 1 << width for value, (width, _) in
                   zip(arguments, self.actions[action]))
        arguments = tuple(value - (1 << width) if signed and value >> width - 1 else value
                          for value, (width, signed) in zip(arguments, self.actions[action]))
        assert [is_exact(key) for key in keys] == [kind == 'exact' for kind in self.kinds]
        if 'lpm' in self.kinds:
            priority = -sum(mask or 0 for _, mask in keys)
        assert all(key[0] < 1 << width for key, width in zip(keys, self.widths))
        if set(self.kinds) != {'exact'}:
            self.ternary.append((priority, keys, action, arguments))
            self.sorted = False
        else:
            self.exact[tuple(value for value, _ in keys)] = action, arguments
        assert len(self.exact) + len(self.ternary) <= self.size, f'{self.name} is full'

    def run(self, control, fields):
        """Runs the action of the entry that matches. Returns whether one does."""
        hit, action, arguments = self.look(fields)
        getattr(control, 'action_' + action)(*arguments)
        return hit

    def look(self, fields):
        """Whether an entry matches, its action and its arguments."""
        fields = tuple(int(field) & (1 << width) - 1
                       for field, width in zip(fields, self.widths))
        if not self.sorted:
            self.ternary.sort(key=lambda entry: entry[0])
            self.sorted = True
        if fields in self.exact:
            return True, *self.exact[fields]
        for _, keys, action, arguments in self.ternary:
            if all(map(matches, fields, keys)):
                return True, action, arguments
        return False, *self.default


def is_exact(key):
    return not isinstance(key, range) and key[1] is None


def matches(field, key):
    """Whether a field is in a range, or equals a value where the mask has bits."""
    if isinstance(key, range):
        return field in key
    value, mask = key
    return field & (mask if mask is not None else -1) == value


def key_of(text, width):
    """(value, mask) of a field as simple_switch_CLI takes it; an exact one has no mask."""
    if '&&&' in text:
        value, mask = text.split('&&&')
        return int(value, 0), int(mask, 0)
    if '/' in text:
        value, length = text.split('/')
        return int(value, 0), (1 << width) - (1 << width - int(length))
    return int(text, 0), None


class Packet:
    """The bits of a frame, to be taken apart or put together."""

    def __init__(self, frame=b''):
        self.frame, self.at, self.made = frame, 0, b''

    def extract(self, header):
        width = sum(bits for bits, _ in header.types_.values())
        data = self.frame[self.at:self.at + width // 8]
        if len(data) < width // 8:
            raise EOFError
        self.at += width // 8
        value, header.valid_ = int.from_bytes(data, 'big'), True
        for name, (bits, _) in header.types_.items():
            width -= bits
            setattr(header, name, value >> width & (1 << bits) - 1)

    def emit(self, header):
        if header.valid_:
            value, width = 0, 0
            for name, (bits, _) in header.types_.items():
                field = getattr(header, name) & (1 << bits) - 1
                value, width = value << bits | field, width + bits
            self.made += value.to_bytes(width // 8, 'big')
