# SPDX-License-Identifier: BSD-3-Clause
"""The entries of every set and layout that `netfc-p4` has, for every target, read back
and compared: millions, minutes, not part of the quick suite."""

import pytest

import p4_targets


@pytest.mark.parametrize('name, layout', [
    *((name, layout) for name in p4_targets.LOG_SETS for layout in p4_targets.LAYOUTS),
    *((name, 'direct') for name in [*p4_targets.EXACT_SETS, 'fp32_exact'])])
def test_all_targets_agree(name, layout):
    entries = p4_targets.read_back(name, '--layout', layout)
    print(f'{name}, {layout}: {entries:,} entries')
