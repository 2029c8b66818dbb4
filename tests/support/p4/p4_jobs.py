# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of the aggregating P4 programs, and the frames of their workers."""

import dataclasses
import json
import struct
import subprocess

import project_scripts
from frames import internet_checksum
from netfc import aggregation

P4 = project_scripts.PROJECT / 'p4'
PROGRAM = P4 / 'netfc_aggregate_v1model.p4'
TOKEN = 0x0123456789abcdef
SWITCH_MAC = '02:00:00:00:00:99'
SWITCH_IP = '10.1.0.100'


@dataclasses.dataclass(frozen=True)
class Member:
    """A worker: its job's number, token and session, its own number, and where it is."""

    number: int
    job: int = 1
    token: int = TOKEN
    port: int = 0
    udp_port: int = 5000
    session: int = 0  # the token, as P4 switches have it
    host: str = ''  # its address, if not one by its number

    @property
    def mac(self):
        return f'02:00:00:00:00:{self.number + 1:02x}'

    @property
    def ip(self):
        return self.host or f'10.1.0.{self.number + 1}'

    @property
    def place(self):
        return aggregation.Worker(self.job, self.token, self.number, self.session)


def described(*jobs, address=SWITCH_IP, mac=None):
    """What p4/jobs reads, of lists of members. mac: of all of them, if they are of one host."""
    return json.dumps({'address': address, 'jobs': [
        {'job': team[0].job, 'token': hex(team[0].token),
         'workers': [{'address': worker.ip, 'mac': mac or worker.mac, 'port': worker.port}
                     for worker in team]} for team in jobs]})


def entries(text, target='bmv2', slots=256, jobs=16, status=0):
    """What p4/jobs writes, or what it complains of."""
    done = subprocess.run([P4 / 'jobs', '--target', target, '--slots', str(slots), '--max-jobs',
                           str(jobs)], input=text, text=True, capture_output=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stderr if status else done.stdout


def ip_bytes(text):
    return bytes(map(int, text.split('.')))


def mac_bytes(text):
    return bytes.fromhex(text.replace(':', ''))


def frame(member, payload, *, source=None, checksum=None, identification=7, to=SWITCH_IP):
    """A worker's datagram to the switch."""
    return datagram((source or member.ip, member.udp_port + member.number),
                    (to, aggregation.UDP_PORT), payload, mac=member.mac, checksum=checksum,
                    identification=identification)


def datagram(source, to, payload, *, mac='02:00:00:00:00:01', checksum=None, identification=7):
    """A frame to the switch. source, to: IPv4 address and UDP port."""
    addresses = ip_bytes(source[0]) + ip_bytes(to[0])
    ip = struct.pack('>BBHHHBB', 0x45, 4, 28 + len(payload), identification, 0, 17, 17)
    ip += struct.pack('>H', internet_checksum(ip + bytes(2) + addresses)) + addresses
    udp = struct.pack('>HHH', source[1], to[1], 8 + len(payload))
    if checksum is None:
        checksum = udp_checksum(addresses, udp, payload)
    return mac_bytes(SWITCH_MAC) + mac_bytes(mac) + b'\x08\x00' + ip + udp + \
        struct.pack('>H', checksum) + payload


def udp_checksum(addresses, ports_and_length, payload):
    """Of a datagram over IPv4."""
    pseudo = addresses + struct.pack('>HH', 17, 8 + len(payload))
    return internet_checksum(pseudo + ports_and_length + bytes(2) + payload) or 0xFFFF


def with_secret(received, secret):
    """A reply's frame as it were if that stood in the session's place."""
    payload = payload_of(received)
    payload = payload[:16] + secret.to_bytes(8, 'big') + payload[24:]
    checksum = udp_checksum(received[26:34], received[34:40], payload)
    return received[:40] + checksum.to_bytes(2, 'big') + payload


def payload_of(received):
    """The payload of a result's frame."""
    return received[42:]
