# SPDX-License-Identifier: BSD-3-Clause
"""The commands that operations.md and monitoring.md give, and how a machine is made to run them."""

import pathlib
import re

DOCS = pathlib.Path(__file__).parents[2] / 'docs'
PAGES = ('operations.md', 'monitoring.md')
CODE = re.compile(r'^```(?P<kind>\w*)\n(?P<block>.*?)^```$|`(?P<inline>[^`\n]+)`', re.M | re.S)
PROGRAM = re.compile(r'(netfc-[a-z]+|dpdk-netfc|systemctl|journalctl|ip|sysctl|ethtool|tshark) +[^ ]|'
                     r'netfc-(ctl|top|exporter)$')


def commands(page):
    """Those of a page, each once and without its comment, in their order. 'python' before a program."""
    found = {}
    for code in CODE.finditer((DOCS / page).read_text(encoding='utf-8')):
        if code['inline']:
            lines = [code['inline']] if PROGRAM.match(code['inline']) else []
        elif code['kind'] == 'python':
            lines = [f'python\n{code["block"]}']
        else:
            lines = code['block'].replace('\\\n', ' ').splitlines()
            if code['kind'] != 'sh':
                lines = [line.removeprefix('$ ') for line in lines if line.startswith(('$ ', '--> '))]
        found |= dict.fromkeys(line if line.startswith('python') else re.sub(r'\s+(#.*)?', ' ', line).strip()
                               for line in lines)
    return [line for line in found if line]


def file_of_commands():
    """What operations.md shows of /etc/dpdk-netfc.init."""
    text = (DOCS / 'operations.md').read_text(encoding='utf-8')
    return re.search(r'^\$ cat /etc/dpdk-netfc.init\n(.*?)^\$ ', text, re.M | re.S)[1]


TAP = '--no-huge -m 1024 --no-pci --vdev=net_tap0,iface=netfc0'
CHANGING = f'dpdk-netfc -l 0 {TAP} --vdev=net_tap1,iface=netfc1 -- --control /run/dpdk-netfc/control'
NULL = 'dpdk-netfc -l 0 --no-huge -m 256 --no-pci --vdev=net_null0,no-rx=1 -- --match direct'
# What still runs is stopped; one that ends just then is no error.
ALONE = "systemctl stop 'documented-*' dpdk-netfc 'dpdk-netfc@*' 'netfc-exporter@*' || :"
ASK = 'python3 -c "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"'

# Why a command is not run in the machine.
NOT_RUN = {
    'dpdk-netfc EAL OPTIONS -- OPTIONS': 'a synopsis',
    **dict.fromkeys(('netfc-ctl', 'netfc-ctl capture', 'systemctl start'), 'a name'),
    'ethtool -N eth0 flow-type udp4 dst-port 20041 action 1': 'a NIC that steers',
    'sysctl -w vm.nr_hugepages=512': 'it would change what is outside',
    'systemctl edit dpdk-netfc': 'an editor',
    'dpdk-netfc ... --vdev=net_af_packet0,iface=p0 --vdev=net_af_packet1,iface=p1 -- '
    '--forward pair --address 10.1.1.2/24@0 --address 198.51.100.1@0': 'scripts/demo anycast',
    'dpdk-telemetry.py': 'a program of DPDK; tests/integration/observe',
    'tshark -X lua_script:packaging/wireshark/netfc.lua -r /var/lib/dpdk-netfc/x.pcapng -Y netfc':
        'tests/integration/clients/test_dissector.py',
    'tshark -r x.pcapng -Y FILTER -w y.pcapng': 'a program of others, with a word to be filled in',
}

# What stands for words to be filled in; other machines have other CPUs and files.
INSTEAD = {
    'dpdk-netfc -l 0 --no-huge -m 512 --no-pci --vdev=net_af_packet0,iface=p0 ...':
        'dpdk-netfc -l 0 --no-huge -m 512 --no-pci --vdev=net_af_packet0,iface=p0 -- --address 10.0.0.2/24',
    'ethtool -K eth0 tx off': 'ip netns exec HOST ethtool -K eth0 tx off',
    'dpdk-netfc -l 0 --no-huge -m 512 --no-pci --file-prefix a --vdev=net_vhost0,iface=/tmp/v -- ...':
        'dpdk-netfc -l 0 --no-huge -m 512 --no-pci --file-prefix a --vdev=net_vhost0,iface=/tmp/v --',
    'other-program --no-huge -m 2048 --no-pci --file-prefix b '
    '--vdev=net_virtio_user0,path=/tmp/v,queue_size=1024 ...':
        'dpdk-netfc --lcores 0 --no-huge -m 2048 --no-pci --file-prefix b '
        '--vdev=net_virtio_user0,path=/tmp/v,queue_size=1024 --',
    "dpdk-netfc -l 0-2 --no-huge -m 512 --no-pci --vdev=net_tap0,iface=netfc0 -- "
    "--config '(0,0,1),(0,1,2)' --rx-burst 32":
        "dpdk-netfc --lcores '(0-2)@0' --no-huge -m 512 --no-pci --vdev=net_tap0,iface=netfc0 -- "
        "--config '(0,0,1),(0,1,2)' --rx-burst 32",
    'netfc-top': "TERM=vt100 python3 -c 'import pty; pty.spawn(\"netfc-top\")'",
    'RUNTIME_DIRECTORY=FOLDER setpriv --reuid=nobody --regid=nogroup --clear-groups '
    '--inh-caps=+net_admin --ambient-caps=+net_admin dpdk-netfc ...':
        'RUNTIME_DIRECTORY=/run/nobody setpriv --reuid=nobody --regid=nogroup --clear-groups '
        f'--inh-caps=+net_admin --ambient-caps=+net_admin dpdk-netfc -l 0 {TAP} --',
    'dpdk-netfc ... -- --control /run/dpdk-netfc/control --forward bridge --slowloris':
        f'{CHANGING} --match direct --forward bridge --slowloris',
    'dpdk-netfc ... -- --forward bridge --control /run/dpdk-netfc/control --init /etc/dpdk-netfc.init':
        f'{CHANGING} --init /etc/dpdk-netfc.init --match direct --forward bridge',
    'netfc-tables show SET --walk OP X Y': 'netfc-tables show fp16_k1024 --walk add 1.5 2.25',
}

