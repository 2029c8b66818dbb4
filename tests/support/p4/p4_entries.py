# SPDX-License-Identifier: BSD-3-Clause
"""Runs netfc-p4, which loads libnetfc."""

import functools

import project_scripts
import sanitized
import table_builder

PROGRAM = project_scripts.PROGRAMS / 'netfc-p4'


@functools.cache
def environment():
    return sanitized.environment()


def run(*arguments, **options):
    """As table_builder.run()."""
    return table_builder.run(*arguments, program=PROGRAM, env=environment(), **options)


def complaint(*arguments, status=1, **options):
    """What the program said on stderr when it failed, behind its usage; it must not have said anything
    else."""
    done = run(*arguments, status=status, **options)
    usage, _, said = done.stderr.rpartition(f'{PROGRAM.name}: ')
    assert done.stdout == '' and (not usage or usage.startswith('Usage: '))
    return said
