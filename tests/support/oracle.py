# SPDX-License-Identifier: BSD-3-Clause
"""What the switch must answer, worked out a second time.

Written from the protocol and the definition of the table sets alone, in plain Python and
double precision, and sharing nothing with the C library: where the two agree, byte for byte,
neither has slipped. It is slow (some microseconds a lane) and meant to be read.

Tables: a double is accurate enough, because no entry lies nearer than 1e-9 to a rounding
boundary, which is asserted for every entry, save for the exact ones and the tails, which are
settled by reasoning instead.
"""

import functools
import math
import re
import struct
from collections import namedtuple

import numpy as np

ADD, SUB, MUL, DIV, QUERY = 1, 2, 3, 4, 16
OPERATIONS = (ADD, SUB, MUL, DIV)

INVALID, DIVISION_BY_ZERO, OVERFLOW, UNDERFLOW = 1, 2, 4, 8

UDP_PORT = 20038
MAGIC = 0x4E46
VERSION = 1
HEADER_BYTES = 12
REPLY_BIT = 0x80
EXCEPTIONS = ('invalid', 'divbyzero', 'overflow', 'underflow')  # bits 0 to 3 of the status
ERRORS = ('ok', 'version', 'op', 'format', 'length', 'query', 'lanes')

NEAREST_ALLOWED = 1e-9
NO_RESULT = None
INT16 = np.arange(-32768, 32768)


def saturate(word):
    """A sum or difference of log words as a saturating 16-bit ALU leaves it."""
    return max(-32768, min(32767, word))


# ---- formats ---------------------------------------------------------------------------------


class Format:
    """A 16-bit number format: how slots are read and how real numbers are rounded into it.

    values[m] is the value of the finite magnitude m, ascending; edges[m] is the boundary where
    rounding to nearest changes from magnitude m to m + 1.
    """

    def __init__(self, number, name, largest_k, guard, near_one):
        self.number = number
        self.name = name
        self.largest_k = largest_k
        self.guard = guard
        self.near_one = near_one  # q: what stands for theta = 0 where operands cancel

    def round_magnitude(self, real):
        """The magnitude nearest to each non-negative real; ties go to the even encoding."""
        real = np.asarray(real, dtype=float)
        below = np.searchsorted(self.edges, real, side='left')
        edge = self.edges[np.minimum(below, len(self.edges) - 1)]
        tie_to_upper = (real == edge) & (below % 2 == 1)
        return below + tie_to_upper

    def floor_magnitude(self, real):
        """The greatest finite magnitude whose value is not above each non-negative real."""
        return np.searchsorted(self.values, real, side='right') - 1


class Ieee(Format):
    """IEEE 754 binary interchange layout: sign, exponent, fraction."""

    def __init__(self, number, name, exponent_bits, fraction_bits, largest_k):
        super().__init__(number, name, largest_k, guard=15, near_one=1)
        bias = 2 ** (exponent_bits - 1) - 1
        self.infinity = (2 ** exponent_bits - 1) << fraction_bits
        self.nan = self.infinity | 1 << (fraction_bits - 1)
        self.top_exponent = bias + 1  # of the first power of two that is too large
        self.least_exponent = 1 - bias - fraction_bits  # of the least subnormal
        magnitudes = np.arange(self.infinity)
        exponent = np.maximum(magnitudes >> fraction_bits, 1)
        hidden = np.where(magnitudes >> fraction_bits, 1 << fraction_bits, 0)
        significand = hidden + magnitudes % (1 << fraction_bits)
        self.values = np.ldexp(significand.astype(float), exponent - bias - fraction_bits)
        above = np.append(self.values[1:], 2.0 ** self.top_exponent)
        self.edges = (self.values + above) / 2

    def magnitude(self, slot):
        return slot & 0x7FFF

    def negate(self, slot):
        return slot ^ 0x8000

    def decode(self, slot):
        """The value of a slot as a float; NaNs and infinities as Python's."""
        magnitude = self.magnitude(slot)
        if magnitude < self.infinity:
            value = float(self.values[magnitude])
        else:
            value = math.inf if magnitude == self.infinity else math.nan
        return math.copysign(value, -1 if slot & 0x8000 else 1)

    def encode(self, real):
        """The slot nearest to a float."""
        if math.isnan(real):
            return self.nan
        sign = 0x8000 if math.copysign(1, real) < 0 else 0
        return sign | int(self.round_magnitude(abs(real)))

    def exp_rounded(self, real):
        return self.round_magnitude(real)

    def exp_floored(self, real):
        return np.where(real >= 2.0 ** self.top_exponent, self.infinity, self.floor_magnitude(real))


