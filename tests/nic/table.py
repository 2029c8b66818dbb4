# SPDX-License-Identifier: BSD-3-Clause
"""What the tests have found, as a table of features and devices."""

import collections
import pathlib
import re

from nic import guest

DOCUMENT = pathlib.Path(__file__).parents[2] / 'docs' / 'platforms.md'
TABLE = re.compile(r'(?<=<!-- scripts/test-nic --write -->\n).*?(?=\n\n)', re.DOTALL)


def features():
    """All that the tests find, in the order of their source: they may run in any."""
    tests = pathlib.Path(__file__).with_name('test_nic.py').read_text()
    return re.findall(r"\bfound\('([^']+)'", tests)


class Table:
    """Cells by feature and device."""

    def __init__(self):
        self._rows = collections.defaultdict(dict)

    def add(self, feature, device, cell):
        """What a device has of a feature."""
        self._rows[feature][device] = str(cell)

    @property
    def devices(self):
        """Those of which anything was found."""
        return [device for device in guest.DEVICES if any(device in row for row in self._rows.values())]

    def text(self):
        """In Markdown."""
        lines = [['', *self.devices], ['---'] * (1 + len(self.devices))]
        lines += [[feature, *(self._rows[feature].get(device, '\N{EN DASH}') for device in self.devices)]
                  for feature in features() if feature in self._rows]
        return '\n'.join(f"| {' | '.join(line)} |".replace('|  |', '| |') for line in lines)


def documented():
    """The table in the document."""
    return TABLE.search(DOCUMENT.read_text())[0]


def write(table):
    """Puts a table into the document."""
    DOCUMENT.write_text(TABLE.sub(lambda _: table, DOCUMENT.read_text()))
