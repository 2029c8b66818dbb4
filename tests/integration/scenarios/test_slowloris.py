# SPDX-License-Identifier: BSD-3-Clause
"""The Slowloris detector over capture files: registers to the bit, attacks, floods, full tables."""

import random
import re
import subprocess

import pytest

import slowloris_model
import switch
from slowloris_model import ACK, SYN
from tcp_frames import SERVER, SERVER_ISN, address, answer, handshake, mixed, query, segment

ON = ('--slowloris',)
# An attack as soon as there are ten connections.
QUICK = (*ON, '--slowloris-time', '0', '--slowloris-connections', '10')
ELSEWHERE = bytes((10, 0, 0, 99))


def pair(inputs, options=ON, lcores=1, match='direct', behind=()):
    """Sends frames through a pair of ports. Returns what came out of each, and the statistics."""
    result = switch.run([inputs, list(behind)], options=(*options, '--forward', 'pair'),
                        lcores=lcores, match=match, more_memory=256)
    return result.outputs[1], result.outputs[0], result.stats


def answers(outputs):
    """The answers among frames that came out, in order."""
    return [answer(frame) for frame in outputs if len(frame) > 42 and frame[23] == 17
            and frame[42:44] == b'NF']


@pytest.mark.parametrize('match', ['lpm', 'hash', 'direct'])
def test_every_register_after_every_packet(match):
    """Each packet is followed by queries for both its ends: all as the model says."""
    model, inputs, expected = slowloris_model.Model(), [], []
    for frame, ends in mixed(1, 4000 if match == 'direct' else 400):
        model.see(frame)
        inputs += [frame, *map(query, ends)]
        expected += [model.query(end) for end in ends]
    outputs, _, stats = pair(inputs, match=match)
    found = answers(outputs)
    assert len(found) == len(expected)
    for number, (one, other) in enumerate(zip(found, expected)):
        assert one == other, f'after packet {number // 2}'
    assert stats['slowloris']['queries'] == len(expected)
    assert stats['slowloris']['connections'] == len(model.connections)
    assert any(connections > 10 for _, connections, _ in expected)


def test_without_the_detector_queries_are_refused():
    outputs, _, stats = pair([query(SERVER)], options=())
    assert outputs[0][47] == 0x80 | 5 << 4
    assert stats['errors']['query'] == 1 and 'slowloris' not in stats


def test_a_query_without_counters_gets_the_ratio_alone():
    inputs = [*handshake(address(1), 1000), query(SERVER)]
    inputs.append(inputs[-1][:16] + b'\0\x2e' + inputs[-1][18:38] + b'\0\x1a\0\0'
                  + inputs[-1][42:60])
    outputs, _, _ = pair(inputs)
    assert outputs[-1][58:60] == outputs[-2][58:60] != b'\0\0'
    assert len(outputs[-1]) == 60


def test_the_quotient_is_within_a_thousandth():
    """Against exact division, wherever the quotient is a normal fp16 number."""
    draw = random.Random(3)
    worst = 0
    for _ in range(200000):
        connections = int(2 ** draw.uniform(0, 24))
        count = int(connections * 2 ** draw.uniform(5, 14))
        register = slowloris_model.ratio(connections, count)
        value = float(slowloris_model.numpy.uint16(register).view(slowloris_model.numpy.float16))
        worst = max(worst, abs(value * count / connections - 1))
    assert 0.0008 < worst < 0.001


@pytest.mark.parametrize('part', ['slowloris/libslowloris.a.p/divide', 'match/libmatch.a.p/lpm',
                                  'match/libmatch.a.p/direct', 'match/libmatch.a.p/hash'])
def test_no_instruction_divides(part):
    """The division, and the engines that its tables are in, as they were compiled."""
    code = subprocess.run(['objdump', '--disassemble', '--no-show-raw-insn',
                           switch.BUILD / 'lib' / f'{part}.c.o'], text=True, capture_output=True,
                          check=True).stdout
    mnemonics = set(re.findall(r'^ +[0-9a-f]+:\t(\S+)', code, re.MULTILINE))
    assert len(mnemonics) > 10
    assert [mnemonic for mnemonic in mnemonics if 'div' in mnemonic] == []


def attack(count=20, server=SERVER, start=0):
    """Handshakes of clients that then say next to nothing."""
    return [frame for number in range(start, start + count)
            for frame in handshake(address(number), 2000, server)]


def test_an_attack_is_found_and_its_destination_cut_off():
    late = [segment(address(5), SERVER, (2000, 80), ACK | 8, payload=10)] * 5
    others = handshake(address(900), 2000, ELSEWHERE)
    outputs, _, stats = pair(attack() + [query(SERVER)] * 64 + late + others, QUICK)
    assert stats['drops']['slowloris_destination'] == len(late)
    assert stats['slowloris']['alarms'] == 1
    assert stats['slowloris']['under_attack'] == ['10.0.0.2']
    assert outputs[-3:] == others


def test_alerts_do_not_flood_the_log(tmp_path):
    """Ten lines, then how many more there were."""
    frames = [frame for server in range(15) for frame in attack(server=address(5000 + server))]
    vdevs = [switch.capture_port(tmp_path, 0, frames)]
    done = switch.execute([*switch.eal_options(vdevs), '--', *QUICK, '--match', 'direct',
                           '--idle-exit', 50])
    assert done.returncode == 0
    assert len(re.findall('is under attack after', done.stderr)) == 10
    assert 'Slowloris: 5 more alerts in 10 s' in done.stderr


