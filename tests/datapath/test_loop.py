# SPDX-License-Identifier: BSD-3-Clause
"""What lcores do while packets pass: no system call, no allocation, nothing taken from DPDK's heap.

The switch polls a capture that never ends (net_pcap reads it once, at start; what is sent goes
nowhere) under strace, with a malloc() that counts. Nothing here depends on how fast it runs: between
two moments in the middle, an lcore has done such a thing or has not.
"""

import contextlib
import os
import pathlib
import re
import signal
import struct
import subprocess
import time

import pytest

import frames
import switch
import tcp_frames
from slowloris_model import ACK, FIN

from netfc.control import Control
from netfc.telemetry import Telemetry

PRELOADED = switch.BUILD / 'tests' / 'count_allocations.so'
WATCHED_PACKETS = 100_000  # of every lcore
TIMEOUT_S = 600
WORKERS = ('lcore-worker', 'rte-worker', 'dpdk-worker')  # threads, as versions of DPDK name them
SYSTEM_CALL = re.compile(r'^(\d+) +(\d+\.\d+) +(\w+)\(|^(\d+) +(\d+\.\d+) +<\.\.\. (\w+) resumed')
HEAP = ('Alloc_count', 'Alloc_size', 'Free_count', 'Free_size')


def engines():
    """The match engines, as the switch's help lists them."""
    usage = switch.execute(['--help']).stdout
    return usage.split('--match ')[1].split()[0].split('|')


def requests():
    """Requests of all operations and many lengths, what is no request, and some that are refused."""
    packets = [frames.plain_frame(frames.lanes(count)) for count in (1, 2, 7, 64, 243) * 8]
    packets += [frames.plain_frame(payload) for payload in frames.bad_requests().values()]
    for number in range(8):  # connections that begin and end again and again
        client = tcp_frames.address(number)
        packets += [*tcp_frames.handshake(client, 1000), tcp_frames.query(tcp_frames.SERVER),
                    tcp_frames.segment(client, tcp_frames.SERVER, (1000, 80), FIN | ACK)]
    return packets


