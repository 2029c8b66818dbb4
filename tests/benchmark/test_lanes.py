# SPDX-License-Identifier: BSD-3-Clause
"""scripts/bench lanes: that it measures, and what it measures."""

import operator
import re

import numpy
import pytest

import project_scripts
import switch

from benchmark import lanes
from netfc import Fp32, protocol

SMALLEST_NORMAL = 2.0**-126
FUNCTIONS = {'add': operator.add, 'sub': operator.sub, 'mul': operator.mul,
             'div': operator.truediv}


def bench(*options, build=switch.BUILD):
    return project_scripts.run('bench', 'lanes', *options, NETFC_BUILD=str(build))


def test_a_row_for_each_kind_of_operands():
    done = bench('--match', 'fpu', '--lanes', '5', '--rounds', '1')
    assert done.returncode == 0, done.stdout + done.stderr
    head, _, *rows = done.stdout.splitlines()
    assert head == '| | operands | add | sub | mul | div |'
    assert [row.split(' | ')[1] for row in rows] == list(lanes.OPERANDS)
    for row in rows:
        rates = re.findall(r'[\d,]+(?= \|)', row.split(' | ', 2)[2])
        assert len(rates) == 4  # 0 where others had the processor in the only round


@pytest.mark.parametrize('op', protocol.OPS)
def test_results_that_should_be_subnormal_are(op):
    draw = numpy.random.default_rng(1)
    x, y = lanes.operands(Fp32(), 'subnormal', op, 1000, draw).astype('u4').view('f4')
    results = abs(FUNCTIONS[op](x, y))
    assert (results < SMALLEST_NORMAL).mean() > 0.9 and (results > 0).all()


@pytest.mark.parametrize('options, text', [
    (('--lanes', '122'), '1 to 121'), (('--lanes', '0'), 'expected 1 or more'),
    (('--rounds', '0'), 'expected 1 or more'), (('--match', 'table'), "invalid choice: 'table'")])
def test_bad_options(options, text):
    done = bench(*options)
    assert done.returncode != 0 and text in done.stderr


def test_no_build_where_it_should_be(tmp_path):
    done = bench(build=tmp_path / 'none')
    assert done.returncode == 1
    assert f"no programs in {tmp_path / 'none'}, which NETFC_BUILD names" in done.stderr
    assert 'Traceback' not in done.stderr
