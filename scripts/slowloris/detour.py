# SPDX-License-Identifier: BSD-3-Clause
"""Queries answered through a controller, as without division in the data path (Sonata).

The controller is a process beside the switch with a UDP port of its own. It reads a destination's
two registers over telemetry, divides them on the CPU, and writes the quotient into the reply.
"""

import contextlib
import ipaddress
import socket
import struct

from background import Background
from netfc import protocol
from netfc.telemetry import Telemetry

PORT = protocol.UDP_PORT + 1
LONGEST = 2048
SLOTS = struct.Struct(">HHH")  # x, y: the address; z


class Controller(Background):
    """Answers queries on a host. A context manager."""

    def __init__(self, host, telemetry):
        super().__init__()
        self._telemetry = telemetry
        self._socket = host.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((host.ipv4, PORT))
        self._socket.settimeout(0.2)

    def run(self, _):
        with self._socket, Telemetry(self._telemetry) as telemetry:
            while not self.stop.is_set():
                with contextlib.suppress(TimeoutError):
                    query, inquirer = self._socket.recvfrom(LONGEST)
                    self._socket.sendto(answer(query, telemetry), inquirer)


def answer(query, telemetry):
    """The reply to a query: the registers, read and divided."""
    reply = bytearray(query)
    at = protocol.HEADER.size
    high, low, _ = SLOTS.unpack_from(reply, at)
    registers = telemetry.ask(f"/netfc/slowloris,{ipaddress.IPv4Address(high << 16 | low)}")
    connections, count = registers["connections"], registers["bytes"]
    ratio = connections / count if count else 0.0
    reply[protocol.STATUS_OFFSET] = protocol.REPLY
    reply[at + 4:at + 6] = struct.pack(">e", ratio)
    protocol.QUERY_COUNTERS.pack_into(reply, at + SLOTS.size, connections, count)
    return bytes(reply)
