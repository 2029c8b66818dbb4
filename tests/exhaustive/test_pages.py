# SPDX-License-Identifier: BSD-3-Clause
"""The pages, at length: every table set through the playground, five minutes of load on the dashboard,
and the instructions of the loop while a hundred pages are open. Not part of the quick suite."""

import json
import pathlib
import re
import subprocess
import time

import pytest

import browser as pages
import dashboard
import frames
import hosts
import playground
import switch
import table_builder
from exporter import Exporter
from needs import needs_program

from browser import one_browser  # noqa: F401  pylint: disable=unused-import
from playground import built_page  # noqa: F401  pylint: disable=unused-import

OPERATIONS = 1000
LOAD_S = 300
BURSTS = 2000
BURST = 64
START_S = 240  # of the switch in valgrind, on a busy machine


@pages.needs_browser
@pytest.mark.parametrize('name', [
    known['set'] for known in table_builder.run_json('list')['known'] if known['set'] != 'fp32_exact'])
def test_every_set_through_the_page(browser, page, name):
    playground.assert_page_calculates(browser, page, name, OPERATIONS)
    for operation in playground.random_operations(4, name):
        playground.assert_stages(browser, page, name, operation)


@pages.needs_browser
@hosts.needs_namespaces
def test_five_minutes_of_load(browser, tmp_path):
    took = dashboard.assert_figures_are_the_report_s(browser, tmp_path, LOAD_S)
    assert len(took) > dashboard.READERS * LOAD_S * 0.9


def instructions(folder, pages_open):
    """Instructions of the data path for the same bursts, with that many pages open."""
    folder.mkdir()
    capture = [frames.plain_frame(frames.lanes(4))] * BURST * BURSTS
    switch.write_capture(folder / 'in', capture)
    eal = switch.eal_options([f'net_pcap0,rx_pcap={folder}/in'], 256, telemetry=True)
    prefix = eal[eal.index('--file-prefix') + 1]
    command = ['valgrind', '--tool=callgrind', f'--callgrind-out-file={folder}/counts',
               '--toggle-collect=handle_burst', switch.PROGRAM, *eal, '--', '--match', 'direct',
               '--idle-exit', '3000', '--stats-json', folder / 'stats']
    with subprocess.Popen([*map(str, command)], env={**switch.ENVIRONMENT, 'LD_BIND_NOW': '1'},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        socket = switch.RUNTIME / 'dpdk' / prefix / 'dpdk_telemetry.v2'
        limit = time.monotonic() + START_S
        while not socket.exists():
            assert process.poll() is None and time.monotonic() < limit, 'no telemetry'
            time.sleep(0.1)
        answers = []
        if pages_open:
            with Exporter(socket) as exporter:
                exporter.get('state')
                with dashboard.readers(exporter, pages_open):
                    while process.poll() is None:
                        answers.append(json.loads(exporter.get('state')))
                        time.sleep(0.1)
        process.communicate(timeout=600)
        assert process.returncode == 0
    assert switch.read_stats(folder / 'stats')['netfc_packets'] == BURST * BURSTS
    counted = int(re.search(r'^totals: (\d+)', pathlib.Path(folder / 'counts').read_text(), re.M)[1])
    seen = {answer['stats']['rx_packets'] for answer in answers if answer['up']}
    return counted, seen


@needs_program('valgrind')
def test_the_loop_is_not_slowed(tmp_path):
    """A hundred open pages cost the data path not an instruction a burst."""
    alone, _ = instructions(tmp_path / 'alone', 0)
    watched, seen = instructions(tmp_path / 'watched', dashboard.READERS)
    print(f'{alone / BURSTS:.0f} instructions a burst alone, {watched / BURSTS:.0f} with '
          f'{dashboard.READERS} pages open')
    assert len(seen) > 3, 'nobody looked while it worked'
    assert abs(watched - alone) < BURSTS
