# SPDX-License-Identifier: BSD-3-Clause
"""The report of scripts/demo training: a page in Markdown, and its plots."""

import pathlib
import statistics

from evaluation.report import document
from plots import pyplot, save
from training.digits import TESTED

TITLES = {"netfc": "the switch, `netfc`", "gloo": "gloo, float32",
          "integers": "scaled integers (10,000)", "tables": "tables `fp16_k1024`, one by one",
          "bf16": "the switch, bfloat16", "fp8": "the switch, `fp8_hook`",
          "fp8 into bf16": "the switch, `fp8_hook`, means in bfloat16"}


def write(figures, path):
    """Writes the page, and plots into a folder of its name beside it."""
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    draw(figures, "losses", "loss", folder / "loss.svg", "linear")
    draw(figures, "errors", "relative error of the gradients", folder / "error.svg", "log")
    path.write_text(page(figures, folder.name), encoding="utf-8")


def draw(figures, what, label, path, scale):
    """A curve over the steps for each way; an error of 0 cannot be drawn on a log scale."""
    figure, axes = pyplot.subplots(figsize=(7, 3.5), layout="constrained")
    for name, way in figures["ways"].items():
        title = TITLES[name].replace("`", "")
        if scale == "log" and max(way[what]) == 0:
            title += ": 0 in all steps"
        axes.plot(way[what], label=title, linewidth=1)
    axes.set(xlabel="step", ylabel=label, yscale=scale)
    axes.legend(fontsize="small")
    save(figure, path.parent, path.stem)


def page(figures, folder):
    """The text."""
    return document.render(
        pathlib.Path(__file__).parent, "training.md.j2", folder=folder, titles=TITLES,
        tested=TESTED, percent=percent, link=link, mean=statistics.mean, median=statistics.median,
        min=min, max=max, **figures,
    )


def percent(share):
    """A share as text."""
    return f"{100 * share:.2f} %"


def link(megabits):
    """A link's speed as text."""
    return f"{megabits} Mbit/s" if megabits else "no limit"
