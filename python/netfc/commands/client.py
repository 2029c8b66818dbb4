# SPDX-License-Identifier: BSD-3-Clause
"""The command line of the NetFC client."""

import argparse
import io
import json
import math
import sys

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from netfc import formats, protocol
from netfc._native.arrays import Encodings
from netfc.channel import RETRIES, TIMEOUT, WINDOW
from netfc.client import MTU, Client
from netfc.commands._parser import DONE, FAILED, WRONG_USAGE, Usage, real, whole
from netfc.commands._program import program
from netfc.errors import ClientError
from netfc.functions import FixedPoint, slots_of

PROGRAM = "netfc-client"
SHOWN_CHARACTERS = 60
OPERAND_NAMES = ("x", "y", "addend")
Slot = formats.Format | FixedPoint

DESCRIPTION = """\
Compute X OP Y, X * Y + Z (fma), or a function of X, in a NetFC switch and print the result. Without
operands, read them from FILE or standard input, one "X Y" per line, and print one result per line;
empty lines and lines that start with # are skipped. Operands are decimal numbers, inf, nan, or
encodings such as 0x3c00. FUNCTION is rsqrt, exp, to_bf16 and so on (see netfc-tables list
--functions), or the name of your own function, if the switch has loaded it. `query IPV4` asks a
switch that detects Slowloris for its counters of that destination."""

EPILOG = """\
Exception flags of the switch (invalid, division by zero, overflow, underflow) are printed on
standard error. Exit status: 0 done, 1 wrong usage or input, 2 no reply or an error of the switch.
An operand that looks like an option, such as -inf, must follow a lone --.
Example: netfc-client add 1.5 2.25 --server 10.0.0.2"""


class UsageError(Exception):
    """What is wrong with the command line or the input."""


class InputError(Exception):
    """Why standard input cannot be read."""


