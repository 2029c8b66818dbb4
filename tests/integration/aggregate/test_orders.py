# SPDX-License-Identifier: BSD-3-Clause
"""Sums have the same bits in whatever order packets come; tests/exhaustive has 1,000 orders.

Real processes: orders of packets through devices and shards.
"""

import pytest

import aggregation_orders as orders
import hosts

pytestmark = hosts.needs_namespaces


@pytest.mark.parametrize('port, shards', [
    ('TAP', 1), ('TAP', 4), ('AF_PACKET', 2), ('virtio-user', 2)])
def test_some_orders(tmp_path, port, shards):
    table = orders.run(tmp_path, port, shards, 32)
    assert table['duplicate'] > 0 and table['repeated'] > 0
