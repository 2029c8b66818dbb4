# SPDX-License-Identifier: BSD-3-Clause
"""Which cases of a test a change must pass, and which of them repeat it with other formats, engines or targets."""

import pytest


def later(mark, *cases):
    """Cases for parametrize() that run later: mark is `slow` or `long`."""
    marks = getattr(pytest.mark, mark)
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=marks) for case in cases]
