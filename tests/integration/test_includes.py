# SPDX-License-Identifier: BSD-3-Clause
"""Parts of the workers' library include one header of those below them, and nothing of those above."""

import re

import pytest

from project_scripts import PROJECT

LIBRARY = PROJECT / 'lib/allreduce'
# What a part may include of others: a header of each. Those of no part are for all.
PARTS = {
    'link': set(),
    'window': set(),
    'memory': set(),
    'member': {'link/link.h', 'window/window.h'},
    'comm': {'link/link.h', 'window/window.h', 'member/member.h', 'memory/segment.h', 'memory/reducer.h'},
}
FOR_ALL = {'clock.h', 'netfc_allreduce.h'}
# A window is told what has been sent, and what time it is.
NOT_OF_A_WINDOW = re.compile(r'\b(?:clock_now|send\w*msg|recv\w*msg|errno|pthread_\w+)\b|<sys/socket\.h>')


def included_by(path):
    names = re.findall(r'^#include ["<]([\w/]+\.h)[">]', path.read_text(encoding='utf-8'), re.M)
    return {name for name in names if (LIBRARY / name).exists()}


def test_parts_are_all_folders():
    assert {path.name for path in LIBRARY.iterdir() if path.is_dir()} == set(PARTS)


@pytest.mark.parametrize('part', PARTS)
def test_arrows_go_down(part):
    wrong = {f'{path.name}: {name}' for path in (LIBRARY / part).iterdir() for name in included_by(path)
             if name not in FOR_ALL | PARTS[part] and not name.startswith(f'{part}/')}
    assert wrong == set()


def test_a_window_has_neither_clock_nor_sockets():
    assert {path.name: found for path in (LIBRARY / 'window').iterdir()
            if (found := NOT_OF_A_WINDOW.findall(path.read_text(encoding='utf-8')))} == {}
