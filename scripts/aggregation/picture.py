# SPDX-License-Identifier: BSD-3-Clause
"""A moving picture of one sum of scripts/demo sums: its packets in two orders, in the switch and in float32."""

import json
import math
import pathlib
import subprocess
from xml.sax.saxutils import escape

import numpy

from command import Arguments, file_to_write

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "images" / "aggregation.json"
PICTURE = FIGURES.with_name("aggregation.svg")

ROUND_S = 8.0  # one order of arrival
FIRST_S, EACH_S, FLIGHT_S = 0.6, 1.2, 0.8  # the first packet leaves, one after the other, how long each flies
WORKER = {"x": 24, "y": 70, "height": 44, "step": 58, "width": 200}
PANEL = {"x": 330, "width": 300, "height": 110}
PANELS = {"switch": 70, "float32": 192}
RESULT_X = 690

STYLE = """
    .page { fill: #ffffff; stroke: #d0d7de; }
    .box { fill: #f6f8fa; stroke: #57606a; stroke-width: 1.5; }
    .switch { fill: #ddf4ff; stroke: #0969da; stroke-width: 1.5; }
    .packet { fill: #fff8c5; stroke: #9a6700; stroke-width: 1.5; }
    text { fill: #1f2328; }
    .head { font-weight: 600; }
    .note { fill: #57606a; font-size: 14px; }
    .value { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 15px; }
    .good { fill: #116329; }
    .bad { fill: #a40e26; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117; stroke: #30363d; }
      .box { fill: #161b22; stroke: #8b949e; }
      .switch { fill: #0c2d5e; stroke: #58a6ff; }
      .packet { fill: #3b2a00; stroke: #d29922; }
      text { fill: #e6edf3; }
      .note { fill: #8b949e; }
      .good { fill: #7ee787; }
      .bad { fill: #ffa198; }
    }
    @media (prefers-reduced-motion: reduce) { * { animation: none !important; } }
"""


class Picture:
    """Elements, and when each of them is there. They repeat after so many seconds.

    first: the second that is shown first, where animations begin and where they stand still.
    """

    def __init__(self, seconds, first):
        self._seconds = seconds
        self._delay = f"-{first:g}s"
        self._elements = []
        self._moves = []

    def add(self, element):
        """An element that is always there."""
        self._elements.append(element)

    def text(self, x, y, words, style=""):
        """A line of text; gives the element."""
        return f'<text x="{x}" y="{y}" class="{style}">{escape(words)}</text>'

    def during(self, begin, end, element, last=False):
        """An element that is there from one second to another; last: and in a picture that stands still."""
        name = f"t{len(self._moves)}"
        points = [(0, 0), (begin, 1), (end, 0)] if begin > 0 else [(0, 1), (end, 0)]
        if end >= self._seconds:
            points = points[:-1] + [(self._seconds, 1)]
        frames = " ".join(f"{self._percent(at)} {{ opacity: {seen} }}" for at, seen in points)
        self._moves.append(f"@keyframes {name} {{ {frames} }}")
        self._elements.append(
            f'<g opacity="{int(last)}" style="animation: {name} {self._seconds:g}s step-end {self._delay} infinite">'
            f"{element}</g>")

    def flight(self, begin, path, element):
        """An element that flies from one place to another, and is not seen before and after that."""
        name = f"t{len(self._moves)}"
        (x, y), (to_x, to_y) = path
        end = begin + FLIGHT_S
        self._moves.append(
            f"@keyframes {name} {{"
            f" 0%, {self._percent(begin - 0.01)} {{ opacity: 0; transform: translate({x}px, {y}px) }}"
            f" {self._percent(begin)} {{ opacity: 1; transform: translate({x}px, {y}px) }}"
            f" {self._percent(end - 0.01)} {{ opacity: 1; transform: translate({to_x}px, {to_y}px) }}"
            f" {self._percent(end)}, 100% {{ opacity: 0; transform: translate({to_x}px, {to_y}px) }} }}")
        self._elements.append(
            f'<g opacity="0" transform="translate({x} {y})"'
            f' style="animation: {name} {self._seconds:g}s linear {self._delay} infinite">{element}</g>')

    def _percent(self, at):
        return f"{100 * at / self._seconds:.3f}%"

    def write(self, title, size):
        """The whole file."""
        width, height = size
        moves = "\n    ".join(self._moves)
        elements = "\n  ".join(self._elements)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-size="15"'
            " font-family=\"system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif\""
            ' role="img" aria-labelledby="title">\n'
            "  <!-- SPDX-License-Identifier: BSD-3-Clause -->\n"
            "  <!-- scripts/readme-animation draws it: change that, not this. -->\n"
            f'  <title id="title">{escape(title)}</title>\n  <style>{STYLE}    {moves}\n  </style>\n'
            f'  <rect class="page" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>\n'
            f"  {elements}\n</svg>\n")


def middle(worker):
    """Of a worker's box, where its packets leave."""
    return WORKER["y"] + worker * WORKER["step"] + WORKER["height"] / 2


