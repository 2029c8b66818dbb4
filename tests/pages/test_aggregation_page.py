# SPDX-License-Identifier: BSD-3-Clause
"""The playground's second page, in a browser: packets of a job through the switch's slots, and what sums come of it."""

import math
import re
import struct
import urllib.parse

import pytest

import oracle
import playground
import tiers
from oracle.formats import FORMATS_BY_NAME

from browser import Browser, By, DESK, Keys, PHONE, needs_browser

pytestmark = [needs_browser, pytest.mark.xdist_group('playground')]  # one process builds it

NARROW = {'fp8_e4m3': oracle.E4M3, 'fp8_e5m2': oracle.E5M2}
FORMATS = (*FORMATS_BY_NAME, 'fp32', *NARROW)
WORKERS, SLOTS, CHUNKS = 4, 2, 6
SUMS = '''
return [...document.querySelectorAll("#sums tbody")].map((body) => ({
  values: body.querySelector("th").textContent.split(": ")[1],
  sums: [...body.querySelectorAll("td")].map((cell) => cell.textContent),
  wrong: [...body.querySelectorAll("td")].map((cell) => cell.className === "off"),
}));
'''
EVENTS = 'return [...document.querySelectorAll("#events li")].map((at) => at.textContent)'
PACKETS = 'return [...document.querySelectorAll("#packets li")].map((at) => at.textContent)'
ROWS = '''
return [...document.querySelectorAll(`${arguments[0]} tbody tr`)].map((row) =>
  [...row.children].map((cell) => (cell.querySelector(".unseen") ?? cell).textContent));
'''
CAN_GO_ON = 'return !document.getElementById("step").disabled'


@pytest.fixture(name='address')
def page_address(page):
    """The second page's address."""
    return (page.parent / 'aggregation.html').as_uri()


def show(browser, address, **state):
    """Opens the page in that state."""
    browser.open(f'{address}#{urllib.parse.urlencode(state)}')
    browser.wait('return document.body.dataset.ready', 'page')


def press(browser, name):
    """Presses the button of that id."""
    browser.driver.find_element(By.ID, name).click()


def number(text):
    """A number as the page shows it."""
    return float(text.replace('−', '-').replace('(', '').replace(')', ''))


def rounded(form, real):
    """The number of the format nearest to a float."""
    if form == 'fp32':
        return struct.unpack('f', struct.pack('f', real))[0]
    if form in NARROW:
        narrow = oracle.NarrowFormat(NARROW[form])
        return float(narrow.decode(narrow.encode(real)[0]))
    return FORMATS_BY_NAME[form].decode(FORMATS_BY_NAME[form].encode(real))


def added(form, values):
    """Values added one after the other, rounded each time."""
    total = values[0]
    for value in values[1:]:
        total = rounded(form, total + value)
    return total


def arrivals(events, chunk):
    """Workers in the order in which the switch has added their values of a chunk."""
    found = [re.match(rf"The switch has worker (\d)'s chunk {chunk}: values added", event) for event in events]
    return [int(one[1]) - 1 for one in found if one]


@pytest.mark.parametrize('loss', [0, 10, 30])
@pytest.mark.parametrize('form', FORMATS)
def test_sums(browser, address, form, loss):
    """The switch's is the number nearest to the true sum; those of floats are what their order makes of them."""
    show(browser, address, format=form, loss=loss, course=7 + loss)
    press(browser, 'finish')
    chunks, events, wrong = browser.run(SUMS), browser.run(EVENTS), 0
    assert len(chunks) == CHUNKS
    for chunk, found in enumerate(chunks):
        values = [rounded(form, number(text)) for text in found['values'].split(' + ')]
        exact = rounded(form, math.fsum(values))
        order = arrivals(events, chunk)
        assert sorted(order) == list(range(WORKERS))
        expected = [added(form, values), added(form, values[::-1]), added(form, [values[one] for one in order]), exact]
        assert [number(text) for text in found['sums']] == [float(f'{value:.8g}') for value in expected], chunk
        assert found['wrong'] == [value != exact for value in expected]
        wrong += sum(found['wrong'])
    assert wrong and browser.text('#sums-note').startswith(f'{wrong} of 18 sums of floats are not ')


