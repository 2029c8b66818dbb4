# SPDX-License-Identifier: BSD-3-Clause
"""Nobody leaves files in the root of the sources: scripts/test runs this when all else has run."""

import subprocess

from project_scripts import PROJECT

LISTED = set("""
    .ci .clang-format .clang-tidy .gitignore CHANGELOG.md CONTRIBUTING.md LICENSE README.md SECURITY.md
    app data debian docs examples lib meson meson.build meson_options.txt p4 packaging python scripts
    tables tests
    """.split())


def names():
    """What is in the root: all that git has or does not ignore; without a repository, all but builds."""
    if not (PROJECT / '.git').exists():
        return {path.name for path in PROJECT.iterdir() if not path.name.startswith('build')}
    done = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
                          cwd=PROJECT, text=True, capture_output=True, check=True, timeout=1200)
    paths = done.stdout.split('\0')[:-1]
    return {path.partition('/')[0] for path in paths if (PROJECT / path).exists()}


def test_nothing_else_is_there():
    assert sorted(names() - LISTED) == [] and LISTED <= names()
