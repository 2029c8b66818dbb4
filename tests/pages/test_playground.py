# SPDX-License-Identifier: BSD-3-Clause
"""The playground in a browser: what it computes, its address, keyboard and screen, and bad input.

tests/exhaustive/test_pages.py puts 1,000 operations of every table set through it.
"""

import re
import time
import urllib.parse

import pytest

import playground
import table_builder
from playground import ALL_SETS, READY, SETTLED, show

from browser import ActionChains, Browser, By, DESK, Keys, PHONE, needs_browser

pytestmark = [needs_browser, pytest.mark.xdist_group('playground')]  # one process builds it

SETS = ('fp16_k1024', 'posit16_exact', 'bf16_k16_floor', 'posit16_es2_k256', 'fp16_exact',
        'fp8_e4m3_exact', 'fp8_e5m2_exact', 'fp8_e4m3_sat', 'fp8_e5m2_sat')
OPERATIONS = 50
MAX_BYTES = 500_000


def address(browser):
    """The page's address, once it has been written; its parts as they were before quoting."""
    time.sleep(0.3)
    return urllib.parse.unquote(browser.driver.current_url)


def shown(browser):
    """All that can be read on the page."""
    browser.wait(SETTLED + ' && !document.getElementById("scale").textContent.includes("…")', 'map')
    browser.wait('return document.getElementById("announcement").textContent.startsWith('
                 'document.getElementById("equation").textContent)', 'announcement')
    return browser.run('return document.querySelector("main").innerText')


@pytest.mark.parametrize('name', SETS)
def test_results_are_the_library_s(browser, page, name):
    playground.assert_page_calculates(browser, page, name, OPERATIONS)


@pytest.mark.parametrize('name, operation', [
    ('fp16_k1024', ('add', '1.6', '0.9')), ('fp16_k1024_floor', ('sub', '3', '2.998')),
    ('fp16_exact', ('add', '1.6', '-1.7')), ('fp16_exact', ('mul', '1e-7', '0.3')),
    ('fp16_exact_small', ('div', '1', '3')), ('posit16_exact', ('add', '1e6', '-3')),
    ('bf16_k128', ('div', '1', '0')), ('posit16_k512', ('mul', '0', 'nan')),
    ('fp8_e4m3_exact', ('sub', '1.5', '0x3d')), ('fp8_e5m2_sat', ('mul', '200', '-300')),
])
def test_stages_are_those_of_netfc_tables(browser, page, name, operation):
    playground.assert_stages(browser, page, name, operation)


def test_stages_look_up_the_keys_and_say_where_they_round(browser, page):
    show(browser, page, set='fp16_k1024', x='1.6', y='0.9')
    stages = browser.run('return [...document.querySelectorAll("#stages .look-up")].map((stage) => '
                         '[stage.querySelector(".key code").textContent,'
                         ' stage.querySelector(".rounding").textContent])')
    fields = {field['name']: field['bits'] for step in
              table_builder.run_json('show', 'fp16_k1024', '--walk', 'add', '1.6', '0.9')['steps']
              for field in step['fields']}
    assert [stage[0] for stage in stages] == [fields[name] for name in ('|x|', '|y|', 'theta', 'n')]
    assert stages[0][1] == '1024 · log₂ 1.59961 = 693.98491 is rounded to 694.'
    show(browser, page, set='fp16_exact', x='1.6', y='0.9')
    assert browser.run('return document.querySelectorAll("#stages .rounding").length') == 1
    for op in playground.OPS:
        show(browser, page, set='fp8_e4m3_exact', op=op, x='1.5', y='0.4')
        assert browser.run('return document.querySelectorAll("#stages .rounding").length') == 1


@pytest.mark.parametrize('name', ['fp16_k1024', 'posit16_k512', 'fp16_exact', 'bf16_exact_small'])
def test_memory_is_what_netfc_tables_counts(browser, page, name):
    show(browser, page, set=name)
    total = table_builder.run_json('size', name)['total']
    assert browser.text('#fact-memory') == f'{round(total["slot_bytes"] / 1024):,} KB'
    beside = browser.wait('const at = [...document.querySelectorAll("#beside thead th")]'
                          f'.findIndex((head) => head.textContent === "{name}");'
                          'return at >= 0 && document.querySelector("#beside tbody tr:last-child")'
                          '.children[at + 1].textContent', 'column')
    assert beside == f'{round(total["plain"]["bytes"] / 1024):,} KB'


