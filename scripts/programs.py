# SPDX-License-Identifier: BSD-3-Clause
"""The programs of the build, run to their end as measurements need them."""

import os
import subprocess


class ProgramError(Exception):
    """A program did not start, failed, or did not do what it is measured for."""


def no_huge(megabytes):
    """EAL options for memory in ordinary pages."""
    return ["--no-huge", "-m", str(megabytes)]


def eal(name, memory, lcores, *more):
    """EAL options of a run: no device but those given, no telemetry, no words of DPDK's own.

    memory: options for it; lcores: as --lcores has them; more: options.
    """
    return [*memory, "--no-pci", "--no-telemetry", "--no-shconf", "--log-level", "*:error",
            "--file-prefix", f"netfc-{name}-{os.getpid()}", "--lcores", lcores, *more]


def run(*words, **options):
    """What a command prints. options: of subprocess.run(). Raises ProgramError with all it said."""
    words = list(map(str, words))
    done = subprocess.run(words, text=True, capture_output=True, stdin=subprocess.DEVNULL,
                          check=False, **options)
    if done.returncode != 0:
        raise ProgramError(f"{' '.join(words)}: exit status {done.returncode}\n"
                           f"{done.stdout}{done.stderr}")
    return done.stdout
