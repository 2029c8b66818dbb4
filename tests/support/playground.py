# SPDX-License-Identifier: BSD-3-Clause
"""The playground's page, built, and operations put through it as a user puts them."""

import json
import random
import shutil
import subprocess
import urllib.parse

import pytest

import project_scripts
import table_builder

BUILDER = project_scripts.SCRIPTS / 'build-playground'
OPS = ('add', 'sub', 'mul', 'div')
TIMEOUT_S = 3000
READY = 'return document.body.dataset.ready'
# Formats without k have two sets beside each other.
SETTLED = ('return (document.getElementById("k").disabled'
           ' ? document.querySelectorAll("#beside thead th").length >= 2'
           ' : document.querySelectorAll("#scale meter").length >= 8) && '
           'document.getElementById("map-summary").textContent')
ALL_SETS = 'return !document.getElementById("scale").textContent.includes("…")'

# Types operands and chooses operations, and notes what the page says.
PUT_THROUGH = '''
const [set, operations] = arguments, at = (id) => document.getElementById(id), found = [];
const type = (id, text) => {
  at(id).value = text;
  at(id).dispatchEvent(new Event("input", { bubbles: true }));
};
for (const [op, x, y] of operations) {
  if (!at(`op-${op}`).checked) at(`op-${op}`).click();
  type("x", x);
  type("y", y);
  const texts = (selector) => document.querySelector(selector).textContent;
  found.push([texts("#z-bits code"), /0x[0-9a-f]{2,4}/.exec(texts("#fact-exact"))[0], texts("#fact-flags")]);
}
return found;
'''

# The stages as they are shown.
STAGES = '''
return [...document.querySelectorAll("#stages li")].map((stage) => ({
  what: stage.querySelector(".what").firstChild.textContent,
  fields: [...stage.querySelectorAll(".value")].map((field) => ({
    name: field.querySelector("dt").textContent,
    bits: field.querySelector("code").textContent,
    means: field.querySelector("dd").lastChild.textContent.replace(field.querySelector("code").textContent, ""),
  })),
}));
'''

# What can be seen beyond the window's right edge, or is cut off by what it is in.
OVERHANGING = '''
return [...document.querySelectorAll("header *, main *, footer *")].filter((at) => {
  const box = at.getBoundingClientRect(), seen = !at.closest(".unseen, .skip, option") && box.width > 0;
  return seen && (box.right > innerWidth + 0.5 || box.left < -0.5
    || (at.scrollWidth > at.clientWidth + 1 && getComputedStyle(at).overflowX !== "visible"
      && !at.matches("input, select, meter")));
}).map((at) => at.outerHTML.slice(0, 100));
'''

# Text with less contrast than 4.5 to 1, as WCAG 2.2 asks for in its criterion 1.4.3.
FAINT = '''
const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const light = (colour) => { const [r, g, b] = colour.match(/[\\d.]+/g).map(Number);
  return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b); };
const back = (at) => { const colour = getComputedStyle(at).backgroundColor;
  return /, 0\\)$/.test(colour) && at.parentElement ? back(at.parentElement) : colour; };
return [...document.querySelectorAll("main *")].filter((at) => [...at.childNodes].some((child) =>
  child.nodeType === 3 && child.textContent.trim()) && at.getClientRects().length).map((at) => {
  const [a, b] = [light(getComputedStyle(at).color), light(back(at))].sort((p, q) => q - p);
  return [(a + 0.05) / (b + 0.05), at.outerHTML.slice(0, 80)];
}).filter(([contrast]) => contrast < 4.5);
'''


def build(folder):
    """Builds the pages into the folder; gives the path of the first."""
    subprocess.run([BUILDER, folder], capture_output=True, check=True, timeout=TIMEOUT_S)
    return folder / 'index.html'


@pytest.fixture(name='page', scope='session')
def built_page(tmp_path_factory):
    """The playground's page."""
    for program in ('clang', 'wasm-ld'):
        if not shutil.which(program):
            pytest.skip(f'{program} is not installed')
    return build(tmp_path_factory.mktemp('playground'))


def show(browser, page, **state):
    """Opens the page in that state, and waits until all is shown."""
    browser.open(f'{page.as_uri()}#{urllib.parse.urlencode(state)}')
    browser.wait(READY, 'page')
    browser.wait(SETTLED, 'map')


def table_names(browser):
    """What a screen reader calls the page's tables."""
    browser.command('Accessibility.enable')
    nodes = browser.command('Accessibility.getFullAXTree')['nodes']
    return [node['name']['value'] for node in nodes if node['role']['value'] == 'table']


def random_operations(count, name):
    """Operations of a set on any two encodings: op, x, y; one kind after the other."""
    numbers, bits = random.Random(name), 8 if name.startswith('fp8') else 16
    return sorted((numbers.choice(OPS), *(f'0x{numbers.getrandbits(bits):0{bits // 4}x}' for _ in 'xy'))
                  for _ in range(count))


def calculated(name, operations):
    """What netfc-tables gives for the operations: z, the exact result, flags, as the page has them."""
    lines = ''.join(f'{op} {x} {y}\n' for op, x, y in operations)
    answers = table_builder.run('calc', '--stream', '--json', name, stdin=lines).stdout.splitlines()
    answers = [json.loads(line) for line in answers]
    return [[answer['z']['bits'], answer['exact']['bits'], ', '.join(answer['z']['flags']) or 'none']
            for answer in answers]


def assert_page_calculates(browser, page, name, count):
    """Fails unless random operations through the page give what the library gives."""
    operations = random_operations(count, name)
    browser.open(f'{page.as_uri()}#set={name}')
    browser.wait('return document.body.dataset.ready', 'page')
    assert browser.run(PUT_THROUGH, name, operations) == calculated(name, operations), name


def assert_stages(browser, page, name, operation):
    """Fails unless the page shows the stages that netfc-tables shows."""
    op, x, y = operation
    browser.open(f'{page.as_uri()}#set={name}&op={op}&x={x}&y={y}')
    browser.wait('return document.body.dataset.ready', 'page')
    shown = browser.run(STAGES)
    walk = table_builder.run_json('show', name, '--walk', op, x, y)
    texts = table_builder.run('show', name, '--walk', op, x, y).stdout
    assert [stage['what'] for stage in shown] == [step['what'] for step in walk['steps']]
    for stage, step in zip(shown, walk['steps']):
        assert [[field['name'], field['bits']] for field in stage['fields']] == \
            [[field['name'], field['bits']] for field in step['fields']], (name, operation)
        for field in stage['fields']:
            means = field['means'].strip().replace('−', '-')
            assert f' {field["bits"]} {means}'.strip() in ' '.join(texts.split()), (name, field)
            assert bool(means) == any(one['means'] is not None for one in step['fields']
                                      if one['name'] == field['name']), (name, field)