def test_moving_k_moves_error_and_memory(browser, page):
    show(browser, page, set='fp16_k1024', x='1.6', y='0.9')
    before = [browser.text('#fact-error'), browser.text('#fact-memory')]
    browser.driver.find_element(By.ID, 'k').send_keys(Keys.HOME)
    assert 'set=fp16_k1&' in address(browser)
    assert before == ['off by 1 ulp', '448 KB']
    assert [browser.text('#fact-error'), browser.text('#fact-memory')] == ['off by 768 ulp', '256 KB']


def test_a_format_of_8_bits(browser, page):
    """It has no k, two sets, and other numbers at the ends of its sliders."""
    show(browser, page, set='fp16_k1024', x='1e9', y='0x40', op='mul')
    browser.driver.find_element(By.CSS_SELECTOR, '#format option[value="fp8_e4m3"]').click()
    browser.wait(SETTLED, 'map')
    assert browser.text('#equation') == 'not a number × 2 = not a number'
    browser.driver.find_element(By.CSS_SELECTOR, '#family option[value="sat"]').click()
    assert 'set=fp8_e4m3_sat&' in address(browser)
    browser.type('x', '300')
    browser.wait(SETTLED, 'map')
    assert browser.text('#equation') == '288 × 2 = 448' and browser.text('#fact-flags') == 'overflow'
    assert [browser.text('#z-bits code'), browser.text('#z-bits .exponent')] == ['0x7e', '1111']
    total = table_builder.run_json('size', 'fp8_e4m3_sat')['total']
    assert browser.text('#fact-memory') == f'{total["slot_bytes"]:,} bytes'
    assert browser.run('return [...document.querySelectorAll("#beside thead th")].map((head) => head.textContent)') \
        == ['fp8_e4m3_sat', 'fp8_e4m3_exact']
    assert browser.run('return ["x-slider", "k"].map((id) => document.getElementById(id)).map('
                       '(at) => [at.max, at.disabled])') == [['126', False], ['0', True]]
    browser.driver.find_element(By.ID, 'x-slider').send_keys(Keys.HOME)
    assert 'x=-448&' in address(browser)
    browser.type('x', '0x0001')
    assert browser.text('#x-error').endswith('an encoding such as 0x3c.')
    browser.type('x', '0x01')
    browser.driver.find_element(By.CSS_SELECTOR, '#format option[value="bf16"]').click()
    assert 'set=bf16_exact&' in address(browser)


def test_sums(browser, page):
    """All orders of some values: sums of floats differ, the exact one does not."""
    show(browser, page, sum='fp8_e4m3', values='16,1,1,-16')
    assert browser.text('#float-sum') == '0' and browser.text('#exact-sum') == '2'
    assert browser.text('#exact-bits code') == '0x40'
    show(browser, page, sum='fp32', values='1e8,1,-1e8,0.5')
    assert browser.text('#float-sum') == '0.5' and browser.text('#exact-sum') == '1.5'
    assert browser.text('#orders-note').startswith('24 orders give ')
    values = browser.driver.find_elements(By.CSS_SELECTOR, '#values button')
    ActionChains(browser.driver).drag_and_drop(values[2], values[1]).perform()
    assert address(browser).endswith('values=1e8,-1e8,1,0.5')
    assert browser.text('#float-sum') == '1.5' == browser.text('#exact-sum')


def test_decimals_are_rounded_once(browser, page):
    """From their digits to the format, though a double is the tie beside them."""
    show(browser, page, set='fp16_exact', op='add', x='65519.9999999999999999', y='0',
         sum='fp32', values='16777218.9999999999999999')
    assert browser.text('#equation').startswith('65504 + 0 = 65504')
    assert browser.text('#float-sum') == '16777218'


def test_a_link_restores_what_was_shown(browser, page):
    show(browser, page)
    browser.type('x', '0x1234')
    browser.driver.find_element(By.CSS_SELECTOR, 'label[for=op-div]').click()
    for name, value in (('format', 'posit16'), ('family', 'floor'), ('reach', '64'), ('sum-format', 'bf16')):
        browser.driver.find_element(By.CSS_SELECTOR, f'#{name} option[value="{value}"]').click()
    browser.driver.find_element(By.ID, 'reverse').click()
    address(browser)
    before, link = shown(browser), browser.driver.current_url
    browser.open(link)
    browser.wait(READY, 'page')
    assert shown(browser) == before and '0x1234' in before
    assert browser.run('return ["x", "y", "format", "family", "reach", "sum-format"].map('
                       '(id) => document.getElementById(id).value)') == \
        ['0x1234', '3', 'posit16', 'floor', '64', 'bf16']


