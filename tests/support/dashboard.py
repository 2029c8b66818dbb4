# SPDX-License-Identifier: BSD-3-Clause
"""A switch under the load of a host's requests, and what its page says of it."""

import contextlib
import itertools
import struct
import threading
import time
import urllib.request

import hosts
from exporter import Exporter
from side_by_side import beside

from netfc import protocol

LANES = 40
PAUSE_S = 0.02  # between 64 requests: a load, not one that fills the processor
READERS = 100


def requests():
    """Requests of one lane and of many, one that is refused, and one whose result is infinite."""
    def request(op, lanes, x, y, version=1):
        return struct.pack(f'>HBBBBHI{3 * lanes}H', 0x4E46, version, op, 1, 0, lanes, 7,
                           *[x] * lanes, *[y] * lanes, *[0] * lanes)

    return [*(request(op, lanes, 0x3E00, 0x4080) for op in (1, 2, 3, 4) for lanes in (1, LANES)),
            request(1, 1, 0, 0, version=9), request(4, 1, 0x3C00, 0), request(3, 2, 0x7BFF, 0x7BFF)]


@contextlib.contextmanager
def served(folder, options=()):
    """A host at a TAP port of a switch, and the switch's exporter: host, switch, exporter."""
    options = ['--address', f'{hosts.SWITCH_IP}/24', '--latency', '--slowloris', '--aggregate', *options]
    with hosts.at_tap(folder, options, memory=512, telemetry=True) as (host, live):
        host.set_ipv6('eth0/disable_ipv6', 1)  # nobody sends what was not asked for
        with Exporter(live.telemetry_path) as exporter:
            exporter.get('state')
            yield host, live, exporter


def load(host, seconds):
    """Sends requests from the host for so long. Gives how many."""
    sent, packets = 0, requests()
    with host.udp() as client:
        client.connect((hosts.SWITCH_IP, protocol.UDP_PORT))
        client.setblocking(False)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for packet in itertools.islice(itertools.cycle(packets), 64):
                with contextlib.suppress(BlockingIOError):
                    client.send(packet)
                    sent += 1
            with contextlib.suppress(BlockingIOError):
                while True:
                    client.recv(2048)
            time.sleep(PAUSE_S)
    return sent


@contextlib.contextmanager
def readers(exporter, count=READERS):
    """As many pages as that, each asking once a second. Gives a list of how long answers took."""
    took, failed, ended = [], [], threading.Event()

    def read():
        while not ended.is_set():
            start = time.monotonic()
            try:
                with urllib.request.urlopen(f'{exporter.url}state', timeout=200) as answer:
                    answer.read()
            except OSError as error:
                failed.append(error)
            took.append(time.monotonic() - start)
            ended.wait(1)

    with beside(read, ended.set, count):
        yield took
    assert failed == [], failed[:3]


def figures(browser):
    """What the page says: totals by name, and drops, errors and exceptions by name."""
    return browser.run('''
      const number = (text) => Number(text.replaceAll(",", ""));
      return [Object.fromEntries([...document.querySelectorAll("#totals dd")].map((at) =>
                [at.id.slice(6), number(at.textContent)])),
              Object.fromEntries([...document.querySelectorAll("#drops tbody tr")].map((row) =>
                [row.children[0].textContent, number(row.children[1].textContent)]))];''')


def reported(stats):
    """The same of a final report."""
    totals = {name: stats[name] for name in
              ('rx_packets', 'tx_packets', 'copies', 'answers', 'netfc_packets', 'lanes')}
    totals['taken_up'] = sum(stats['taken_up'].values())
    totals['drops'] = sum(stats['drops'].values())
    named = {f'{kind}: {name}': count
             for kind, group in (('taken up', 'taken_up'), ('dropped', 'drops'), ('refused', 'errors'), ('flag', 'exceptions'))
             for name, count in stats[group].items() if count}
    if stats['devices']['rx_missed']:
        named['missed by the device'] = stats['devices']['rx_missed']
    return [totals, named]


def assert_figures_are_the_report_s(browser, folder, seconds):
    """A load for so long, with many pages open; then the page and the final report must agree."""
    with served(folder) as (host, live, exporter):
        browser.open(exporter.url)
        with readers(exporter) as took:
            sent = load(host, seconds)
        time.sleep(2.5)  # two more answers
        shown = figures(browser)
        stats = live.stop()
    assert shown == reported(stats), (shown, reported(stats))
    assert stats['netfc_packets'] > sent / 2 and stats['exceptions']['divbyzero'] > 0, (sent, stats)
    print(f'{stats["netfc_packets"]:,} requests in {seconds} s; {len(took):,} answers to {READERS} '
          f'pages, the slowest in {max(took):.2f} s')
    return took
