# SPDX-License-Identifier: BSD-3-Clause
"""A wall clock that leaps by decades, for one process: libfaketime (Debian: faketime)."""

import itertools
import pathlib


class LeapingClock:
    """For a process in its environment; the monotonic clock goes on as it is."""

    def __init__(self, folder):
        self._clock, self._following = folder / 'clock', folder / 'following'
        self._years = itertools.cycle(('2036', '1999'))
        self.leap()
        library = next(pathlib.Path('/usr/lib').glob('*/faketime/libfaketimeMT.so.1'))
        self.environment = {'LD_PRELOAD': str(library), 'FAKETIME_NO_CACHE': '1',
                            'FAKETIME_TIMESTAMP_FILE': str(self._clock),
                            'FAKETIME_DONT_FAKE_MONOTONIC': '1',
                            'ASAN_OPTIONS': 'verify_asan_link_order=0'}

    def leap(self):
        """To another decade, forth or back."""
        self._following.write_text(f'@{next(self._years)}-01-01 00:00:00\n')
        self._following.replace(self._clock)  # at once: an empty file is no time