# Commands that go on until they are stopped, by how they begin, and what shows that they work; $SAID is what they say.
STAYS = {
    'dpdk-netfc -l 0 --no-huge -m 512 --no-pci --vdev=net_af_packet0':
        'ip -n HOST address replace 10.0.0.1/24 dev eth0 && ip -n HOST link set eth0 up && '
        'ip netns exec HOST ping -c 1 10.0.0.2',
    'dpdk-netfc --no-huge -m 512 -- --check': None,
    'dpdk-netfc ': 'grep ^Ready $SAID',
    'other-program ': 'grep ^Ready $SAID',
    'RUNTIME_DIRECTORY=': 'grep ^Ready $SAID',
    'ping ': 'grep "bytes from" $SAID',
    'netfc-top --once': None,
    'netfc-top': 'grep -a packets/s $SAID',
    'netfc-exporter --listen 10.0.0.5:9620': f'{ASK} http://10.0.0.5:9620/metrics | grep "^netfc_up 1"',
    'netfc-exporter': f'{ASK} http://127.0.0.1:9620/metrics | grep "^netfc_up 1"',
}

# What has to be there before, beside what the commands before have done.
BEFORE = {
    'dpdk-netfc -l 0 --no-huge -m 512 --no-pci --vdev=net_tap0,iface=netfc0 -- --address 10.0.0.2/24': ALONE,
    'ip link set netfc0 netns NAME': "systemctl stop 'documented-*ping*'; ip netns add NAME",
    'ip link add p0 type veth peer name eth0 netns HOST': f'{ALONE}; ip netns add HOST',
    'dpdk-netfc -l 0 --no-huge -m 512 --no-pci --file-prefix a --vdev=net_vhost0,iface=/tmp/v -- ...': ALONE,
    "dpdk-netfc -l 0-2 --no-huge -m 512 --no-pci --vdev=net_tap0,iface=netfc0 -- "
    "--config '(0,0,1),(0,1,2)' --rx-burst 32": ALONE,
    'systemctl preset-all': ALONE,
    'apt install ./dpdk-netfc_*.deb ./dpdk-netfc-common_*.deb ./libnetfc1_*.deb ./python3-netfc_*.deb':
        'dpkg --purge dpdk-netfc dpdk-netfc-common python3-netfc libnetfc1; cp /root/packages/*.deb .',
    'editor /etc/default/dpdk-netfc': 'ln -s /bin/true /usr/bin/editor',
    'RUNTIME_DIRECTORY=FOLDER setpriv --reuid=nobody --regid=nogroup --clear-groups '
    '--inh-caps=+net_admin --ambient-caps=+net_admin dpdk-netfc ...':
        f'{ALONE}; install -d -o nobody /run/nobody',
    'dpdk-netfc ... -- --control /run/dpdk-netfc/control --forward bridge --slowloris':
        f'{ALONE}; mkdir -p /run/dpdk-netfc',
    'cat /etc/dpdk-netfc.init': ALONE,
    'netfc-top': f'{ALONE}; systemctl start dpdk-netfc',
    'netfc-ctl capture start /var/lib/dpdk-netfc/x.pcapng --packets 10000':
        f'rm -f /var/lib/dpdk-netfc/x.pcapng; {ALONE}; systemctl start dpdk-netfc',
    'netfc-exporter --listen 10.0.0.5:9620': "systemctl stop 'documented-*'; ip address add 10.0.0.5/32 dev lo",
    'netfc-exporter --listen 10.0.0.5:9620 --host switch1.example': "systemctl stop 'documented-*'",
}

# What has to be so afterwards, or is told to the reader to be done.
AFTER = {
    'systemctl preset-all': '! systemctl is-enabled dpdk-netfc',
    'systemctl reload dpdk-netfc': 'systemctl is-active dpdk-netfc',
    'cp /etc/default/dpdk-netfc /etc/default/dpdk-netfc@two':
        "sed -i 's/netfc0/netfc2/; s/10[.]0[.]0/10.0.2/' /etc/default/dpdk-netfc@two",
    'systemctl enable --now systemd-networkd':
        'systemctl is-active systemd-networkd && rm /etc/systemd/network/netfc0.network && '
        'systemctl disable --now systemd-networkd',
    'systemctl enable --now netfc-exporter@dpdk-netfc': 'systemctl is-active netfc-exporter@dpdk-netfc',
}

FAILS = {'netfc-ctl tables fp17': "netfc-ctl: dpdk-netfc: table set 'fp17': "}
