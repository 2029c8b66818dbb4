# SPDX-License-Identifier: BSD-3-Clause
"""Disks that fill up."""

import contextlib

SMALL_DISK = '64k'


@contextlib.contextmanager
def small_disk(folder):
    """A file system of 64 KiB in a mount namespace of this test's own; yields a command prefix."""
    folder.mkdir()
    script = f'mount -t tmpfs -o size={SMALL_DISK} none {folder} && exec "$@"'
    yield ['unshare', '--mount', 'sh', '-c', script, 'sh']
