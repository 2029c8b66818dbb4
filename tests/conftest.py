# SPDX-License-Identifier: BSD-3-Clause
"""For all tests: which ones are run, in which order, and what is said while they run."""

import itertools
import os
import pathlib
import random
import resource

import pytest

import namespaces

namespaces.become_root()  # as demonstrations do; xdist's processes start in these namespaces
MARKS = 'slow', 'long'  # tests that are left out unless they are asked for
# Those that were measured to be slow, too; scripts/support/slow_tests.py writes them.
SLOW = frozenset((pathlib.Path(__file__).parent / 'slow.txt').read_text(encoding='utf-8').splitlines())
# Of the order of files, and of tests within each; the same one in xdist's processes.
SEED = os.environ.setdefault('NETFC_SEED', str(random.randrange(1 << 32)))
BEGAN = pytest.StashKey()


def pytest_addoption(parser):
    """--slow: the tests that take longest, too; scripts/test --all runs them. --long likewise."""
    for mark in MARKS:
        parser.addoption(f'--{mark}', action='store_true', help=f'also run the tests marked {mark}')


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leaves out what is marked slow or long, unless it is asked for by option or by name. Any order will do."""
    for item in items:
        if item.nodeid in SLOW:
            item.add_marker('slow')
    unasked = [mark for mark in MARKS if not config.getoption(f'--{mark}')]
    if not any('::' in name for name in config.args):
        left_out = {item for item in items if any(map(item.get_closest_marker, unasked))}
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    items[:] = shuffled(items, random.Random(SEED))


def shuffled(items, draw):
    """Files in any order, and the tests of each: those of one file share what they start."""
    files = [list(tests) for _, tests in itertools.groupby(items, lambda item: item.path)]
    draw.shuffle(files)
    for tests in files:
        if not tests[0].get_closest_marker('in_order'):
            draw.shuffle(tests)
    return itertools.chain.from_iterable(files)


def processor_seconds():
    """Of this process and the children that it has waited for, so far."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """What was used before this test."""
    item.stash[BEGAN] = processor_seconds()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item):
    """A test's JUnit result says what it took."""
    yield
    item.user_properties.append(('processor_seconds', round(processor_seconds() - item.stash[BEGAN], 3)))


def pytest_configure(config):
    """Where tests are told of: not in the processes of xdist that run them."""
    if not hasattr(config, 'workerinput'):
        config.pluginmanager.register(Announcer(config))


class Announcer:
    """Names what fails at once, and in the end the order."""

    def __init__(self, config):
        self._config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        """After the letter that stands for the test."""
        terminal = self._config.pluginmanager.get_plugin('terminalreporter')
        if report.outcome == 'failed':
            terminal.write_line(f'\nFAILED {report.nodeid}', red=True)

    def pytest_terminal_summary(self, terminalreporter):
        """To have the same order again."""
        terminalreporter.write_line(f'NETFC_SEED={SEED}: the same order again')
