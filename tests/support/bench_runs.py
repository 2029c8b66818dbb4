# SPDX-License-Identifier: BSD-3-Clause
"""Runs of netfc-bench, whose reports are checked for what every one must fulfil."""

import contextlib
import functools
import itertools
import json
import os
import socket
import threading
import time

import pytest

import oracle
import switch
from side_by_side import beside

PROGRAM = switch.BUILD / 'app' / 'netfc-bench'
OP_NAMES = {'add': oracle.ADD, 'sub': oracle.SUB, 'mul': oracle.MUL, 'div': oracle.DIV}
LPM_MEMORY = 512
WAIT_S = 120


def arguments(options, vdevs=(), memory=256, lcores=1):
    return [*switch.eal_options(vdevs, memory, lcores), '--', '--progress', '0', *map(str, options)]


def bench(folder, *options, status=0, **eal):
    """Runs the bench to its end; returns its report, checked for what every one must fulfil."""
    path = folder / 'report.json'
    done = switch.execute(arguments([*options, '--json', path], **eal), PROGRAM)
    assert done.returncode == status, f'exit status {done.returncode}:\n{done.stdout}{done.stderr}'
    report = json.loads(path.read_text())
    assert report['exit_status'] == status
    assert_consistent(report)
    return report


def inline(folder, *options, match='direct', status=0):
    """Runs the bench with the switch in its process."""
    return bench(folder, '--inline', '--match', match, *options, status=status, lcores=2,
                 memory=LPM_MEMORY if match == 'lpm' else 256)


def refused(*options, **eal):
    """Runs the bench, which must not start; returns what it says."""
    done = switch.execute(arguments(options, **eal), PROGRAM)
    assert done.returncode == 1, done.stdout + done.stderr
    assert 'dpdk-netfc' not in done.stderr, 'the name of another program'
    return done.stderr


def wait_for(what, condition):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, f'{what} did not appear in {WAIT_S} s'
        time.sleep(0.005)


def is_bound(raw, interface):
    """Whether a socket could be bound to an interface, which may not be there yet."""
    with contextlib.suppress(OSError):
        raw.bind((interface, 0x0800))
        return True
    return False


def serve(interface, port, stop, answer):
    """Sends the frames of answer(request) for each request to a UDP port that comes in at an interface."""
    # No protocol before it is bound: it would take in what comes at every other interface.
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as raw:
        wait_for(interface, lambda: is_bound(raw, interface))
        raw.settimeout(0.1)
        while not stop.is_set():
            try:
                request, sender = raw.recvfrom(2048)
            except OSError:  # nothing yet, or the interface is not up yet
                continue
            if sender[2] != socket.PACKET_OUTGOING and request[36:38] == port.to_bytes(2, 'big'):
                for frame in answer(request):
                    raw.send(frame)


@contextlib.contextmanager
def erring(port, answer):
    """The device of a bench at whose other end is a switch that errs: see serve()."""
    interface, stop = f'nfb{os.getpid() % 100000}', threading.Event()
    with beside(functools.partial(serve, interface, port, stop, answer), stop.set):
        yield f'net_tap0,iface={interface}'


def assert_consistent(report):
    """What must hold of every report, whatever became of the packets."""
    sent, answered, lanes = report['sent'], report['answered'], report['configuration']['lanes']
    assert sent['packets'] == answered['packets'] + report['lost']
    assert report['loss'] == pytest.approx(report['lost'] / max(sent['packets'], 1))
    assert report['received'] == (answered['packets'] + report['late'] + report['duplicates'] +
                                  report['mismatches']['id'] + report['others'])
    assert report['right'] <= answered['packets']
    assert report['mbufs_leaked'] == 0
    for traffic in (sent, answered):
        assert traffic['lanes'] == traffic['packets'] * lanes
        assert traffic['lanes_per_second'] == pytest.approx(traffic['packets_per_second'] * lanes)
        assert (traffic['packets_per_second'] > 0) == (traffic['packets'] > 0)
    assert_latency(report['latency_us'], answered['packets'])
    if report['accuracy'] is not None:  # functions have none
        assert_accuracy(report['accuracy'], report['right'] * lanes)


def assert_latency(latency, answered):
    bounds, counts = zip(*latency['histogram']) if latency['histogram'] else ((), ())
    assert list(bounds) == sorted(bounds)
    assert sum(counts) == answered
    if answered == 0:
        return
    sums = list(itertools.accumulate(counts))
    for name, share in (('p50', 0.5), ('p99', 0.99), ('p99_9', 0.999)):
        bound = next(b for b, seen in zip(bounds, sums) if seen >= share * answered)
        assert latency[name] == pytest.approx(min(bound, latency['max']))
    assert 0 < latency['min'] <= latency['p50'] <= latency['p99'] <= latency['p99_9']
    assert latency['p99_9'] <= latency['max'] <= bounds[-1]
    mean = latency['mean']  # rounded: of one packet it may lie beside the packet
    assert latency['min'] * (1 - 1e-9) <= mean <= latency['max'] * (1 + 1e-9)


def assert_accuracy(accuracy, lanes):
    for of in accuracy.values():
        assert 0 <= of['minimum'] <= min(of['average'], of['median'])
        assert max(of['average'], of['median']) <= 1
        assert 0 <= of['exact'] <= of['within_1_ulp'] <= 1
    total = accuracy['all']
    assert total['lanes'] + total['left_out'] == lanes
    for field in ('lanes', 'left_out', 'infinite'):
        assert total[field] == sum(accuracy[op][field] for op in accuracy if op != 'all')


def assert_all_right(report, packets=None):
    """Every packet answered, every reply right."""
    assert report['right'] == report['answered']['packets'] == report['sent']['packets']
    assert report['wrong'] == report['lost'] == report['wrong_lanes'] == 0
    assert not any(report['mismatches'].values()) and not report['examples']
    if packets is not None:
        assert report['sent']['packets'] == packets
