# SPDX-License-Identifier: BSD-3-Clause
"""What p4/leaf and the parent say to each other passes the switch, which is between them."""

import dataclasses
import json

import pytest

import p4_jobs
import test_p4_leaf as one
from netfc import aggregation
from p4_jobs import Member


@pytest.mark.parametrize('granted', [False, True])
@pytest.mark.parametrize('target', ['bmv2', 'bfrt'])
def test_joins_pass_as_they_are(target, granted):
    """Of the job that workers of this switch have, too."""
    team = [Member(number) for number in range(2)]
    switch = one.Switch(target, 'int32', team)
    if granted:
        switch.grant()
    parent = one.Sender(one.PARENT, one.PARENT_MAC, aggregation.UDP_PORT)
    own = dataclasses.replace(team[1].place, number=one.PLACE.path[0][1])
    asked = aggregation.join(own, 2, one.SLOTS, 80, place=aggregation.Place((), 9))
    up = parent.frame(asked, one.UPLINK_PORT)
    up = (p4_jobs.mac_bytes(one.PARENT_MAC) + p4_jobs.mac_bytes(one.UPLINK_MAC) + up[12:26] +
          up[30:34] + up[26:30] + up[36:38] + up[34:36] + up[38:])
    assert switch.receive(up, one.HOST_PORT) == [(one.PARENT_PORT, up)]
    down = parent.frame(asked[:5] + b'\xf0' + asked[6:], one.UPLINK_PORT)
    assert switch.receive(down, one.PARENT_PORT) == [(one.HOST_PORT, down)]


def test_the_parent_has_another_address():
    given = json.loads(one.described([Member(0), Member(1)]))
    given['address'] = given['parent']['address']
    assert "the switch's address and its parent's" in p4_jobs.entries(json.dumps(given), status=1)
