# SPDX-License-Identifier: BSD-3-Clause
"""What tests of pages share: a browser, and the playground, built once."""

import shutil

import pytest

import playground

from browser import one_browser  # noqa: F401  pylint: disable=unused-import


@pytest.fixture(name='page', scope='session')
def built_page(tmp_path_factory):
    """The playground's page."""
    for program in ('clang', 'wasm-ld'):
        if not shutil.which(program):
            pytest.skip(f'{program} is not installed')
    return playground.build(tmp_path_factory.mktemp('playground'))
