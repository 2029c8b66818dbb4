# SPDX-License-Identifier: BSD-3-Clause
"""The server of libnetfc-allreduce's own tests."""

import contextlib
import subprocess

import switch

SERVER = switch.BUILD / 'tests' / 'allreduce' / 'allreduce_serve'


@contextlib.contextmanager
def serving(within=(), **options):
    """A server; gives its address, on this machine. Options are those of the program, with _ for -.

    within: a command that runs the one behind it.
    """
    words = [str(word) for name, value in options.items()
             for word in ('--' + name.replace('_', '-'), value)]
    with subprocess.Popen([*within, SERVER, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            port = process.stdout.readline().strip()
            assert port and port == str(options.get('port', port)), 'it ended, or took another port'
            yield f'127.0.0.1:{port}'
        finally:
            process.stdin.close()
            process.wait(100)