def test_a_dry_run_drops_nothing():
    late = [segment(address(5), SERVER, (2000, 80), ACK | 8, payload=10)] * 5
    _, _, stats = pair(attack() + [query(SERVER)] * 64 + late, (*QUICK, '--slowloris-dry-run'))
    assert sum(stats['drops'].values()) == 0
    assert stats['slowloris']['would_drop'] == len(late) and stats['slowloris']['alarms'] == 1


def test_slow_connections_alone_are_dropped():
    """Clients that have sent enough stay, as do new ones until their grace is over."""
    rich = segment(address(5), SERVER, (2000, 80), ACK | 8, payload=500)
    slow = segment(address(6), SERVER, (2000, 80), ACK | 8, payload=10)
    policy = ('--slowloris-policy', 'connection', '--slowloris-bytes', '400')
    inputs = attack() + [rich] + [query(SERVER)] * 64
    late = [rich, slow, segment(address(901), SERVER, (2000, 80), SYN), rich, slow]
    outputs, _, stats = pair(inputs + late, (*QUICK, *policy, '--slowloris-grace', '0'))
    assert stats['drops']['slowloris_connection'] == 2
    assert outputs[-3:] == [late[0], late[2], late[3]]
    _, _, stats = pair(inputs + late, (*QUICK, *policy))
    assert sum(stats['drops'].values()) == 0


def test_bytes_keep_the_alarm_off():
    """As many connections, but they have sent something."""
    fed = [segment(address(n), SERVER, (2000, 80), ACK | 8, payload=1400) for n in range(9)] * 3
    _, _, stats = pair(attack(9) + fed + attack(11, start=9), QUICK)
    assert stats['slowloris']['alarms_raised'] == 0


def test_a_flood_of_syns_raises_no_alarm():
    """Nobody answers for random sources: honest clients' traffic passes."""
    draw = random.Random(4)
    flood = [segment(draw.randbytes(4), SERVER, (draw.randrange(65536), 80), SYN)
             for _ in range(5000)]
    blind = [segment(frame[26:30], SERVER, (frame[34] << 8 | frame[35], 80), ACK,
                     ack=draw.getrandbits(32)) for frame in flood[::5]]
    honest = [*handshake(address(1), 1000),
              segment(address(1), SERVER, (1000, 80), ACK | 8, seq=2, ack=SERVER_ISN + 1,
                      payload=300)]
    answered = [segment(SERVER, frame[26:30], (80, frame[34] << 8 | frame[35]), SYN | ACK,
                        seq=draw.getrandbits(32)) for frame in flood[::5]]
    options = (*QUICK, '--slowloris-table', '1000')
    outputs, _, stats = pair(flood + answered + blind + honest + [query(SERVER)], options)
    assert sum(stats['drops'].values()) == 0
    assert outputs[-5:-1] == honest
    detector = stats['slowloris']
    assert detector['alarms_raised'] == 0
    assert detector['connections'] <= 1000
    assert detector['half_open_evicted'] == detector['opened'] - detector['connections']
    assert detector['connections'] - detector['half_open'] == 1


def test_a_flood_of_syns_cuts_no_busy_server_off():
    """Whose honest clients are as many as an attack has at least."""
    draw = random.Random(5)
    fed = [segment(address(n), SERVER, (2000, 80), ACK | 8, payload=1400) for n in range(20)]
    flood = [segment(draw.randbytes(4), SERVER, (draw.randrange(65536), 80), SYN)
             for _ in range(5000)]
    busy = [frame for n in range(20) for frame in [*handshake(address(n), 2000), *[fed[n]] * 10]]
    outputs, _, stats = pair([*busy, *flood, query(SERVER), *fed], QUICK)
    register, connections, _ = answers(outputs)[-1]
    assert connections > 5000 and register > slowloris_model.ratio(1, 500)
    assert stats['slowloris']['alarms_raised'] == 0
    assert outputs[-len(fed):] == fed


def test_full_tables_refuse_and_count():
    crowd = attack(30)  # complete, so that nobody has to give way
    away = [segment(address(n), address(1000 + n), (3000, 80), SYN) for n in range(50)]
    limits = ('--slowloris-table', '12', '--slowloris-connections', '12',
              '--slowloris-destinations', '3')
    outputs, _, stats = pair([*crowd, query(SERVER)], (*ON, *limits))
    detector = stats['slowloris']
    assert (detector['connections'], detector['connections_refused']) == (12, 18)
    assert answers(outputs) == [(slowloris_model.ratio(12, 100 * 30 // 100 * 80), 12, 30 * 80)]
    assert sum(stats['drops'].values()) == 0
    _, _, stats = pair(away, (*ON, *limits))
    assert stats['slowloris']['destinations'] == 3
    assert stats['slowloris']['destinations_refused'] == 47


@pytest.mark.parametrize('lcores', [2])
def test_it_does_not_matter_which_lcore_receives_what(lcores):
    """Two queues, one lcore each: clients' segments on one, servers' answers on the other."""
    there, back = [], []
    for number in range(3000):
        there.append(segment(address(number), SERVER, (2000, 80), SYN))
        there.append(segment(address(number), SERVER, (2000, 80), ACK, payload=10))
        back.append(segment(SERVER, address(number), (80, 2000), SYN | ACK, seq=7))
    outputs, _, stats = pair(there, lcores=lcores, behind=back)
    detector = stats['slowloris']
    assert detector['connections'] == detector['opened'] == 3000
    assert detector['missed'] == 0
