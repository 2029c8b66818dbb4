# SPDX-License-Identifier: BSD-3-Clause
"""The packages in a machine under systemd: installed, started, killed, upgraded, removed.

scripts/test-service makes the machine and the packages. The tests follow one another in it.
"""

import os
import pathlib
import subprocess

import pytest

ANSWERS = ('ip address replace 10.0.0.1/24 dev netfc0 && ip link set netfc0 up && '
           'test "$(netfc-client add 1.5 2.25 --server 10.0.0.2)" = 3.75')
DEFAULT = '/etc/default/dpdk-netfc'
MAX_EXPOSED = 24  # tenths
OLD = '0.3.0~aa'  # what these packages break is older still, all of git is newer

# Sums until there is a file /run/enough; says how many.
WORKER = '''import os, sys
import numpy
from netfc.allreduce import Communicator
with Communicator("10.0.0.2", worker=int(sys.argv[1]), workers=2, token=77) as comm:
    sums = 0
    enough = numpy.zeros(1, numpy.float32)
    while enough[0] == 0:
        sums += 1
        open(f"/run/sums-{sys.argv[1]}", "w").write(str(sums))
        enough[0] = os.path.exists("/run/enough")
        comm.allreduce(enough)
'''
NEWCOMER = 'from netfc.allreduce import Communicator; Communicator("10.0.0.2", job=9, join_timeout=2).close()'

pytestmark = pytest.mark.in_order


@pytest.fixture(name='older', scope='module')
def older_packages(machine, packages, tmp_path_factory):
    """The folder in the machine that has an older version of the packages."""
    folder = tmp_path_factory.mktemp('old')
    for name, package in packages.items():
        age(package, folder, name)
        machine.write(f'/root/old/{name}.deb', (folder / f'{name}.deb').read_bytes())
    return '/root/old'


def age(package, folder, name):
    """The same package under an older version."""
    content = folder / name
    subprocess.run(['dpkg-deb', '-R', package, content], check=True)
    control = content / 'DEBIAN' / 'control'
    text = control.read_text()
    version = next(line.split()[1] for line in text.splitlines() if line.startswith('Version:'))
    control.write_text(text.replace(version, OLD))
    subprocess.run(['dpkg-deb', '--root-owner-group', '-b', content, folder / f'{name}.deb'],
                   check=True, capture_output=True)


def pid_of(machine, unit='dpdk-netfc'):
    """The unit's main process."""
    return int(machine.property('MainPID', unit))


def wait_for_another(machine, pid, unit='dpdk-netfc'):
    """Until the unit is ready with another process than that."""
    machine.until(f"p=$(systemctl show --value --property MainPID '{unit}'); "
                  f"[ $p != 0 ] && [ $p != {pid} ] && systemctl is-active --quiet '{unit}'")


@pytest.fixture(name='default')
def options_of_the_service(machine):
    """Sets them by replacing text; afterwards they are as they were, and the service is ready."""
    before = machine.run(f'cat {DEFAULT}')

    def change(old, new):
        assert old in before
        machine.write(DEFAULT, before.replace(old, new))
    yield change
    machine.write(DEFAULT, before)
    machine.run('systemctl reset-failed dpdk-netfc; systemctl restart dpdk-netfc')
    machine.until(ANSWERS)


@pytest.fixture(name='drop_in')
def settings_of_the_unit(machine):
    """Adds some to [Service]; afterwards they are gone, and the service is ready."""
    folder = '/etc/systemd/system/dpdk-netfc.service.d'

    def add(settings):
        machine.write(f'{folder}/test.conf', f'[Service]\n{settings}\n')
        machine.run('systemctl daemon-reload')
    yield add
    machine.run(f'rm -r {folder}; systemctl daemon-reload; systemctl reset-failed dpdk-netfc; '
                'systemctl restart dpdk-netfc')
    machine.until(ANSWERS)


def test_installing_starts_nothing(machine, older):
    machine.run(f'dpkg -i {older}/*.deb')
    assert machine.property('ActiveState') == 'inactive'
    assert machine.run('systemctl is-enabled dpdk-netfc', check=False).strip() == 'disabled'
    assert 'netfc' in machine.run('getent group netfc')


def test_what_is_new_is_there(machine):
    """Debian's changelog says that CHANGELOG.md has it."""
    assert 'CHANGELOG.md' in machine.run('zcat /usr/share/doc/dpdk-netfc/changelog.gz')
    machine.run('zcat -f /usr/share/doc/dpdk-netfc-common/CHANGELOG.md* | grep "^## Unreleased"')


