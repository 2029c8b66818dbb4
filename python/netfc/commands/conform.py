# SPDX-License-Identifier: BSD-3-Clause
"""The command line of the conformance kit."""

import argparse
import ipaddress
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence

from netfc import aggregation, protocol
from netfc._replacement import replacing
from netfc.commands._parser import DONE, FAILED, WRONG_USAGE, Parser, real, udp_port, whole
from netfc.commands._program import program
from netfc.conformance import report
from netfc.conformance.arithmetic import format_of
from netfc.conformance.catalogue import CHECKS, GROUPS
from netfc.conformance.check import Check, Outcome, Unreachable, Verdict, carried_out
from netfc.conformance.kit import Kit, Settings
from netfc.conformance.link import Limits, Traffic
from netfc.errors import LibraryError
from netfc.tables import known_sets

PROGRAM = "netfc-conform"
TIMEOUT = 5.0
MAX_SECONDS = 86400
MAX_RATE = 1_000_000_000

DESCRIPTION = """\
Ask a NetFC switch, of any kind, whether it does what docs/protocol.md says. Nothing is known of it
but what it replies. Each check is about a sentence of that page, and ends as passed, failed, not
offered, or undecided where the network or the time did not let it come to an end."""

EPILOG = """\
Exit status: 0 nothing failed, 1 wrong usage, 2 a check failed or is undecided, or no reply, 130
interrupted, 143 terminated (reports are written).
Frames as such (VLAN tags, IP options, checksums) need the right to raw sockets: root, or
CAP_NET_RAW. Example: netfc-conform 10.0.0.2 --tables fp16_k1024"""


class UsageError(Exception):
    """What is wrong with the command line."""


def seconds(text: str) -> float:
    """A time, more than none and no more than a day."""
    value = real(text)
    if not 0 < value <= MAX_SECONDS:
        raise argparse.ArgumentTypeError(f"'{text}': expected more than 0, up to {MAX_SECONDS}")
    return value


def packet_rate(text: str) -> float:
    """Packets a second."""
    value = real(text)
    if not 0 < value <= MAX_RATE:
        raise argparse.ArgumentTypeError(f"'{text}': expected more than 0, up to {MAX_RATE}")
    return value


def number(text: str) -> int:
    """A number, decimal or 0x."""
    return whole(text, 0)


