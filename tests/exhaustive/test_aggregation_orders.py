# SPDX-License-Identifier: BSD-3-Clause
"""Sums in a thousand random orders for each kind of port and number of shards, with a fifth of all packets
and results lost and a fifth sent twice; minutes, not part of the quick suite."""

import pytest

import aggregation_orders as orders
import hosts

ORDERS = 1000

pytestmark = hosts.needs_namespaces


@pytest.mark.parametrize('shards', [1, 2, 4])
@pytest.mark.parametrize('port', orders.PORTS)
def test_a_thousand_orders(tmp_path, port, shards):
    table = orders.run(tmp_path, port, shards, ORDERS)
    assert table['duplicate'] > 0 and table['repeated'] > 0
    print(f"{port}, {shards} shards: {table['orders']:,} orders, one result; {table['duplicate']:,}"
          f" duplicates, {table['repeated']:,} results sent again, {table['stale']:,} stale,"
          f" {table['handed_over']:,} handed over")
