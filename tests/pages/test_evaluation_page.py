# SPDX-License-Identifier: BSD-3-Clause
"""The evaluation's page, as it is in docs/, in a browser: on a phone, in both colour schemes."""

import numpy
import pytest

import project_scripts
from browser import DESK, PHONE, needs_browser

from evaluation.report import document

PAGE = project_scripts.PROJECT / 'docs' / 'evaluation.html'


def test_it_has_the_style_of_the_script():
    assert f'<style>{document.STYLE}</style>' in PAGE.read_text(encoding='utf-8'), 'run scripts/evaluate'


@needs_browser
@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_both_schemes_on_a_phone(browser, scheme):
    """Texts can be read, and a table that goes on beyond the edge shows it there, until it is scrolled."""
    browser.prefer(scheme)
    browser.resize(PHONE)
    browser.open(PAGE.as_uri())
    assert browser.overflow() == 0 and browser.faint() == []
    assert browser.run('const box = [...document.querySelectorAll(".table")].find((at) =>'
                       ' at.scrollWidth > at.clientWidth); box.className += " watched"; return box.scrollWidth')
    shaded = browser.pixels('.watched', 2)
    browser.run('const box = document.querySelector(".watched"); box.scrollLeft = box.scrollWidth')
    plain = browser.pixels('.watched', 2)
    assert abs(numpy.median(shaded) - numpy.median(plain)) > 0.1
    assert (numpy.median(plain) < 0.5) == (scheme == 'dark')
    browser.prefer('')
    browser.resize(DESK)
