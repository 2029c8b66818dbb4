# SPDX-License-Identifier: BSD-3-Clause
"""A switch with a parent finds out where that is, and says so where it can't.

A running switch: neighbours and addresses, which the kernel answers.
"""

import contextlib

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import (
    ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptDstLLAddr, ICMPv6NDOptSrcLLAddr, IPv6)
from scapy.layers.l2 import ARP, Dot1Q, Ether

import hosts
import switch
from hosts import SWITCH_IP, SWITCH_IP6
from refusal import refuse

from netfc import metrics
from netfc.commands import _top_view
from netfc.control import Control
from netfc.telemetry import Telemetry

ADDRESSES = ['--address', f'{SWITCH_IP}/24', '--address', f'{SWITCH_IP6}/64']
PARENTS = {'IPv4': ('10.1.0.1', SWITCH_IP), 'IPv6': ('fd00::1', SWITCH_IP6)}
BROADCAST = 'ff:ff:ff:ff:ff:ff'
ELSEWHERE = '02:00:00:00:00:99'
THERE = '02:00:00:00:00:77'


@contextlib.contextmanager
def leaf(folder, parent, *options, configured=True, addresses=tuple(ADDRESSES)):
    """A switch with a parent, at a host's TAP interface."""
    options = [*addresses, f'--aggregate=slots=8,parent={parent}', *options]
    with hosts.at_tap(folder, options, configured=configured, telemetry=True) as (host, live):
        if not configured:
            host.ip('link', 'set', 'eth0', 'up')
        yield host, live


def state_of(live):
    """What telemetry says of the parent."""
    with Telemetry(live.telemetry_path) as telemetry:
        return telemetry.ask('/netfc/aggregate')['parent']


def wait_for_state(live, state):
    hosts.wait_until(lambda: state_of(live)['state'] == state, f'a parent that is {state}')
    return state_of(live)


def assert_exported(live, parent):
    """All that is counted of the parent, and its state, are metrics; netfc-top has its line."""
    texts = {'address', 'state', 'mac', 'gateway', 'udp_port', 'port'}
    assert set(metrics.PARENT_COUNTERS) == set(parent) - texts
    samples = {(sample.name, sample.labels.get('state')): sample.value
               for family in metrics.registry_for(live.telemetry_path).collect()
               for sample in family.samples}
    assert samples['netfc_aggregate_parent_answers_total', None] == parent['answers']
    states = {name: samples['netfc_aggregate_parent_state', name] for name in metrics.PARENT_STATES}
    assert states == {name: name == parent['state'] for name in metrics.PARENT_STATES}
    stats = {'aggregate': {'parent': parent}}
    line = _top_view.of_parent(_top_view.Rates(stats, stats, 1), parent)
    assert line.startswith(f"  parent {parent['address']} at {parent['mac']}: {parent['state']} ")


@hosts.needs_namespaces
@pytest.mark.parametrize('family', PARENTS)
def test_the_parent_is_found(tmp_path, family):
    parent, own = PARENTS[family]
    with leaf(tmp_path, parent) as (host, live):
        found = wait_for_state(live, 'reachable')
        assert (found['address'], found['udp_port'], found['port']) == (parent, 20040, 0)
        assert found['mac'].lower() == host.mac('eth0')
        assert found['answers'] == 1 <= found['questions'] and found['moves'] == 0
        assert_exported(live, found)
        assert f'parent    {parent}, UDP port 20040, on the link, from {own}' in live.stdout
        live.wait_for_message(f'the parent {parent} is reachable')
        stats = live.stop()
    assert stats['taken_up']['parent'] == 1
    assert stats['aggregate']['parent']['answers'] == 1


@hosts.needs_namespaces
def test_a_gateway_is_found_in_place_of_the_parent(tmp_path):
    with leaf(tmp_path, '[2001:db8::9]:4000', '--gateway', 'fd00::1') as (host, live):
        found = wait_for_state(live, 'reachable')
        assert (found['address'], found['udp_port']) == ('2001:db8::9', 4000)
        assert found['gateway'] == 'fd00::1' and found['mac'].lower() == host.mac('eth0')
        live.stop()
    with leaf(tmp_path, '192.0.2.9:4000', '--gateway', '10.1.0.1') as (host, live):
        found = wait_for_state(live, 'reachable')
        assert (found['address'], found['udp_port']) == ('192.0.2.9', 4000)
        assert found['gateway'] == '10.1.0.1' and found['mac'].lower() == host.mac('eth0')
        assert 'behind the gateway 10.1.0.1' in live.stdout
        live.stop()


@hosts.needs_namespaces
def test_a_parent_that_is_not_there_is_named_until_it_comes(tmp_path):
    control = switch.RUNTIME / 'control-parent'
    with leaf(tmp_path, '10.1.0.9', '--control', control) as (host, live):
        missing = wait_for_state(live, 'unreachable')
        assert missing['questions'] >= 3 and 'mac' not in missing
        live.wait_for_message('the parent 10.1.0.9 is unreachable: no answer to address resolution')
        with Control(control) as channel:
            assert channel.do('show')['aggregate']['parent']['state'] == 'unreachable'
        host.ip('address', 'add', '10.1.0.9/24', 'dev', 'eth0')
        wait_for_state(live, 'reachable')
        live.wait_for_message('the parent 10.1.0.9 is reachable')
        live.stop()


