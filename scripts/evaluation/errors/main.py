# SPDX-License-Identifier: BSD-3-Clause
"""Compare the results of table sets, all for one format, with the correctly rounded ones for all 2^32
pairs of operands, and print what was counted as JSON.

What is correct the CPU's binary64 arithmetic says, and for a sample of the pairs netfc_exact(), too. Of
add, a sample of x - y is compared with x + -y.
"""

import argparse
import concurrent.futures.process
import os
import sys

import numpy

from evaluation.errors import sweep, tally
from evaluation.errors.numbers import ENCODINGS, OPERATIONS, Numbers
from netfc import TableSet, TableSetError
from netfc.commands._parser import DONE, FAILED, WRONG_USAGE, Parser
from netfc.commands._program import program
from netfc.errors import LibraryError

PROGRAM = "netfc-errors"
MOST_SETS, MOST_THREADS = 4, 256
OP_NAMES = "add, sub, mul or div"


def number_to(last):
    """A number from 1 on."""
    def parse(text):
        if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= last:
            raise argparse.ArgumentTypeError(f"'{text}': expected a number from 1 to {last}")
        return int(text)
    return parse


def operation(text):
    """One of the four."""
    if text not in OPERATIONS:
        raise argparse.ArgumentTypeError(f"'{text}': expected {OP_NAMES}")
    return text


def parsed(arguments):
    """The command line."""
    parser = Parser(prog=PROGRAM, description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter,
                    epilog="Exit status: 0 done, 1 wrong usage, 2 failure.")
    parser.add_argument("op", metavar="OP", type=operation, help=OP_NAMES)
    parser.add_argument("sets", metavar="SET", nargs="+", help=f"{MOST_SETS} at most")
    parser.add_argument("--step", metavar="N", type=number_to(ENCODINGS), default=1,
                        help="every N-th x only, with every y")
    parser.add_argument("--check", metavar="N", type=number_to(ENCODINGS), default=97,
                        help="the sample: every N-th pair; 1: all of them (default %(default)s)")
    parser.add_argument("--threads", metavar="N", type=number_to(MOST_THREADS),
                        default=min(os.cpu_count() or 1, MOST_THREADS),
                        help="processes; default: one for each CPU that there is")
    parser.add_argument("--progress", action="store_true", help="print the progress on stderr")
    asked = parser.parse_args(arguments)
    if len(asked.sets) > MOST_SETS:
        parser.error(f"{MOST_SETS} sets at most")
    return parser, asked


def open_sets(parser, names):
    """The table sets, which are all of one format."""
    sets = []
    for name in names:
        try:
            sets.append(TableSet(name))
        except TableSetError as error:
            parser.error(str(error))
        if sets[-1].format.bits != 16:
            parser.error(f"{name}: all pairs are taken of sets of 16 bits, not of {sets[-1].format.bits}")
        if sets[-1].format != sets[0].format:
            parser.error(f"{name}: not for the first set's format")
    return sets


def bins(counts, offset=0):
    """[bin, count], empty ones left out."""
    return [[at + offset, int(counts[at])] for at in numpy.flatnonzero(counts).tolist()]


def worst(counted, tables, op):
    """The greatest errors, each with the least pair that has it."""
    found = []
    for error, (pairs, pair) in sorted(counted.worst.items(), reverse=True):
        x, y = numpy.uint16(pair >> 16), numpy.uint16(pair & 0xFFFF)
        found.append({
            "error": None if numpy.isinf(error) else error, "pairs": pairs, "x": int(x), "y": int(y),
            "z": int(tables.compute(op, x, y)), "expected": int(tables.format.exact(op, x, y))})
    return found


def population(counted, kinds, tables, op):
    """What was counted in some of the pairs."""
    of_kind = kinds.tolist()
    evaluated = sum(of_kind[:tally.ZERO])
    exact = evaluated - counted.inexact
    accuracies, ulps = counted.accuracies.copy(), counted.ulps.copy()
    accuracies[-1] += exact
    ulps[0] += exact
    facts = {
        "pairs": sum(of_kind), "counted": evaluated, "special": of_kind[tally.SPECIAL],
        "infinite": of_kind[tally.INFINITE], "zero": of_kind[tally.ZERO],
        "left_out_wrong": counted.left_out_wrong, "overflowed": counted.overflowed,
        "loss": counted.loss / tally.LOSS_ONE, "accuracy": bins(accuracies), "ulps": bins(ulps),
        "errors": bins(counted.errors, -tally.ERROR_ONE), "worst": worst(counted, tables, op)}
    if op in sweep.SUMS:
        facts["cancellation"] = [
            {"bits": bits, "pairs": of_kind[bits], "exact": of_kind[bits] - inexact,
             "loss": loss / tally.LOSS_ONE}
            for bits, (inexact, loss) in enumerate(counted.cancelled.T.tolist())]
    return facts


def report(asked, sets, pairs, tallies):
    """Everything that was counted."""
    decimals, others = (pairs[at:at + tally.KINDS] for at in (tally.DECIMALS, tally.OTHERS))
    facts = []
    for tables, (small, rest) in zip(sets, tallies):
        rest.merge(small)
        facts.append({"set": tables.name, "all": population(rest, decimals + others, tables, asked.op),
                      "decimals": population(small, decimals, tables, asked.op)})
    return {"format": sets[0].format.name, "op": asked.op, "step": asked.step, "check": asked.check,
            "sets": facts}


def text(value):
    """JSON with all 17 digits of floats."""
    if isinstance(value, dict):
        return "{" + ",".join(f'"{name}":{text(item)}' for name, item in value.items()) + "}"
    if isinstance(value, list):
        return f"[{','.join(map(text, value))}]"
    if isinstance(value, float):
        digits = f"{value:.17g}".replace("e-0", "e-")
        return digits if set(digits) & set(".e") else f"{digits}.0"
    return "null" if value is None else f'"{value}"' if isinstance(value, str) else str(value)


@program(PROGRAM)
def main(arguments=None):
    """Runs the program. Returns its exit status."""
    parser, asked = parsed(arguments)
    try:
        sets = open_sets(parser, asked.sets)
    except LibraryError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return FAILED
    numbers = Numbers(sets[0].format)
    try:
        counted = sweep.run(sweep.Sweep(asked.op, numbers, sets, tally.Cells.of(numbers), asked.step,
                                        asked.check, asked.threads, asked.progress))
    except (sweep.WrongError, concurrent.futures.process.BrokenProcessPool, MemoryError) as error:
        print(f"{PROGRAM}: sweep: {error}", file=sys.stderr)
        return FAILED
    print(text(report(asked, sets, *counted)))
    return DONE
