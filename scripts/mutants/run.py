# SPDX-License-Identifier: BSD-3-Clause
"""Makes small faults in a copy of the sources, one at a time, and runs the unit tests on each."""

import collections
import hashlib
import json
import multiprocessing.pool
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import time

import command
import programs
from mutants.changes import changes

FOLDERS = ['lib/aggregate/jobs', 'lib/netfc']
SLOWER = 20  # times as long as without a fault, and a minute: a test that takes longer hangs
MOST_MEMORY = 8 << 30  # a test that takes more does not end
SAME, BROKEN, FOUND, MISSED = 'makes no difference', 'does not compile', 'found', 'not found'


class Tests:
    """The unit tests of a build: each has a program, and runs where that has changed."""

    def __init__(self, build):
        self._build = build
        listed = json.loads(subprocess.check_output(['meson', 'introspect', '--tests', build]))
        self._command = {test['name']: test['cmd'] for test in listed if any(
            suite.endswith(':quick') for suite in test['suite'])}
        self._found = collections.Counter()
        programs_of_tests = {argv[0] for argv in self._command.values()}
        self.make(*programs_of_tests)
        self._sound = {program: digest(program) for program in programs_of_tests}
        with multiprocessing.pool.ThreadPool(os.cpu_count()) as pool:
            seconds = pool.map(lambda name: self._run(name, 3600), self._command)
        self._seconds = dict(zip(self._command, seconds))
        wrong = [name for name, seconds in self._seconds.items() if seconds is None]
        if wrong:
            raise programs.CommandError(f"tests fail without a fault: {', '.join(wrong)}")

    def make(self, *built):
        """Whether these programs can be built."""
        names = [str(pathlib.Path(program).relative_to(self._build)) for program in built]
        return subprocess.run(['ninja', '-C', self._build, *names], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0

    def _run(self, name, most):
        """The seconds that a test takes; None: it fails."""
        begun = time.monotonic()
        try:
            done = subprocess.run(self._command[name], cwd=self._build, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=most, check=False)
        except subprocess.TimeoutExpired:
            return None
        return time.monotonic() - begun if done.returncode in (0, 77) else None

    def _turn(self, name, words):
        """When a test is tried: short ones first, and those that have found faults, or are named as the source is."""
        return self._seconds[name] / (1 + self._found[name]) / (1 + 20 * len(words.intersection(name.split('_'))))

    def judge(self, path):
        """What becomes of a fault that is in a source file, and the test that finds it. Programs are built when it is
        their turn: most faults are found by one of the first."""
        outcome, same = SAME, {}
        words = set(re.findall('[a-z0-9]+', path))
        for name in sorted(self._command, key=lambda name: self._turn(name, words)):
            program = self._command[name][0]
            if program not in same:
                if not self.make(program):
                    return BROKEN, None
                same[program] = digest(program) == self._sound[program]
            if same[program]:
                continue
            outcome = MISSED
            if self._run(name, SLOWER * self._seconds[name] + 60) is None:
                self._found[name] += 1
                return FOUND, name
        return outcome, None


def digest(program):
    """What tells a program from others."""
    return hashlib.sha256(pathlib.Path(program).read_bytes()).digest()


def copy_sources(folder):
    """The tree as it was committed latest."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archive = subprocess.run(['git', '-C', command.ROOT, 'archive', 'HEAD'], stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(['tar', '-x', '-C', folder], input=archive, check=True)


def try_change(change, sources, tests):
    """What becomes of a fault, and the test that finds it."""
    path = sources / change.path
    sound = path.read_text(encoding='utf-8')
    path.write_text(change.apply(sound), encoding='utf-8')
    try:
        return tests.judge(change.path)
    finally:
        path.write_text(sound, encoding='utf-8')


def all_changes(folders, sources):
    """Those of all source files of folders of the tree."""
    paths = sorted(path for folder in folders for path in (sources / folder).rglob('*.c'))
    if not paths:
        raise programs.CommandError(f"no source files in {', '.join(folders)}")
    return [change for path in paths
            for change in changes(str(path.relative_to(sources)), path.read_text(encoding='utf-8'))]


def try_sample(options):
    """Tries a sample, and tells what becomes of each fault of it."""
    os.environ.setdefault('NETFC_STRIDE', '997')  # fewer operands, as scripts/test has it
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    work = command.ROOT / 'build-test' / 'mutants'
    sources, build = work / 'sources', work / 'build'
    copy_sources(sources)
    everything = all_changes(options.folders, sources)
    sample = random.Random(options.seed).sample(everything, min(options.sample, len(everything)))
    print(f'{len(everything)} faults. Building, and running the tests without one.', flush=True)
    shutil.rmtree(build, ignore_errors=True)
    # Without the numbers of lines in the programs, those are the same if the code is.
    subprocess.run(['meson', 'setup', '-Dbuildtype=plain', '-Doptimization=2', build, sources],
                   stdout=subprocess.DEVNULL, check=True)
    tests = Tests(build)
    outcomes = collections.Counter()
    judged = []
    for change in sample:
        outcome, test = try_change(change, sources, tests)
        outcomes[outcome] += 1
        judged.append({'change': str(change), 'outcome': outcome, 'test': test})
        print(f"{len(judged):4} {outcome}{f' by {test}' if test else ''}: {change}", flush=True)
    print(f'{outcomes[FOUND]} of {outcomes[FOUND] + outcomes[MISSED]} faults found; {outcomes[SAME]} make no difference '
          f'to the programs, {outcomes[BROKEN]} do not compile.')
    command.write_json(options.json, {'outcomes': outcomes, 'faults': judged}, indent=1)


def main():
    """The program."""
    line = command.Arguments('mutate', __doc__)
    line.add_argument('--sample', type=command.number(int, 1, None), default=200, metavar='N',
                      help='how many faults are tried (default: 200)')
    line.add_argument('--seed', type=command.number(int, 0, None), default=1, help='which ones (default: 1)')
    line.add_argument('--json', type=command.file_to_write, metavar='FILE', help='write what becomes of each there')
    line.add_argument('folders', nargs='*', default=FOLDERS, metavar='FOLDER',
                      help=f"of the sources (default: {' '.join(FOLDERS)})")
    try:
        try_sample(line.parse_args())
    except programs.CommandError as error:
        sys.exit(f'{line.prog}: {error}')


if __name__ == '__main__':
    main()
