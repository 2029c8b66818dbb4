# SPDX-License-Identifier: BSD-3-Clause
"""Hosts in network namespaces, and BMv2 between them, which runs the aggregating P4 program."""

import json
import pathlib
import shutil
import socket

from namespaces import command
from netfc import allreduce
from programs import wait_until
from switched import PATIENCE, Network

TOP = pathlib.Path(__file__).resolve().parents[2]
P4, ENTRIES = TOP / "p4", TOP / "python" / "bin" / "netfc-p4"
PROGRAM = P4 / "netfc_aggregate_v1model.p4"
TOOLS = ("p4c-bm2-ss", "simple_switch", "simple_switch_CLI")
# What the program sends to workers, and the option that it is compiled with for that.
KINDS = {"results": (), "sums": ("-DNETFC_SUMS",), "tree": ("-DNETFC_LEAF",)}
LANES, SLOTS, JOB = 16, 8, 1
SWITCH_MAC = "02:00:00:00:01:00"  # no other than the workers' packets to it have it
THRIFT_PORT = 9090  # of the switch's namespace
COMPILE_S, LOAD_S = 300, 60


def missing():
    """Which of the tools are not on the PATH."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def mac_of(host, interface="eth0"):
    """The address of a host's link."""
    return json.loads(host.ip("-j", "link", "show", "dev", interface))[0]["address"]


class ProgramNetwork(Network):
    """Hosts at a BMv2 that aggregates for a job of them all. A context manager.

    kind: of KINDS. where: as Network has it. Raises CommandError.
    """

    def __init__(self, count, kind, **where):
        super().__init__("simple_switch", range(count), [], **where)
        self._kind = kind
        self._token = allreduce.draw_token()
        self.environment = {"NETFC_JOB": str(JOB), "NETFC_TOKEN": f"{self._token:#x}"}

    def _start_switch(self, middle):
        middle.ip("link", "set", "lo", "up")  # for its Thrift server, which all could reach outside
        program = self.folder / "aggregate.json"
        command("p4c-bm2-ss", f"-DNETFC_LANES={LANES}", f"-DNETFC_SLOTS={SLOTS}",
                *KINDS[self._kind], "-o", program, PROGRAM, patience=COMPILE_S)
        ports = [word for n, interface in enumerate(self._interfaces())
                 for word in ("-i", f"{n}@{interface}")]
        # The default is one address for all, which namespaces do not part.
        notifications = f"ipc://{self.folder}/notifications.ipc"
        self._launch(middle, self._program, *ports, "--thrift-port", THRIFT_PORT,
                     "--notifications-addr", notifications, "--log-level", "off", program)
        self.introduce(self.hosts.values())
        wait_until(self._has_thrift, "simple_switch does not start", self.switch,
                   self.folder / "switch", PATIENCE)
        self.load(self._entries())

    def loader(self):
        """The command that takes entries."""
        return self.middle.inside(P4 / "load", "--thrift-port", THRIFT_PORT)

    def load(self, entries):
        """Has the program take entries."""
        command(*self.loader(), given=entries, patience=LOAD_S)

    def introduce(self, others):
        """The program answers no ARP: hosts are told of the switch, and of other hosts."""
        known = {self.address: SWITCH_MAC, **{host.ipv4: mac_of(host) for host in others}}
        for host in self.hosts.values():
            for address in known.keys() - {host.ipv4}:
                host.ip("neigh", "replace", address, "lladdr", known[address], "dev", "eth0")

    def _has_thrift(self):
        with self.middle.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
            return server.connect_ex(("127.0.0.1", THRIFT_PORT)) == 0

    def described(self):
        """The job, as p4/jobs reads it."""
        workers = [{"address": host.ipv4, "mac": mac_of(host), "port": port}
                   for port, host in enumerate(self.hosts.values())]
        return {"address": self.address,
                "jobs": [{"job": JOB, "token": f"{self._token:#x}", "workers": workers}]}

    def _entries(self):
        """The job's, then those with which the program begins to compute."""
        sent = "results" if self._kind == "results" else "sums"
        return command(P4 / "jobs", "--target", "bmv2", "--slots", SLOTS,
                       given=json.dumps(self.described())) + \
            command(ENTRIES, "--target", "bmv2", "--aggregate", sent, "--lanes", LANES)
