# SPDX-License-Identifier: BSD-3-Clause
"""What the switch says of a device that does not do what it is asked for, and goes on."""

import pytest

import frames
import sanitized
import switch
from hosts import LiveSwitch

PRELOADED = switch.BUILD / 'tests' / 'reluctant_device.so'


@pytest.mark.skipif(sanitized.is_sanitized(), reason='the sanitizer has to be loaded first')
def test_refusals_and_resets_are_told(tmp_path):
    ports = [switch.capture_port(tmp_path, 0, [frames.plain_frame(frames.request())])]
    with LiveSwitch(tmp_path, ports, within=['env', f'LD_PRELOAD={PRELOADED}']) as live:
        live.wait_for_message('port 0 was reset from outside')
        live.stop()
    assert 'port 0: cannot receive what is for other addresses (promiscuous mode): ' in live.stderr
    assert 'multicast' not in live.stderr
