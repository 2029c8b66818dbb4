# SPDX-License-Identifier: BSD-3-Clause
"""Lets tests import the modules of scripts/ and the maker of the golden capture."""

import pathlib
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPTS = PROJECT / 'scripts'
GOLDEN = PROJECT / 'tests' / 'golden'

for folder in (SCRIPTS, GOLDEN):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
