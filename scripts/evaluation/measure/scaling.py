# SPDX-License-Identifier: BSD-3-Clause
"""What the scaling factor k does to accuracy and memory: fp16, + and -, data set II."""

from evaluation.measure import accuracy

DATA_SET, GROUP, FORMAT = "II", "+,-", "fp16"
SCALES = [2**n for n in range(11)]
QUICK_SCALES = [1, 8, 64, 512, 1024]


def set_name(scale, suffix=""):
    """The table set of that scale; suffix "_floor" for the paper's rounding."""
    return f"{FORMAT}_k{scale}{suffix}"


def run(build, library, cells, scales, progress):
    """Median and average accuracy of each table set, by its name, from the switch."""
    cells = [cell for cell in cells if cell.key == f"{FORMAT} {GROUP} {DATA_SET}"]
    facts, lanes = {}, 0
    for number, scale in enumerate(scales):
        progress.update(number / len(scales))
        for suffix in ("", "_floor"):
            name = set_name(scale, suffix)
            measured, sent = accuracy.run(build, library, {FORMAT: name}, cells)
            (facts[name],) = measured.values()
            lanes += sent["lanes"]
    return facts, lanes
