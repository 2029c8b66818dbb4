# SPDX-License-Identifier: BSD-3-Clause
"""A switch says for which worker the others have waited, and how long.

A running switch and one worker that is late; what counts as waiting is in tests/aggregate.
"""

import re
import socket
import time

import pytest

import aggregation_workers as workers
import hosts
from exporter import Exporter
from netfc import snapshot
from netfc.commands import _top_view

CHUNKS = 4
LATE, LATE_S = 1, 0.5

pytestmark = hosts.needs_namespaces


def job_of(live):
    job, = snapshot.take(live.telemetry_path).jobs.values()
    return job


def be_late(live, team):
    """All send the same chunks, one of them when the others' have come. Returns the seconds it took."""
    began = time.monotonic()
    for worker in team:
        if worker is not team[LATE]:
            for chunk in range(CHUNKS):
                worker.send_chunk(chunk, bytes(4))
    hosts.wait_until(lambda: job_of(live)['added'] == CHUNKS * (len(team) - 1), 'the chunks of the others')
    time.sleep(LATE_S)
    for chunk in range(CHUNKS):
        team[LATE].send_chunk(chunk, bytes(4))
    for worker in team:
        assert {worker.receive().code for _ in range(CHUNKS)} == {0}
    return time.monotonic() - began


@pytest.mark.parametrize('shards', [1, 2])
def test_the_worker_that_others_wait_for_is_named(tmp_path, shards):
    options = ['--address', f'{hosts.SWITCH_IP}/24', f'--aggregate=shards={shards}']
    with hosts.at_tap(tmp_path, options, lcores=shards, telemetry=True) as (host, live):
        team = [workers.Worker(host.udp(socket.AF_INET), hosts.SWITCH_IP, number) for number in range(3)]
        workers.join_all(team)
        before = snapshot.take(live.telemetry_path)
        took = be_late(live, team)
        after = snapshot.take(live.telemetry_path)
        with Exporter(live.telemetry_path) as exporter:
            exported = exporter.scrape()
        live.stop()
    job, = after.jobs.values()
    waited = job['waited_us'].pop(str(LATE)) / 1e6
    assert LATE_S < waited < took
    assert job['came_last'] == {'0': 0, '1': CHUNKS, '2': 0} and set(job['waited_us'].values()) == {0}
    assert f'netfc_aggregate_job_came_last_total{{index="0",job="1",worker="{LATE}"}} {CHUNKS}.0\n' in exported
    seconds, = re.findall(
        rf'netfc_aggregate_job_waited_seconds_total{{index="0",job="1",worker="{LATE}"}} (.*)\n', exported)
    assert float(seconds) == waited
    job['waited_us'][str(LATE)] = round(waited * 1e6)
    assert [line for line in _top_view.lines(before, after) if re.fullmatch(
        rf'  slowest    worker {LATE}: waited for \d+\.\d% of the time, last in 100\.0% of \d+ results/s', line)]
