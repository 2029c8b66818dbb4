# SPDX-License-Identifier: BSD-3-Clause
"""What the playground shows first, in a browser: the strip, examples, explained words, and the last result while
something else is typed."""

import pytest

import table_builder
from playground import ALL_SETS, READY, show

from browser import ActionChains, By, DESK, Keys, PHONE, needs_browser

pytestmark = [needs_browser, pytest.mark.xdist_group('playground')]  # one process builds it

LAST = ('return ["result", "strip", "stages"].map((id) => document.getElementById(id).innerText)')
DIMMED = 'return [...document.querySelectorAll(".last")].map((at) => getComputedStyle(at).opacity)'
STRIP_INTEGERS = ('return [...document.querySelectorAll("#strip .integer")].map((at) => '
                  'Number(at.textContent.slice(4).replace("−", "-")))')
STRIP_TITLES = ('return [...document.querySelectorAll("#strip .title")].map((at) => '
                'at.firstChild.textContent)')
STRIP_FORMULAS = ('return [...document.querySelectorAll("#strip .line")].map((at) => '
                  'at.querySelector(".formula").textContent + at.querySelector("strong").textContent)')


@pytest.mark.parametrize('name, operation, looked_up, shown_as', [
    ('fp16_k1024', ('add', '2', '3'), ['i', 'j', 'theta', 'm', 'n'],
     ['log₂ 2 = 1', 'log₂ 3 = 1.585', '1.585 − 1 = 0.585', 'log₂(1 + 20.585) = 1.322', '1 + 1.322 = 2.322',
      '22.322 = 5']),
    ('fp16_k1024', ('sub', '-1.5', '-2.25'), ['i', 'j', 'theta', 'm', 'n'],
     ['log₂ 1.5 = 0.585', 'log₂ 2.25 = 1.17', '1.17 − 0.585 = 0.585', 'log₂(20.585 − 1) = −1',
      '0.585 + (−1) = −0.415', '2−0.415 = 0.75']),
    ('posit16_k512', ('mul', '3', '-0.75'), ['i', 'j', 'n'], None),
    ('bf16_k128_floor', ('div', '1', '3'), ['i', 'j', 'n'], None),
])
def test_the_strip_has_the_numbers_of_the_operation(browser, page, name, operation, looked_up, shown_as):
    """The integers that netfc-tables shows, and the equations that they stand for."""
    op, x, y = operation
    show(browser, page, set=name, op=op, x=x, y=y)
    walk = table_builder.run_json('show', name, '--walk', op, x, y)
    words = {field['name']: int(field['bits'], 16) for step in walk['steps'] for field in step['fields']}
    assert browser.run(STRIP_INTEGERS) == [(words[one] ^ 0x8000) - 0x8000 for one in looked_up]
    assert shown_as is None or browser.run(STRIP_FORMULAS) == shown_as
    assert browser.run(STRIP_TITLES) == ['log', 'subtract', 'mi', 'add', 'exp']
    skipped = {'mul': ['subtract', 'mi'], 'div': ['mi', 'add']}.get(op, [])
    assert [one.text for one in browser.driver.find_elements(By.CSS_SELECTOR, '#strip .skipped dfn')] == skipped


def test_the_strip_of_correctly_rounded_tables_has_their_look_ups(browser, page):
    show(browser, page, set='fp16_exact', op='add', x='0.1', y='0.2')
    assert browser.run(STRIP_TITLES) == ['exps', 'align', 'add', 'norm', 'subn', 'add']
    assert [one.text for one in browser.driver.find_elements(By.CSS_SELECTOR, '#strip .line strong')] == \
        ['0x1858b', '0x1998', '0x3330', '0x4cc8', '0x08cc', '0x0000', '0x34cc']


@pytest.mark.parametrize('op, decided', [('add', 'y'), ('sub', '−y')])
def test_the_strip_says_what_is_decided_beforehand(browser, page, op, decided):
    show(browser, page, set='fp16_k1024', op=op, x='1', y='inf')
    assert browser.text('#strip-note').startswith(f'Decided beforehand: z = {decided}')
    assert browser.run('return document.querySelectorAll("#strip .skipped").length') == 5


