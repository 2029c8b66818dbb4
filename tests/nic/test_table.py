# SPDX-License-Identifier: BSD-3-Clause
"""The table in the document is one that the tests have written."""

from table import Table, documented, features


def test_the_table():
    """Whatever was found first."""
    table = Table()
    table.add('receive queues', 'igb', 2)
    table.add('bridge between two NICs', 'e1000e', 'yes')
    assert table.text() == ('| | e1000e | igb |\n| --- | --- | --- |\n'
                            '| bridge between two NICs | yes | \N{EN DASH} |\n'
                            '| receive queues | \N{EN DASH} | 2 |')


def test_the_document_has_all_features():
    rows = [line.split(' | ')[0].strip('| ') for line in documented().splitlines()[2:]]
    assert features() == rows