class Posit(Format):
    """posit<16, exponent_bits>: sign, regime, exponent, fraction."""

    def __init__(self, number, name, exponent_bits, largest_k):
        super().__init__(number, name, largest_k, guard=64, near_one=1 / 4)
        self.nan = 0x8000
        self.values = np.array(
            [0.0] + [posit_value(m, 16, exponent_bits) for m in range(1, 0x8000)])
        # Zero is no neighbour of the least posit: every positive real lies above edge 0.
        self.edges = np.array(
            [0.0] + [posit_value(2 * m + 1, 17, exponent_bits) for m in range(1, 0x7FFF)])

    def magnitude(self, slot):
        return self.negate(slot) if slot & 0x8000 else slot

    def negate(self, slot):
        return -slot & 0xFFFF

    def decode(self, slot):
        """The value of a slot as a float; NaR as a NaN."""
        if slot == self.nan:
            return math.nan
        value = float(self.values[self.magnitude(slot)])
        return -value if slot & 0x8000 else value

    def encode(self, real):
        """The slot nearest to a float; infinities, which posits lack, count as NaR."""
        if not math.isfinite(real):
            return self.nan
        magnitude = int(self.round_magnitude(abs(real)))
        return self.negate(magnitude) if real < 0 else magnitude

    def exp_rounded(self, real):
        return self.round_magnitude(real)

    def exp_floored(self, real):
        return np.maximum(self.floor_magnitude(real), 1)


def posit_value(bits, width, exponent_bits):
    """The value of a positive posit of `width` bits as a float."""
    text = format(bits, f'0{width}b')[1:]
    run = len(text) - len(text.lstrip(text[0]))
    regime = run - 1 if text[0] == '1' else -run
    rest = text[run + 1:]
    exponent = int(rest[:exponent_bits].ljust(exponent_bits, '0'), 2)
    fraction = rest[exponent_bits:]
    significand = int('1' + fraction, 2)
    return math.ldexp(significand, regime * 2 ** exponent_bits + exponent - len(fraction))


FORMATS = {f.number: f for f in (
    Ieee(1, 'fp16', exponent_bits=5, fraction_bits=10, largest_k=1024),
    Posit(2, 'posit16', exponent_bits=1, largest_k=512),
    Ieee(3, 'bf16', exponent_bits=8, fraction_bits=7, largest_k=128),
    Posit(4, 'posit16_es2', exponent_bits=2, largest_k=256),
)}
FORMATS_BY_NAME = {f.name: f for f in FORMATS.values()}


# ---- table sets ------------------------------------------------------------------------------


class ExactSet:
    """The correctly rounded results of one format.

    A double is exact enough for them: a sum either fits its 53 bits, or the smaller operand is
    too small to move the larger one to a rounding boundary; a product fits; and a quotient that
    is no boundary itself stays further from every boundary than a double's rounding reaches.
    """

    def __init__(self, form):
        self.format = form

    def result(self, op, x, y):
        """The result slot for finite operands other than zero."""
        decode = self.format.decode
        return self.format.encode(exact_result(op, decode(x), decode(y)))


