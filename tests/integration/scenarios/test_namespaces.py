# SPDX-License-Identifier: BSD-3-Clause
"""What the demonstrations in network namespaces need of the machine, and what they print."""

import subprocess

import namespaces
from aggregation import demo
from needs import needs_namespaces


@needs_namespaces
def test_system_programs_are_found_by_users_who_have_none_in_their_path(monkeypatch):
    """As on Debian, where /usr/sbin is in the PATH of root alone."""
    monkeypatch.setenv('PATH', '/usr/local/bin:/usr/bin:/bin')
    with namespaces.Namespace() as namespace:
        assert namespace.run('ethtool', '--version').startswith('ethtool ')
        process = namespace.start('ethtool', '--version', stdout=subprocess.PIPE, env={})
        assert process.communicate()[0].startswith('ethtool ')


def test_nearly_all_is_not_all():
    figures = {'values': 1_000_000, 'switch': [1_000_000, 999_995], 'orders': [999_999, 5],
               'orders_differ': 7, 'example': {'value': 1, 'switch': 1.5, 'orders': [1.5, 1.25]}}
    rows = [line.split() for line in demo.describe_sums(figures).splitlines()]
    shares = [row[row.index('%') - 1] for row in rows if '%' in row]
    assert shares == ['100.00', '99.99', '99.99', '0.00']
