# SPDX-License-Identifier: BSD-3-Clause
"""The server of libnetfc-allreduce's own tests."""

import contextlib
import subprocess

import switch

SERVER = switch.BUILD / 'tests' / 'allreduce' / 'allreduce_serve'


@contextlib.contextmanager
def serving(**options):
    """A server; gives its address. Options are those of the program, with _ for -."""
    words = [str(word) for name, value in options.items()
             for word in ('--' + name.replace('_', '-'), value)]
    with subprocess.Popen([SERVER, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            yield '127.0.0.1:' + process.stdout.readline().strip()
        finally:
            process.stdin.close()
            process.wait(10)
