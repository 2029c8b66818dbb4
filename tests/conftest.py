# SPDX-License-Identifier: BSD-3-Clause
"""Notes what passed only the second time: scripts/test lets tests run again, and says which."""

import os
import pathlib


def pytest_runtest_logreport(report):
    """Appends a test that will run again, and why, to the file that NETFC_RERUNS names."""
    path = os.environ.get('NETFC_RERUNS')
    if report.outcome != 'rerun' or not path or 'PYTEST_XDIST_WORKER' in os.environ:
        return
    crash = getattr(report.longrepr, 'reprcrash', None)
    reason = ' '.join((crash.message if crash else report.longreprtext).split())
    with pathlib.Path(path).open('a', encoding='utf-8') as file:
        file.write(f'{report.nodeid}\t{reason[:300]}\n')
    print(f'\n{report.nodeid} failed, and runs again:\n{report.longreprtext}')
