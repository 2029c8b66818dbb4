# SPDX-License-Identifier: BSD-3-Clause
"""What goes on while something else is done or measured."""

import threading


class Background:
    """Runs in threads of its own from the beginning of a `with` block to its end.

    Classes made of it have run(number), with the number of the thread, which goes on until `stop`
    is set, an Event. They are daemons: a signal that ends the program before the block has begun does not
    wait for them.
    """

    def __init__(self, count=1):
        self.stop = threading.Event()
        self._threads = [threading.Thread(target=self.run, args=(number,), daemon=True)
                         for number in range(count)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self._threads:
            thread.join()

    def run(self, number):
        """What goes on."""
        raise NotImplementedError
