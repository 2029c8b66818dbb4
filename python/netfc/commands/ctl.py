# SPDX-License-Identifier: BSD-3-Clause
"""The command line of the control channel."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from netfc.commands._parser import DONE, FAILED, WRONG_USAGE, Parser, real, whole
from netfc.commands._program import program
from netfc.control import TIMEOUT, Control
from netfc.errors import ControlError

PROGRAM = "netfc-ctl"
PATH = "/run/dpdk-netfc/control"
MAX_TIMEOUT = 3600  # seconds
SUFFIXES = (".netfc", ".netfcfun")  # of files of table sets and functions
LEVELS = "emergency alert critical error warning notice info debug".split()

DESCRIPTION = """\
Change a running switch that was started with --control PATH. If a command fails, the reason is
printed and nothing changes."""
EPILOG = f"""\
The socket is --socket, else $NETFC_CONTROL, else {PATH}. Only the user that runs the switch, and
root, may open it. Exit status: 0 done, 1 wrong usage, 2 refused by the switch, or no switch.
Example: netfc-ctl tables fp16_k1024,bf16_k128"""


def setting_value(text: str) -> int | str:
    """A whole number as such, anything else as a text: the switch says what it takes."""
    try:
        return whole(text)
    except argparse.ArgumentTypeError:
        return text


def some(text: str) -> str:
    """A text that is not empty, as that of an unset variable is."""
    if not text:
        raise argparse.ArgumentTypeError("'': expected a name")
    return text


def absolute_path(text: str) -> str:
    """A path as the switch can take it, whose folder is another."""
    return os.path.abspath(some(text))


def names_or_paths(text: str) -> str:
    """NAME[,NAME...], whose paths are made absolute, unless that cannot be told in such a list."""
    absolute = [
        absolute_path(item) if "/" in item or item.endswith(SUFFIXES) else item
        for item in some(text).split(",")
    ]
    return text if "," in os.getcwd() else ",".join(absolute)


def timeout_value(text: str) -> float:
    """Seconds, more than none and no more than an hour."""
    seconds = real(text)
    if not 0 < seconds <= MAX_TIMEOUT:
        raise argparse.ArgumentTypeError(f"'{text}': expected more than 0, up to {MAX_TIMEOUT}")
    return seconds


def make_parser() -> Parser:
    """The parser of the command line."""
    parser = Parser(
        prog=PROGRAM,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--socket",
        metavar="PATH",
        default=os.environ.get("NETFC_CONTROL") or PATH,
        help="control socket of the switch, its --control",
    )
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=timeout_value,
        default=TIMEOUT,
        help="seconds to wait for an answer (default %(default)s)",
    )
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=Parser
    )
    tables = commands.add_parser("tables", help="compute with these table sets, and no others")
    tables.add_argument(
        "sets", metavar="NAME[,NAME...]", type=names_or_paths, help="as --tables takes them"
    )
    add = commands.add_parser(
        "add",
        help="compute with these table sets in addition, replacing those of the same formats",
    )
    add.add_argument(
        "sets", metavar="NAME[,NAME...]", type=names_or_paths, help="as --tables takes them"
    )
    add_functions(commands)
    setting = commands.add_parser("set", help="change a setting")
    setting.add_argument(
        "name",
        help="ageing (seconds; the bridge), idle-exit (milliseconds; "
        "0: never), or an option of the detector, such as slowloris-threshold",
    )
    setting.add_argument("value", type=setting_value, help="for slowloris-dry-run: on or off")
    log = commands.add_parser("log", help="change what is logged")
    log.add_argument("pattern", help="which of DPDK's logs, such as 'pmd.net.*' or '*'")
    log.add_argument("level", choices=LEVELS)
    add_capture(commands.add_parser("capture", help="capture packets to a file"))
    commands.add_parser(
        "show", help="show the configuration, table sets, functions and aggregations"
    )
    commands.add_parser("reload", help="do the commands in the file of the switch's --init again")
    commands.add_parser(
        "drain", help="take no new jobs, wait until the last has ended: the switch ends then"
    )
    commands.add_parser("stop", help="stop the switch")
    return parser


def function_names(text: str) -> str:
    """Names as the switch takes them: nothing for none."""
    return "" if text == "none" else names_or_paths(text)


def add_functions(commands: Any) -> None:
    """The commands functions and add-functions."""
    functions = commands.add_parser("functions", help="compute these functions, and no others")
    more = commands.add_parser(
        "add-functions",
        help="compute these functions in addition, replacing those of the same names",
    )
    functions.add_argument(
        "functions",
        metavar="NAME[,NAME...]",
        type=function_names,
        help="as --functions takes them; none: no function",
    )
    more.add_argument(
        "functions",
        metavar="NAME[,NAME...]",
        type=names_or_paths,
        help="as --functions takes them",
    )


def add_capture(parser: argparse.ArgumentParser) -> None:
    """The actions of the command capture."""
    actions = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, parser_class=Parser
    )
    start = actions.add_parser(
        "start", help="start a capture", formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    start.add_argument(
        "file",
        metavar="FILE",
        type=absolute_path,
        help="pcapng file, which must not exist yet; the switch creates it, with its own rights",
    )
    start.add_argument(
        "--snaplen",
        metavar="BYTES",
        type=whole,
        default=2048,
        help="bytes to keep of each packet, 14 to 65000",
    )
    start.add_argument(
        "--packets", metavar="N", type=whole, default=0, help="end after N packets; 0: no limit"
    )
    start.add_argument(
        "--bytes",
        metavar="N",
        type=whole,
        default=100000000,
        help="end before the file exceeds N bytes; 0: no limit",
    )
    actions.add_parser("stop", help="end the capture")
    actions.add_parser("show", help="show the capture that is running, or the last one")


def wait_for_end(control: Control, jobs: int) -> None:
    """Waits until a switch that drains has ended."""
    try:
        print(f"{PROGRAM}: jobs to end: {jobs}", file=sys.stderr)
        control.wait_for_end()
    except KeyboardInterrupt:
        print(f"{PROGRAM}: the switch goes on to drain", file=sys.stderr)
        raise


@program(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program. Returns its exit status."""
    fields = vars(make_parser().parse_args(arguments))
    path, timeout = fields.pop("socket"), fields.pop("timeout")
    try:
        with Control(path, timeout) as control:
            command = fields.pop("command")
            answer = control.do(command, **fields)
            if command == "drain":
                wait_for_end(control, answer.pop("jobs"))
    except ControlError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return FAILED
    except ValueError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return WRONG_USAGE
    if answer:
        print(json.dumps(answer, indent=2))
    return DONE