def reply_to(question, mac):
    """What a host at a MAC address says to an ARP request or a solicitation."""
    to = Ether(src=mac, dst=question.src)
    if ARP in question:
        asked = question[ARP]
        return to / ARP(op='is-at', hwsrc=mac, psrc=asked.pdst, hwdst=asked.hwsrc, pdst=asked.psrc)
    target = question[ICMPv6ND_NS].tgt
    return to / IPv6(src=target, dst=question[IPv6].src, hlim=255) / ICMPv6ND_NA(
        tgt=target, R=0, S=1, O=1) / ICMPv6NDOptDstLLAddr(lladdr=mac)


def next_question(wire):
    while True:
        frame = Ether(wire.receive(hosts.TIMEOUT_S))
        if ARP in frame or ICMPv6ND_NS in frame:
            return frame


@hosts.needs_namespaces
@pytest.mark.parametrize('family', PARENTS)
def test_only_the_first_answer_to_a_question_is_believed(tmp_path, family):
    parent, own = PARENTS[family]
    with leaf(tmp_path, parent, configured=False) as (host, live), hosts.Wire(host) as wire:
        question = next_question(wire)
        if family == 'IPv4':
            asked = question[ARP]
            assert question.dst == BROADCAST and asked.op == 1
            assert (asked.psrc, asked.pdst, asked.hwsrc) == (own, parent, question.src)
        else:
            asked = question[ICMPv6ND_NS]
            assert question.dst == '33:33:ff:00:00:01' and question[IPv6].dst == 'ff02::1:ff00:1'
            assert (question[IPv6].src, asked.tgt) == (own, parent)
            assert asked[ICMPv6NDOptSrcLLAddr].lladdr == question.src
        wire.send(bytes(reply_to(next_question(wire), THERE)))
        for _ in range(3):
            wire.send(bytes(reply_to(question, ELSEWHERE)))
        hosts.wait_until(lambda: state_of(live)['disbelieved'] == 3, 'what is not believed')
        found = state_of(live)
        assert (found['mac'].lower(), found['answers'], found['moves']) == (THERE, 1, 0)
        assert live.stop()['taken_up']['parent'] == 4


@hosts.needs_namespaces
@pytest.mark.parametrize('family', PARENTS)
def test_a_way_with_vlan_tags_is_named(tmp_path, family):
    parent, _ = PARENTS[family]
    with leaf(tmp_path, parent, configured=False) as (host, live), hosts.Wire(host) as wire:
        answer = reply_to(next_question(wire), THERE)
        wire.send(bytes(Ether(src=THERE, dst=answer.dst) / Dot1Q(vlan=7) / answer.payload))
        found = wait_for_state(live, 'tagged')
        assert (found['tagged'], found['answers'], found['disbelieved']) == (1, 0, 0)
        live.wait_for_message(f'the parent {parent} is tagged: answers have a VLAN tag, which')
        wire.send(bytes(reply_to(next_question(wire), THERE)))
        assert wait_for_state(live, 'reachable')['mac'].lower() == THERE
        live.stop()


@hosts.needs_namespaces
def test_answers_about_others_are_not_the_parents(tmp_path):
    with leaf(tmp_path, '10.1.0.1', configured=False) as (host, live), hosts.Wire(host) as wire:
        question = next_question(wire)
        another = reply_to(question, ELSEWHERE)
        another[ARP].psrc = '10.1.0.2'
        wire.send(bytes(another))
        wire.send(bytes(Ether(src=ELSEWHERE, dst=question.src) / IP(
            src='10.1.0.1', dst=SWITCH_IP) / ICMP(type='echo-reply')))
        wire.send(bytes(Ether(src=ELSEWHERE, dst=question.src) / IP(
            src='10.1.0.1', dst=SWITCH_IP) / UDP(dport=9)))
        wire.send(bytes(reply_to(next_question(wire), THERE)))
        assert wait_for_state(live, 'reachable')['mac'].lower() == THERE
        assert live.stop()['drops']['no_service'] == 3


@pytest.mark.parametrize('options, says', [
    (['--aggregate', 'parent='], 'expected ip or ip:port'),
    (['--aggregate', 'parent=10.1.0.1:0'], 'expected ip or ip:port'),
    (['--aggregate', 'parent=10.1.0.1:65536'], 'expected ip or ip:port'),
    (['--aggregate', 'parent=10.1.0.1/24'], 'expected ip or ip:port'),
    (['--aggregate', 'parent=224.0.0.1'], 'expected ip or ip:port'),
    (['--aggregate', 'parent=[fd00::1'], 'expected ip or ip:port'),
    (['--aggregate', f'parent={SWITCH_IP}'], 'an address of the switch itself'),
    (['--aggregate', 'parent=fd00::1'], 'needs an ipv6 address'),
    (['--aggregate', 'parent=10.1.0.1', '--gateway', 'fd00::1'], 'expected an ipv4 address'),
    (['--aggregate', 'parent=10.1.0.1', '--gateway', 'router'], 'the ipv4 or ipv6 address of'),
    (['--aggregate', '--gateway', '10.1.0.1'], 'there is none (--aggregate parent=ip)'),
    (['--gateway', '10.1.0.1'], 'there is none (--aggregate parent=ip)'),
    (['--aggregate', 'formats=fp32,digits=fp64'], 'not among those of formats='),
    (['--aggregate', 'formats=fp33'], 'expected fp16'),
])  # fmt: skip
def test_wrong_options_are_refused(tmp_path, options, says):
    message = refuse(tmp_path, ['--address', f'{SWITCH_IP}/24', *options])
    assert says in message
