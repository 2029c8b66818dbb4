# SPDX-License-Identifier: BSD-3-Clause
"""What the documents say about the switch is what the switch does."""

import re

import switch

PROJECT = switch.HERE.parent.parent
MANUAL = PROJECT / 'docs' / 'man' / 'dpdk-netfc.8'


def test_every_option_is_in_the_manual_page():
    usage = switch.execute(['--help']).stdout
    options = set(re.findall(r'^ +(--[a-z-]+)', usage, re.MULTILINE))
    manual = MANUAL.read_text().replace('\\-', '-')
    assert len(options) > 5 and [name for name in options if name not in manual] == []