def test_the_documents_are_there(machine):
    """In the folders that their links name."""
    folder = '/usr/share/doc/dpdk-netfc-common'
    machine.run(f'zcat -f {folder}/README.md* | grep "^# dpdk-netfc" && '
                f'zcat -f {folder}/docs/README.md* | grep "^# Documentation" && ls {folder}/docs/operations.md*')


def test_it_starts_and_says_what_it_serves(machine):
    machine.run('systemctl start dpdk-netfc')
    machine.until(ANSWERS)
    assert machine.property('StatusText') == 'Serving fp16_k1024'
    assert machine.property('NRestarts') == '0'


def test_an_upgrade_restarts_it(machine):
    pid = pid_of(machine)
    machine.run('dpkg -i /root/packages/*.deb')
    wait_for_another(machine, pid)
    machine.until(ANSWERS)
    assert 'deleted' not in machine.run(f'readlink /proc/{pid_of(machine)}/exe')


def test_python_has_no_older_library(machine, older):
    """It takes those of its own version alone."""
    assert 'break' in machine.fails(f'dpkg -i {older}/libnetfc-allreduce0.deb')
    assert 'ok installed' in machine.run('dpkg -s libnetfc-allreduce0 python3-netfc')


def test_an_upgrade_leaves_a_stopped_one_alone(machine):
    """Also an enabled one: somebody has drained it, or is at work on its ports."""
    machine.run('systemctl enable dpdk-netfc; systemctl stop dpdk-netfc')
    machine.run('dpkg -i /root/packages/*.deb')
    assert machine.property('ActiveState') == 'inactive'
    assert machine.run('systemctl is-enabled dpdk-netfc').strip() == 'enabled'
    machine.run('systemctl disable dpdk-netfc; systemctl start dpdk-netfc')
    machine.until(ANSWERS)


def test_killed_it_comes_back(machine):
    pid = pid_of(machine)
    machine.run(f'kill -9 {pid}')
    wait_for_another(machine, pid)
    machine.until(ANSWERS)


def test_the_group_and_nobody_else(machine):
    machine.run('useradd -G netfc member; useradd other')
    for command in ('netfc-top --once', 'netfc-ctl show'):
        machine.run(f"setpriv --reuid member --regid member --init-groups {command}")
        machine.fails(f"setpriv --reuid other --regid other --init-groups {command}")


def test_captures(machine):
    """Into the state directory; nowhere that they would vanish."""
    for folder in ('/tmp', '/var/tmp', '/root'):
        assert 'cannot make' in machine.fails(f'netfc-ctl capture start {folder}/x.pcapng')
    machine.run('netfc-ctl capture start /var/lib/dpdk-netfc/x.pcapng')
    machine.run(ANSWERS)
    machine.run('netfc-ctl capture stop')
    machine.until('test $(stat -L -c %s /var/lib/dpdk-netfc/x.pcapng) -gt 300')


def test_the_exporter(machine):
    machine.run('systemctl start netfc-exporter@dpdk-netfc')
    ask = ('python3 -c "import urllib.request as u; '
           "print(u.urlopen('http://127.0.0.1:9620/metrics').read().decode())\"")
    machine.until(f'{ask} | grep "^netfc_up 1"')
    machine.run('systemctl stop dpdk-netfc')
    machine.until(f'{ask} | grep "^netfc_up 0"')
    machine.until('journalctl -u netfc-exporter@dpdk-netfc | grep "no switch"')
    machine.run('systemctl start dpdk-netfc')
    machine.until(f'{ask} | grep "^netfc_up 1"')
    machine.run('systemctl stop netfc-exporter@dpdk-netfc')
    machine.until(ANSWERS)


def test_sighup_does_not_end_it(machine):
    pid = pid_of(machine)
    machine.run('systemctl kill -s HUP dpdk-netfc')
    machine.run(ANSWERS)
    assert pid_of(machine) == pid


def test_a_wrong_option_is_not_tried_again(machine, default):
    default('--match direct', '--match nothing')
    machine.fails('systemctl restart dpdk-netfc')
    assert machine.property('ExecMainStatus') == '1'
    assert machine.property('ActiveState') == 'failed'


def test_a_port_may_come_late(machine, default):
    default('--vdev=net_tap0,iface=netfc0', '--vdev=net_af_packet0,iface=late0')
    machine.run('systemctl restart --no-block dpdk-netfc')
    machine.until('journalctl -u dpdk-netfc | grep "the interface late0 does not exist"')
    machine.run('ip link add late0 type veth peer name late1 && ip link set late0 up && '
                'ip link set late1 up')
    machine.until('systemctl is-active dpdk-netfc')
    machine.run('systemctl stop dpdk-netfc; ip link delete late0')