class LogSet:
    """The tables of one format and scale. log: by magnitude; mi[s], exp: by key + 32768."""

    def __init__(self, name, form, k, floor):
        if k not in [2 ** i for i in range(11)] or k > form.largest_k:
            raise ValueError(f'{name}: no such scale')
        self.name = name
        self.format = form
        self.k = k
        self.floor = floor
        self.guard = self.format.guard * self.k
        self.log = [None] + self._log().tolist()
        self.mi = self._mi()
        self.exp = self._exp().tolist()

    def _log(self):
        """R(k log2 v) of the magnitudes from 1 up."""
        mantissa, exponent = np.frexp(self.format.values[1:])  # mantissa in [1/2, 1)
        words = self.k * (exponent - 1 + np.log2(2 * mantissa))
        return self._round(words, exact=mantissa == 0.5)

    def _mi(self):
        """The three mi tables, from the two curves over a = |theta|.

        mi0(theta) = theta + mi0(-theta) and mi2(theta) = theta + mi1(-theta), and theta is a
        whole number, so that it stays outside the rounding.
        """
        distance = np.arange(1, 32769)
        log_sum = self._round(self._log2_of_sum(distance))
        log_difference = self._round(self._log2_of_difference(distance), exact=distance == self.k)
        mi0 = np.concatenate((log_sum[::-1], [self.k], distance[:-1] + log_sum[:-1]))
        middle = NO_RESULT
        if not self.floor:
            middle = int(self._round(self._log2_of_difference(np.array([self.format.near_one])))[0])
        mi1 = log_difference[::-1].tolist() + [middle] * 32768
        mi2 = [middle] * 32769 + (distance[:-1] + log_difference[:-1]).tolist()
        return mi0.tolist(), mi1, mi2

    def _log2_of_sum(self, distance):
        """k log2(1 + 2^(-distance/k)), accurate however close to 0."""
        return self.k * np.log1p(np.exp2(-distance / self.k)) / math.log(2)

    def _log2_of_difference(self, distance):
        """k log2(1 - 2^(-distance/k)), accurate however close to 0, and always below it."""
        near = np.log(-np.expm1(-distance * (math.log(2) / self.k)))
        far = np.log1p(-np.exp2(-distance / self.k))
        words = self.k * np.where(distance <= self.k, near, far) / math.log(2)
        return np.minimum(words, -1e-300)

    def _round(self, words, exact=False):
        """R of real log words; exact marks those known to be whole numbers.

        The side of 0 that a word lies on is never in doubt, which settles the floor in the tails.
        """
        words = np.where(exact, np.rint(words), words)
        shifted = words if self.floor else words + 0.5
        boundary = np.rint(shifted)
        close = (np.abs(shifted - boundary) < NEAREST_ALLOWED) & np.logical_not(exact)
        if self.floor:
            close &= boundary != 0
        assert not close.any(), f'{self.name}: a double is too coarse'
        return np.floor(shifted).astype(int)

    def _exp(self):
        """The encoding of 2^(n/k) for every int16 n."""
        whole, part = INT16 // self.k, INT16 % self.k
        real = np.ldexp(np.exp2(part / self.k), np.clip(whole, -300, 300))
        boundaries = self.format.values if self.floor else self.format.edges
        above = np.minimum(np.searchsorted(boundaries, real), len(boundaries) - 1)
        for near in (above, np.maximum(above - 1, 0)):
            close = np.abs(real / np.maximum(boundaries[near], 1e-300) - 1) < NEAREST_ALLOWED
            assert not (close & (part != 0)).any(), f'{self.name}: a double is too coarse'
        if self.floor:
            return self.format.exp_floored(real)
        return self.format.exp_rounded(real)

    def result(self, op, x, y):
        """The result slot for finite operands other than zero."""
        if op in (ADD, SUB):
            return self._sum(x, self.format.negate(y) if op == SUB else y)
        i = self.log[self.format.magnitude(x)]
        j = self.log[self.format.magnitude(y)]
        return self._power(saturate(i + j if op == MUL else i - j), (x ^ y) & 0x8000)

    def _sum(self, x, y):
        magnitude_x, magnitude_y = self.format.magnitude(x), self.format.magnitude(y)
        i, j = self.log[magnitude_x], self.log[magnitude_y]
        theta = saturate(j - i)
        if theta > self.guard:
            return y
        if theta < -self.guard:
            return x
        if (x ^ y) & 0x8000 == 0:
            table, sign = 0, x & 0x8000
        elif magnitude_x == magnitude_y:
            return 0
        elif magnitude_x > magnitude_y:
            table, sign = 1, x & 0x8000
        else:
            table, sign = 2, y & 0x8000
        m = self.mi[table][theta + 32768]
        return 0 if m is NO_RESULT else self._power(saturate(i + m), sign)

    def _power(self, n, sign):
        """The slot of 2^(n/k), negative if sign is not 0."""
        magnitude = self.exp[n + 32768]
        return self.format.negate(magnitude) if sign else magnitude