def make_parser() -> Parser:
    """The command line."""
    parser = Parser(
        prog=PROGRAM,
        description=DESCRIPTION,
        epilog=EPILOG,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option(
        "addresses",
        metavar="ADDRESS",
        nargs="*",
        help="the switch: a name or an address; IPv4 and IPv6 if it has both",
    )
    option("--port", type=udp_port, default=protocol.UDP_PORT, help="UDP port (%(default)s)")
    option(
        "--aggregate-port",
        metavar="PORT",
        type=udp_port,
        default=aggregation.UDP_PORT,
        help="first UDP port of aggregation (%(default)s)",
    )
    option(
        "--tables",
        metavar="NAME[,NAME...]",
        default="",
        help="the switch's table sets, instead of finding them out",
    )
    option("--only", metavar="WHAT", default="", help=_only_help())
    option("--long", action="store_true", help="all 2^32 pairs of 16-bit operands: hours")
    option("--rate", metavar="PACKETS", type=packet_rate, help="packets per second at most")
    option(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        default=TIMEOUT,
        help="how long a reply is waited for, repeats included (%(default)s)",
    )
    option("--time", metavar="SECONDS", type=seconds, help="end after so long")
    option(
        "--job",
        metavar="JOBS",
        default="0",
        help="job to join (any), or those that were set up beforehand, by their numbers of workers:"
        " 1:1-2,2:3-20,3:21-30; each check takes another",
    )
    option("--token", metavar="NUMBER", type=number, default=0, help="its token (drawn)")
    option(
        "--sources",
        metavar="ADDRESS[,ADDRESS...]",
        default="",
        help="own addresses of worker 0, 1, ...; where a switch tells workers apart by them",
    )
    option("--list", action="store_true", help="print the checks, and do nothing")
    option("--all", action="store_true", help="also say what passed, and what is not offered")
    option("--json", action="store_true", help="print one JSON object")
    option("--junit", metavar="FILE", help="write JUnit's XML into FILE")
    option("--pcap", metavar="FILE", help="write frames of failures into FILE")
    option("--quiet", action="store_true", help="no progress on standard error")
    return parser


def _only_help() -> str:
    return f"numbers (2001, 3001-3008), words of names, or {', '.join(GROUPS)}, with commas"


def chosen(only: str) -> list[Check]:
    """The checks that --only asks for. Raises UsageError for what is none."""
    if not only:
        return list(CHECKS)
    found: set[int] = set()
    for word in only.split(","):
        numbers = {check.number for check in _matching(word.strip())}
        if not numbers:
            raise UsageError(f"--only '{word}': no such check; see --list")
        found |= numbers
    return [check for check in CHECKS if check.number in found]


def _matching(word: str) -> Iterator[Check]:
    numbers = re.fullmatch("([0-9]{1,9})(?:-([0-9]{1,9}))?", word)
    for check in CHECKS:
        if numbers:
            if int(numbers[1]) <= check.number <= int(numbers[2] or numbers[1]):
                yield check
        elif word in GROUPS:
            if check in GROUPS[word]:
                yield check
        elif word and word in check.name:
            yield check


def _can_be_built(name: str) -> bool:
    """As far as is known without libnetfc."""
    try:
        return name in known_sets()
    except LibraryError:
        return True


def settings_of(options: argparse.Namespace) -> Settings:
    """Raises UsageError for what makes no sense."""
    if not 1 <= len(options.addresses) <= 2 or "" in options.addresses:
        raise UsageError("give the switch's address, or one IPv4 and one IPv6 address")
    tables = tuple(name for name in options.tables.split(",") if name)
    for name in tables:
        if format_of(name) is None or not _can_be_built(name):
            raise UsageError(f"--tables '{name}': no table set; see netfc-tables list")
    sources = tuple(each for each in options.sources.split(",") if each)
    for each in sources:
        try:
            ipaddress.ip_address(each)
        except ValueError as error:
            raise UsageError(f"--sources '{each}': no IP address") from error
    if not 0 <= options.token < 1 << 64:
        raise UsageError("--token has 64 bits")
    job, set_up = jobs_of(options.job)
    return Settings(
        tuple(options.addresses),
        options.port,
        options.aggregate_port,
        tables,
        options.long,
        job,
        options.token,
        sources,
        set_up,
    )


def jobs_of(text: str) -> tuple[int, tuple[tuple[int, int], ...]]:
    """A job's number, or (workers, number) of jobs that are set up. Raises UsageError."""
    wrong = UsageError(f"--job '{text}': expected a number of 16 bits, or 2:3-20,3:21-30")
    try:
        if ":" not in text:
            found: list[tuple[int, int]] = [(0, number(text))]
        else:
            found = [pair for part in text.split(",") for pair in _set_up(part)]
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise wrong from error
    if not all(0 <= workers and 0 <= job <= 0xFFFF for workers, job in found):
        raise wrong
    return (0, tuple(found)) if ":" in text else (found[0][1], ())


def _set_up(part: str) -> Iterator[tuple[int, int]]:
    workers, jobs = part.split(":")
    first, _, last = jobs.partition("-")
    for job in range(number(first), min(number(last or first), 0x10000) + 1):
        yield number(workers), job


class Progress:
    """A line on standard error that is written anew, where that is a terminal."""

    def __init__(self, wanted: bool, total: int):
        self._wanted, self._total, self._done = wanted and sys.stderr.isatty(), total, 0

    def begin(self, check: Check) -> None:
        """What is looked at now."""
        self._done += 1
        self._say(f"{self._done} of {self._total}: {check.number} {check.name}")

    def end(self) -> None:
        """Nothing is."""
        self._say("")

    def _say(self, said: str) -> None:
        if self._wanted:
            print(f"\r\x1b[K{said}", end="", file=sys.stderr, flush=True)


def run(kit: Kit, checks: Sequence[Check], progress: Progress) -> list[Outcome]:
    """Carries them out; what cannot be reached any more, or is not reached when the program is
    interrupted, is undecided."""
    outcomes: list[Outcome] = []
    reason = ""
    for check in checks:
        try:
            progress.begin(check)
            if not reason:
                outcomes.append(carried_out(check, kit, time.monotonic))
                continue
        except Unreachable as error:
            reason = str(error)
        except KeyboardInterrupt:
            reason = INTERRUPTED
        outcomes.append(undecided(check, reason))
    progress.end()
    return outcomes


def undecided(check: Check, reason: str) -> Outcome:
    """What comes of a check that is not carried out, or not to its end."""
    return Outcome(check, Verdict.UNDECIDED, reason, 0.0)


def conform(options: argparse.Namespace) -> int:
    """Carries out a command line. Raises UsageError, Unreachable, and OSError of files."""
    checks = chosen(options.only)
    if options.list:
        for check in checks:
            print(f'{check.number} {check.name}: "{check.clause}" ({check.link})')
        return DONE
    settings = settings_of(options)
    for path in (options.junit, options.pcap):
        if path:  # what cannot be written is said now, not after hours
            with open(path, "ab"):
                pass
    end = time.monotonic() + options.time if options.time else None
    limits = Limits(options.rate or 0.0, options.timeout, end)
    outcomes: list[Outcome] = []
    try:
        with Kit(settings, limits) as kit:
            kit.find()
            outcomes = run(kit, checks, Progress(not options.quiet, len(checks)))
            write(options, outcomes, kit.traffic)
    except (Unreachable, KeyboardInterrupt) as error:
        if not outcomes:
            write_undecided(options, checks, str(error) or INTERRUPTED)
        raise
    if any(each.detail == INTERRUPTED for each in outcomes):
        raise KeyboardInterrupt
    return DONE if all(each.verdict in GOOD for each in outcomes) else FAILED


INTERRUPTED = "interrupted"
GOOD = (Verdict.PASSED, Verdict.NOT_OFFERED)


def write(options: argparse.Namespace, outcomes: list[Outcome], traffic: Traffic) -> None:
    """What came of it, everywhere that it was asked for, if one place is full or gone, too."""
    try:
        if options.json:
            print_json(outcomes, traffic)
        else:
            for line in [*report.text(outcomes, options.all), *report.notes(traffic)]:
                print(line)
    finally:
        write_files(options, outcomes)


def write_undecided(options: argparse.Namespace, checks: Sequence[Check], reason: str) -> None:
    """That no check was carried out, as far as somebody reads it who does not see why."""
    outcomes = [undecided(check, reason) for check in checks]
    try:
        if options.json:
            print_json(outcomes, Traffic())
    finally:
        write_files(options, outcomes)


def print_json(outcomes: list[Outcome], traffic: Traffic) -> None:
    """All of it as one object."""
    print(json.dumps(report.as_json(outcomes, traffic), indent=1))


def write_files(options: argparse.Namespace, outcomes: list[Outcome]) -> None:
    """The report and the frames, where they are asked for. Raises OSError."""
    if options.junit:
        with replacing(options.junit, "utf-8") as file:
            file.write(report.junit(outcomes))
    if options.pcap:
        report.write_pcap(options.pcap, outcomes, options.port)


@program(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """The program; returns its exit status."""
    options = make_parser().parse_args(arguments)
    try:
        return conform(options)
    except UsageError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return WRONG_USAGE
    except Unreachable as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return FAILED
    except OSError as error:
        if error.filename is None:
            raise
        print(f"{PROGRAM}: cannot write '{error.filename}': {error.strerror}", file=sys.stderr)
        return FAILED
