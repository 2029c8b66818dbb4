# SPDX-License-Identifier: BSD-3-Clause
"""examples/p4: the commands it prints, and, where there is BMv2, what they make of it."""

import re
import subprocess

import pytest

import bmv2
import frames
import hosts
import oracle
import p4_entries
import switch
from example_runs import EXAMPLES

COMMANDS = EXAMPLES / 'p4' / 'bmv2-commands'
FORWARD = ['table_add IngressPipe.forward IngressPipe.pair 0 => 1',
           'table_add IngressPipe.forward IngressPipe.pair 1 => 0']


def commands(*arguments):
    return subprocess.run([COMMANDS, *arguments], text=True, capture_output=True, check=False,
                          env={**p4_entries.environment(), 'NETFC_P4': str(p4_entries.PROGRAM)})


@pytest.mark.parametrize('arguments, lanes', [(('fp16_k2',), 1), (('fp16_k2', '4'), 4)])
def test_commands(arguments, lanes):
    done = commands(*arguments)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr, lines[:2]) == (0, '', FORWARD)
    exported = p4_entries.run('-t', 'bmv2', '-n', lanes, 'fp16_k2').stdout
    assert lines[2:] == exported.splitlines()
    form = re.compile(r'table_add IngressPipe\.\S+ IngressPipe\.\S+ .*=>')
    assert all(map(form.match, lines))


def test_wrong_usage():
    assert commands('fp16_k2', '1', 'more').stderr.startswith('usage: bmv2-commands')
    done = commands('fp16_k3')
    assert done.returncode == 1 and 'fp16_k3' in done.stderr


@bmv2.needs_bmv2
@hosts.needs_namespaces
def test_computes_on_bmv2(tmp_path):
    sent = [frames.plain_frame(frames.lanes(1, identity=number)) for number in range(20)]
    expected = [oracle.switch(frame, oracle.table_sets('fp16_k2')) for frame in sent]
    with bmv2.running(tmp_path, [], commands('fp16_k2').stdout) as (first, second):
        switch.assert_same(bmv2.send(first, second, sent), expected)