@functools.lru_cache(maxsize=None)
def table_set(name):
    """The table set called `name`, such as fp16_k1024, posit16_es2_k4_floor, bf16_exact or fp16_exact_small."""
    match = re.fullmatch(r'(?P<format>\w+?)_(exact(_small)?|k(?P<k>[1-9]\d*)(?P<floor>_floor)?)', name)
    if match is None or match['format'] not in FORMATS_BY_NAME:
        raise ValueError(f'{name}: no name of a table set')
    form = FORMATS_BY_NAME[match['format']]
    if match['k'] is None:
        return ExactSet(form)
    return LogSet(name, form, int(match['k']), floor=match['floor'] is not None)


def table_sets(*names):
    """The sets that a switch with `--tables names` has loaded, by format number."""
    return {table_set(name).format.number: table_set(name) for name in names}


# ---- one lane --------------------------------------------------------------------------------


def calc(tables, op, x, y):
    """One lane: the result slot and the exception flags of x (op) y."""
    form = tables.format
    real_x, real_y = form.decode(x), form.decode(y)
    exact = exact_result(op, real_x, real_y)
    if all(math.isfinite(real) and real != 0 for real in (real_x, real_y)):
        z = tables.result(op, x, y)
    else:
        z = form.encode(exact)
    return z, exception_flags(form, op, real_x, real_y, exact, form.decode(z))


def exact_result(op, x, y):
    """x (op) y on floats: exact where an operand is special, else right about being zero.

    Sums, products and quotients of 16-bit numbers are far from the limits of a double, so that
    only an exact zero comes out as zero. Python's floats follow IEEE 754 but for x/0.
    """
    if op == ADD:
        return x + y
    if op == SUB:
        return x - y
    if op == MUL:
        return x * y
    if y != 0:
        return x / y
    if math.isnan(x) or x == 0:
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1, y)


def exception_flags(form, op, x, y, exact, z):
    """The flags of a lane from the values of its operands, of the exact result and of z."""
    if op == DIV and y == 0 and math.isfinite(x) and x != 0:
        return DIVISION_BY_ZERO
    if math.isnan(z):
        return 0 if math.isnan(x) or math.isnan(y) else INVALID
    if math.isinf(z):
        return OVERFLOW if math.isfinite(x) and math.isfinite(y) else 0
    return UNDERFLOW if z == 0 and exact != 0 else 0


# ---- one frame -------------------------------------------------------------------------------

# ip, udp: offset of the header in the frame, None where there is none whose lengths fit.
# payload, end: where the UDP payload begins and ends.
Layout = namedtuple('Layout', 'ip ip_version udp payload end', defaults=(None,) * 5)


def switch(frame, sets, port=UDP_PORT, forward='pair', counters=None):
    """The frame that the switch sends for a frame that it receives.

    sets: what table_sets returned. counters: a collections.Counter that is raised as the
    statistics are: 'netfc_packets', 'lanes', and requests by 'errors.' with a name of ERRORS and
    by 'exceptions.' with a name of EXCEPTIONS.
    """
    layout = parse(frame)
    out = bytearray(frame)
    if layout.udp is not None and u16(frame, layout.udp + 2) == port:
        counted = compute(out, layout, sets)
        if counters is not None:
            counters.update(counted)
    if forward == 'reflect':
        reflect(out, layout)
    return bytes(out)


def parse(frame):
    """Where the headers of a frame lie, as far as they are whole and their lengths fit."""
    if len(frame) < 14:
        return Layout()
    at, tags = 14, 0
    ethertype = u16(frame, 12)
    while ethertype in (0x8100, 0x88A8) and tags < 2 and len(frame) >= at + 4:
        ethertype = u16(frame, at + 2)
        at, tags = at + 4, tags + 1
    if ethertype == 0x0800:
        return parse_ipv4(frame, at)
    if ethertype == 0x86DD:
        return parse_ipv6(frame, at)
    return Layout()


def parse_ipv4(frame, at):
    room = len(frame) - at
    if room < 20 or frame[at] >> 4 != 4:
        return Layout()
    header, total = (frame[at] & 15) * 4, u16(frame, at + 2)
    if header < 20 or not header <= total <= room:
        return Layout()
    fragment = u16(frame, at + 6) & 0x3FFF
    if fragment or frame[at + 9] != 17:
        return Layout(at, 4)
    return parse_udp(frame, Layout(at, 4), at + header, total - header)


