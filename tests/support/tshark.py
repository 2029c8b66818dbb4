# SPDX-License-Identifier: BSD-3-Clause
"""tshark with the dissectors of packaging/wireshark."""

import os
import subprocess

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

import project_scripts
from needs import AS_NOBODY, NO_NOBODY

FOLDER = project_scripts.PROJECT / 'packaging' / 'wireshark'
TIMEOUT_S = 600
# From version 4.4 on, Wireshark loads no script for root: be nobody, who can read root's files.
AS_READER = ([] if os.geteuid() != 0 else
             ['unshare', '--user', '--map-user=65534', '--map-group=65534'] if NO_NOBODY else
             [*AS_NOBODY, '--inh-caps=+dac_override', '--ambient-caps=+dac_override'])


def run(home, script, *arguments):
    """What tshark prints with a dissector, whatever the user has set up; home: an empty folder."""
    environment = {**os.environ, 'HOME': str(home), 'XDG_CONFIG_HOME': str(home), 'TZ': 'UTC'}
    command = [*AS_READER, 'tshark', *map(str, arguments), '-X', f'lua_script:{FOLDER / script}',
               '--disable-protocol', 'prp']  # guesses from an Ethernet frame's padding
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=True,
                          stdin=subprocess.DEVNULL, timeout=TIMEOUT_S)
    assert 'Lua' not in done.stderr, done.stderr
    return done.stdout


def dissected(home, payloads):
    """What tshark prints of each of the payloads, sent to the port of aggregation."""
    home.chmod(0o755)
    packets = home / 'pcap'
    wrpcap(str(packets), [Ether() / IP() / UDP(sport=1, dport=20041) / payload for payload in payloads])
    return run(home, 'netfc_aggregation.lua', '-r', packets, '-V').split('\nFrame ')


def value_names(home, script):
    """The names of values that a dissector knows: field -> number -> name."""
    names = {}
    for line in run(home, script, '-G', 'values').splitlines():
        if line.startswith('V\tnetfc'):
            _, field, value, name = line.split('\t')
            names.setdefault(field, {})[int(value, 0)] = name
    return names
