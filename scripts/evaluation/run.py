# SPDX-License-Identifier: BSD-3-Clause
"""Rerun the NetFC paper's evaluation through the running switch, and write the report."""

import json

import numpy

from command import ROOT, CommandLine, folder_to_write, write_json
from evaluation.measure import (
    accuracy, baseline, binary32, datasets, functions, measures, memory, narrow, pairs, rounding,
    scaling, speed, training
)
from evaluation.progress import Progress
from evaluation.report import figures, page
from evaluation.report.narrow import narrow_table
from netfc import FORMATS, Library

SETS = {
    "fp16": ["fp16_k1024", "fp16_k1024_floor", "fp16_exact"],
    "posit16": ["posit16_k512", "posit16_k512_floor", "posit16_exact"],
    "bf16": ["bf16_k128", "bf16_k128_floor", "bf16_exact"],
    "posit16_es2": ["posit16_es2_k256", "posit16_es2_k256_floor", "posit16_es2_exact"],
}
KINDS = {"plain": 0, "floor": 1, "correct": 2}
SMALL_SETS = {"fp16": ["fp16_exact_small"], "bf16": ["bf16_exact_small"]}
# Those that all pairs go through, and those that a reader may choose from: the first one is the
# others' peer.
COUNTED = {name: [*sets, *SMALL_SETS.get(name, [])] for name, sets in SETS.items()}
CHOICE = {name: [plain, *more] for name, (plain, _, *more) in COUNTED.items()}
# Of the tables by which powers are computed: each format's largest k.
POW_SCALES = {"fp16": 1024, "posit16": 512, "bf16": 128, "posit16_es2": 256}
STEPS = 11


def parsed():
    """The command line."""
    parser = CommandLine("evaluate", __doc__)
    variant = parser.add_mutually_exclusive_group()
    variant.add_argument("--quick", action="store_true",
                         help="a sample of the 2^32 pairs, fewer scaling "
                         "factors, the speed of additions only; the rest is the same")
    variant.add_argument("--functions", action="store_true",
                         help="print the section on functions of one "
                         "number, half a minute, and write nothing")
    variant.add_argument("--narrow", action="store_true",
                         help="print how exact the paper's tables would "
                         "be in formats of 8 bits, seconds, and write nothing")
    parser.add_argument("--output", type=folder_to_write,
                        help="where the report goes (default: docs, or BUILD/evaluation with --quick)")
    parser.add_argument("--work", type=folder_to_write,
                        help="for data sets, results, and counts of pairs, "
                        "which are used again if they are there (default: BUILD/evaluation/work)")
    arguments = parser.parse_args()
    evaluation = arguments.build / "evaluation"
    arguments.work = arguments.work or evaluation / "work"
    arguments.output = arguments.output or (evaluation if arguments.quick else ROOT / "docs")
    return parser, arguments


def make_data(folder, formats):
    """All data sets by format and name, written to files that are checked; the gradients."""
    gradients, facts = training.gradient_pairs()
    data = {item.name: datasets.make(item, gradients) for item in formats}
    for item in formats:
        datasets.check(list(datasets.write(folder, item, data[item.name])))
    return data, gradients, facts


def measure_accuracy(build, library, cells):
    """The accuracy of plain, floor and correctly rounded sets, from the switch."""
    facts, sent = {}, {"packets": 0, "lanes": 0}
    for kind, index in KINDS.items():
        tables = {name: sets[index] for name, sets in SETS.items()}
        facts[kind], more = accuracy.run(build, library, tables, cells)
        sent = {what: sent[what] + more[what] for what in sent}
    return facts, sent


def measure_cancelled(formats, data):
    """The share of sums that lose three leading bits or more, by "format data set"."""
    return {f"{item.name} {name}": float(numpy.mean(measures.cancelled_bits(item, operands) >= 3))
            for item in formats for name, operands in data[item.name].items()}


def measure(arguments, progress):
    """Everything, as what JSON can hold."""
    build, formats = arguments.build, list(FORMATS.values())
    scales = scaling.QUICK_SCALES if arguments.quick else scaling.SCALES
    step = pairs.QUICK_STEP if arguments.quick else 1
    library = Library(build)
    results = {"quick": arguments.quick, "scales": scales, "step": step}

    progress.start("Data sets: random numbers, and gradients of a network in training")
    data, gradients, results["training"] = make_data(arguments.work, formats)
    progress.start("Expected results, by numpy and by libnetfc")
    cells = accuracy.make_cells(formats, data)
    results["expected"] = accuracy.check_expected(library, cells)
    progress.start("Accuracy: data sets through the running switch")
    results["accuracy"], results["sent"] = measure_accuracy(build, library, cells)
    progress.start("Float-to-integer, and how the paper may have rounded")
    fp16 = FORMATS["fp16"]
    results["baseline"] = {name: baseline.measure(fp16, data["fp16"][name])
                           for name in datasets.NAMES}
    results["rounding"] = rounding.run(cells)
    results["cancelled"] = measure_cancelled(formats, data)
    progress.start("Scaling factors through the running switch")
    results["scaling"], lanes = scaling.run(build, library, cells, scales, progress)
    results["sent"]["lanes"] += lanes
    progress.start("binary32")
    results["binary32"] = binary32.run(build, library, arguments.work, gradients)
    progress.start("Memory")
    # The paper's fp16 sets of all scales, and the other formats' largest.
    names = [*map(scaling.set_name, scales), *(name for some in SETS.values() for name in some[:2])]
    results["memory"] = memory.run(build, library, dict.fromkeys(names))
    results["memory_correct"] = memory.run(
        build, library, [name for sets in CHOICE.values() for name in sets[1:]])
    progress.start("Speed")
    operands = {name: some["I"] for name, some in data.items()}
    ops = speed.QUICK_OPS if arguments.quick else speed.OPS
    results["speed"] = speed.run(build, arguments.work, ops, CHOICE, operands)
    progress.start("Functions of one number, and powers")
    results["functions"] = functions.run(library, POW_SCALES)
    progress.start("All pairs of operands" if step == 1 else "A sample of all pairs of operands")
    results["pairs"] = pairs.run(build, arguments.work, COUNTED, step, progress)
    return results


def run(arguments):
    """Measure, and write the report."""
    progress = Progress(STEPS)
    results = measure(arguments, progress)
    progress.start("Report")
    for path in filter(None, (arguments.work / "results.json", arguments.json)):
        write_json(path, results)
    figures.draw(arguments.output / "evaluation", results, SETS)
    page.write(arguments.output, results, SETS, CHOICE)
    progress.finish()
    print(f"{arguments.output}/evaluation.md, evaluation.html")


def main():
    """The command line."""
    parser, arguments = parsed()
    if arguments.functions:
        found = functions.run(Library(arguments.build), POW_SCALES)
        print(page.functions_section(found), end="")
        return
    if arguments.narrow:
        print(narrow_table(narrow.run(Library(arguments.build))))
        return
    for folder in (arguments.work, arguments.output / "evaluation"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            parser.fail(f"{folder}: {error.strerror}")
    with parser.told():
        try:
            run(arguments)
        except OSError as error:
            place = error.filename or f"{arguments.work} or {arguments.output}"
            parser.fail(f"{place}: {error.strerror}")


if __name__ == "__main__":
    main()