def test_examples(browser, page):
    """Each button shows an operation and what there is to see; which one is shown is said."""
    show(browser, page)
    pressed = ('return [...document.querySelectorAll("#examples button")]'
               '.filter((at) => at.getAttribute("aria-pressed") === "true").map((at) => at.textContent)')
    assert browser.run(pressed) == ['2 + 3'] and browser.text('#fact-error') == 'correctly rounded'
    for name, result, error in (
            ('2 × 3', '2 × 3 = 6', 'correctly rounded'),
            ('0.1 + 0.2', '0.099975586 + 0.19995117 = 0.30004883', 'off by 1 ulp'),
            ('Cancellation', '1000 − 999 = 1.3535156', 'off by 362 ulp'),
            ('Exact', '1000 − 999 = 1', 'correctly rounded')):
        browser.driver.find_element(By.XPATH, f'//*[@id="examples"]/button[.="{name}"]').click()
        assert browser.run(pressed) == [name] and browser.text('#example-text') != ''
        assert browser.text('#equation') == result and browser.text('#fact-error') == error
    browser.type('x', '7')
    assert browser.run(pressed) == [] and browser.text('#example-text') == ''


@pytest.mark.parametrize('width', [PHONE, DESK])
def test_words_are_explained_under_the_pointer_and_the_focus(browser, page, width):
    browser.resize(width)
    show(browser, page)
    browser.wait(ALL_SETS, 'sets')
    explanation = 'return document.getElementById("explanation").hidden ? "" : ' \
                  'document.getElementById("explanation").textContent'
    assert browser.run(explanation) == ''
    words = browser.driver.find_elements(By.CSS_SELECTOR, 'main .word')
    assert {'log', 'mi', 'exp', 'Scale k', 'Format', 'memory'} <= {one.text for one in words}
    for one in words:
        browser.run('arguments[0].scrollIntoView({block: "center"}); arguments[0].focus()', one)
        assert len(browser.run(explanation)) > 20
        assert browser.run('return document.getElementById(arguments[0].getAttribute("aria-describedby")).id', one)
        assert browser.run('const { left, right, top, bottom } = document.getElementById("explanation")'
                           '.getBoundingClientRect();'
                           'return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight')
        assert browser.overflow() == 0
    browser.press(Keys.ESCAPE)
    assert browser.run(explanation) == ''
    browser.run('document.activeElement.blur(); scrollTo(0, 0)')
    ActionChains(browser.driver).move_to_element(
        browser.driver.find_element(By.CSS_SELECTOR, '[data-word=mi]')).perform()
    assert 'logarithm of a ratio' in browser.run(explanation)
    ActionChains(browser.driver).move_to_element(browser.driver.find_element(By.ID, 'examples')).perform()
    assert browser.run(explanation) == ''
    browser.resize(DESK)


@pytest.mark.parametrize('x, last', [
    ('abc', '1'), ('', '1'), ('1.2.3', '1.2'), ('0x12345', '0x1234'), ('1e', '1'), ('<b>1</b>', '1')])
def test_an_operand_that_is_none(browser, page, x, last):
    """The last result stays, dimmed, and says so."""
    show(browser, page, x=last, y='3', op='add')
    before = browser.run(LAST)
    browser.type('x', x)
    syntax = 'a decimal number, inf, nan, or an encoding such as 0x3c00.'
    wrong = f'“{x}” is not an operand; expected ' if x else 'x is empty; type '
    assert browser.text('#x-error') == wrong + syntax
    assert browser.run('return document.getElementById("x").getAttribute("aria-invalid")') == 'true'
    assert browser.text('#stale-note') == 'This is the last result, until there is another.'
    assert browser.run(LAST) == before and ' + 3 = ' in before[0]
    assert set(browser.run(DIMMED)) == {'0.45'}
    browser.type('x', '2')
    assert browser.text('#x-error') == '' == browser.text('#stale-note')
    assert browser.text('#equation') == '2 + 3 = 5' and set(browser.run(DIMMED)) == {'1'}


def test_the_last_operands_follow_what_is_chosen(browser, page):
    show(browser, page, x='2', y='3')
    browser.type('y', '')
    assert browser.text('#y-error').startswith('y is empty; type ')
    browser.driver.find_element(By.CSS_SELECTOR, 'label[for=op-mul]').click()
    browser.driver.find_element(By.CSS_SELECTOR, '#format option[value="posit16"]').click()
    assert browser.text('#equation') == '2 × 3 = 6.0039063' and set(browser.run(DIMMED)) == {'0.45'}


def test_a_link_without_an_operand_has_no_last_result(browser, page):
    browser.open(f'{page.as_uri()}#x=2&y=3')
    browser.wait(READY, 'page')
    browser.run('location.hash = "x=&y=3"')
    browser.wait('return document.getElementById("x-error").textContent', 'message')
    assert browser.text('#equation') == 'No result yet: an operand is missing.'
    assert browser.text('#stale-note') == '' == browser.text('#strip')
