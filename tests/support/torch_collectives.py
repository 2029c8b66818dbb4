# SPDX-License-Identifier: BSD-3-Clause
"""torch.distributed's own test cases, as installed with torch, with the back end "netfc".

torch_collectives.py [--list] [--json FILE] [PATTERN...]: runs those whose names match, or all; says
which passed, failed, and were left out and why, as a table. NETFC_SWITCH is the switch. Ranks are
forked from here, where torch is loaded already.
"""

import argparse
import collections
import contextlib
import fnmatch
import json
import logging
import os
import sys
import types
import unittest

RANKS = 4
TIMEOUT_S = 900  # of a case

os.environ.update(BACKEND='gloo', WORLD_SIZE=str(RANKS), OMP_NUM_THREADS='1')
try:
    import expecttest  # noqa: F401 # pylint: disable=unused-import
except ImportError:  # Debian 12 has none; these cases use its class as one of unittest's
    sys.modules['expecttest'] = types.ModuleType('expecttest')
    sys.modules['expecttest'].TestCase = unittest.TestCase
    sys.modules['expecttest'].ACCEPT = False

# pylint: disable=wrong-import-position
import torch  # noqa: E402
from torch.testing._internal import common_distributed  # noqa: E402

import netfc.torch  # noqa: E402,F401 # pylint: disable=unused-import

# Python 3.11 cannot import 1.13's sharded tensors, which these cases turn on for DDP.
with contextlib.suppress(ImportError):
    from torch.nn.parallel import _replicated_tensor_ddp_utils as replicated
    replicated._set_ddp_with_replicated_tensor = lambda value: None

# When it is imported, it leaves out what gloo cannot do.
from torch.testing._internal.distributed import distributed_test  # noqa: E402

class AsGloo(str):
    """The back end's name, which the cases' conditions take for gloo's."""

    def __eq__(self, other):
        return other == 'gloo' or str.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


os.environ['BACKEND'] = 'netfc'
distributed_test.BACKEND = AsGloo('netfc')
for feature in common_distributed.DistTestCases.backend_feature.values():
    feature.add('netfc')


class Collectives(distributed_test.TestDistBackend, distributed_test.DistributedTest._DistTestBase):
    """torch's cases, as its test_distributed_spawn.py has them, but forked."""

    @classmethod
    def _run(cls, *arguments):
        try:
            super()._run(*arguments)
        finally:  # where a case leaves itself out: the switch is to have its slots back
            if torch.distributed.is_initialized():
                torch.distributed.destroy_process_group()

    def _barrier(self, *arguments, **options):
        """Ten seconds, as torch has it, are not enough for a busy machine."""
        super()._barrier(*arguments, **{'timeout': TIMEOUT_S, **options})

    def setUp(self):
        super().setUp()
        self._start_processes(torch.multiprocessing.get_context('fork').Process)


class Results(unittest.TestResult):
    """Prints each result as it comes, and counts them."""

    def __init__(self):
        super().__init__()
        self.told = {'passed': [], 'failed': {}, 'left_out': {}}

    def addSuccess(self, test):
        super().addSuccess(test)
        self._tell(test, 'passed')

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._tell(test, 'failed', self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self._tell(test, 'failed', self.errors[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._tell(test, 'left_out', reason)

    def _tell(self, test, how, why=None):
        name = test.id().rsplit('.', 1)[-1]
        if why is None:
            self.told[how].append(name)
        else:
            self.told[how][name] = why
        print(f'{how} {name}{"" if how == "passed" else ": " + why}', file=sys.stderr, flush=True)


def names(patterns):
    """The cases whose names match any of the patterns."""
    return [name for name in unittest.defaultTestLoader.getTestCaseNames(Collectives)
            if not patterns or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def table(told):
    """Lines of Markdown: how many cases, and why others are left out."""
    yield f'{len(told["passed"])} passed, {len(told["failed"])} failed; left out:'
    yield ''
    yield '| cases | why |'
    yield '|---|---|'
    for reason, count in collections.Counter(told['left_out'].values()).most_common():
        yield f'| {count} | {reason} |'


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--list', action='store_true', help='print the names only')
    parser.add_argument('--json', metavar='FILE', help='write the results there')
    parser.add_argument('pattern', nargs='*', help='of names, as test_all_reduce_*')
    options = parser.parse_args()
    chosen = names(options.pattern)
    if options.list:
        print('\n'.join(chosen))
        return
    logging.getLogger().setLevel(logging.ERROR)
    common_distributed.TIMEOUT_DEFAULT = TIMEOUT_S
    results = Results()
    unittest.TestSuite(map(Collectives, chosen)).run(results)
    print('\n'.join(table(results.told)))
    if options.json:
        with open(options.json, 'w', encoding='ascii') as file:
            json.dump(results.told, file)
    sys.exit(1 if results.told['failed'] else 0)


if __name__ == '__main__':
    main()