@pytest.mark.parametrize('loss', [0, *tiers.later('slow', 30)])
def test_every_step_keeps_the_rules_of_slots(browser, address, loss):
    """What the page shows after each packet, beside what aggregation is said to do."""
    show(browser, address, format='fp16', loss=loss, course=3)
    seen_states = set()
    while browser.run(CAN_GO_ON):
        entries, workers = browser.run(ROWS, '#slots'), browser.run(ROWS, '#workers')
        for slot, entry, chunk, holds in entries:
            seen_states.add(holds.split()[0])
            if holds != 'empty':
                assert int(chunk) % SLOTS == int(slot) and ('even', 'odd')[int(chunk) // SLOTS % 2] == entry
        for _, *chunks in workers:
            for chunk, state in enumerate(chunks):
                assert state == 'not sent' or chunk < SLOTS or chunks[chunk - SLOTS] == 'has the sum'
        marked = browser.driver.find_elements(By.CSS_SELECTOR, '#packets [aria-current]')
        assert len(marked) == bool(browser.run(PACKETS))
        press(browser, 'step')
    assert seen_states == {'empty', 'has', 'sum'}
    assert {state for _, *states in browser.run(ROWS, '#workers') for state in states} == {'has the sum'}
    assert browser.text('#event') == 'All workers have all sums.' == browser.run(EVENTS)[-1]


def test_what_became_of_packets_is_counted(browser, address):
    show(browser, address, loss=30, course=5)
    press(browser, 'finish')
    events = browser.run(EVENTS)
    counts = {name: int(count) for name, count, _ in browser.run(ROWS, '#counts')}
    assert sum(counts.values()) == sum(event.startswith('The switch has ') for event in events)
    assert counts['completed'] == CHUNKS and counts['added'] == CHUNKS * (WORKERS - 1)
    assert counts['duplicate'] and counts['repeated']
    assert sum(event.startswith('Lost: ') for event in events) > 0


def test_without_loss_nothing_is_sent_again(browser, address):
    show(browser, address, loss=0)
    press(browser, 'finish')
    assert {name for name, *_ in browser.run(ROWS, '#counts')} == {'added', 'completed'}
    assert not any('Lost' in event or 'again' in event for event in browser.run(EVENTS))


def test_a_packet_that_is_lost_by_hand_is_sent_again(browser, address):
    show(browser, address, loss=0)
    marked = browser.text('#packets [aria-current]')
    press(browser, 'lose')
    assert browser.text('#event') == f'Lost: {marked}.'
    assert len(browser.run(PACKETS)) == WORKERS * SLOTS - 1
    press(browser, 'finish')
    events = browser.run(EVENTS)
    assert 'Nothing is on its way any more: workers send again what they have no sum of.' in events
    assert any(event.startswith(f'The switch has {marked}: values added') for event in events)


def test_run_and_pause(browser, address):
    show(browser, address, loss=0)
    press(browser, 'run')
    assert browser.text('#run') == 'Pause'
    browser.wait('return document.querySelectorAll("#events li").length >= 3', 'steps')
    press(browser, 'run')
    assert browser.text('#run') == 'Run'
    before = browser.run(EVENTS)
    press(browser, 'step')
    assert len(browser.run(EVENTS)) == len(before) + 1
    press(browser, 'again')
    assert browser.run(EVENTS) == [] and len(browser.run(PACKETS)) == WORKERS * SLOTS


def test_a_link_restores_the_course(browser, address):
    show(browser, address)
    for name, value in (('format', 'bf16'), ('loss', '30')):
        browser.driver.find_element(By.CSS_SELECTOR, f'#{name} option[value="{value}"]').click()
    press(browser, 'other')
    link = browser.driver.current_url
    press(browser, 'finish')
    before = browser.run(EVENTS)
    browser.open(link)
    browser.wait('return document.body.dataset.ready', 'page')
    press(browser, 'finish')
    assert browser.run(EVENTS) == before and link.endswith('format=bf16&loss=30&course=2')


@pytest.mark.parametrize('state, said', [
    ({'format': 'toString'}, 'format=“toString”'), ({'loss': '100'}, 'loss=“100”'), ({'course': '0'}, 'course=“0”'),
    ({'format': '<img src=x onerror="document.title=1">'}, 'format=“<img src=x onerror="document.title=1">”'),
])
def test_a_link_made_by_hand(browser, address, state, said):
    show(browser, address, **state)
    assert browser.text('#alert') == f'The address has what this page does not know: {said}.'
    assert browser.run('return document.querySelectorAll("main img").length') == 0
    press(browser, 'finish')
    assert browser.text('#event') == 'All workers have all sums.'


def test_the_pages_lead_to_each_other(browser, page):
    browser.open(page.as_uri())
    browser.driver.find_element(By.CSS_SELECTOR, 'header a').click()
    browser.wait('return document.body.dataset.ready', 'page')
    assert browser.driver.title == 'NetFC playground: aggregation'
    browser.driver.find_element(By.CSS_SELECTOR, 'header a').click()
    browser.wait('return document.body.dataset.ready', 'page')
    assert browser.driver.title == 'NetFC playground'


def test_it_asks_nobody_and_has_nothing_to_complain(address):
    with Browser() as browser:
        show(browser, address)
        press(browser, 'finish')
        assert browser.console() == []
        assert {url.partition('#')[0] for url in browser.requests()} == {address}


def test_with_the_keyboard_and_a_screen_reader(browser, address):
    show(browser, address, loss=0)
    assert browser.nameless() == []
    assert sorted(playground.table_names(browser)) == [
        "Sums of floats, in three orders, and the switch's", "The switch's slots", 'What became of the packets',
        'Workers']
    browser.tab_to('step')
    browser.press(Keys.ENTER)
    assert len(browser.run(EVENTS)) == 1 and browser.focused() == 'step'
    browser.tab_to('slot')
    assert browser.text('#explanation').startswith('A place in the switch where chunks are added.')
    browser.run('document.getElementById("step").click()')
    assert browser.focused() == 'slot'


@pytest.mark.parametrize('width', [PHONE, DESK])
@pytest.mark.parametrize('form', ['fp32', 'posit16'])
def test_it_fits_the_screen(browser, address, width, form):
    browser.resize(width)
    show(browser, address, format=form, loss=30)
    for button in ('step', 'finish'):
        press(browser, button)
        assert browser.overflow() == 0 and browser.run(playground.OVERHANGING) == []
    browser.resize(DESK)


@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_text_can_be_read_in_both_schemes(browser, address, scheme):
    browser.prefer(scheme)
    show(browser, address, loss=30)
    for _ in range(9):
        press(browser, 'step')
    assert browser.run(playground.FAINT) == []
    press(browser, 'finish')
    assert browser.run(playground.FAINT) == []
    browser.prefer('light')
