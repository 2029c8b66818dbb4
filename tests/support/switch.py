# SPDX-License-Identifier: BSD-3-Clause
"""Runs the switch over capture files: frames in, frames and statistics out.

Needs neither a NIC, hugepages nor root. Every run that is meant to succeed is checked for what
must always hold: exit status 0, nothing received that was neither sent nor counted as dropped,
no mbuf lost, and as many frames written as counted.
"""

import itertools
import json
import os
import pathlib
import signal
import struct
import subprocess
import tempfile
import time
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get('NETFC_BUILD', HERE.parent.parent / 'build')).resolve()
# The package looks for its libraries there, too, in this process and in those that it starts.
os.environ.setdefault('NETFC_BUILD', str(BUILD))
PROGRAM = BUILD / 'app' / 'dpdk-netfc'
TABLE_BUILDER = BUILD / 'app' / 'netfc-tables'
IDLE_MS = 50
SHARED_IDLE_MS = 500  # lcores that share cores pause for each other
TIMEOUT_S = 1200
SNAP_LENGTH = 262144
PCAP_MAGICS = (0xA1B2C3D4, 0xA1B23C4D)  # microseconds, nanoseconds

# The EAL's sockets are kept here, as their paths must be short. It goes when Python ends.
runtime_folder = tempfile.TemporaryDirectory(prefix='netfc-')
RUNTIME = pathlib.Path(runtime_folder.name)
ENVIRONMENT = {
    **os.environ, 'RUNTIME_DIRECTORY': str(RUNTIME), 'XDG_RUNTIME_DIR': str(RUNTIME),
    'LSAN_OPTIONS': f'suppressions={HERE / "leaks_of_others.supp"}:print_suppressions=0'}

run_numbers = itertools.count()


# ---- captures --------------------------------------------------------------------------------


def write_capture(path, frames):
    """Writes frames as a pcap file."""
    parts = [struct.pack('<IHHiIII', PCAP_MAGICS[0], 2, 4, 0, 0, SNAP_LENGTH, 1)]
    for number, frame in enumerate(frames):
        parts += (struct.pack('<IIII', 0, number % 1000000, len(frame), len(frame)), frame)
    pathlib.Path(path).write_bytes(b''.join(parts))


def read_capture(path):
    """The frames of a pcap file in this machine's byte order."""
    data = pathlib.Path(path).read_bytes()
    assert struct.unpack_from('<I', data)[0] in PCAP_MAGICS, f'{path} is no pcap file'
    frames, at = [], 24
    while at < len(data):
        _, _, captured, length = struct.unpack_from('<IIII', data, at)
        assert captured == length, f'{path}: a frame of {length} bytes was cut to {captured}'
        at += 16
        frames.append(data[at:at + length])
        assert len(frames[-1]) == length, f'{path} ends within a frame'
        at += length
    return frames


# ---- running ---------------------------------------------------------------------------------


@dataclass
class Result:
    """What a run left behind. outputs: the frames that each port sent, in order."""

    outputs: list
    stats: dict


def eal_options(vdevs=(), memory=512, lcores=1, telemetry=False):
    """EAL options for any machine and user; memory in MB, vdevs as --vdev takes them."""
    cores = ','.join(map(str, os.sched_getaffinity(0)))
    prefix = f'netfc-{os.getpid()}-{next(run_numbers)}'
    options = ['--lcores', f'(0-{lcores - 1})@({cores})', '--no-huge', '-m', str(memory),
               '--no-pci', '--file-prefix', prefix]
    if not telemetry:
        options.append('--no-telemetry')
    return options + [f'--vdev={vdev}' for vdev in vdevs]


def execute(arguments, program=PROGRAM):
    """Runs a program to its end, whatever that is. Returns a subprocess.CompletedProcess."""
    done = subprocess.run([program, *map(str, arguments)], env=ENVIRONMENT, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S,
                          check=False)
    assert_sane(done.stderr)
    return done


def assert_sane(stderr):
    """Fails if a build with sanitizers had something to report."""
    assert 'runtime error:' not in stderr and 'Sanitizer' not in stderr, stderr


def lpm_memory(tables):
    """Megabytes for the lpm engine, whose tables take 64 each."""
    return 256 + sum(640 if 'exact' in str(name) else 256 for name in tables)


