# SPDX-License-Identifier: BSD-3-Clause
"""The scripts for Pktgen-DPDK, with the real one where it is installed."""

import os
import subprocess

import pytest

import project_scripts
import sanitized
import switch
from needs import needs_program

pytestmark = sanitized.without_sanitizers

SCRIPT = project_scripts.SCRIPTS / 'pktgen' / 'netfc-pktgen'
PKTGEN = os.environ.get('PKTGEN', 'pktgen')


def run(*arguments):
    """Run the script to its end."""
    return subprocess.run([SCRIPT, '--build', switch.BUILD, *arguments], text=True, timeout=1200,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


@needs_program(PKTGEN, ' (it is not in Debian); PKTGEN can name it')
@pytest.mark.parametrize('arguments', [
    [],
    ['--tables', 'posit16_k512', '--op', 'mul', '--lanes', '16'],
    ['--tables', 'fp32_exact', '--lanes', '121'],
])
def test_all_requests_come_back_right(arguments):
    result = run('replay', '--pktgen', PKTGEN, *arguments)
    assert result.returncode == 0, result.stdout
    assert '1,024 of 1,024 replies captured, 0 wrong' in result.stdout


@pytest.mark.parametrize('tables', ['fp16_exact', 'bf16_exact_small', 'fp8_e4m3_sat', 'fp32_exact'])
def test_all_table_sets_get_as_far_as_pktgen(tables):
    result = run('replay', '--pktgen', '/bin/true', '--tables', tables)
    assert result.returncode == 1
    assert 'pktgen wrote no capture' in result.stdout and 'Traceback' not in result.stdout


@pytest.mark.parametrize('arguments, message', [
    (['replay', '--pktgen', '/proc/nonexistent/pktgen'], 'not found'),
    (['replay', '--lanes', '244'], 'expected 1 to 243'),
    (['replay', '--lanes', '122', '--tables', 'fp32_exact'], 'expected 1 to 121'),
    (['replay', '--tables', 'nonsense'], "--tables: table set 'nonsense': malformed"),
    (['explode'], 'invalid choice'),
])
def test_wrong_usage_is_said(arguments, message):
    result = run(*arguments)
    assert result.returncode == 1
    assert message in result.stdout