def parse_ipv6(frame, at):
    room = len(frame) - at
    if room < 40 or frame[at] >> 4 != 6:
        return Layout()
    length = u16(frame, at + 4)
    if length > room - 40:
        return Layout()
    if frame[at + 6] != 17:
        return Layout(at, 6)
    return parse_udp(frame, Layout(at, 6), at + 40, length)


def parse_udp(frame, layout, at, room):
    """The layout of a datagram at `at`, `room` being what the IP header leaves for it."""
    if room < 8 or not 8 <= u16(frame, at + 4) <= room:
        return layout
    return layout._replace(udp=at, payload=at + 8, end=at + u16(frame, at + 4))


def compute(out, layout, sets):
    """Answers the NetFC request in a frame, if it is one, in place. Returns what to count."""
    start, length = layout.payload, layout.end - layout.payload
    if length < 6 or u16(out, start) != MAGIC or out[start + 5] & REPLY_BIT:
        return {}
    error = request_error(out, start, length, sets)
    before = bytes(out[start:layout.end])
    counted = {'netfc_packets': 1}
    flags = 0
    if error == 0:
        lanes = u16(out, start + 6)
        flags = compute_lanes(out, start, lanes, sets[out[start + 4]])
        counted['lanes'] = lanes
        counted.update({f'exceptions.{name}': flags >> bit & 1
                        for bit, name in enumerate(EXCEPTIONS)})
    else:
        counted['errors.' + ERRORS[error]] = 1
    out[start + 5] = REPLY_BIT | error << 4 | flags
    update_checksum(out, layout, before)
    return counted


def request_error(out, start, length, sets):
    """The error code of a request, 0 for none."""
    _, version, op, form, _ = struct.unpack_from('>HBBBB', out, start)
    if version != VERSION:
        return ERRORS.index('version')
    if op not in OPERATIONS and op != QUERY:
        return ERRORS.index('op')
    if form not in sets or (op == QUERY and form != 1):
        return ERRORS.index('format')
    if length < HEADER_BYTES or u16(out, start + 6) == 0:
        return ERRORS.index('length')
    if length < HEADER_BYTES + 6 * u16(out, start + 6):
        return ERRORS.index('length')
    return ERRORS.index('query') if op == QUERY else 0


def compute_lanes(out, start, lanes, tables):
    """Writes z of every lane; returns the OR of their flags."""
    op = out[start + 3]
    slots = struct.Struct(f'>{lanes}H')
    x, y, z = (start + HEADER_BYTES + 2 * lanes * part for part in range(3))
    results = [calc(tables, op, *pair)
               for pair in zip(slots.unpack_from(out, x), slots.unpack_from(out, y))]
    slots.pack_into(out, z, *(result for result, _ in results))
    return functools.reduce(int.__or__, (flags for _, flags in results))


def update_checksum(out, layout, before):
    """Brings the UDP checksum up to date with a changed payload, as RFC 1624 has it."""
    at = layout.udp + 6
    checksum = u16(out, at)
    if checksum == 0 and layout.ip_version == 4:
        return
    total = ~checksum & 0xFFFF
    total += word_sum(out[layout.payload:layout.end]) - word_sum(before)
    # Python's % is never negative; 0 and 0xFFFF are the same number, sent as 0xFFFF.
    struct.pack_into('>H', out, at, (-total) % 0xFFFF or 0xFFFF)


def word_sum(data):
    """The plain sum of the 16-bit words of data, an odd last byte padded with zero."""
    data = bytes(data) + b'\0' * (len(data) % 2)
    return sum(struct.unpack(f'>{len(data) // 2}H', data))


def reflect(out, layout):
    """Sends a frame back: MAC addresses, IP addresses and UDP ports change places."""
    if len(out) >= 12:
        swap(out, 0, 6)
    if layout.ip_version == 4:
        swap(out, layout.ip + 12, 4)
    elif layout.ip_version == 6:
        swap(out, layout.ip + 8, 16)
    if layout.udp is not None:
        swap(out, layout.udp, 2)


def swap(out, at, size):
    """Swaps two neighbouring fields of `size` bytes, the first at `at`."""
    out[at:at + 2 * size] = out[at + size:at + 2 * size] + out[at:at + size]


def u16(data, at):
    return data[at] << 8 | data[at + 1]