def draw_still(picture, figures):
    """What does not change: workers and their values, the two that add, what came of a million sums."""
    inputs = figures["example"]["inputs"]
    picture.add(picture.text(WORKER["x"], 50, f"{len(inputs)} workers, a float32 of each", "head"))
    for worker, value in enumerate(inputs):
        top = WORKER["y"] + worker * WORKER["step"]
        picture.add(f'<rect class="box" x="{WORKER["x"]}" y="{top}" width="{WORKER["width"]}"'
                    f' height="{WORKER["height"]}" rx="6"/>')
        picture.add(picture.text(WORKER["x"] + 12, top + 28, str(worker), "note"))
        picture.add(picture.text(WORKER["x"] + 36, top + 28, f"{value:.9g}", "value"))
    names = {"switch": "the switch: exact, rounded once", "float32": "float32 additions"}
    for name, top in PANELS.items():
        picture.add(f'<rect class="{"switch" if name == "switch" else "box"}" x="{PANEL["x"]}" y="{top}"'
                    f' width="{PANEL["width"]}" height="{PANEL["height"]}" rx="6"/>')
        picture.add(picture.text(PANEL["x"] + 14, top + 28, names[name], "head"))
    count = figures["values"]
    picture.add(picture.text(RESULT_X, 50, "result", "head"))
    right = f"The switch rounds {min(figures['switch']):,} of {count:,} such sums correctly, float32"
    picture.add(picture.text(WORKER["x"], 338, f"{right} {max(figures['orders']):,}.", "note"))
    picture.add(picture.text(
        WORKER["x"], 360, f"{figures['orders_differ']:,} of the float32 sums depend on the order;"
        " the switch's never do.", "note"))


def partial_sums(inputs, order):
    """After each packet: the exact sum so far, and what float32 additions have."""
    exact, rounded, values = [], [], []
    for worker in order:
        values.append(inputs[worker])
        exact.append(math.fsum(values))
        total = numpy.float32(inputs[worker])
        rounded.append(total if not rounded else rounded[-1] + total)
    return exact, rounded


def done_after(order):
    """Seconds from the first packet's to the result's."""
    return FIRST_S + (len(order) - 1) * EACH_S + FLIGHT_S + 0.4


def draw_round(picture, number, order, figures):
    """Packets in one order, and the sums that grow."""
    inputs, begin = figures["example"]["inputs"], number * ROUND_S
    exact, rounded = partial_sums(inputs, order)
    end, last = begin + ROUND_S, number == 1
    words = "packets come in the order " + ", ".join(map(str, order))
    picture.during(begin, end, picture.text(PANEL["x"], 50, words, "head"), last)
    for place, worker in enumerate(order):
        leaves = begin + FIRST_S + place * EACH_S
        comes = leaves + FLIGHT_S
        until = comes + EACH_S if place + 1 < len(order) else end
        for name, sums in (("switch", exact), ("float32", rounded)):
            top = PANELS[name]
            picture.flight(leaves, ((WORKER["x"] + WORKER["width"] + 6, middle(worker) - 11),
                                    (PANEL["x"] - 46, top + PANEL["height"] / 2 - 11)),
                           '<rect class="packet" width="40" height="22" rx="4"/>'
                           + picture.text(15, 16, str(worker), "note"))
            shown = f"{sums[place]:.15f}…" if name == "switch" else f"{sums[place]:.9g}"
            picture.during(comes, until, picture.text(PANEL["x"] + 14, top + 64, shown, "value"),
                           last and until == end)
            words = "sum of " + ", ".join(map(str, order[:place + 1]))
            picture.during(comes, until, picture.text(PANEL["x"] + 14, top + 92, words, "note"),
                           last and until == end)
    done = begin + done_after(order)
    results = {"switch": numpy.float32(exact[-1]), "float32": rounded[-1]}
    assert results["switch"] == figures["example"]["switch"], "the switch has another sum"
    assert results["float32"] == numpy.float32(figures["example"]["orders"][number]), "another order"
    for name, result in results.items():
        style = "good" if result == results["switch"] else "bad"
        line = PANELS[name] + 44 + 32 * number
        picture.during(done, 2 * ROUND_S, picture.text(RESULT_X, line, f"{result:.9g}", f"value {style}"),
                       True)


def draw(figures):
    """The picture's file."""
    workers = list(range(len(figures["example"]["inputs"])))
    picture = Picture(2 * ROUND_S, first=ROUND_S + done_after(workers) + 0.1)
    draw_still(picture, figures)
    draw_round(picture, 0, workers, figures)
    draw_round(picture, 1, workers[::-1], figures)
    title = "One sum of four workers: packets in two orders give the same bits in the switch, not in float32"
    return picture.write(title, (860, 380))


def main():
    """Draws, and before that runs the demonstration where that is asked for."""
    parser = Arguments("readme-animation", __doc__)
    parser.add_argument("--run", action="store_true", help="run scripts/demo sums, and record its figures")
    parser.add_argument("--output", type=file_to_write, default=PICTURE)
    options = parser.parse_args()
    if options.run:
        subprocess.run([ROOT / "scripts" / "demo", "sums", "--json", FIGURES], check=True)
        keep = json.loads(FIGURES.read_text(encoding="ascii"))
        keep = {name: keep[name] for name in ("values", "switch", "orders", "orders_differ", "example")}
        FIGURES.write_text(json.dumps(keep, indent=1) + "\n", encoding="ascii")
    options.output.write_text(draw(json.loads(FIGURES.read_text(encoding="ascii"))), encoding="utf-8")


if __name__ == "__main__":
    main()