def test_no_tap_device(machine, default):
    """It may be a module that is not loaded yet."""
    default('--match direct', '--match direct')
    machine.run('mv /dev/net/tun /dev/net/off')
    machine.run('systemctl restart --no-block dpdk-netfc')
    machine.until('journalctl -u dpdk-netfc | grep "/dev/net/tun does not exist"')
    machine.run('mv /dev/net/off /dev/net/tun')
    machine.until('systemctl is-active dpdk-netfc')


def test_a_key(machine, default):
    machine.write('/etc/credstore/dpdk-netfc.key', os.urandom(32), '600')
    default('--match direct', '--match direct --aggregate '
            'key=/run/credentials/dpdk-netfc.service/key')
    machine.run('systemctl restart dpdk-netfc')
    assert machine.property('StatusText') == 'Serving fp16_k1024; 0 jobs open'
    machine.write('/root/open.key', os.urandom(32), '644')
    said = machine.fails('dpdk-netfc --no-huge -m 256 -- --check --address 10.0.0.2 '
                         '--aggregate key=/root/open.key')
    assert 'mode 0644' in said


def test_the_file_of_commands_and_a_reload(machine, default):
    """One with a wrong line changes nothing, and says which line that is."""
    commands = '/etc/dpdk-netfc.init'
    machine.write(commands, 'tables fp16_k1024,bf16_k128\n')
    default('--match direct', f'--match direct --init {commands}')
    machine.run('systemctl restart dpdk-netfc')
    machine.until(ANSWERS)
    machine.run('netfc-ctl show | grep bf16_k128')
    machine.write(commands, 'tables fp16_k1024,posit16_k512\n')
    machine.run('systemctl reload dpdk-netfc')
    machine.until('netfc-ctl show | grep posit16_k512')
    machine.write(commands, 'tables fp16_k1024\nset nonsense 1\n')
    machine.run('systemctl reload dpdk-netfc')
    machine.until(f'journalctl -u dpdk-netfc -p err | grep "{commands}.*2"')
    machine.run('netfc-ctl show | grep posit16_k512')
    machine.run(ANSWERS)


def sums_so_far(machine):
    """Those of worker 1."""
    return int(machine.run('cat /run/sums-1') or 0)


def wait_for_more_sums(machine):
    """Than there are now."""
    machine.until(f'[ "$(cat /run/sums-1)" -gt {sums_so_far(machine) + 1} ]')


def test_a_reload_and_draining_let_two_workers_go_on(machine, default):
    commands = '/etc/dpdk-netfc.init'
    machine.write(commands, 'tables fp16_k1024\n')
    machine.write('/root/worker.py', WORKER)
    default('--match direct', f'--match direct --aggregate jobs=4 --init {commands}')
    machine.run('systemctl restart dpdk-netfc')
    machine.until(ANSWERS)
    for worker in 0, 1:
        machine.run(f'systemd-run --quiet --unit worker-{worker} python3 /root/worker.py {worker}')
    machine.until('[ "$(cat /run/sums-1)" -gt 1 ]')
    machine.write(commands, 'tables fp16_k1024,bf16_k128\n')
    machine.run('systemctl reload dpdk-netfc')
    machine.until('netfc-ctl show | grep bf16_k128')
    wait_for_more_sums(machine)
    machine.run('systemd-run --quiet --unit drain netfc-ctl drain')
    machine.until(f"! python3 -c '{NEWCOMER}'")
    wait_for_more_sums(machine)
    machine.run('touch /run/enough')
    machine.until('! systemctl is-active dpdk-netfc && ! systemctl is-active drain worker-0 worker-1')
    for unit in 'dpdk-netfc', 'drain', 'worker-0', 'worker-1':
        assert machine.property('Result', unit) == 'success', unit


def test_a_full_disk_ends_a_capture_and_nothing_else(machine, default):
    default('--match direct', '--match direct')
    machine.run('systemctl stop dpdk-netfc; mount -t tmpfs -o size=64k,mode=0700 none /var/lib/private; '
                'systemctl start dpdk-netfc')
    try:
        machine.until(ANSWERS)
        pid = pid_of(machine)
        machine.run('netfc-ctl capture start /var/lib/dpdk-netfc/full.pcapng')
        machine.run('ping -q -c 300 -i 0.002 -s 1400 10.0.0.2')
        machine.until('netfc-ctl capture show | grep -i "no space left"')
        machine.run(ANSWERS)
        assert pid_of(machine) == pid
    finally:
        machine.run('systemctl stop dpdk-netfc; umount /var/lib/private')


