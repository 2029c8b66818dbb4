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
from netfc.functions import has_function, slots_of

MTU = 1500  # bytes
MAX_PACKET = 65535
_QUERY_FORMAT = Format("fp16")

# How often a function is computed anew since its number has changed meanwhile.
_NUMBERS = 4


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
    number_format: what numbers are encoded as: fp16, posit16, bf16, posit16_es2, fp32, fp8_e4m3 or
        fp8_e5m2
    mtu: bytes of the longest packet, IP header included
    lanes: operations in a datagram at most, at least 1; None: as many as fit the MTU
    timeout: seconds until a datagram counts as lost, more than 0, up to an hour
    retries: how often a lost datagram is sent again, 0 or more
    window: how many datagrams may be under way, at least 1

    Threads that share a client wait for each other; a forked process has a socket of its own.
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
        self._numbers: dict[str, int] = {}  # of users' own functions, as the switch has said
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

    def compute(
        self, op: str, x: ArrayLike, y: ArrayLike, z: ArrayLike | None = None
    ) -> NDArray[Any]:
        """x (op) y lane by lane; op is add, sub, mul, div, min, max, compare (-1, 0 or 1) or fma:
        x * y + z, rounded once, which alone takes z.

        x, y and z are numbers, rounded into the number format (what is too large for an IEEE format
        becomes infinite), and the result is an array of float64; or all are encodings, arrays
        of dtype uint16, and so is the result. Shapes are broadcast as numpy does it. With
        fp32, numbers give float32, encodings are uint32, and op is add, sub, mul or div. Encodings
        of fp8_e4m3 and fp8_e5m2 are uint8.
        The exception flags of all lanes together are in `flags` afterwards.
        Raises ValueError for another operation or shapes that do not fit, TypeError for what is
        no real number, for numbers with encodings, and for a z that is missing or too much,
        ClientError where nothing was computed.
        """
        number = protocol.op_number(op)
        if (z is not None) != (op == "fma"):
            raise TypeError("fma takes x, y and z" if op == "fma" else f"{op} takes x and y, no z")
        if op not in protocol.OPS and not self.format.has_functions:
            raise self._missing(op)
        operands = (x, y) if z is None else (x, y, z)
        return arrays.compute(
            self.format, lambda *lanes: self._compute_bits(number, *lanes), *operands
        )

    def fma(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> NDArray[Any]:
        """x * y + z, rounded once, see compute()."""
        return self.compute("fma", x, y, z)

    def function(self, name: str, x: ArrayLike) -> NDArray[Any]:
        """f(x), element by element, f being a function that the switch has loaded.

        name: one of netfc.known_functions(), such as rsqrt, or a function of a user's own
        x: numbers or encodings, and the result, as of compute(); numbers of from_q8 and the like
            are rounded into fixed point, those of to_q8 come from it
        Raises ValueError for what cannot be a name or does not fit a fixed-point argument, and
        otherwise as compute().
        """
        if not has_function(name, self.format):
            raise self._missing(name)
        if name in protocol.FUNCTIONS:
            return self._function_values(protocol.FUNCTIONS[name], name, x)
        number = self._numbers.pop(name, None) or self._ask_number(name)
        # Another function may have had that number meanwhile: the switch may have been restarted,
        # or have loaded others. So it is asked again when all is computed.
        for _ in range(_NUMBERS):
            values = self._function_values(number, name, x)
            before, number = number, self._ask_number(name)
            if number == before:
                self._numbers[name] = number
                return values
        raise ClientError(
            f"the number of function {name!r} changes all the time: switches that have one address"
            " load the same functions in the same order"
        )

    def _function_values(self, number: int, name: str, x: ArrayLike) -> NDArray[Any]:
        argument, result = slots_of(name, self.format)
        return arrays.compute(
            argument,
            lambda x: self._compute_bits(number, x, name=name).astype(result.encodings),
            x,
            result=result,
        )

    def _ask_number(self, name: str) -> int:
        """The number that a function has now. Raises StatusError if there is none."""
        with self._channel.alone():
            request = protocol.name_request(name, self.format.id, self._channel.new_id())
            ((_, reply),) = self._channel.exchange([request])
        self._check_status(reply, protocol.NAME_LANES, self.format, name)
        return int(protocol.results(reply)[0])

    def query(self, address: str) -> QueryResult:
        """What a switch that detects Slowloris has counted for an IPv4 destination.

        Raises ValueError for what is no IPv4 address, ClientError where there is no answer.
        """
        halves = numpy.frombuffer(ipaddress.IPv4Address(address).packed, ">u2")
        space = bytes(protocol.QUERY_COUNTERS.size)
        with self._channel.alone():
            request = protocol.request(
                protocol.QUERY, _QUERY_FORMAT.id, halves[:1], halves[1:], self._channel.new_id()
            )
            ((_, reply),) = self._channel.exchange([request + space])
        self._check_status(reply, 1, _QUERY_FORMAT)
        at = len(reply) - protocol.QUERY_COUNTERS.size
        counters = protocol.QUERY_COUNTERS.unpack_from(reply, at)
        return QueryResult(float(_QUERY_FORMAT.decode(protocol.results(reply)[0])), *counters)

    def _lanes_per_datagram(self, mtu: int, lanes: int | None) -> int:
        space = min(mtu, MAX_PACKET) - self._channel.header_bytes - protocol.HEADER.size
        most = protocol.lanes_in(space, self.format.id)
        if most < 1:
            least = mtu - space + 3 * protocol.operand_bytes(self.format.id, 1)
            raise ValueError(f"an MTU of {mtu} bytes is too small for a lane: {least} is the least")
        self._space = space
        if lanes is None:
            return most
        if not 1 <= lanes <= most:
            raise ValueError(f"{lanes} lanes in a datagram: 1 to {most} fit an MTU of {mtu} bytes")
        return lanes

    def _compute_bits(
        self,
        op: int,
        x: Encodings,
        y: Encodings | None = None,
        z: Encodings | None = None,
        name: str = "",
    ) -> Encodings:
        """Arrays of encodings to an array of encodings, through the switch; name: a function's."""
        shape, x = x.shape, x.ravel()
        others = [slots if slots is None else slots.ravel() for slots in (y, z)]
        # Conversions may have wider slots.
        lanes = max(1, min(self.lanes, protocol.lanes_in(self._space, self.format.id, op)))
        parts = [slice(at, at + lanes) for at in range(0, len(x), lanes)]
        slot = protocol.slot_bytes(self.format.id, op)
        result = numpy.empty(len(x), dtype=f"u{slot}")
        with self._channel.alone():
            requests = [
                protocol.request(
                    op,
                    self.format.id,
                    x[part],
                    _part(others[0], part),
                    self._channel.new_id(),
                    _part(others[1], part),
                )
                for part in parts
            ]
            self.flags = protocol.Flag(0)
            for index, reply in self._channel.exchange(requests):
                part = parts[index]
                self.flags |= self._check_status(reply, len(x[part]), self.format, name)
                result[part] = protocol.results(reply)
        return result.reshape(shape)

    def _missing(self, op: str) -> ValueError:
        known = ", ".join(protocol.OPS)
        return ValueError(
            f"{op} is not computed in {self.format.name}: there are {known}, and conversions"
        )

    @staticmethod
    def _check_status(reply: bytes, lanes: int, form: Format, name: str = "") -> protocol.Flag:
        """The exception flags of a reply; raises StatusError where it has a code."""
        _, code, flags = protocol.split_status(reply[protocol.STATUS_OFFSET])
        if code != protocol.Code.OK:
            raise StatusError(code, _advice(code, lanes, form, name))
        return flags


def _part(slots: Encodings | None, part: slice) -> Encodings | None:
    return None if slots is None else slots[part]


def _advice(code: int, lanes: int, form: Format, name: str) -> str:
    """What to do about a code; name: of a function that was asked for."""
    if name and code in (protocol.Code.OP, protocol.Code.FORMAT):
        return (
            f"Load the function '{name}' for {form.name}:"
            " see dpdk-netfc's --functions, and netfc-ctl add-functions."
        )
    advice: dict[int, str] = {
        protocol.Code.VERSION: "Use a client and a switch of the same release.",
        protocol.Code.OP: "Use a switch of this client's release.",
        protocol.Code.FORMAT: f"Start the switch with a table set for {form.name}:"
        " see dpdk-netfc's --tables, and netfc-tables list.",
        protocol.Code.LENGTH: "Something on the way cut the datagram: use a smaller MTU.",
        protocol.Code.QUERY: "Start the switch with the detection of Slowloris.",
        protocol.Code.LANES: f"Use datagrams of fewer lanes than {lanes}.",
    }
    return advice.get(code, "Use a client of the switch's release.")