class Parser(Usage):
    """A parser whose errors are ours."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see --help")


def make_parser() -> Parser:
    """The command line."""
    parser = Parser(
        prog=PROGRAM,
        description=DESCRIPTION,
        epilog=EPILOG,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=f"{PROGRAM} add|sub|mul|div|min|max|compare [X Y] --server ADDRESS [OPTION...]\n"
        f"       {PROGRAM} fma [X Y Z] --server ADDRESS [OPTION...]\n"
        f"       {PROGRAM} FUNCTION [X] --server ADDRESS [OPTION...]\n"
        f"       {PROGRAM} query IPV4 --server ADDRESS [OPTION...]",
    )
    parser.add_argument("op", metavar="OP", help=argparse.SUPPRESS)
    parser.add_argument("operands", metavar="X Y", nargs="*", help=argparse.SUPPRESS)
    option = parser.add_argument
    option(
        "--server",
        metavar="ADDRESS",
        required=True,
        help="the switch, or a host behind it: a name, an IPv4 or an IPv6 address",
    )
    option("--port", type=whole, default=protocol.UDP_PORT, help="UDP port (%(default)s)")
    *most, last = formats.NUMBER_FORMATS
    option("--format", default="fp16", help=f"{', '.join(most)} or {last} (%(default)s)")
    option("--input", metavar="FILE", help="read operands from FILE")
    option(
        "--bits",
        action="store_true",
        help="operands and results are encodings: one to four hex digits, of fp32 up to eight,"
        " of 8 bits up to two, with or without 0x",
    )
    option("--json", action="store_true", help="print one JSON object")
    option("--mtu", type=whole, default=MTU, help="largest packet in bytes (%(default)s)")
    option(
        "--lanes", type=whole, help="maximum number of lanes in a datagram (as many as fit the MTU)"
    )
    option(
        "--timeout",
        metavar="SECONDS",
        type=real,
        default=TIMEOUT,
        help="seconds after which a datagram counts as lost and is sent again (%(default)s)",
    )
    option(
        "--retries",
        type=whole,
        default=RETRIES,
        help="how many times it is sent again (%(default)s)",
    )
    option("--window", type=whole, default=WINDOW, help="datagrams in flight (%(default)s)")
    return parser


def _digits(slot: Slot) -> int:
    """Hex digits of an encoding."""
    return 2 * slot.encodings.itemsize


# Of encodings, by their hex digits.
EXAMPLES = {2: ("two", "38"), 4: ("four", "3c00"), 8: ("eight", "3f800000")}


class Operands:
    """A growing column of operands, parsed one by one, encoded together."""

    def __init__(self, number_format: Slot, bits_only: bool):
        self._format = number_format
        self._bits_only = bits_only
        self._numbers: list[float] = []
        # By index: operands that were no numbers but encodings.
        self._encodings: dict[int, int] = {}

    @property
    def syntax(self) -> str:
        """What an operand looks like."""
        most, example = EXAMPLES[_digits(self._format)]
        if self._bits_only:
            return f"one to {most} hex digits, such as {example}"
        return f"a decimal number, inf, nan, or an encoding such as 0x{example}"

    def append(self, text: str) -> bool:
        """Add an operand; returns whether the text was one."""
        if self._bits_only and not text.lower().startswith("0x"):
            text = "0x" + text
        bits = formats.parse_bits(text, _digits(self._format))
        number = 0.0 if bits is not None else formats.parse_number(text)
        if number is None or (self._bits_only and bits is None):
            return False
        if bits is not None:
            self._encodings[len(self._numbers)] = bits
        self._numbers.append(number)
        return True

    def bits(self) -> Encodings:
        """The encodings."""
        bits = self._format.encode(self._numbers)
        bits[list(self._encodings)] = list(self._encodings.values())
        return bits


COUNTS = {1: "one operand", 2: "two operands", 3: "three operands"}


def read_lanes(lines: Iterable[str], source: str, columns: list[Operands]) -> None:
    """Append the operands of each line to the columns, one to each."""
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        appended = (column.append(word) for column, word in zip(columns, words))
        if len(words) != len(columns) or not all(appended):
            shown = line.rstrip("\r\n")
            shown = shown[:SHOWN_CHARACTERS] + "..." * (len(shown) > SHOWN_CHARACTERS)
            raise UsageError(
                f"{source}, line {number}: expected {COUNTS[len(columns)]}"
                f"{', each' if len(columns) > 1 else ','}"
                f" {columns[0].syntax}, but got {shown!r}"
            )


def read_input(path: str | None, columns: list[Operands]) -> None:
    """Read operands from a file, or from standard input where path is None."""
    if path is None:
        lines = io.TextIOWrapper(sys.stdin.buffer, errors="replace")
        try:
            read_lanes(lines, "standard input", columns)
        except OSError as error:
            raise InputError(f"cannot read standard input: {error.strerror}") from error
        return
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            read_lanes(file, path, columns)
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror}") from error


def operand_count(op: str) -> int:
    """How many operands it takes: what is no operation is a function."""
    if op == "fma":
        return 3
    return 2 if op in protocol.OPS or op in protocol.EXTRA_OPS else 1


def wrong_count(op: str, count: int, given: int) -> str:
    """What is wrong with so many operands."""
    said = f"{op} takes {COUNTS[count]}, not {given}"
    if op in (*protocol.OPS, *protocol.EXTRA_OPS, *protocol.FUNCTIONS):
        return said
    return f"{said}: a function, as it is not one of {', '.join(protocol.OPS | protocol.EXTRA_OPS)}"


def read_operands(options: argparse.Namespace, slot: Slot) -> list[Encodings]:
    """The encodings x, y and z that the command line asks for, as many as there are."""
    count = operand_count(options.op)
    columns = [Operands(slot, options.bits) for _ in range(count)]
    if not options.operands:
        read_input(options.input, columns)
    elif options.input is not None:
        raise UsageError("give operands or --input FILE, not both")
    elif len(options.operands) != count:
        raise UsageError(wrong_count(options.op, count, len(options.operands)))
    else:
        for column, text in zip(columns, options.operands):
            if not column.append(text):
                raise UsageError(f"operand '{text}' is not {column.syntax}")
    return [column.bits() for column in columns]


def numbers_json(number_format: Slot, bits: Encodings) -> list[dict[str, Any]]:
    """Operands or results for programs, as netfc-tables prints them."""
    return [
        {
            "bits": f"0x{encoding:0{_digits(number_format)}x}",
            "value": value if math.isfinite(value) else number_format.text(encoding).lower(),
        }
        for encoding, value in zip(map(int, bits), map(float, number_format.decode(bits)))
    ]


def print_json(
    options: argparse.Namespace,
    client: Client,
    columns: Sequence[tuple[str, Slot, Encodings]],
) -> None:
    """One object with all lanes; columns: their names, and what is in them."""
    names = [name for name, _, _ in columns]
    lanes = zip(*(numbers_json(slot, column) for _, slot, column in columns))
    print(
        json.dumps(
            {
                "server": options.server,
                "port": options.port,
                "op": options.op,
                "format": options.format,
                "results": [dict(zip(names, lane)) for lane in lanes],
                "flags": client.flags.words,
                "datagrams": vars(client.counters),
            }
        )
    )


def compute(options: argparse.Namespace, client: Client) -> None:
    """Carry out an arithmetic operation or a function."""
    argument, result = slots_of(options.op, client.format)
    operands = read_operands(options, argument)
    if len(operands) == 1:
        z = client.function(options.op, operands[0])
    else:
        z = client.compute(options.op, *operands)
    if options.json:
        read = [(name, argument, column) for name, column in zip(OPERAND_NAMES, operands)]
        print_json(options, client, [*read, ("z", result, z)])
        return
    lines = (
        f"0x{bits:0{_digits(result)}x}" if options.bits else result.text(bits)
        for bits in map(int, z)
    )
    sys.stdout.writelines(f"{line}\n" for line in lines)
    if client.flags:
        sys.stdout.flush()
        print(f"{PROGRAM}: exceptions: {', '.join(client.flags.words)}", file=sys.stderr)


def query(options: argparse.Namespace, client: Client) -> None:
    """Carry out a query."""
    if len(options.operands) != 1 or options.input is not None or options.bits:
        raise UsageError("query takes one IPv4 address, and neither --input nor --bits")
    result = client.query(options.operands[0])
    if options.json:
        answer = {"server": options.server, "destination": options.operands[0]}
        print(json.dumps({**answer, **result._asdict()}))
    else:
        print(
            f"{result.connections} connections, {result.bytes} bytes,"
            f" {result.ratio:.8g} connections per byte"
        )


def run(arguments: Sequence[str] | None) -> None:
    """Carry out a command line."""
    options = make_parser().parse_intermixed_args(arguments)
    settings = {name: getattr(options, name) for name in ("timeout", "retries", "window")}
    with Client(
        options.server, options.port, options.format, options.mtu, options.lanes, **settings
    ) as client:
        if options.op == "query":
            query(options, client)
        else:
            compute(options, client)
    sys.stdout.flush()


@program(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """The program; returns its exit status."""
    try:
        run(arguments)
        return DONE
    except (UsageError, ValueError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return WRONG_USAGE
    except (ClientError, InputError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return FAILED
