# SPDX-License-Identifier: BSD-3-Clause
"""How long a query takes: answered by the data path, and through a controller.

Both over the same link of the same inquirer, in turns, in one run.
"""

import socket
import statistics
import struct
import time

from command import CommandLine, write_json
from netfc import protocol
from slowloris import detour
from switched import SWITCH_ADDRESS, Network

HOSTS = ("server", "inquirer", "controller")
CONNECTIONS = 50
WARM_UP = 20
PAPER = {"data path": 0.046, "detour": 43.156}  # ms


def query(address, identity):
    """A query for an address, with space for the counters."""
    high, low = struct.unpack(">HH", socket.inet_aton(address))
    return protocol.request(protocol.QUERY, protocol.FORMAT_IDS["fp16"], [high], [low], identity) \
        + bytes(protocol.QUERY_COUNTERS.size)


def ask(inquirer, target, address, identity):
    """Asks once. Returns microseconds, connections per byte, connections and bytes."""
    request = query(address, identity)
    begun = time.perf_counter_ns()
    inquirer.sendto(request, target)
    reply = inquirer.recv(detour.LONGEST)
    taken = (time.perf_counter_ns() - begun) / 1000
    assert reply[protocol.STATUS_OFFSET] == protocol.REPLY and reply[8:12] == request[8:12]
    return taken, *struct.unpack_from(">eIQ", reply, protocol.HEADER.size + 4)


def open_connections(network):
    """Connections to the server that say a little, so that there is something to ask about."""
    server, client = network.hosts["server"], network.hosts["inquirer"]
    listener = server.socket()
    listener.bind((server.ipv4, 80))
    listener.listen(CONNECTIONS)
    made = [listener]
    for _ in range(CONNECTIONS):
        connection = client.socket()
        connection.connect((server.ipv4, 80))
        connection.send(bytes(200))
        made.append(connection)
    return made


def percentiles(times):
    """p50 and p99."""
    cuts = statistics.quantiles(times, n=100)
    return {"p50_us": cuts[49], "p99_us": cuts[98]}


def measure(program, count):
    """Asks `count` times each way, in turns."""
    with Network(program, HOSTS, ["--slowloris"]) as network:
        server = network.hosts["server"].ipv4
        inquirer = network.hosts["inquirer"].socket(socket.AF_INET, socket.SOCK_DGRAM)
        inquirer.settimeout(5)
        targets = {"data path": (SWITCH_ADDRESS, protocol.UDP_PORT),
                   "detour": (network.hosts["controller"].ipv4, detour.PORT)}
        times = {way: [] for way in targets}
        answers = {}
        with detour.Controller(network.hosts["controller"], network.telemetry):
            kept = open_connections(network)
            time.sleep(0.5)
            for number in range(WARM_UP + count):
                for way, target in targets.items():
                    taken, *answers[way] = ask(inquirer, target, server, number)
                    if number >= WARM_UP:
                        times[way].append(taken)
            for one in kept:
                one.close()
        network.stop()
    return {"queries": count, "answers": answers,
            **{way: percentiles(some) for way, some in times.items()}}


def main():
    """The command line."""
    parser = CommandLine("bench slowloris-latency", __doc__)
    parser.add_argument("--queries", type=int, default=2000, help="each way (default 2000)")
    options = parser.parse_args()
    with parser.in_namespaces():
        figures = measure(options.build / "app" / "dpdk-netfc", options.queries)
    print(f"{options.queries} queries each way         p50           p99      paper")
    for way in PAPER:
        print(f"{way:12s} {figures[way]['p50_us']:20.1f} us {figures[way]['p99_us']:10.1f} us "
              f"{PAPER[way] * 1000:9.0f} us")
    print(f"{'ratio':12s} {figures['detour']['p50_us'] / figures['data path']['p50_us']:20.1f}    "
          f"{figures['detour']['p99_us'] / figures['data path']['p99_us']:10.1f}    "
          f"{PAPER['detour'] / PAPER['data path']:9.0f}")
    for way, (ratio, connections, count) in figures["answers"].items():
        print(f"{way:12s} {connections} connections, {count} bytes: {ratio:.6g} per byte")
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
