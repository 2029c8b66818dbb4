# SPDX-License-Identifier: BSD-3-Clause
"""The program that writes table sets as entries for the P4 programs."""

import argparse
import json
import keyword
import os
import sys
from collections.abc import Iterator, Sequence

from netfc import aggregation, protocol
from netfc._replacement import replacing
from netfc.commands._parser import DONE, FAILED, WRONG_USAGE, Parser, udp_port, whole
from netfc.commands._program import program
from netfc.errors import LibraryError, TableSetError
from netfc.formats import Format
from netfc.functions import Function
from netfc.p4 import requests, write
from netfc.p4.aggregate import aggregate_tables
from netfc.p4.exact import exact_tables
from netfc.p4.fp32 import fp32_tables
from netfc.p4.log import log_tables
from netfc.p4.slowloris import slowloris_tables
from netfc.p4.source import Impossible
from netfc.p4.table import Table
from netfc.tables import TableSet

PROGRAM = "netfc-p4"
TARGETS = "bmv2", "p4runtime", "bfrt", "bfrt-json"
SUMMED = "fp16", "int32", "fp8_e4m3"
MAX_FUNCTIONS = 8
SET_SUFFIX, FUNCTION_SUFFIX = ".netfc", ".netfcfun"

DESCRIPTION = """\
Write the table set SET, a name or a file, as entries for the programs in p4/; or the entries of the
programs that aggregate, except those of jobs, which p4/jobs makes."""


class Mistake(Exception):
    """What is wrong with what the user has asked for."""