class Watched:
    """The switch under strace, with counted allocations."""

    def __init__(self, folder, options, ports, lcores, device=',infinite_rx=1'):
        self._trace, self._counts = folder / 'trace', folder / 'counts'
        self._counts.write_bytes(b'')
        vdevs = []
        for port in range(ports):
            switch.write_capture(folder / f'in{port}', requests())
            vdevs.append(f'net_pcap{port},rx_pcap={folder}/in{port}{device}')
        eal = [option for option in switch.eal_options(vdevs, 512, lcores)
               if option != '--no-telemetry']
        self._prefix = eal[eal.index('--file-prefix') + 1]
        command = ['strace', '-f', '-ttt', '-qq', '-o', self._trace,
                   '-E', f'LD_PRELOAD={PRELOADED}', '-E', f'NETFC_ALLOCATIONS={self._counts}',
                   switch.PROGRAM, *eal, '--', *options]
        self._process = subprocess.Popen(command, env=switch.ENVIRONMENT, text=True,
                                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            os.kill(self.pid, signal.SIGKILL)  # strace ends with it, but not it with strace
            self._process.communicate()

    @property
    def pid(self):
        """The switch's process."""
        children = pathlib.Path(f'/proc/{self._process.pid}/task/{self._process.pid}/children')
        return int(children.read_text().split()[0])

    def lcore_threads(self):
        """The ids of the threads that poll: the process' first, and the EAL's workers."""
        found = {self.pid}
        for task in pathlib.Path(f'/proc/{self.pid}/task').iterdir():
            if (task / 'comm').read_text().startswith(WORKERS):
                found.add(int(task.name))
        return found

    def allocations(self):
        """Calls of the allocator by thread."""
        data = self._counts.read_bytes()
        return {thread: calls for thread, calls in struct.iter_unpack('=QQ', data) if thread}

    def telemetry(self):
        """A connection, as soon as the switch answers."""
        path = switch.RUNTIME / 'dpdk' / self._prefix / 'dpdk_telemetry.v2'
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            assert self._process.poll() is None, self._process.communicate()[1]
            assert time.monotonic() < deadline
            with contextlib.suppress(Exception):
                telemetry = Telemetry(path)
                if telemetry.ask('/netfc/stats'):
                    return telemetry
                telemetry.close()
            time.sleep(0.05)

    def stop(self):
        """Stop it in good order."""
        os.kill(self.pid, signal.SIGTERM)
        _, stderr = self._process.communicate(timeout=TIMEOUT_S)
        assert self._process.returncode == 0, stderr

    def system_calls(self, threads, begin, end):
        """What those threads called between two times."""
        found = []
        for line in self._trace.read_text().splitlines():
            match = SYSTEM_CALL.match(line)
            if match is None:
                continue
            thread, at, name = match.groups()[:3] if match[1] else match.groups()[3:]
            if int(thread) in threads and begin < float(at) < end:
                found.append(f'{thread} {at} {name}')
        return found


def received(telemetry):
    """Packets received by each lcore that has something to do."""
    lcores = [telemetry.ask(f'/netfc/lcore,{lcore}') for lcore in telemetry.ask('/netfc/lcore')]
    return {lcore['lcore']: lcore['rx_packets'] for lcore in lcores if lcore['paths']}


def wait_for_packets(telemetry, before):
    """Waits until every lcore has received some more packets."""
    deadline = time.monotonic() + TIMEOUT_S
    while not all(count >= before[lcore] + WATCHED_PACKETS
                  for lcore, count in received(telemetry).items()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def heap(telemetry):
    """What DPDK's heap of the first NUMA node says."""
    info = telemetry.ask('/eal/heap_info,0')
    return {name: info[name] for name in HEAP}


CASES = {
    **{engine: (['--match', engine], 1, 1) for engine in engines()},
    'two lcores': (['--match', 'direct', '--forward', 'pair'], 2, 2),
    'bridge': (['--match', 'direct', '--forward', 'bridge'], 2, 2),
    'endpoint': (['--match', 'direct', '--address', '10.0.0.2'], 1, 1),
    'slowloris': (['--match', 'direct', '--slowloris'], 1, 1),
    'slowloris, two lcores': (['--match', 'direct', '--slowloris', '--forward', 'pair'], 2, 2),
    'latency': (['--match', 'direct', '--latency'], 1, 1),
}


@contextlib.contextmanager
def captured(folder, control):
    """Into a file, while this is open; fails if the capture has ended before."""
    with Control(control) as opened:
        opened.do('capture', action='start', file=str(folder / 'x'), snaplen=64, bytes=0)
        yield
        assert opened.do('capture', action='stop')['capture']['packets'] > 0


@pytest.mark.parametrize('case', CASES)
def test_lcores_only_compute(tmp_path, case):
    options, ports, lcores = CASES[case]
    with Watched(tmp_path, options, ports, lcores) as watched, watched.telemetry() as telemetry:
        check_lcores(watched, telemetry, lcores)


def test_lcores_only_compute_while_packets_are_captured(tmp_path):
    control = tmp_path / 'control'
    options = ['--match', 'direct', '--forward', 'pair', '--control', str(control)]
    with Watched(tmp_path, options, 2, 2) as watched, watched.telemetry() as telemetry:
        check_lcores(watched, telemetry, 2, captured(tmp_path, control))


def check_lcores(watched, telemetry, lcores, meanwhile=contextlib.nullcontext()):
    """Watches the lcores, once under way, and stops the switch. meanwhile: what else happens."""
    with meanwhile:
        wait_for_packets(telemetry, dict.fromkeys(received(telemetry), 0))
        threads = watched.lcore_threads()
        assert len(threads) == lcores
        before, heap_before = received(telemetry), heap(telemetry)
        calls_before, begin = watched.allocations(), time.time()
        wait_for_packets(telemetry, before)
        end, calls_after = time.time(), watched.allocations()
        assert heap(telemetry) == heap_before
    watched.stop()
    for thread in threads:
        assert calls_after.get(thread, 0) == calls_before.get(thread, 0)
    assert watched.system_calls(threads, begin, end) == []
    # That all this can be seen: there was a start, with calls of both kinds.
    assert calls_before[watched_main(threads)] > 1000
    assert len(watched.system_calls(threads, 0, begin)) > 100


def watched_main(threads):
    """The process' first thread."""
    return min(threads)


def test_what_a_device_does_is_seen(tmp_path):
    """net_pcap that writes what is sent into a file: a system call now and then."""
    device = ',infinite_rx=1,tx_pcap=/dev/null'
    with Watched(tmp_path, ['--match', 'direct'], 1, 1, device) as watched, \
            watched.telemetry() as telemetry:
        before, begin = received(telemetry), time.time()
        wait_for_packets(telemetry, before)
        threads, end = watched.lcore_threads(), time.time()
        watched.stop()
    calls = watched.system_calls(threads, begin, end)
    assert len(calls) > 100 and calls[0].endswith(' write')
