# SPDX-License-Identifier: BSD-3-Clause
"""What goes on in the background of a measurement."""

import threading


class Background:
    """Runs in a thread of its own from the beginning of a `with` block to its end.

    Classes made of it have run(), which goes on until `stop` is set, an Event.
    """

    def __init__(self):
        self.stop = threading.Event()
        self._thread = threading.Thread(target=self.run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self._thread.join()

    def run(self):
        """What goes on."""
        raise NotImplementedError