def test_less_memory_than_it_needs(machine, drop_in):
    """It says so and stays stopped, where the kernel would end it again and again."""
    limit = 'MemoryMax=100M'
    if 'memory' not in machine.run('cat /sys/fs/cgroup/cgroup.controllers').split():
        # The kernel's memory controller is of version 1: files in place of what systemd would set, and 254 hands on.
        group = '/run/groups/system.slice/dpdk-netfc.service'
        machine.write(f'{group}/memory.max', f'{100 << 20}')
        machine.write(f'{group}/memory.pressure', '')
        limit += '\nBindReadOnlyPaths=/run/groups:/sys/fs/cgroup'
    drop_in(limit)
    machine.fails('systemctl restart dpdk-netfc')
    assert machine.property('ActiveState') == 'failed'
    assert machine.property('ExecMainStatus') == '1'
    machine.until('journalctl -u dpdk-netfc -p err | grep "may use 100 MB"')


def test_a_stuck_switch_is_ended_and_comes_back(machine, drop_in):
    drop_in('WatchdogSec=5')
    machine.run('systemctl restart dpdk-netfc')
    pid = pid_of(machine)
    machine.run(f'kill -STOP {pid}')
    wait_for_another(machine, pid)
    machine.run('journalctl -u dpdk-netfc | grep -i "watchdog timeout"')


def test_one_that_builds_tables_is_not_stuck(machine, drop_in):
    """For three times as long as it may be silent."""
    drop_in('WatchdogSec=5')
    machine.run('systemctl restart dpdk-netfc')
    pid = pid_of(machine)
    machine.run('end=$(($(date +%s) + 15)); while [ $(date +%s) -lt $end ]; do '
                'netfc-ctl tables fp32_exact,bf16_exact; netfc-ctl tables fp16_k1024,posit16_k512; done')
    machine.run(ANSWERS)
    assert pid_of(machine) == pid


def test_two_switches(machine):
    other = machine.run(f'cat {DEFAULT}').replace('netfc0', 'netfc1').replace('10.0.0', '10.0.1')
    machine.write('/etc/default/dpdk-netfc@two', other)
    machine.run('systemctl start dpdk-netfc@two')
    machine.until(ANSWERS.replace('netfc0', 'netfc1').replace('10.0.0', '10.0.1'))
    machine.until(ANSWERS)
    machine.run('netfc-ctl --socket /run/dpdk-netfc@two/control show')
    pid = pid_of(machine, 'dpdk-netfc@two')
    machine.run('dpkg -i /root/packages/*.deb')
    wait_for_another(machine, pid, 'dpdk-netfc@two')


def test_networkd_gives_the_interface_its_address(machine):
    """By the example, again after each start of the switch, which makes a new interface."""
    answers = ANSWERS.rpartition('&& ')[2]
    machine.run('ip address flush dev netfc0')
    machine.run('cp /usr/share/doc/dpdk-netfc/examples/netfc0.network /etc/systemd/network/ && '
                'systemctl start systemd-networkd')
    machine.until(answers)
    machine.run('systemctl restart dpdk-netfc')
    machine.until(answers)
    assert '10.0.0.1/24' in machine.run('ip address show dev netfc0')
    machine.run('rm /etc/systemd/network/netfc0.network; systemctl stop systemd-networkd')


def test_security(machine):
    machine.run('systemd-analyze security --no-pager '
                f'--threshold={MAX_EXPOSED} dpdk-netfc >/dev/null')
    machine.run(f'systemd-analyze security --threshold={MAX_EXPOSED} netfc-exporter@x >/dev/null')


def test_the_package_s_own_test(machine):
    machine.run('systemctl stop dpdk-netfc')
    test = pathlib.Path(__file__).parents[2] / 'debian' / 'tests' / 'service'
    machine.write('/root/autopkgtest', test.read_text(), '755')
    machine.run('/root/autopkgtest')


def test_removed_and_purged(machine):
    machine.run('systemctl start dpdk-netfc')
    machine.run('dpkg --remove dpdk-netfc')
    machine.fails('readlink /proc/[0-9]*/exe | grep dpdk-netfc')
    machine.run('dpkg --purge dpdk-netfc python3-netfc dpdk-netfc-common libnetfc1')
    machine.run('test ! -e /etc/default/dpdk-netfc')
