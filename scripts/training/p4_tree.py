# SPDX-License-Identifier: BSD-3-Clause
"""A tree in network namespaces: dpdk-netfc, and BMv2s as its leaves, with hosts below them."""

import json
import shlex
import subprocess

import namespaces
from netfc import allreduce
from programs import killed
from switch_tree import SwitchTree
from switched import FRAMES
from training.p4_switch import JOB, LANES, P4, SLOTS, SWITCH_MAC, ProgramNetwork, mac_of

LEAVES = 2
UPLINKS = 50  # number of the first host that a p4/leaf runs on


class Leaf(ProgramNetwork):
    """Hosts at a BMv2, and one more, where p4/leaf joins the root for it."""

    def __init__(self, count, above, index):
        super().__init__(count, "tree", address=f"10.1.0.{101 + index}", first=index * count)
        self._above, self._index = above, index
        self._uplink = namespaces.Host(UPLINKS + index)
        self._token = above.token

    def _connect(self, middle):
        super()._connect(middle)
        self._stack.enter_context(self._uplink)
        namespaces.join(middle, len(self.hosts), self._uplink)
        self._uplink.configure()
        namespaces.join(self._above.middle, self._index, middle)
        middle.ip("link", "set", "eth0", "up")

    def _interfaces(self):
        return [*super()._interfaces(), f"p{len(self.hosts)}", "eth0"]

    def described(self):
        """With the way up."""
        number = len(self.hosts)
        given = super().described()
        given["jobs"][0]["tree"] = {"workers": LEAVES * number, "path": [[LEAVES, self._index]]}
        return {**given, "mac": SWITCH_MAC,
                "parent": {"address": self._above.address, "port": number + 1,
                           "mac": mac_of(self._above.middle, f"p{self._index}")},
                "uplink": {"address": self._uplink.ipv4, "port": number,
                           "mac": mac_of(self._uplink)}}

    def go_up(self, others):
        """Starts p4/leaf. others: hosts at other leaves, whom the program reaches through the root."""
        self.load("".join(f"table_add IngressPipe.forward to_port 0x{mac_of(host).replace(':', '')} "
                          f"=> {len(self.hosts) + 1}\n" for host in others))
        parent = self.described()["parent"]
        self._uplink.ip("neigh", "replace", parent["address"], "lladdr", parent["mac"], "dev",
                        "eth0")
        jobs = self.folder / "jobs.json"
        jobs.write_text(json.dumps(self.described()), encoding="utf-8")
        log = self._stack.enter_context((self.folder / "leaf").open("w"))
        self._stack.enter_context(killed(self._uplink.start(
            P4 / "leaf", "--target", "bmv2", "--lanes", LANES, "--slots", SLOTS, "--load",
            shlex.join(map(str, self.loader())), jobs, stdout=log, stderr=subprocess.STDOUT)))


class ProgramTree(SwitchTree):
    """The root, and its leaves. A context manager; raises CommandError."""

    def __init__(self, build, count):
        self.token = allreduce.draw_token()
        self.environment = {"NETFC_JOB": str(JOB), "NETFC_TOKEN": f"{self.token:#x}"}
        super().__init__(build / "app" / "dpdk-netfc", (LEAVES, count // LEAVES), f"slots={SLOTS}",
                         FRAMES, "fp16")

    def _connect(self, middle):
        self.members = [self._stack.enter_context(Leaf(self.fans[1], self, index))
                        for index in range(LEAVES)]

    def _start_switch(self, middle):
        super()._start_switch(middle)
        hosts = [host for leaf in self.leaves for host in leaf.hosts.values()]
        for leaf in self.leaves:
            leaf.introduce(hosts)
            leaf.go_up([host for host in hosts if host not in leaf.hosts.values()])
