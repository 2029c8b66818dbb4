# SPDX-License-Identifier: BSD-3-Clause
"""Finds the harness of the integration tests, which these tests share."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'integration'))
