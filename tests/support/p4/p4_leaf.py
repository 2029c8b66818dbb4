# SPDX-License-Identifier: BSD-3-Clause
"""A leaf in P4, run as Python: workers at UDP sockets below it, a switch on the wire above it, and
p4/leaf beside it, which joins that switch."""

import dataclasses
import json
import random
import select
import shlex
import signal
import socket
import subprocess
import threading

import hosts
import p4_jobs
import p4_python
import switch
from netfc import aggregation
from p4_entries import run

SLOTS, UPLINK_PORT, WORKERS_PORT = 4, 8, 0
OWN_IP = '10.2.0.100'  # the parent has hosts.SWITCH_IP
PATIENCE_S = 60
HOLD = 8  # packets on a link that may be overtaken


@dataclasses.dataclass(frozen=True)
class Variant:
    """What a program is compiled for."""

    form: str
    lanes: int = 8

    @property
    def options(self):
        return ['-DNETFC_LEAF', f'-DNETFC_FORMAT={aggregation.FORMAT_IDS[self.form]}',
                f'-DNETFC_LANES={self.lanes}', f'-DNETFC_SLOTS={SLOTS}']

    def exported(self, target):
        return run('-t', target, '--aggregate', 'sums', '--format', self.form, '-n',
                   self.lanes).stdout


def described(team, place, host, parent_mac, parent=hosts.SWITCH_IP):
    """What p4/jobs and p4/leaf read."""
    given = json.loads(p4_jobs.described(team, address=OWN_IP))
    [job] = given['jobs']
    job['tree'] = {'workers': place.workers, 'path': list(map(list, place.path))}
    given |= {'mac': p4_jobs.SWITCH_MAC,
              'parent': {'address': parent, 'mac': parent_mac, 'port': UPLINK_PORT},
              'uplink': {'address': host.ipv4, 'mac': host.mac('eth0'), 'port': UPLINK_PORT + 1}}
    return json.dumps(given)


def filled(variant, text):
    """The program for BMv2 with all entries but those that p4/leaf has."""
    program = p4_python.Switch(p4_jobs.PROGRAM, *variant.options)
    for command in (p4_jobs.entries(text, slots=SLOTS) + variant.exported('bmv2')).splitlines():
        program.command(command)
    return program


class Link:
    """One direction of a link: loses packets, doubles them, lets others overtake them.

    doomed: how many are lost first, in any case.
    """

    def __init__(self, send, trouble, seed):
        self.send, self.trouble, self.random, self.held = send, trouble, random.Random(seed), []
        self.doomed = 0

    def carry(self, packet):
        if self.doomed > 0:
            self.doomed -= 1
            return
        for _ in range(1 + self.happens()):
            if self.happens():
                continue
            if self.happens() and len(self.held) < HOLD:
                self.held.append(packet)
            else:
                self.send(packet)
        while self.held and self.random.random() < 0.3:
            self.send(self.held.pop(0))

    def flush(self):
        """Nothing has come for a while."""
        while self.held:
            self.send(self.held.pop(0))

    def happens(self):
        return self.random.random() < self.trouble


class Leaf:
    """A context manager. load: how the program is told what p4/leaf says, of each line."""

    def __init__(self, folder, host, team, place, variant, parent_mac, trouble=0.0,
                 make=filled, load=None, target='bmv2', silent=20):
        self.text = described(team, place, host, parent_mac)
        self.program, self.team, self.host = make(variant, self.text), team, host
        self.load = load or (lambda program, text: [program.command(line) for line in
                                                    text.splitlines()])
        self.wire = hosts.Wire(host)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(('127.0.0.1', 0))
        self.loaded, self.read = folder / f'loaded-{host.name}', 0
        self.loaded.touch()
        self.stopped = threading.Event()
        links = [self.wire.send, self._to_worker, self._up, self._down]
        self.to_parent, self.to_worker, self.from_worker, self.from_parent = (
            Link(send, trouble, seed) for seed, send in enumerate(links))
        self.errors, self.sent_up = [], 0
        jobs = folder / f'jobs-{host.name}.json'
        jobs.write_text(self.text)
        self.process = subprocess.Popen(
            ['ip', 'netns', 'exec', host.name, p4_jobs.P4 / 'leaf', '--target', target,
             '--load', shlex.join(['tee', '-a', str(self.loaded)]), '--format', variant.form,
             '--lanes', str(variant.lanes), '--slots', str(SLOTS), '--silent', str(silent), jobs],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=switch.ENVIRONMENT)
        self.thread = threading.Thread(target=self._serve)

    @property
    def address(self):
        return f'127.0.0.1:{self.socket.getsockname()[1]}'

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        self.wire._socket.close()
        self.socket.close()

    def end(self):
        """Stops p4/leaf. Returns its status and what it complained of."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self):
        _, said = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, said

    def _serve(self):
        """Everything that the program does is in this thread."""
        wire = self.wire._socket
        try:
            while not self.stopped.is_set():
                ready, _, _ = select.select([self.socket, wire], [], [], 0.02)
                self._take_entries()
                if self.socket in ready:
                    self.from_worker.carry(self.socket.recvfrom(65536))
                if wire in ready:
                    self.from_parent.carry(self.wire.receive())
                if not ready:
                    for link in (self.to_parent, self.to_worker, self.from_worker,
                                 self.from_parent):
                        link.flush()
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.errors.append(error)
            raise

    def _take_entries(self):
        text = self.loaded.read_text()
        fresh = text[self.read:text.rindex('\n') + 1 if '\n' in text else 0]
        if fresh:
            self.read += len(fresh)
            self.load(self.program, fresh)

    def _up(self, packet):
        payload, source = packet
        if payload[14] >= len(self.team):
            return
        worker = self.team[payload[14]]
        worker = dataclasses.replace(worker, udp_port=source[1] - worker.number)
        self._run(p4_jobs.frame(worker, payload, to=OWN_IP), WORKERS_PORT)

    def _down(self, frame):
        """The uplink's host gets it, too: it is behind the same interface."""
        self._run(frame, UPLINK_PORT)

    def _run(self, frame, port):
        for to, made in self.program.receive(frame, port):
            if to == WORKERS_PORT:
                self.to_worker.carry(made)
            elif to == UPLINK_PORT:
                self.sent_up += 1
                self.to_parent.carry(made)

    def _to_worker(self, frame):
        port = int.from_bytes(frame[36:38], 'big')
        self.socket.sendto(p4_jobs.payload_of(frame), ('127.0.0.1', port))
