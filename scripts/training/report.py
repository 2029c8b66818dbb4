# SPDX-License-Identifier: BSD-3-Clause
"""The report of train-demo: a page in Markdown, and its plots."""

import statistics

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # pylint: disable=wrong-import-position

from training.digits import TESTED  # pylint: disable=wrong-import-position

TITLES = {"netfc": "the switch, `netfc`", "gloo": "gloo, float32",
          "integers": "scaled integers (10,000)", "tables": "tables `fp16_k1024`, one by one"}


def write(figures, path):
    """Writes the page, and plots into a folder of its name beside it."""
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    draw(figures, "losses", "loss", folder / "loss.svg", "linear")
    draw(figures, "errors", "relative error of the gradients", folder / "error.svg", "log")
    path.write_text("\n".join(page(figures, folder.name)) + "\n", encoding="utf-8")


def draw(figures, what, label, path, scale):
    """A curve over the steps for each way; an error of 0 cannot be drawn on a log scale."""
    pyplot.rcParams["svg.hashsalt"] = "netfc"
    figure, axes = pyplot.subplots(figsize=(7, 3.5), layout="constrained")
    for name, way in figures["ways"].items():
        title = TITLES[name].replace("`", "")
        if scale == "log" and max(way[what]) == 0:
            title += ": 0 in all steps"
        axes.plot(way[what], label=title, linewidth=1)
    axes.set(xlabel="step", ylabel=label, yscale=scale)
    axes.legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def page(figures, folder):
    """Its lines."""
    yield "# Training with the switch's sums"
    yield ""
    yield ("Made by `scripts/train-demo --report`: do not edit. With `--p4` `scripts/train-demo` "
           "trains through the [P4 program](p4.md#training-through-it) on BMv2 instead.")
    yield ""
    version = figures["ways"]["netfc"]["torch"]
    yield (f"{figures['workers']} workers in network namespaces train a convolutional network of "
           f"{figures['weights']:,} weights on scikit-learn's digits for {figures['steps']} steps, "
           f"with PyTorch {version} on {figures['cpus']} CPUs. The switch is between them, whoever "
           "adds up their gradients; runs begin with the same weights unless it is said.")
    yield ""
    yield from sums(figures, folder)
    yield from repetitions(figures)
    yield from times(figures)


def sums(figures, folder):
    """What each way makes of the gradients."""
    yield "## Gradients"
    yield ""
    yield ("Each mean of the workers' gradients is compared with the exact mean, rounded once to "
           "float32, computed from what the workers gave. The error of a step is the norm of the "
           "difference over the norm of the exact means. Scaled integers are what earlier switches "
           "add up, the paper's tables add fp16 one worker after the other. Bytes are those that a "
           "worker's link has carried, both ways, from the first to the last step.")
    yield ""
    networks = len(figures["ways"]["netfc"]["accuracies"])
    yield (f"Accuracy is that on {TESTED} images that nothing is trained on, of {networks} "
           "networks that begin with other weights: their mean, the least and the greatest.")
    yield ""
    yield ("| added up by | accuracy | least..greatest | not the exact mean | "
           "median error of a step | bytes |")
    yield "|---|---|---|---|---|---|"
    for name, way in figures["ways"].items():
        error = statistics.median(way["errors"])
        yield (f"| {TITLES[name]} | {percent(statistics.mean(way['accuracies']))} | "
               f"{percent(min(way['accuracies']))}..{percent(max(way['accuracies']))} | "
               f"{way['wrong']:,} of {way['gradients']:,} | {f'{error:.1e}' if error else 0} | "
               f"{way['link_bytes']:,} |")
    yield ""
    yield f"![Loss over the steps]({folder}/loss.svg)"
    yield ""
    yield f"![Error of the gradients over the steps]({folder}/error.svg)"
    yield ""


def repetitions(figures):
    """Whether other runs give the same weights."""
    yield "## The same bits again"
    yield ""
    yield ("In each run workers are late by other delays, up to 4 ms a step. \"Dealt out "
           "differently\": the parts of the data go to the ranks in the reverse order. Another number "
           "of ranks gives other weights: each rank rounds the gradients of its own part.")
    yield ""
    yield "| another run | weights that differ from the first's |"
    yield "|---|---|"
    for name, count in figures["differing"].items():
        yield f"| {name} | {count:,} of {figures['weights']:,} |"
    yield ""


def times(figures):
    """How long a step takes."""
    yield "## Time of a step"
    yield ""
    yield (f"Medians of {figures['timed_steps']} steps, of the slowest worker: forward and "
           "backward pass, reduction, update of the weights. Workers have the CPUs that the "
           "switch's lcore does not have. Limited links are token buckets, each way; links without a "
           "limit show how fast this machine's CPUs move packets; vectors of many megabytes, which are "
           "not among these, go faster by gloo there.")
    yield ""
    yield "| weights | link | netfc | gloo | netfc / gloo |"
    yield "|---|---|---|---|---|"
    for row in figures["timed"]:
        netfc, gloo = (row["seconds"][name] for name in ("netfc", "gloo"))
        yield (f"| {row['values']:,} | {link(row['megabits'])} | {1e3 * netfc:.1f} ms | "
               f"{1e3 * gloo:.1f} ms | {netfc / gloo:.2f} |")


def percent(share):
    """A share, for people."""
    return f"{100 * share:.2f} %"


def link(megabits):
    """A link's speed, for people."""
    return f"{megabits} Mbit/s" if megabits else "no limit"
