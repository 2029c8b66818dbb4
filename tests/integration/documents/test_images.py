# SPDX-License-Identifier: BSD-3-Clause
"""The README's drawing and plots show what the programs say, and what is recorded."""

import json
import pathlib
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import numpy
import pytest

import netfc
import switch
from aggregation import picture, sums
from netfc import protocol

PROJECT = pathlib.Path(__file__).resolve().parents[3]
IMAGES = PROJECT / 'docs' / 'images'
PLOTS = [f'{name}-{theme}' for name in ('traffic', 'speed', 'accuracy')
         for theme in ('light', 'dark')]


@pytest.mark.parametrize('name', ['playground', 'dashboard'])
def test_pictures_of_pages_are_of_this_release(name):
    made = re.search(rb'tEXtSoftware\0dpdk-netfc ([0-9.]+)', (IMAGES / f'{name}.png').read_bytes())
    assert made and made[1].decode() == netfc.__version__, 'make them again: scripts/page-pictures'


def test_values_in_the_drawing():
    """The example is the walk of one addition, its integers and its result."""
    shown = [element.text for element in ElementTree.parse(IMAGES / 'packet.svg').iter()
             if element.get('class') == 'value']
    walk = json.loads(switch.execute(
        ['show', 'fp16_k1024', '--json', '--walk', 'add', '1.5', '2.25'],
        program=switch.TABLE_BUILDER).stdout)
    found = {field['name']: int(field['bits'], 16)
             for step in walk['steps'] for field in step['fields']}
    assert shown == ['1.5 + 2.25', f"{found['i']}, {found['j']}", str(found['theta']),
                     str(found['m']), str(found['n']), f"{walk['z']['value']:g}"]


def test_bytes_in_the_drawing():
    """They are a request, and what is written below is its reply."""
    texts = list(ElementTree.parse(IMAGES / 'request.svg').iter('{http://www.w3.org/2000/svg}text'))
    shown = bytes.fromhex(''.join(text.text for text in texts if text.get('class') == 'value middle'))
    x, y = [0x3E00, 0x4000], [0x4080, 0x3C00]
    assert shown == protocol.request(1, 1, x, y, 42)
    z = [json.loads(switch.execute(['calc', 'fp16_k1024', '--json', 'add', hex(one), hex(other)],
                                   program=switch.TABLE_BUILDER).stdout)['z']['bits']
         for one, other in zip(x, y)]
    caption = ' '.join(text.text for text in texts if text.get('class') == 'note')
    assert f'z ({z[0][2:]} and {z[1][2:]}: 3.75 and 3)' in caption


def entry(table, key):
    """What fp16_k1024 has there."""
    return json.loads(switch.execute(['show', 'fp16_k1024', '--json', table, str(key)],
                                     program=switch.TABLE_BUILDER).stdout)['entries'][0]


def test_folding_in_the_drawing():
    """Its examples are entries of the tables, and its sizes those of the evaluation."""
    texts = list(ElementTree.parse(IMAGES / 'folding.svg').iter('{http://www.w3.org/2000/svg}text'))
    log_six, log_one_and_half, mirror = (entry(*where)['value'] % 2**16 for where in (
        ('log', '0x4600'), ('log', '0x3e00'), ('mi0', -599)))
    assert log_one_and_half == 599
    assert [text.text for text in texts if text.get('class') == 'value'] == [
        f'log(6) = 2048 + {log_one_and_half} = {log_six}',
        f"mi0(599) = 599 + {mirror} = {entry('mi0', 599)['value']}",
        f"exp({log_six}) = 2^2 · exp(599) = {entry('exp', log_six)['value_means']:g}"]
    sizes = [text.text for text in texts if text.text.startswith('stored: ')]
    page = (PROJECT / 'docs' / 'evaluation.md').read_text(encoding='utf-8')
    stored, paper = re.search(r"The paper's (\d+) KB of tables hold what ([\d.]+) KB can hold", page).group(2, 1)
    assert sizes == [f"stored: {float(stored):g} KB, of the paper's {paper} KB"]


def test_the_moving_picture_is_of_what_is_recorded():
    """And the record has the sums that these values have."""
    figures = json.loads(picture.FIGURES.read_text(encoding='ascii'))
    assert picture.PICTURE.read_text(encoding='utf-8') == picture.draw(figures), \
        'draw it again: scripts/readme-animation'
    count, example = figures['values'], figures['example']
    assert figures['switch'] == [count] * 4 and max(figures['orders']) < count
    values = numpy.array([sums.gradients(worker, count) for worker in range(4)])
    values = values[:, example['value'], None]
    assert example['inputs'] == values[:, 0].tolist()
    assert example['switch'] == example['exact'] == sums.exact_sums(values)[0]
    assert example['orders'] == [sums.sums_in_order(values, order)[0] for order in (range(4), [3, 2, 1, 0])]


def numbers_in(path):
    """What stands in a plot for the numbers that it was drawn from."""
    return re.search(r'numbers [0-9a-f]{16}', path.read_text(encoding='utf-8'))[0]


@pytest.fixture(name='drawn', scope='module')
def drawn_again(tmp_path_factory):
    """The plots of what is recorded now, and what was printed."""
    pytest.importorskip('matplotlib')
    folder = tmp_path_factory.mktemp('plots')
    done = subprocess.run([PROJECT / 'scripts' / 'readme-plots', '--output', folder], text=True,
                          capture_output=True, check=True, timeout=1200)
    return folder, done.stdout


@pytest.mark.parametrize('name', PLOTS)
def test_plots_are_of_what_is_recorded(drawn, name):
    folder, _ = drawn
    assert numbers_in(IMAGES / f'{name}.svg') == numbers_in(folder / f'{name}.svg'), \
        'draw them again: scripts/readme-plots'


def test_numbers_are_those_of_the_evaluation(drawn):
    """The shares of exact results that the evaluation's page has, to the last digit."""
    _, printed = drawn
    page = (PROJECT / 'docs' / 'evaluation.md').read_text(encoding='utf-8')
    exact = dict(re.findall(r'^(\w+) fp16_k1024 +(\S+)%', printed, re.M))
    shares = ', '.join(f'{float(exact[op]):.1f} % of {sign}' for op, sign in (
        ('add', '+, -'), ('mul', '×'))) + f" and {float(exact['div']):.1f} % of ÷ are exact"
    assert shares in page


def test_headline_figures(drawn):
    """What the README says first is what was counted and measured."""
    _, printed = drawn
    first = (PROJECT / 'README.md').read_text(encoding='utf-8').split('\n## ')[0]
    exact = re.findall(r'^\w+ fp16_exact +(\S+)%', printed, re.M)
    assert exact == ['100.00'] * 3 and '**0 wrong** | of all 2^32 pairs of fp16 operands' in first
    lanes, rate = re.findall(r'^netfc direct +(\d+) lanes +\S+ +(\S+)$', printed, re.M)[-1]
    assert f'**{float(rate):.0f} million** | fp16 additions a second on one core, {lanes} in a packet' in first
