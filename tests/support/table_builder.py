# SPDX-License-Identifier: BSD-3-Clause
"""Runs netfc-tables."""

import json
import os
import subprocess

import switch

PROGRAM = switch.TABLE_BUILDER
TIMEOUT_S = 600


def run(*arguments, stdin='', status=0, cwd=None, env=None, program=PROGRAM):
    """Runs the program, which must end with that status; gives what it wrote."""
    done = subprocess.run([program, *map(str, arguments)], input=stdin, text=True, cwd=cwd,
                          capture_output=True, timeout=TIMEOUT_S, check=False,
                          env=None if env is None else {**os.environ, **env})
    assert done.returncode == status, (arguments, done.stdout, done.stderr)
    assert status != 0 or done.stderr == ''
    return done


def run_json(*arguments, **options):
    """What the program wrote as JSON."""
    return json.loads(run(*arguments, '--json', **options).stdout)


def complaint(*arguments, status=1, **options):
    """What the program said on stderr when it failed; it must not have said anything else."""
    done = run(*arguments, status=status, **options)
    assert done.stdout == '' and done.stderr.startswith('netfc-tables: ')
    return done.stderr