def identifier(text: str) -> str:
    """A P4 program's name, which is an attribute in Tofino's shell."""
    if not text.isascii() or not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"'{text}': expected the name of a P4 program")
    return text


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = Parser(
        prog=PROGRAM,
        usage="%(prog)s --target TARGET [OPTION...] SET\n"
        "       %(prog)s --target TARGET [OPTION...] --aggregate KIND",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("tables", nargs="*", metavar="SET", help=argparse.SUPPRESS)
    parser.add_argument(
        "-t",
        "--target",
        choices=TARGETS,
        required=True,
        help="entries as commands for simple_switch_CLI; as a WriteRequest in protobuf's text "
        "format; as a Python program for Tofino's runtime shell; as JSON for it",
    )
    parser.add_argument(
        "-l",
        "--layout",
        choices=("direct", "compact"),
        default="direct",
        help="layout that the program was compiled for (default %(default)s)",
    )
    parser.add_argument(
        "-n",
        "--lanes",
        metavar="N",
        type=whole,
        help="lanes that the program computes, 1 to 8 (default 1); of fp8 an even number, 2 to 40 "
        "(default 2); with --aggregate 1 to 32 (default 1), of fp8_e4m3 a multiple of 4 up to 64 "
        "(default 4)",
    )
    parser.add_argument(
        "-p",
        "--port",
        metavar="PORT",
        type=udp_port,
        help=f"UDP port of requests (default {protocol.UDP_PORT}; "
        f"with --aggregate {aggregation.UDP_PORT})",
    )
    parser.add_argument(
        "--aggregate",
        choices=("results", "sums"),
        help="entries of a program that rounds the results of aggregations; or of one that leaves "
        "that to the workers (NETFC_SUMS, and Tofino)",
    )
    parser.add_argument("--format", choices=SUMMED, help="format of the values (default fp16)")
    parser.add_argument(
        "-f",
        "--functions",
        metavar="NAMES",
        help="functions of one number (netfc-tables list --functions), or files of your own, "
        "separated by commas, for a program with as many (NETFC_FUNCTIONS)",
    )
    parser.add_argument(
        "--slowloris",
        action="store_true",
        help="also write the tables of a program with NETFC_SLOWLORIS",
    )
    parser.add_argument(
        "--up-to",
        choices=("sub", "mul", "div"),
        help="fp32_exact: the last operation that the program has (default div)",
    )
    parser.add_argument(
        "--program",
        metavar="PROGRAM",
        type=identifier,
        help="name for bfrt (default netfc_tna; with --aggregate netfc_aggregate_tna)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write to FILE, and report its contents"
    )
    parser.add_argument("--json", action="store_true", help="report as JSON")
    asked = parser.parse_args(arguments)
    if asked.aggregate and asked.tables:
        parser.error("--aggregate takes no table set")
    given = {"--functions": asked.functions, "--slowloris": asked.slowloris,
             "--up-to": asked.up_to, "--layout compact": asked.layout == "compact"}  # fmt: skip
    for option, value in given.items():
        if asked.aggregate and value:
            parser.error(f"{option} is for a table set, and not for --aggregate")
    if not asked.aggregate and asked.format:
        parser.error("--format needs --aggregate")
    if not asked.aggregate and len(asked.tables) != 1:
        parser.error("name one table set")
    if asked.program and asked.target != "bfrt":
        parser.error("--program needs --target bfrt")
    if asked.json and asked.output is None:
        parser.error("--json needs --output")
    return asked


def open_set(operand: str) -> TableSet:
    """A table set by its name, or from a file."""
    if "/" not in operand and not operand.endswith(SET_SUFFIX):
        return TableSet(operand)
    try:
        return TableSet.load(operand)
    except OSError as error:
        raise Mistake(f"cannot load {operand}: {error.strerror}") from error


def open_functions(names: str | None, number_format: Format) -> list[tuple[int, Function]]:
    """Functions by their names, or from files of a user's own, which are numbered in their order,
    as by the switch; each with its number."""
    numbers = iter(protocol.USER_FUNCTIONS)
    found: list[tuple[int, Function]] = []
    for name in names.split(",") if names is not None else ():
        if len(found) == MAX_FUNCTIONS:
            raise Mistake(f"a program has {MAX_FUNCTIONS} functions at most")
        if name.endswith(FUNCTION_SUFFIX):
            found.append((next(numbers), load_function(name, number_format)))
        elif name in protocol.FUNCTIONS:
            found.append((protocol.FUNCTIONS[name], known_function(name, number_format)))
        else:
            raise Mistake(
                f"no function '{name}'; netfc-tables list --functions has all names, and a "
                f"function of your own is named by its file, NAME{FUNCTION_SUFFIX}"
            )
        last = found[-1][1].name
        if last in (function.name for _, function in found[:-1]):
            raise Mistake(f"function '{last}' is given twice")
    return found


def known_function(name: str, number_format: Format) -> Function:
    """A function of the library's."""
    function = Function(name, number_format)
    if function.result.encodings.itemsize > number_format.encodings.itemsize:
        raise Mistake(
            f"function '{name}' has results of 32 bits, and lanes of {number_format.name} have"
            f" {number_format.bits}: no P4 program has it"
        )
    return function


def load_function(path: str, number_format: Format) -> Function:
    """A function of a user's own."""
    try:
        function = Function.load(path)
    except OSError as error:
        raise Mistake(f"function '{path}': {error.strerror}") from error
    except ValueError as error:
        raise Mistake(f"function '{path}': {error}") from error
    if function.format != number_format:
        raise Mistake(
            f"function '{path}' is one of {function.format.name}, "
            f"and the table set of {number_format.name}"
        )
    return function


def fill_in_lanes(asked: argparse.Namespace, is_narrow: bool) -> None:
    """The lanes of a program: of fp8 in pairs, of which chunks have whole words."""
    step, most, text = {
        (False, False): (1, 8, "1 to 8"),
        (False, True): (2, 40, "an even number from 2 to 40 for fp8"),
        (True, False): (1, 32, "1 to 32"),
        (True, True): (4, 64, "a multiple of 4 up to 64 for fp8_e4m3"),
    }[bool(asked.aggregate), is_narrow]
    if asked.lanes is None:
        asked.lanes = step
    if not step <= asked.lanes <= most or asked.lanes % step:
        raise Mistake(f"--lanes {asked.lanes}: expected {text}")


def lane_tables(asked: argparse.Namespace, tables: TableSet) -> list[Table]:
    """The tables of a lane."""
    if asked.layout == "compact" and tables.family != "log":
        raise Impossible(
            "only the paper's sets have a compact layout; it has the direct layout only"
        )
    if tables.format.bits == 8:
        return requests.fp8_tables(tables)
    if tables.format.bits == 32:
        return fp32_tables(tables, asked.up_to or "div")
    if tables.family == "log":
        return log_tables(tables, asked.layout)
    return exact_tables(tables)


def set_program(asked: argparse.Namespace, tables: TableSet) -> list[Table]:
    """All tables of a program that computes."""
    if asked.functions is not None and tables.format.bits != 16:
        name = "fp8" if tables.format.bits == 8 else tables.format.name
        raise Impossible(f"programs of {name} have no functions (--functions)")
    functions = open_functions(asked.functions, tables.format)
    fill_in_lanes(asked, tables.format.bits == 8)
    if asked.up_to and tables.format.bits != 32:
        raise Impossible("only programs of fp32_exact have fewer operations (--up-to)")
    if asked.slowloris and tables.format.name != "fp16":
        raise Impossible("queries are answered in fp16: --slowloris needs a set of that format")
    last_op, port = asked.up_to or "div", asked.port or protocol.UDP_PORT
    return [
        requests.request_table(tables, port, last_op, functions),
        *requests.function_tables(functions),
        *lane_tables(asked, tables),
        *(slowloris_tables() if asked.slowloris else []),
        requests.loaded_table(tables, asked.layout, asked.slowloris, last_op, asked.lanes),
    ]


def filled(asked: argparse.Namespace) -> tuple[str, list[Table]]:
    """What is exported, human-readable, and all tables of its program."""
    if not asked.aggregate:
        tables = open_set(asked.tables[0])
        try:
            return tables.name, set_program(asked, tables)
        except Impossible as error:
            raise Mistake(f"cannot export {tables.name}: {error}") from error
    form, is_tofino = asked.format or "fp16", asked.target.startswith("bfrt")
    fill_in_lanes(asked, form == "fp8_e4m3")
    if asked.aggregate == "results" and is_tofino:
        raise Mistake("programs for Tofino do not round: --aggregate sums")
    port = asked.port or aggregation.UDP_PORT
    name = "aggregation" if form == "fp16" else f"aggregation of {form}"
    return name, aggregate_tables(asked.aggregate, form, asked.lanes, port, is_tofino)


def texts(asked: argparse.Namespace, name: str, tables: Sequence[Table]) -> Iterator[str]:
    """The entries as the target takes them, piece by piece."""
    if asked.target == "bfrt":
        default = "netfc_aggregate_tna" if asked.aggregate else "netfc_tna"
        return write.bfrt(tables, asked.lanes, name, asked.program or default)
    writers = {"bmv2": write.bmv2, "p4runtime": write.p4runtime, "bfrt-json": write.bfrt_json}
    return writers[asked.target](tables, asked.lanes)


def report(asked: argparse.Namespace, name: str, tables: Sequence[Table]) -> None:
    """Says what has been written."""
    instances = [sum(1 for _ in table.instances(asked.lanes)) for table in tables]
    entries = sum(count * len(table) for count, table in zip(instances, tables))
    if not asked.json:
        print(f"{name}: wrote {asked.output}, {entries:,} entries in {sum(instances)} tables")
        return
    fields = {
        "set": name,
        "target": asked.target,
        "layout": asked.aggregate or asked.layout,
        "lanes": asked.lanes,
        "tables": sum(instances),
        "entries": entries,
        "file": asked.output,
    }
    print(json.dumps(fields, indent=2))


@program(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program. Returns its exit status."""
    asked = parse_arguments(arguments)
    try:
        name, tables = filled(asked)
    except (Mistake, TableSetError, LibraryError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return FAILED if isinstance(error, LibraryError) else WRONG_USAGE
    if asked.output is None:
        sys.stdout.writelines(texts(asked, name, tables))
        return DONE
    try:
        with replacing(asked.output, "ascii") as stream:
            stream.writelines(texts(asked, name, tables))
    except OSError as error:
        what = os.strerror(error.errno or 0)
        print(f"{PROGRAM}: cannot write {asked.output}: {what}", file=sys.stderr)
        return FAILED
    report(asked, name, tables)
    return DONE
