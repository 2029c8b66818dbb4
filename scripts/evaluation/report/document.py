# SPDX-License-Identifier: BSD-3-Clause
"""Reports: Markdown from templates beside the modules that have their numbers, and the same as HTML."""

import html
import pathlib
import re

import jinja2
import markdown

STYLE = "\n" + (pathlib.Path(__file__).parent / "page.css").read_text(encoding="utf-8")

PAGE = (pathlib.Path(__file__).parent / "page.html").read_text(encoding="utf-8")


def table(head, rows, left=1):
    """A table of texts. The first `left` columns are aligned left, the others right."""
    sides = ["---" if column < left else "---:" for column in range(len(head))]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, sides, *rows])


def folded(title, text):
    """What few readers need, after its title, in Markdown and in HTML of it."""
    return f'<details markdown="1">\n<summary>{title}</summary>\n\n{text}\n\n</details>'


def render(folder, name, /, **known):
    """A template of a folder as Markdown, a paragraph a line. known: what it may name."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    text = environment.get_template(name).render(table=table, folded=folded,
                                                 thousands="{:,}".format,
                                                 **known)
    blocks = re.split(r"\n\n+", text.strip("\n"))
    return "\n\n".join(map(_joined, blocks)) + "\n"


def _joined(block):
    """Lines of running text or of a list's item as one."""
    if block.startswith("- "):
        return re.sub(r"\n +", " ", block)
    return block if block[0] in "|#`!<" else block.replace("\n", " ")


def with_note(text, note):
    """Markdown with a note for those who read its source on top."""
    return f"<!-- {note} -->\n\n{text}"


def slug(text, _separator="-"):
    """The anchor that Markdown pages give a heading."""
    return re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")


def to_html(text):
    """Markdown as a page: tables that scroll by themselves, and figures with their captions."""
    body = markdown.markdown(text, extensions=["tables", "fenced_code", "md_in_html", "toc"],
                             extension_configs={"toc": {"slugify": slug}})
    body = re.sub(r"<table>.*?</table>", _scrolling, body, flags=re.S)
    body = re.sub(
        r"<p>((?:<img [^>]*>\n?)+)</p>\n<p><em>(.*?)</em></p>",
        r'<figure>\n<div class="panels">\n\1\n</div>\n<figcaption>\2</figcaption>\n</figure>',
        body, flags=re.S)
    title = html.escape(re.search(r"^# (.*)", text, re.M)[1])
    return PAGE.format(title=title, style=STYLE, body=body)


def _scrolling(found):
    """A table in a box. The first column stays in sight where it alone has names."""
    text = re.sub(r"(<tr>|</t[hd]>)\n", r"\1", found[0])  # a row a line
    text = re.sub(r"<(t[hd])>", r'<\1 class="left">', text)
    text = text.replace(' style="text-align: right;"', "")
    named = text.split("</tr>")[0].count('class="left"') == 1
    return f'<div class="{"table named" if named else "table"}" tabindex="0">{text}</div>'


# ---- numbers in words and digits --------------------------------------------------------------


def percent(value, digits=2):
    """A percentage without its sign."""
    return f"{value:.{digits}f}"


def compare(ours, theirs):
    """Whether ours is above, equal or below, to the two digits that the paper prints."""
    difference = round(ours, 2) - theirs
    return "equal" if abs(difference) < 0.005 else "above" if difference > 0 else "below"


def small(value):
    """A share, 0 to 1, that may be tiny, in percent."""
    if value == 0:
        return "0"
    return f"{100 * value:.2g} %" if value < 1e-3 else f"{100 * value:.2f} %"


def number(value):
    """Three significant digits."""
    if value == 0:
        return "0"
    if 1e-2 <= abs(value) < 1e5:
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def kilobytes(size):
    """Bytes in KB of 1,024."""
    return f"{size / 1024:,.1f}"


def triple(facts, digits=2):
    """Average, median and minimum in one cell."""
    if isinstance(facts, dict):
        facts = (facts["average"], facts["median"], facts["minimum"])
    return " / ".join(percent(value, digits) for value in facts)


def headings(what, columns):
    """Head cells of columns that belong together. Each says it: tables scroll on a phone."""
    return [f"{what}: {column}" for column in columns]


def listing(items):
    """a, b and c"""
    items = list(items)
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]
