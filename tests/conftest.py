# SPDX-License-Identifier: BSD-3-Clause
"""For all tests: which ones are run, and what is said while they run."""

import os
import pathlib

import pytest

import namespaces

namespaces.become_root()  # as demonstrations do; xdist's processes start in these namespaces

def pytest_addoption(parser):
    """--slow: the tests that take longest, too; scripts/test --all runs them."""
    parser.addoption('--slow', action='store_true', help='also run the tests marked slow')


def pytest_collection_modifyitems(config, items):
    """Leaves out what is marked slow, unless it is asked for by option or by name."""
    if config.getoption('--slow') or any('::' in name for name in config.args):
        return
    left_out = [item for item in items if item.get_closest_marker('slow')]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not item.get_closest_marker('slow')]


def pytest_configure(config):
    """Where tests are told of: not in the processes of xdist that run them."""
    if not hasattr(config, 'workerinput'):
        config.pluginmanager.register(Announcer(config))


class Announcer:
    """Names what fails at once. scripts/test lets tests run again: notes what and why in NETFC_RERUNS."""

    def __init__(self, config):
        self._config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        """After the letter that stands for the test."""
        terminal = self._config.pluginmanager.get_plugin('terminalreporter')
        if report.outcome == 'failed':
            terminal.write_line(f'\nFAILED {report.nodeid}', red=True)
        if report.outcome == 'rerun':
            note_rerun(report)
            terminal.write_line(f'\n{report.nodeid} failed, and runs again:\n{report.longreprtext}')


def note_rerun(report):
    """For the summary of scripts/test."""
    path = os.environ.get('NETFC_RERUNS')
    if not path:
        return
    crash = getattr(report.longrepr, 'reprcrash', None)
    reason = ' '.join((crash.message if crash else report.longreprtext).split())
    with pathlib.Path(path).open('a', encoding='utf-8') as file:
        file.write(f'{report.nodeid}\t{reason[:300]}\n')
