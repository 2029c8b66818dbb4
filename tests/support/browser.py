# SPDX-License-Identifier: BSD-3-Clause
"""A page in Chromium, headless: what is on it, what it said and whom it asked."""

import base64
import io
import json
import pathlib
import shutil
import time

import pytest

from needs import skip_where

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By  # noqa: F401  pylint: disable=unused-import
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

try:
    import matplotlib.image
except ImportError:
    matplotlib = None

PHONE, DESK = 390, 1280  # CSS pixels
TIMEOUT_S = 600
ARGUMENTS = ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
             '--disable-quic', '--no-first-run', '--disable-background-networking',
             '--disable-component-update', '--disable-sync', '--hide-scrollbars',
             '--force-device-scale-factor=1')
# What a control is called in the accessibility tree.
CONTROLS = {'button', 'textbox', 'slider', 'combobox', 'radio', 'checkbox', 'link', 'application',
            'ComboBoxMenuButton', 'listbox'}
# Texts, and by how much their colours differ, of those with a contrast below 4.5.
CONTRAST = '''
const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = (colour) => parts(colour).slice(0, 3).map((part) => part / 255)
  .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  .reduce((all, part, n) => all + part * [0.2126, 0.7152, 0.0722][n], 0);
const behind = (at) => {
  for (; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if ((parts(colour)[3] ?? 1) === 1) return colour;
  }
  return "rgb(255, 255, 255)";
};
return [...document.body.querySelectorAll("*")].filter((at) => at.checkVisibility()
    && [...at.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
  .map((at) => [light(getComputedStyle(at).color), light(behind(at)), at.textContent])
  .map(([one, other, text]) => [(Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05), text])
  .filter(([contrast]) => contrast < 4.5);
'''


def why_no_browser():
    """Why no browser can be driven; empty if one can."""
    missing = [name for name in ('chromium', 'chromedriver') if not shutil.which(name)]
    if webdriver is None:
        missing.append('python3-selenium')
    if matplotlib is None:
        missing.append('python3-matplotlib')
    return f'not installed: {", ".join(missing)}' if missing else ''


needs_browser = skip_where(why_no_browser())


class Browser:
    """A browser with one page. A context manager."""

    def __init__(self, width=DESK, height=900):
        options = webdriver.ChromeOptions()
        for argument in ARGUMENTS:
            options.add_argument(argument)
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
        self.driver = webdriver.Chrome(service=Service(shutil.which('chromedriver')),
                                       options=options)
        self.driver.set_script_timeout(TIMEOUT_S)
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def resize(self, width, height=900):
        """Makes the window as large as that, in CSS pixels; a narrow one is a phone's."""
        self.command('Emulation.setDeviceMetricsOverride', width=width, height=height,
                     deviceScaleFactor=1, mobile=width < 600)

    def prefer(self, scheme):
        """Has the user prefer a colour scheme: light or dark."""
        self.command('Emulation.setEmulatedMedia',
                     features=[{'name': 'prefers-color-scheme', 'value': scheme}])

    def command(self, name, **parameters):
        """A command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def open(self, address):
        """Opens an address in a page that has seen nothing before."""
        self.driver.get('about:blank')
        self.console()  # an earlier page asked its switch, which may have ended
        self.requests()
        self.driver.get(address)

    def run(self, script, *arguments):
        """Runs a script in the page; gives what it returns."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, what):
        """Waits until the script returns something that is true; gives it."""
        found = self.driver.execute_async_script(
            'const done = arguments[0], end = performance.now() + 30000;'
            f'const find = () => {{ {script} }};'
            'const look = () => { const found = find(); if (found || performance.now() > end) done(found);'
            ' else setTimeout(look, 20); }; look();')
        assert found, f'no {what}'
        return found

    def text(self, selector):
        """The text of the first element that the selector finds."""
        return self.run('return document.querySelector(arguments[0]).textContent.trim()', selector)

    def press(self, *keys):
        """Presses keys, one after the other; a pair of them together."""
        for key in keys:
            actions = ActionChains(self.driver)
            if isinstance(key, tuple):
                actions.key_down(key[0]).send_keys(key[1]).key_up(key[0]).perform()
            else:
                actions.send_keys(key).perform()

    def tab_to(self, wanted):
        """Presses Tab until what is wanted has the focus."""
        for _ in range(80):
            self.press(Keys.TAB)
            if self.focused() == wanted:
                return
        raise AssertionError(f'Tab does not reach {wanted}')

    def type(self, element_id, text):
        """Puts a text into a field, in place of what it has."""
        self.run('document.getElementById(arguments[0]).focus()', element_id)
        self.press((Keys.CONTROL, 'a'), Keys.DELETE, *([text] if text else []))

    def focused(self):
        """The id, or else the text, of the element that has the focus."""
        return self.run('const at = document.activeElement; return at.id || at.textContent')

    def console(self):
        """What the page has said on the console since it was last asked."""
        return [entry['message'] for entry in self.driver.get_log('browser')]

    def requests(self):
        """The addresses that the page has asked for since it was last asked, but data and blank ones."""
        entries = (json.loads(entry['message'])['message']
                   for entry in self.driver.get_log('performance'))
        urls = [entry['params']['request']['url'] for entry in entries
                if entry['method'] == 'Network.requestWillBeSent']
        return [url for url in urls if not url.startswith(('data:', 'about:'))]

    def nameless(self):
        """Controls that a screen reader has no name for, by their roles."""
        self.command('Accessibility.enable')
        nodes = self.command('Accessibility.getFullAXTree')['nodes']
        return [node['role']['value'] for node in nodes
                if not node.get('ignored') and node['role']['value'] in CONTROLS
                and not node.get('name', {}).get('value')]

    def overflow(self):
        """How many pixels the page is wider than its window."""
        return self.run('const root = document.documentElement;'
                        'return root.scrollWidth - root.clientWidth')

    def pixels(self, selector, width):
        """The pixels of the last so many columns of an element, as an array of rows."""
        box = self.run('const box = document.querySelector(arguments[0]).getBoundingClientRect();'
                       'return [box.right + scrollX, box.top + scrollY, box.height]', selector)
        clip = {'x': box[0] - width, 'y': box[1], 'width': width, 'height': box[2], 'scale': 1}
        image = self.command('Page.captureScreenshot', format='png', clip=clip,
                             captureBeyondViewport=True)['data']
        return matplotlib.image.imread(io.BytesIO(base64.b64decode(image)))[..., :3]

    def faint(self):
        """Texts that stand out too little from what is behind them: less than 4.5 to 1 (WCAG 2, AA)."""
        return self.run(CONTRAST)

    def picture(self, path, width=DESK, height=900):
        """Writes a picture of the upper part of the page, as PNG."""
        self.resize(width, height)
        self.run('scrollTo(0, 0)')
        time.sleep(0.5)  # until it is drawn again
        image = self.command('Page.captureScreenshot', format='png')['data']
        pathlib.Path(path).write_bytes(base64.b64decode(image))


@pytest.fixture(name='browser', scope='module')
def one_browser():
    """A browser for the tests of a file."""
    with Browser() as browser:
        yield browser
