# SPDX-License-Identifier: BSD-3-Clause
"""Programs, run to their end or until something is over."""

import contextlib
import json
import os
import signal
import subprocess
import time

TIMEOUT = 300  # seconds, on a machine that does other work, too
START_S = 60
END_S, INTERRUPTED_S = 20, 5
POLL_S = 0.02
TIMING = "tests/timing/netfc-timing"  # in a build


class CommandError(Exception):
    """What could not be done, in words."""


def with_system_programs(environment=None):
    """An environment, this process's by default, in which ethtool is found, too: not all have it in PATH."""
    environment = dict(os.environ if environment is None else environment)
    environment["PATH"] = f"{environment.get('PATH', os.defpath)}:/usr/sbin:/sbin"
    return environment


class Process(subprocess.Popen):
    """One that is not left behind where a signal comes while it is started, whose handler raises."""

    def __init__(self, *arguments, **options):
        self.pid = None
        try:
            super().__init__(*arguments, **options)
        except BaseException:
            if self.pid and self.returncode is None:
                self.kill()
                self.wait()
            raise


def command(*words, given="", patience=TIMEOUT, env=None, **options):
    """Runs a command to its end and returns what it printed. Raises CommandError with all it said.

    given: what it reads. patience: seconds that it may take; None: any. options: of
    subprocess.Popen().
    """
    words = list(map(str, words))
    with ended(Process(words, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, env=with_system_programs(env), **options)) as process:
        try:
            said, complaints = process.communicate(given, patience)
        except subprocess.TimeoutExpired as error:
            raise CommandError(f"{' '.join(words)}: not done after {patience} s") from error
    if process.returncode != 0:
        raise CommandError(f"{' '.join(words)}: exit status {process.returncode}\n{said}{complaints}".rstrip())
    return said


def errors_apart(folder):
    """Words before a program's that mpirun starts: what each rank says on stderr is a file in the folder.

    Open MPI's hands on at most 4 KB of a rank at a time, so another rank's line may come within a line.
    """
    return ["sh", "-c", 'exec "$@" 2> "$0/$$"', str(folder)]


def no_huge(megabytes):
    """EAL options for memory in ordinary pages."""
    return ["--no-huge", "-m", str(megabytes)]


def eal(name, memory, lcores, *more):
    """EAL options of a run: no device but those given, no telemetry, no words of DPDK's own.

    memory: options for it; lcores: as --lcores has them; more: options.
    """
    return [*memory, "--no-pci", "--no-telemetry", "--no-shconf", "--log-level", "*:error",
            "--file-prefix", f"netfc-{name}-{os.getpid()}", "--lcores", lcores, *more]


def any_cpu(lcores):
    """--lcores of so many on all CPUs that there are: there may be fewer of them."""
    return f"(0-{lcores - 1})@({','.join(map(str, sorted(os.sched_getaffinity(0))))})"


def timed(build, capture, tables, engine, rounds, eal_options, *options):
    """What netfc-timing tells of a capture and table sets."""
    return json.loads(command(
        build / TIMING, *eal_options, "--", "--time", capture, "--tables", tables,
        "--match", engine, "--rounds", rounds, *options, patience=None))


def wait_until(happened, complaint, process=None, log=None, patience=START_S):
    """Polls. Raises CommandError where it lasts too long, or where the process ends.

    log: the file of what the process says, which the error then has, too.
    """
    limit = time.monotonic() + patience
    while not happened():
        if time.monotonic() > limit or process is not None and process.poll() is not None:
            said = log.read_text(encoding="utf-8", errors="replace") if log else ""
            raise CommandError(f"{complaint}:\n{said}" if log else complaint)
        time.sleep(POLL_S)


@contextlib.contextmanager
def ended(process):
    """A process that has ended after the block, and what it has started with it: it is asked to, which mpirun
    and strace need, and killed if it does not."""
    with process:
        try:
            yield process
        except (KeyboardInterrupt, SystemExit) as error:
            if isinstance(error, KeyboardInterrupt) or error.code == 128 + signal.SIGINT:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(INTERRUPTED_S)  # the terminal has told it, and mpirun does not clean up if told twice
            raise
        finally:
            process.terminate()
            try:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(END_S)
            finally:
                process.kill()  # also where a signal comes meanwhile


@contextlib.contextmanager
def killed(process):
    """A process that is not there any more after the block, nor are its pipes."""
    with process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def running(*words, log, begun, patience=START_S, **options):
    """A program in the background, while the block lasts. Raises CommandError if it does not start.

    log: the file that has what it says; begun: whether it has started; options: of
    subprocess.Popen().
    """
    with log.open("w") as out:
        started = Process(list(map(str, words)), **{
            "stdin": subprocess.DEVNULL, "stdout": out, "stderr": subprocess.STDOUT, **options})
    with ended(started) as process:
        wait_until(begun, f"{words[0]} does not start", process, log, patience)
        yield process
