# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic on numpy arrays, computed by a NetFC switch.

    with Client("10.0.0.2") as client:
        client.add([1.5, 2.5], 2.25)  # array([3.75, 4.75])

Needs numpy and a UDP socket; no libnetfc. netfc-client is the command line.
"""

import ipaddress
from types import TracebackType
from typing import Any, NamedTuple

import numpy
from numpy.typing import ArrayLike, NDArray

from netfc import protocol
from netfc._native import arrays
from netfc._native.arithmetic import Arithmetic
from netfc._native.arrays import Encodings
from netfc.channel import RETRIES, TIMEOUT, WINDOW, Channel, Counters
from netfc.errors import ClientError
from netfc.formats import Format

MTU = 1500  # bytes
MAX_PACKET = 65535
_QUERY_FORMAT = Format("fp16")


class StatusError(ClientError):
    """The switch refused a request; `code` is a protocol.Code or an int unknown to it."""

    def __init__(self, code: int, advice: str):
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


class Client(Arithmetic):
    """Computes in a NetFC switch, which answers in passing or under an address of its own.

    address: name or address of the switch, or of a host behind it, IPv4 or IPv6
    port: UDP port, 1 to 65535
    number_format: what numbers are encoded as: fp16, posit16, bf16 or posit16_es2
    mtu: bytes of the longest packet, IP header included
    lanes: operations in a datagram at the most, at least 1; None: as many as fit the MTU
    timeout: seconds until a datagram counts as lost, more than 0, up to an hour
    retries: how often a lost datagram is sent again, 0 or more
    window: how many datagrams may be under way, at least 1

    Raises ValueError and TypeError for arguments that make no sense, ClientError where the
    network or the switch fails: NoReplyError, StatusError.
    """

    def __init__(
        self,
        address: str,
        port: int = protocol.UDP_PORT,
        number_format: str = "fp16",
        mtu: int = MTU,
        lanes: int | None = None,
        *,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        window: int = WINDOW,
    ):
        self.format = Format(number_format)
        self.flags = protocol.Flag(0)  # exception flags of the last computation
        self._channel = Channel(address, port, timeout, retries, window)
        try:
            self.lanes = self._lanes_per_datagram(mtu, lanes)
        except ValueError:
            self.close()
            raise

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the socket."""
        self._channel.close()

    @property
    def counters(self) -> Counters:
        """Datagrams sent, sent again, received and ignored."""
        return self._channel.counters

    def compute(self, op: str, x: ArrayLike, y: ArrayLike) -> NDArray[Any]:
        """x (op) y lane by lane; op is add, sub, mul or div.

        x and y are numbers, rounded into the number format (what is too large for an IEEE format
        becomes infinite), and the result is an array of float64; or both are encodings, arrays
        of dtype uint16, and so is the result. Shapes are broadcast as numpy does it.
        The exception flags of all lanes together are in `flags` afterwards.
        Raises ValueError for another operation or shapes that do not fit, TypeError for what is
        no real number or for numbers with encodings, ClientError where nothing was computed.
        """
        number = protocol.op_number(op)
        return arrays.compute(self.format, lambda x, y: self._compute_bits(number, x, y), x, y)

    def query(self, address: str) -> QueryResult:
        """What a switch that detects Slowloris has counted for an IPv4 destination.

        Raises ValueError for what is no IPv4 address, ClientError where there is no answer.
        """
        halves = numpy.frombuffer(ipaddress.IPv4Address(address).packed, ">u2")
        request = protocol.request(
            protocol.QUERY, _QUERY_FORMAT.id, halves[:1], halves[1:], self._channel.new_id()
        ) + bytes(protocol.QUERY_COUNTERS.size)
        ((_, reply),) = self._channel.exchange([request])
        self._check_status(reply, 1, _QUERY_FORMAT)
        at = len(reply) - protocol.QUERY_COUNTERS.size
        counters = protocol.QUERY_COUNTERS.unpack_from(reply, at)
        return QueryResult(float(_QUERY_FORMAT.decode(protocol.results(reply)[0])), *counters)

    def _lanes_per_datagram(self, mtu: int, lanes: int | None) -> int:
        space = min(mtu, MAX_PACKET) - self._channel.header_bytes - protocol.HEADER.size
        if space < protocol.LANE_BYTES:
            least = mtu - space + protocol.LANE_BYTES
            raise ValueError(f"an MTU of {mtu} bytes is too small for a lane: {least} is the least")
        if lanes is None:
            return space // protocol.LANE_BYTES
        if not 1 <= lanes <= space // protocol.LANE_BYTES:
            raise ValueError(
                f"{lanes} lanes in a datagram: 1 to {space // protocol.LANE_BYTES} fit"
                f" an MTU of {mtu} bytes"
            )
        return lanes

    def _compute_bits(self, op: int, x: Encodings, y: Encodings) -> Encodings:
        """Arrays of encodings to an array of encodings, through the switch."""
        shape, x, y = x.shape, x.ravel(), y.ravel()
        parts = [slice(at, at + self.lanes) for at in range(0, len(x), self.lanes)]
        requests = [
            protocol.request(op, self.format.id, x[part], y[part], self._channel.new_id())
            for part in parts
        ]
        z = numpy.empty(len(x), dtype=numpy.uint16)
        self.flags = protocol.Flag(0)
        for index, reply in self._channel.exchange(requests):
            part = parts[index]
            self.flags |= self._check_status(reply, len(x[part]), self.format)
            z[part] = protocol.results(reply)
        return z.reshape(shape)

    @staticmethod
    def _check_status(reply: bytes, lanes: int, number_format: Format) -> protocol.Flag:
        """The exception flags of a reply; raises StatusError where it has a code."""
        _, code, flags = protocol.split_status(reply[protocol.STATUS_OFFSET])
        if code != protocol.Code.OK:
            raise StatusError(code, _advice(code, lanes, number_format))
        return flags


def _advice(code: int, lanes: int, number_format: Format) -> str:
    """What to do about a code."""
    advice: dict[int, str] = {
        protocol.Code.VERSION: "Use a client and a switch of the same release.",
        protocol.Code.OP: "Use a switch of this client's release.",
        protocol.Code.FORMAT: f"Start the switch with a table set for {number_format.name}:"
        " see dpdk-netfc's --tables, and netfc-tables list.",
        protocol.Code.LENGTH: "Something on the way cut the datagram: use a smaller MTU.",
        protocol.Code.QUERY: "Start the switch with the detection of Slowloris.",
        protocol.Code.LANES: f"Use datagrams of fewer lanes than {lanes}.",
    }
    return advice.get(code, "Use a client of the switch's release.")