def test_it_asks_nobody_and_has_nothing_to_complain(page):
    with Browser() as browser:
        show(browser, page, set='bf16_exact', values='1,2,3')
        browser.driver.find_element(By.ID, 'shuffle').click()
        assert browser.console() == []
        assert {url.partition('#')[0] for url in browser.requests()} == {page.as_uri()}


def test_with_the_keyboard_alone(browser, page):
    show(browser, page, x='1.6', y='0.9', set='fp16_k1024')
    browser.tab_to('x')
    browser.press((Keys.CONTROL, 'a'), '3')
    browser.tab_to('op-add')
    browser.press(Keys.ARROW_RIGHT)
    browser.tab_to('y')
    browser.press((Keys.CONTROL, 'a'), '4')
    assert browser.text('#equation') == '3 − 4 = −1'
    browser.tab_to('family')
    browser.press('C')
    browser.tab_to('k')
    browser.press(Keys.ARROW_LEFT)
    assert 'set=fp16_k512&' in address(browser)
    browser.wait(SETTLED, 'map')
    browser.tab_to('512')
    browser.press((Keys.SHIFT, Keys.TAB), Keys.ENTER)
    assert 'set=fp16_k256&' in address(browser) and browser.focused() == '256'
    browser.tab_to('map')
    browser.press(Keys.ARROW_RIGHT, Keys.ARROW_UP)
    assert browser.text('#map-cell').startswith('3.00195 − 4.00391 = ')
    browser.press(Keys.ENTER)
    assert browser.text('#equation').startswith('3.0019531 − 4.0039063 = ')
    browser.tab_to('2048')
    browser.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert 'values=1,1,2048' in address(browser) and browser.focused() == '2048'
    assert browser.text('#sum-announcement').startswith('2048 is now 3 of 6')
    browser.press(Keys.DELETE)
    assert 'values=1,1,0.5' in address(browser)
    browser.press((Keys.SHIFT, Keys.TAB))
    browser.tab_to('1')


def test_a_screen_reader_has_a_name_for_every_control(browser, page):
    show(browser, page)
    assert browser.nameless() == []
    browser.wait('return document.getElementById("announcement").textContent === '
                 '"2 + 3 = 5, correctly rounded"', 'announcement')


def test_a_screen_reader_has_a_name_for_every_table(browser, page):
    show(browser, page)
    assert playground.table_names(browser) == \
        ['Error and memory by k', 'Approximate beside exact']


@pytest.mark.parametrize('width', [PHONE, DESK])
@pytest.mark.parametrize('name', ['fp16_k1024', 'posit16_es2_exact', 'fp16_exact_small', 'fp8_e4m3_sat'])
def test_it_fits_the_screen(browser, page, width, name):
    browser.resize(width)
    show(browser, page, set=name, x='0x01', y='-65504', sum='fp32', values='1e-30,-0x1,3e38,0.1')
    browser.wait(ALL_SETS, 'sets')
    assert browser.overflow() == 0 and browser.run(playground.OVERHANGING) == []
    small = browser.run('return [...document.querySelectorAll("main button, main select, #x, #y")].filter('
                        '(at) => at.getBoundingClientRect().height < 24).map((at) => at.id)')
    assert small == []
    browser.resize(DESK)


@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_text_can_be_read_in_both_schemes(browser, page, scheme):
    """A contrast of 4.5 to 1, as WCAG 2.2 asks for in its criterion 1.4.3."""
    browser.prefer(scheme)
    show(browser, page)
    assert browser.run(playground.FAINT) == []
    browser.prefer('light')


MARKUP = '<img src=x onerror="document.title=\'run\'"><script>document.title="run"</script>'


@pytest.mark.parametrize('state, said', [
    ({'set': 'fp16_k3'}, 'set=“fp16_k3”; expected the name of a table set'),
    ({'set': 'posit16_exact_small'}, 'set=“posit16_exact_small”'),
    ({'op': 'pow'}, 'op=“pow”; expected add, sub, mul, div'),
    ({'x': '1' * 50}, 'x=“1111111111111111111111111111111111111111…”; expected up to 40 characters'),
    ({'reach': '-1'}, 'reach=“-1”; expected 1, 8, 64, 512'),
    ({'sum': 'toString'}, 'sum=“toString”'),
    ({'values': ','.join('123456789')}, 'expected up to 8 numbers'),
    ({'set': MARKUP, 'op': MARKUP}, 'set=“<img src=x'),
])
def test_a_link_made_by_hand(browser, page, state, said):
    show(browser, page, **state)
    assert said in browser.text('#alert')
    assert browser.text('#equation') == '2 + 3 = 5'