def run(inputs, tables=('fp16_k1024',), match='direct', options=(), lcores=1, eal=(),
        more_memory=0):
    """Sends captures through the switch and checks what every run must fulfil.

    inputs: a list of frames for each port. tables and match: table sets and match engine; None
    leaves them to the switch. options, eal: further ones, of the switch and of the EAL.
    more_memory: MB that they take.
    """
    options = [*options, '--idle-exit', IDLE_MS if lcores == 1 else SHARED_IDLE_MS]
    if tables is not None:
        options += ['--tables', ','.join(tables)]
    if match is not None:
        options += ['--match', match]
    memory = 128 if match in ('direct', 'hash', 'fpu') else lpm_memory(tables or ())
    with tempfile.TemporaryDirectory(prefix='netfc-') as folder:
        folder = pathlib.Path(folder)
        vdevs = [capture_port(folder, *port) for port in enumerate(inputs)]
        done = execute([*eal_options(vdevs, memory + more_memory, lcores), *eal, '--', *options,
                        '--stats-json', folder / 'stats'])
        assert done.returncode == 0, f'exit status {done.returncode}:\n{done.stderr}'
        outputs = [read_capture(folder / f'out{port}') for port in range(len(inputs))]
        stats = read_stats(folder / 'stats')
    assert stats['rx_packets'] == sum(map(len, inputs))
    assert stats['tx_packets'] == sum(map(len, outputs))
    return Result(outputs, stats)


def capture_port(folder, port, frames):
    """A port for --vdev that receives the frames and sends into the file `out` with its number."""
    write_capture(folder / f'in{port}', frames)
    return f'net_pcap{port},rx_pcap={folder}/in{port},tx_pcap={folder}/out{port}'


def accounted(stats):
    """Packets that were sent, taken up by an aggregation, or dropped for a reason."""
    return sum([stats['tx_packets'], *stats['taken_up'].values(), *stats['drops'].values()])


def read_stats(path):
    """The statistics of a run, checked to account for every packet and every mbuf."""
    stats = json.loads(pathlib.Path(path).read_text())
    assert stats['rx_packets'] + stats['copies'] == accounted(stats), stats
    assert stats['mbufs_leaked'] == 0, stats
    return stats


class Running:
    """The switch at work on a capture that never ends and is sent nowhere; to be stopped."""

    def __init__(self, folder, frames, options=(), vdevs=(), telemetry=False):
        """vdevs: further ports; telemetry: with a socket, at telemetry_path."""
        self.stats_path = folder / 'stats'
        write_capture(folder / 'in', frames)
        vdevs = [f'net_pcap0,rx_pcap={folder}/in,infinite_rx=1', *vdevs]
        eal = eal_options(vdevs, telemetry=telemetry)
        prefix = eal[eal.index('--file-prefix') + 1]
        self.telemetry_path = RUNTIME / 'dpdk' / prefix / 'dpdk_telemetry.v2'
        arguments = [*eal, '--', *options, '--stats-json', str(self.stats_path)]
        self.process = subprocess.Popen([PROGRAM, *arguments], env=ENVIRONMENT, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def wait_until_busy(self):
        """Waits until the switch has polled for a while. Returns what it has said."""
        said = []
        while not said or not said[-1].startswith('Ready'):
            said.append(self.process.stdout.readline())
            assert said[-1], f'it ended:\n{self.process.communicate()[1]}'
        time.sleep(0.3)
        return said

    def stop(self, number=signal.SIGTERM):
        """Stops it with a signal. Returns exit status, what it said on stderr, statistics."""
        self.process.send_signal(number)
        _, stderr = self.process.communicate(timeout=TIMEOUT_S)
        assert_sane(stderr)
        return self.process.returncode, stderr, read_stats(self.stats_path)


# ---- comparing -------------------------------------------------------------------------------


def assert_same(outputs, expected, names=None, shown=5):
    """Fails with the first few frames that differ, byte by byte."""
    assert len(outputs) == len(expected), f'{len(outputs)} frames instead of {len(expected)}'
    wrong = [n for n, pair in enumerate(zip(outputs, expected)) if pair[0] != pair[1]]
    if not wrong:
        return
    lines = [f'{len(wrong)} of {len(expected)} frames differ']
    for number in wrong[:shown]:
        name = f' ({names[number]})' if names else ''
        lines.append(f'frame {number}{name}:')
        lines += difference(outputs[number], expected[number])
    raise AssertionError('\n'.join(lines))


def difference(output, expected, shown=16):
    """Lines that tell two frames apart."""
    lines = [f'  sent     {output[:96].hex()}', f'  expected {expected[:96].hex()}']
    if len(output) != len(expected):
        lines.append(f'  {len(output)} bytes instead of {len(expected)}')
    differing = [at for at, pair in enumerate(zip(output, expected)) if pair[0] != pair[1]]
    lines += [f'  byte {at}: {output[at]:02x} instead of {expected[at]:02x}'
              for at in differing[:shown]]
    return lines


def assert_counted(stats, counters):
    """Fails unless the statistics agree with the counters that oracle.switch raised."""
    assert stats['netfc_packets'] == counters['netfc_packets']
    assert stats['lanes'] == counters['lanes']
    for group in ('errors', 'exceptions'):
        assert stats[group] == {name: counters[f'{group}.{name}'] for name in stats[group]}
