# SPDX-License-Identifier: BSD-3-Clause
"""Where things are in the source tree; tests/pytest.ini says what can be imported from it."""

import pathlib

PROJECT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = PROJECT / 'scripts'
PROGRAMS = PROJECT / 'python' / 'bin'
