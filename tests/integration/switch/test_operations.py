# SPDX-License-Identifier: BSD-3-Clause
"""What the documents say about the switch is what the switch does."""

import re

import frames
import switch

PROJECT = switch.HERE.parent.parent
HEADER = PROJECT / 'app' / 'switch' / 'observe' / 'counters.h'
HANDBOOK = PROJECT / 'docs' / 'operations.md'
MANUAL = PROJECT / 'docs' / 'man' / 'dpdk-netfc.8'
MONITORING = PROJECT / 'docs' / 'monitoring.md'
METRICS = PROJECT / 'python' / 'netfc' / 'metrics.py'


def drop_reasons():
    """Names and meanings from the list that everything else is made of."""
    listed = re.findall(r'X\([A-Z_]+, "(\w+)",[\s\\]*"([^"]+)"\)', HEADER.read_text())
    assert len(listed) > 5
    return listed


def test_the_handbook_lists_every_reason_to_drop():
    section = HANDBOOK.read_text().split('## What becomes of a packet')[1]
    assert re.findall(r'^\| `(\w+)` \| (.+) \|$', section, re.MULTILINE) == drop_reasons()


def test_the_manual_page_lists_every_reason_to_drop():
    section = MANUAL.read_text().split('Reasons to drop a packet:')[1].split('.SH')[0]
    assert re.findall(r'^\.B (\w+)\n(.+)$', section, re.MULTILINE) == drop_reasons()


def test_statistics_have_every_reason_to_drop():
    stats = switch.run([[frames.plain_frame(frames.request())]]).stats
    assert list(stats['drops']) == [name for name, _ in drop_reasons()]


def packet_counters():
    """Names of what lcores count besides."""
    listed = HEADER.read_text().split('#define PACKET_COUNTERS(X)')[1].split('\n\n')[0]
    names = re.findall(r'X\((\w+),', listed)
    assert len(names) > 5
    return names


def test_every_counter_is_described_and_exported():
    described = MANUAL.read_text().split('.SH COUNTERS')[1].split('.SH')[0]
    metrics, monitoring = METRICS.read_text(), MONITORING.read_text()
    for name in packet_counters():
        assert re.search(rf'^\.BR? {name}\b', described, re.MULTILINE), name
        assert f'("{name}", "{name}", ' in metrics and f'`netfc_{name}_total`' in monitoring, name


def test_every_option_is_in_the_manual_page():
    usage = switch.execute(['--help']).stdout
    options = set(re.findall(r'^ +(--[a-z-]+)', usage, re.MULTILINE))
    manual = MANUAL.read_text().replace('\\-', '-')
    assert len(options) > 5 and [name for name in options if name not in manual] == []