def test_nothing_from_the_address_becomes_markup(browser, page):
    short = '<img src=x onerror=alert(1)>'
    show(browser, page, sum='bf16', values=f'{short},<b>1')
    browser.run('location.hash = arguments[0]', urllib.parse.urlencode({'x': short, 'y': '<i>', 'set': MARKUP}))
    browser.wait('return document.getElementById("x-error").textContent', 'message')
    assert short in browser.text('#x-error') and '<i>' in browser.text('#y-error')
    assert browser.run('return document.querySelectorAll("main img, main b, main script").length') == 0
    assert browser.driver.title == 'NetFC playground' and browser.console() == []


def test_values_that_are_none(browser, page):
    show(browser, page, values='1,two,3')
    assert browser.text('#value-error').startswith('“two” is no value')
    assert browser.text('#float-sum') == browser.text('#exact-sum') == ''
    show(browser, page, values='')
    assert browser.text('#orders-note') == 'There is nothing to add up: add a value.'
    field = browser.driver.find_element(By.ID, 'new-value')
    field.send_keys('1,5', Keys.ENTER)
    assert browser.text('#value-error').startswith('“1,5” is no value')


def paste(browser, element_id, text):
    """Puts a text into a field at once, as it is in the clipboard."""
    browser.type(element_id, '')
    browser.command('Input.insertText', text=text)


def test_a_long_number_is_refused_and_not_cut(browser, page):
    """What it begins with is another number: 1 in place of 1000."""
    show(browser, page, op='add', x='2', y='3')
    long = f'1.{"0" * 50}e3'
    for text in (long, f'{" " * 30}{long}'):
        paste(browser, 'x', text)
        assert browser.text('#x-error').endswith(' is not an operand; expected up to 40 characters.')
        assert browser.text('#equation') == '2 + 3 = 5' and browser.text('#stale-note')
    paste(browser, 'new-value', long)
    browser.press(Keys.ENTER)
    assert browser.text('#value-error').endswith(' is no value; expected up to 40 characters.')
    assert long.startswith(address(browser).partition('x=')[2].partition('&')[0])


def test_numbers_as_the_page_shows_them_can_be_pasted(browser, page):
    show(browser, page, set='fp16_exact', op='mul', x='-2', y='inf', sum='fp32', values='1')
    shown = browser.text('#equation')
    assert shown == '−2 × ∞ = −∞'
    x, y = re.fullmatch('(.*) × (.*) = .*', shown).groups()
    for name, text in (('x', x), ('y', y)):
        paste(browser, name, text)
        assert browser.text(f'#{name}-error') == ''
    assert browser.text('#equation') == shown
    paste(browser, 'new-value', '−5e−1')
    browser.press(Keys.ENTER)
    assert browser.text('#value-error') == '' and browser.text('#exact-sum') == '0.5'


def test_a_text_with_a_zero_byte_is_no_number(browser, page):
    browser.open(f'{page.as_uri()}#x=0x3c00%00&y=3')
    browser.wait(READY, 'page')
    assert ' is not an operand' in browser.text('#x-error')


def test_a_browser_without_webassembly(page):
    with Browser() as browser:
        browser.command('Page.addScriptToEvaluateOnNewDocument', source='delete window.WebAssembly;')
        browser.open(page.as_uri())
        assert 'which this browser does not have' in browser.text('#alert')


@pytest.mark.parametrize('name', ['index.html', 'aggregation.html'])
def test_it_is_small(page, name):
    assert (page.parent / name).stat().st_size < MAX_BYTES


def test_the_readme_says_how_large_they_are(page):
    """Within what another release of the compiler makes of it."""
    text = (playground.BUILDER.parents[1] / 'docs' / 'playground' / 'README.md').read_text()
    said = re.search(r'about (\d+) KB \(`index.html`\) and (\d+) KB \(`aggregation.html`\)', text)
    for size, name in zip(said.groups(), ('index.html', 'aggregation.html')):
        assert abs((page.parent / name).stat().st_size / (1000 * int(size)) - 1) < 0.05, name


def test_it_says_how_long_its_first_steps_took(browser, page):
    browser.open(page.as_uri())
    browser.wait(READY, 'page')
    ready, built, begun = browser.run(
        'return [Number(document.body.dataset.ready), Number(document.body.dataset.built),'
        ' performance.getEntriesByType("navigation")[0].responseEnd]')
    print(f'first result {ready - begun:.0f} ms after loading, fp16_k1024 built in {built:.0f} ms')
    assert ready > begun and built > 0
