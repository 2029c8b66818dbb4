# SPDX-License-Identifier: BSD-3-Clause
"""A document of a few kinds of blocks, written as Markdown and as HTML.

Text may have `code`, **bold**, *emphasis* and [links](to), as in Markdown.
"""

import html
import re
from dataclasses import dataclass, field

STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #1a1a1a; --muted: #444; --link: #0059a8;
  --head: #f3f4f6; --line: #d9dce1; --more: #b7bfc8; }
@media (prefers-color-scheme: dark) {
  :root { --page: #12161b; --ink: #e6eaef; --muted: #b3bdc8; --link: #79b0ff;
    --head: #222a33; --line: #2e3742; --more: #4d5b6b; }
}
body { font: 16px/1.55 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem;
  color: var(--ink); background: var(--page); overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.25; margin: 2rem 0 .75rem; }
h1 { margin-top: .5rem; }
a { color: var(--link); }
code, pre { font: .875em/1.45 ui-monospace, monospace; background: var(--head); border-radius: 4px; }
code { padding: .1em .25em; }
pre { padding: .75rem; overflow-x: auto; }
/* What is beyond the edge shows by a shade, which goes where the last column comes into sight. */
.table { overflow-x: auto; margin: 1rem 0; background:
  linear-gradient(to left, var(--page) 50%, transparent) right / 40px 100% no-repeat local,
  linear-gradient(to left, var(--more), transparent) right / 20px 100% no-repeat scroll; }
table { border-collapse: collapse; font-size: .875rem; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
th { vertical-align: bottom; white-space: normal; font-weight: 600; border-bottom-width: 2px; }
.left { text-align: left; }
.named :is(th, td):first-child { position: sticky; left: 0; background: var(--page); }
figure { margin: 1.25rem 0; }
.panels { display: flex; flex-wrap: wrap; gap: .75rem; }
.panels img { flex: 1 1 20rem; min-width: 0; max-width: min(100%, 30rem); height: auto;
  background: #fff; }
figcaption { font-size: .9rem; color: var(--muted); margin-top: .4rem; }
@media (max-width: 40rem) {
  table { font-size: .75rem; }
  th, td { padding: .25rem .4rem; }
}
"""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def inline(text):
    """Text as HTML."""
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"\*([^*]+)\*", r"<em>\1</em>", text)
    return re.sub(r"\[([^]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', text)


def slug(text):
    """The anchor that Markdown pages give a heading."""
    return re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")


@dataclass
class Heading:
    """A heading of level 1, 2, ..."""

    level: int
    text: str

    def markdown(self):
        """As Markdown."""
        return f"{'#' * self.level} {self.text}"

    def html(self):
        """As HTML."""
        tag = f"h{self.level}"
        return f'<{tag} id="{slug(self.text)}">{inline(self.text)}</{tag}>'


@dataclass
class Paragraph:
    """Running text."""

    text: str

    def markdown(self):
        """As Markdown."""
        return self.text

    def html(self):
        """As HTML."""
        return f"<p>{inline(self.text)}</p>"


@dataclass
class Bullets:
    """A list."""

    items: list

    def markdown(self):
        """As Markdown."""
        return "\n".join(f"- {item}" for item in self.items)

    def html(self):
        """As HTML."""
        items = "\n".join(f"<li>{inline(item)}</li>" for item in self.items)
        return f"<ul>\n{items}\n</ul>"


@dataclass
class Code:
    """Lines to type."""

    text: str

    def markdown(self):
        """As Markdown."""
        return f"```sh\n{self.text}\n```"

    def html(self):
        """As HTML."""
        return f"<pre>{html.escape(self.text)}</pre>"


@dataclass
class Table:
    """A table of texts. The first `left` columns are aligned left, the others right."""

    head: list
    rows: list = field(default_factory=list)
    left: int = 1

    def markdown(self):
        """As Markdown."""
        sides = ["---" if column < self.left else "---:" for column in range(len(self.head))]
        lines = [self.head, sides, *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def html(self):
        """As HTML."""
        head, *rows = ["".join(self._cells(tag, row)) for tag, row in self._lines()]
        body = "\n".join(f"<tr>{row}</tr>" for row in rows)
        kind = "table named" if self.left == 1 else "table"  # names stay while the rest scrolls
        return (
            f'<div class="{kind}" tabindex="0"><table>\n<thead><tr>{head}</tr></thead>\n'
            f"<tbody>\n{body}\n</tbody></table></div>"
        )

    def _lines(self):
        return [("th", self.head), *(("td", row) for row in self.rows)]

    def _cells(self, tag, row):
        for column, cell in enumerate(row):
            kind = ' class="left"' if column < self.left else ""
            yield f"<{tag}{kind}>{inline(cell)}</{tag}>"


@dataclass
class Figure:
    """Images beside each other, (file, what it shows) each, and a caption."""

    images: list
    caption: str

    def markdown(self):
        """As Markdown."""
        images = "\n".join(f"![{text}]({file})" for file, text in self.images)
        return f"{images}\n\n*{self.caption}*"

    def html(self):
        """As HTML."""
        images = "\n".join(
            f'<img src="{file}" alt="{html.escape(text)}">' for file, text in self.images
        )
        caption = inline(self.caption)
        return (
            f'<figure>\n<div class="panels">\n{images}\n</div>\n'
            f"<figcaption>{caption}</figcaption>\n</figure>"
        )


@dataclass
class Schemes:
    """An image for each colour scheme, NAME-light.svg and NAME-dark.svg: what it shows, a caption."""

    name: str
    text: str
    caption: str

    def markdown(self):
        """As Markdown."""
        return f"{self._picture()}\n\n*{self.caption}*"

    def html(self):
        """As HTML."""
        caption = inline(self.caption)
        return f"<figure>\n{self._picture()}\n<figcaption>{caption}</figcaption>\n</figure>"

    def _picture(self):
        return (
            f'<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="{self.name}-dark.svg">\n'
            f'  <img src="{self.name}-light.svg" alt="{html.escape(self.text)}">\n</picture>'
        )


def to_markdown(blocks, note):
    """The document as Markdown, a note for those who read its source on top."""
    return "\n\n".join([f"<!-- {note} -->", *(block.markdown() for block in blocks)]) + "\n"


def to_html(blocks, note):
    """The document as a page."""
    body = "\n".join([f"<!-- {note} -->", *(block.html() for block in blocks)])
    return PAGE.format(title=html.escape(blocks[0].text), style=STYLE, body=body)
