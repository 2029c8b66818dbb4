#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A scapy session with a switch: requests, their replies, a mistake, and a capture file.

    ./session.py 10.0.0.2

Needs netfc (python3-netfc), python3-scapy and a switch that answers at an address. The script uses a
plain socket, which needs no root; as root, sr1(IP(dst=...) / UDP() / request(...)) also works.
"""

import argparse
import socket
import sys

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.supersocket import StreamSocket
from scapy.utils import rdpcap, wrpcap

from netfc.scapy import NetFC, numbers, request

WAIT_S = 2


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(description="Talk to a switch with scapy.")
    parser.add_argument("address", help="the switch's")
    parser.add_argument("--port", type=int, default=20038)
    parser.add_argument(
        "--write",
        metavar="FILE",
        default="requests.pcap",
        help="a capture file of the requests (default %(default)s)",
    )
    asked = parser.parse_args()

    plain = socket.socket(type=socket.SOCK_DGRAM)
    plain.connect((asked.address, asked.port))
    switch = StreamSocket(plain, NetFC)

    # Two additions in one datagram. The layer encodes numbers and counts lanes.
    question = request("add", "fp16", [1.5, 3], [2.25, 0.5], id=1)
    reply = switch.sr1(question, timeout=WAIT_S, verbose=False)
    if reply is None:
        print(f"session.py: no reply from {asked.address}", file=sys.stderr)
        return 1
    reply.show()
    print("results:", numbers(reply, "z"))

    # Any field can be set, wrong values included, and the reply says what was wrong.
    wrong = NetFC(format=99, x=[0x3E00], y=[0x4080], id=2)
    reply = switch.sr1(wrong, timeout=WAIT_S, verbose=False)
    if reply is not None:
        print("a format that does not exist:", reply.sprintf("error %code%"))

    # Frames in a file, for dpdk-netfc --vdev=net_pcap0,rx_pcap=FILE or Wireshark.
    frames = [Ether() / IP(dst=asked.address) / UDP(dport=asked.port) / question]
    wrpcap(asked.write, frames)
    print(f"{asked.write}: {rdpcap(asked.write)[0].summary()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
