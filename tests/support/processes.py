# SPDX-License-Identifier: BSD-3-Clause
"""Two processes connected by a port, one of which is a switch that computes nothing."""

import fcntl
import os
import struct

import frames
import hosts
import oracle
import switch

from netfc.telemetry import Telemetry

COUNT = 800  # requests that fit into the queues between two processes
OTHER_PORT = 9  # of a switch that is to compute nothing
HEADER = struct.pack('<IHHiIII', switch.PCAP_MAGICS[0], 2, 4, 0, 0, switch.SNAP_LENGTH, 1)
PIPE_BYTES = 1 << 20
F_SETPIPE_SZ = 1031
# That let a test know when two processes are connected.
MESSAGES = ['--log-level=pmd.net.memif:info', '--log-level=pmd.net.vhost:info',
            '--log-level=pmd.net.virtio.init:debug']


def requests(count=COUNT, lanes=60):
    return [frames.plain_frame(frames.lanes(1 + n % lanes, identity=n)) for n in range(count)]


def replies(sent, forward):
    """What the switch makes of frames."""
    sets = oracle.table_sets('fp16_k1024')
    return [oracle.switch(frame, sets, forward=forward) for frame in sent]


class Feeder:
    """A capture on a pipe, which whoever reads it waits for until it is filled."""

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        self._pipe = os.open(path, os.O_RDWR)
        fcntl.fcntl(self._pipe, F_SETPIPE_SZ, PIPE_BYTES)
        os.write(self._pipe, HEADER)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._pipe is not None:
            os.close(self._pipe)

    def fill(self, sent):
        """Writes frames, and the end of the capture."""
        records = b''.join(struct.pack('<IIII', 0, 0, len(frame), len(frame)) + frame
                           for frame in sent)
        assert len(records) < PIPE_BYTES
        os.write(self._pipe, records)
        os.close(self._pipe)
        self._pipe = None


def exchange(folder, vdev, sent, connected, options=()):
    """Sends frames through a port of a second process; returns what came back, as many frames.

    That process is a switch that computes nothing, between the port and captures. connected:
    waits until the ports are connected, given the process.
    """
    with Feeder(folder / f'pipe-{next(hosts.numbers)}') as feeder:
        came = folder / 'came'
        vdevs = [f'net_pcap0,rx_pcap={feeder.path},tx_pcap={came}', vdev]
        with hosts.LiveSwitch(folder, vdevs, ['--port', OTHER_PORT, *options], eal=MESSAGES,
                              memory=512, telemetry=True) as sender:
            connected(sender)
            feeder.fill(sent)
            hosts.wait_until(lambda: 'Ready' in sender.stdout, 'the sender to be ready')
            with Telemetry(sender.telemetry_path, hosts.TIMEOUT_S) as telemetry:
                hosts.wait_until(
                    lambda: telemetry.ask('/netfc/stats')['rx_packets'] >= 2 * len(sent), 'replies')
            stats = sender.stop()
    assert stats['drops']['tx_full'] == 0, stats
    return switch.read_capture(came)


def vhost_connected(live, times=1):
    live.wait_for_message('Vhost device 0 created', times)
