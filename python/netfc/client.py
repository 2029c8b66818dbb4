# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic on numpy arrays, computed by a NetFC switch.

    with Client("10.0.0.2") as client:
        client.add([1.5, 2.5], 2.25)  # array([3.75, 4.75])

Needs numpy and a UDP socket; no libnetfc. scripts/netfc-client is the command line.
"""

import ipaddress
from typing import NamedTuple

import numpy

import netfc
import number_formats
import protocol
from netfc_channel import Channel, ClientError

MTU = 1500  # bytes
MAX_PACKET = 65535
_QUERY_FORMAT = number_formats.FORMATS["fp16"]


class StatusError(ClientError):
    """The switch refused a request; `code` is a protocol.Code or an int unknown to it."""

    def __init__(self, code, advice):
        name = protocol.CODE_NAMES.get(code, "unknown")
        meaning = protocol.CODE_MEANINGS.get(code, f"code {code}")
        super().__init__(f"the switch answered error '{name}': {meaning}. {advice}")
        self.code = code
        self.name = name


class QueryResult(NamedTuple):
    """What a switch has counted for a destination."""

    ratio: float  # connections per byte, as fp16 has it
    connections: int
    bytes: int


class Client:
    """Computes in a NetFC switch, which answers in passing or under an address of its own.

    address: name or address of the switch, or of a host behind it, IPv4 or IPv6
    port: UDP port, 1 to 65535
    number_format: what numbers are encoded as: fp16, posit16, bf16 or posit16_es2
    mtu: bytes of the longest packet, IP header included
    lanes: operations in a datagram at the most, at least 1; None: as many as the MTU has room for
    options: timeout, retries and window, see netfc_channel.Channel

    Raises ValueError and TypeError for arguments that make no sense, ClientError where the
    network or the switch fails: NoReplyError, StatusError.
    """

    def __init__(self, address, port=protocol.UDP_PORT, number_format="fp16", mtu=MTU, lanes=None,
                 **options):
        if number_format not in number_formats.FORMATS:
            names = ", ".join(number_formats.FORMATS)
            raise ValueError(f"no number format '{number_format}': there are {names}")
        self.format = number_formats.FORMATS[number_format]
        self.flags = protocol.Flag(0)  # exception flags of the last computation
        self._channel = Channel(address, port, **options)
        try:
            self.lanes = self._lanes_per_datagram(mtu, lanes)
        except ValueError:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Close the socket."""
        self._channel.close()

    @property
    def counters(self):
        """Datagrams sent, sent again, received and ignored."""
        return self._channel.counters

    def add(self, x, y):
        """x + y, see compute()."""
        return self.compute("add", x, y)

    def sub(self, x, y):
        """x - y, see compute()."""
        return self.compute("sub", x, y)

    def mul(self, x, y):
        """x * y, see compute()."""
        return self.compute("mul", x, y)

    def div(self, x, y):
        """x / y, see compute()."""
        return self.compute("div", x, y)

    def compute(self, op, x, y):
        """x (op) y lane by lane; op is add, sub, mul or div.

        x and y are numbers, rounded into the number format (what is too large for an IEEE format
        becomes infinite), and the result is an array of float64; or both are encodings, arrays
        of dtype uint16, and so is the result. Shapes are broadcast as numpy does it.
        The exception flags of all lanes together are in `flags` afterwards.
        """
        if op not in netfc.OPS:
            raise ValueError(f"no operation '{op}': there are {', '.join(netfc.OPS)}")
        x, y = _as_lanes("x", x), _as_lanes("y", y)
        if (x.dtype == numpy.uint16) != (y.dtype == numpy.uint16):
            raise TypeError(
                f"x is {x.dtype} and y is {y.dtype}: give numbers for both, or encodings (uint16)"
            )
        x, y = _broadcast(x, y)
        if x.dtype == numpy.uint16:
            return self._compute_bits(op, x, y)
        z = self._compute_bits(op, self.format.encode(x), self.format.encode(y))
        return self.format.decode(z)

    def query(self, address):
        """What a switch that detects Slowloris has counted for an IPv4 destination."""
        halves = numpy.frombuffer(ipaddress.IPv4Address(address).packed, ">u2")
        request = protocol.request(
            protocol.QUERY, _QUERY_FORMAT.id, halves[:1], halves[1:], self._channel.new_id()
        ) + bytes(protocol.QUERY_COUNTERS.size)
        ((_, reply),) = self._channel.exchange([request])
        self._check_status(reply, 1, _QUERY_FORMAT)
        counters = protocol.QUERY_COUNTERS.unpack(reply[-protocol.QUERY_COUNTERS.size :])
        return QueryResult(float(_QUERY_FORMAT.decode(protocol.results(reply)[0])), *counters)

    def _lanes_per_datagram(self, mtu, lanes):
        room = min(mtu, MAX_PACKET) - self._channel.header_bytes - protocol.HEADER.size
        if room < protocol.LANE_BYTES:
            least = mtu - room + protocol.LANE_BYTES
            raise ValueError(f"an MTU of {mtu} bytes has no room for a lane: {least} is the least")
        if lanes is None:
            return room // protocol.LANE_BYTES
        if not 1 <= lanes <= room // protocol.LANE_BYTES:
            raise ValueError(
                f"{lanes} lanes in a datagram: an MTU of {mtu} bytes has room for"
                f" 1 to {room // protocol.LANE_BYTES}"
            )
        return lanes

    def _compute_bits(self, op, x, y):
        """Arrays of encodings to an array of encodings, through the switch."""
        shape, x, y = x.shape, x.ravel(), y.ravel()
        parts = [slice(at, at + self.lanes) for at in range(0, len(x), self.lanes)]
        requests = [
            protocol.request(
                netfc.OPS[op], self.format.id, x[part], y[part], self._channel.new_id()
            )
            for part in parts
        ]
        z = numpy.empty(len(x), dtype=numpy.uint16)
        self.flags = protocol.Flag(0)
        for index, reply in self._channel.exchange(requests):
            part = parts[index]
            self.flags |= self._check_status(reply, len(x[part]), self.format)
            z[part] = protocol.results(reply)
        return z.reshape(shape)[()]

    @staticmethod
    def _check_status(reply, lanes, number_format):
        """The exception flags of a reply; raises StatusError where it has a code."""
        _, code, flags = protocol.split_status(reply[protocol.STATUS_OFFSET])
        if code != protocol.Code.OK:
            raise StatusError(code, _advice(code, lanes, number_format))
        return flags


def _advice(code, lanes, number_format):
    """What to do about a code."""
    return {
        protocol.Code.VERSION: "Use a client and a switch of the same release.",
        protocol.Code.OP: "Use a switch of this client's release.",
        protocol.Code.FORMAT: f"Start the switch with a table set for {number_format.name}:"
        " see dpdk-netfc's --tables, and netfc-tables list.",
        protocol.Code.LENGTH: "Something on the way cut the datagram: use a smaller MTU.",
        protocol.Code.QUERY: "Start the switch with the detection of Slowloris.",
        protocol.Code.LANES: f"Use datagrams of fewer lanes than {lanes}.",
    }.get(code, "Use a client of the switch's release.")


def _as_lanes(name, values):
    """An array of numbers or of encodings."""
    array = numpy.asarray(values)
    if array.dtype == numpy.uint16:
        return array
    if array.dtype.kind not in "iuf" and array.size > 0:
        raise TypeError(f"{name} is {array.dtype}, not an array of real numbers")
    return array.astype(numpy.float64)


def _broadcast(x, y):
    try:
        return numpy.broadcast_arrays(x, y)
    except ValueError as error:
        raise ValueError(f"x and y differ in shape: {x.shape} and {y.shape}") from error
