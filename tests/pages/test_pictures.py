# SPDX-License-Identifier: BSD-3-Clause
"""Every drawing and plot of the documents, in a browser: no text is cut, none is lost in its background."""

import pytest

import project_scripts
from browser import needs_browser

DOCS = project_scripts.PROJECT / 'docs'
PICTURES = sorted(path.relative_to(DOCS) for path in DOCS.rglob('*.svg'))
# Texts are elements of their own, or outlines in a group with the name that matplotlib gives them.
TEXTS = 'svg text, svg g[id^="text_"]'
# By how much each text stands out of the viewBox, in its units, and how many texts there are.
OVERHANG = """
const [root] = document.getElementsByTagName("svg"), all = [...document.querySelectorAll(arguments[0])];
const { x, y, width, height } = root.viewBox.baseVal;
const out = all.map((at) => {
  const box = at.getBBox(), way = root.getScreenCTM().inverse().multiply(at.getScreenCTM());
  const ends = [[0, 0], [0, 1], [1, 0], [1, 1]].map(([right, down]) =>
    new DOMPoint(box.x + right * box.width, box.y + down * box.height).matrixTransform(way));
  return Math.max(...ends.flatMap((end) => [x - end.x, y - end.y, end.x - x - width, end.y - y - height]));
});
return [all.length, Math.max(...out)];
"""
# The least contrast of a text with the shape that is behind its beginning, middle or end.
FAINTEST = """
const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = (colour) => parts(colour).slice(0, 3).map((part) => part / 255)
  .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  .reduce((all, part, n) => all + part * [0.2126, 0.7152, 0.0722][n], 0);
const fills = [...document.querySelectorAll("svg path, svg rect, svg circle")];
const inText = (at) => at.closest('text, g[id^="text_"]');
const fill = (at) => getComputedStyle(at).fill;
const holds = (at, x, y) => at.isPointInFill(new DOMPoint(x, y).matrixTransform(at.getScreenCTM().inverse()));
return Math.min(...[...document.querySelectorAll(arguments[0])].flatMap((text) => {
  const box = text.getBoundingClientRect(), ink = text.querySelector("path, use, tspan") ?? text;
  return [0.02, 0.5, 0.98].map((part) => {
    const x = box.left + part * box.width, y = box.top + box.height / 2;
    const behind = fills.filter((at) => !inText(at) && !at.closest("defs") && fill(at).startsWith("rgb")
      && getComputedStyle(at).opacity > 0.5 && (text.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_PRECEDING) && holds(at, x, y));
    const [one, other] = [light(fill(ink)), light(behind.length ? fill(behind.at(-1)) : arguments[1])];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  });
}));
"""
# The pages that pictures stand on: those of a widely used host of repositories.
PAGES = {'light': 'rgb(255, 255, 255)', 'dark': 'rgb(13, 17, 23)'}


@needs_browser
@pytest.mark.parametrize('scheme', PAGES)
@pytest.mark.parametrize('name', PICTURES, ids=str)
def test_texts_of_a_picture(browser, name, scheme):
    browser.prefer(scheme)
    browser.open((DOCS / name).as_uri())
    count, out = browser.run(OVERHANG, TEXTS)
    assert count > 5 and out <= 0, 'a text stands out of the picture'
    assert browser.run(FAINTEST, TEXTS, PAGES[scheme]) >= 2.5, 'a text is hard to tell from what is behind it'
    browser.prefer('')
