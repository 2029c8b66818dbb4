# SPDX-License-Identifier: BSD-3-Clause
"""Disks that fill up."""

import contextlib
import subprocess

import pytest

SMALL_DISK = '64k'


@contextlib.contextmanager
def small_disk(folder):
    """A file system of 64 KiB in a mount namespace of this test's own; yields a command prefix."""
    folder.mkdir()
    script = f'mount -t tmpfs -o size={SMALL_DISK} none {folder} && exec "$@"'
    yield ['unshare', '--mount', 'sh', '-c', script, 'sh']


def why_no_mounts():
    done = subprocess.run(['unshare', '--mount', 'true'], capture_output=True, text=True,
                          check=False)
    return done.stderr.strip()


NO_MOUNTS = why_no_mounts()
needs_mounts = pytest.mark.skipif(NO_MOUNTS != '', reason=f'mounts cannot be made: {NO_MOUNTS}')
