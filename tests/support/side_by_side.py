# SPDX-License-Identifier: BSD-3-Clause
"""What tests do in threads of their own."""

import concurrent.futures
import contextlib
import threading


def together(count, work):
    """What work(number) returns for each number below the count, all of them at once."""
    with concurrent.futures.ThreadPoolExecutor(count) as threads:
        return list(threads.map(work, range(count)))


@contextlib.contextmanager
def beside(work, end=lambda: None, count=1):
    """Does work(), so many times at once, beside the block; end() lets it return when that is over."""
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        end()
        for thread in threads:
            thread.join()
