# SPDX-License-Identifier: BSD-3-Clause
"""The switch under a service manager: what it is told, signs of life, exit statuses, --check."""

import contextlib
import os
import pathlib
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

import pytest

import hosts
import switch
from leaping_clock import LeapingClock
from needs import needs_mounts, needs_packet_socket, needs_program

HANG = 120  # seconds that only say: it hangs
LATER = 75
EAL = switch.eal_options(['net_null0,no-rx=1'], 256)


class Manager:
    """Listens as systemd does."""

    def __init__(self, path, watchdog_us=0):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(path if path[0] != '@' else '\0' + path[1:])
        self._socket.settimeout(HANG)
        self.environment = {**os.environ, 'NOTIFY_SOCKET': path}
        if watchdog_us:
            self.environment['WATCHDOG_USEC'] = str(watchdog_us)

    def next(self):
        """The next message, as a dictionary."""
        lines = self._socket.recv(4096).decode().splitlines()
        return dict(line.split('=', 1) for line in lines)

    def until(self, name):
        """The next message that has that name."""
        while True:
            message = self.next()
            if name in message:
                return message

    def take_no_more(self):
        """Lets nobody tell it anything: its queue is full."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.connect(self._socket.getsockname())
            with contextlib.suppress(BlockingIOError):
                while True:
                    sender.send(b'STATUS=')

    def silence(self, seconds):
        """Forgets what has come, and returns the names that come in so many seconds."""
        self._socket.setblocking(False)
        try:
            while True:
                self._socket.recv(4096)
        except BlockingIOError:
            pass
        end, names = time.monotonic() + seconds, set()
        while (left := end - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                names |= set(self.next())
            except TimeoutError:
                pass
        self._socket.settimeout(HANG)
        return names


def start(manager, *options, eal=EAL, environment=None):
    """The switch under that manager."""
    return subprocess.Popen(  # pylint: disable=consider-using-with
        [switch.PROGRAM, *eal, '--', '--match', 'direct', *options],
        env={**manager.environment, **(environment or {})}, text=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE)


@contextlib.contextmanager
def running(manager, *options, **more):
    """The switch under that manager, which ends it and finds that it has ended well."""
    process = start(manager, *options, **more)
    try:
        yield process
    finally:
        process.terminate()
    assert process.wait(HANG) == 0, process.stderr.read()


@pytest.mark.parametrize('kind', ['file', 'abstract'])
def test_the_manager_is_told(tmp_path, kind):
    manager = Manager(f'{tmp_path}/notify' if kind == 'file' else f'@netfc-test-{os.getpid()}')
    with running(manager, '--tables', 'fp16_k16,bf16_k16', '--address', '10.0.0.1',
                 '--aggregate') as process:
        assert manager.next() == {'READY': '1', 'STATUS': 'Serving fp16_k16, bf16_k16; 0 jobs open'}
        process.send_signal(signal.SIGHUP)
    assert manager.until('STOPPING') == {'STOPPING': '1', 'STATUS': 'Ending'}


def test_no_manager_listens(tmp_path):
    """One that waits for READY would end the switch without a word."""
    manager = Manager(f'{tmp_path}/notify')
    (tmp_path / 'notify').unlink()
    process = start(manager)
    said = process.communicate(timeout=HANG)[1]
    assert process.returncode == 2
    assert f'$NOTIFY_SOCKET {tmp_path}/notify: No such file' in said


def test_a_manager_that_takes_nothing_does_not_hold_up_the_end(tmp_path):
    manager = Manager(f'{tmp_path}/notify')
    with running(manager) as process:
        manager.until('READY')
        manager.take_no_more()
    assert f'$NOTIFY_SOCKET {tmp_path}/notify: Connection timed out' in process.stderr.read()


def test_a_process_that_was_stopped_has_no_stuck_lcore(tmp_path):
    """Signs of life for which it had no time are not made up for, all at once."""
    manager = Manager(f'{tmp_path}/notify', watchdog_us=4_000_000)
    with running(manager) as process:
        manager.until('WATCHDOG')
        process.send_signal(signal.SIGSTOP)
        time.sleep(6)
        process.send_signal(signal.SIGCONT)
        manager.until('WATCHDOG')
        manager.until('WATCHDOG')
    assert 'has not looked' not in process.stderr.read()


def thread_of(process, lcore):
    """The thread id of an lcore that is not the main one."""
    for task in pathlib.Path(f'/proc/{process.pid}/task').iterdir():
        name = (task / 'comm').read_text().strip()
        if name in (f'rte-worker-{lcore}', f'lcore-worker-{lcore}', f'dpdk-worker{lcore}'):
            return int(task.name)
    raise AssertionError('no such thread')


def test_a_stuck_lcore_gives_no_signs_of_life(tmp_path):
    """It is stopped by a debugger: by strace, whose process is stopped itself."""
    manager = Manager(f'{tmp_path}/notify', watchdog_us=2_000_000)
    ports = ['net_null0,no-rx=1', 'net_null1,no-rx=1']
    process = start(manager, eal=switch.eal_options(ports, 256, lcores=2))
    try:
        manager.until('WATCHDOG')
        worker = thread_of(process, 1)
        with hold(worker):
            while 'WATCHDOG' in manager.next():  # for a round that was made before
                pass
            assert 'WATCHDOG' not in manager.silence(5)
        manager.until('WATCHDOG')
    finally:
        process.terminate()
    said = process.communicate(timeout=HANG)[1]
    assert process.returncode == 0, said
    assert 'lcore 1 has not looked at its queues for ' in said


class hold:  # pylint: disable=invalid-name
    """Stops one thread while the others run."""

    _SEIZE, _INTERRUPT, _DETACH = 0x4206, 0x4207, 17

    def __init__(self, thread):
        import ctypes  # pylint: disable=import-outside-toplevel
        self._thread = thread
        self._ptrace = ctypes.CDLL(None, use_errno=True).ptrace
        self._ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

    def __enter__(self):
        assert self._ptrace(self._SEIZE, self._thread, None, None) == 0
        assert self._ptrace(self._INTERRUPT, self._thread, None, None) == 0
        os.waitpid(self._thread, 0x40000000)  # __WALL

    def __exit__(self, *_):
        self._ptrace(self._DETACH, self._thread, None, None)


def test_a_build_of_tables_gives_signs_of_life(tmp_path):
    """The thread that gives them does not wait for the one that builds."""
    manager = Manager(f'{tmp_path}/notify', watchdog_us=400_000)
    with running(manager, '--control', tmp_path / 'control'):
        manager.until('READY')
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(HANG)
            control.connect(str(tmp_path / 'control'))
            control.sendall(b'{"command": "tables", "sets": "fp32_exact,bf16_exact"}\n')
            manager.until('WATCHDOG')
            assert b'"ok":true' in control.recv(65536)
        while 'bf16_exact' not in manager.until('STATUS')['STATUS']:
            pass


@needs_program('faketime')
def test_signs_of_life_while_the_wall_clock_leaps(tmp_path):
    clock = LeapingClock(tmp_path)
    manager = Manager(f'{tmp_path}/notify', watchdog_us=400_000)
    with running(manager, environment=clock.environment):
        manager.until('READY')
        for _ in range(8):  # one may have been on its way before
            clock.leap()
            manager.until('WATCHDOG')


def rights_of_group(path):
    """What the group may do with a file."""
    return stat.S_IMODE(path.stat().st_mode) & 0o070


def test_the_group_may_use_what_is_shared():
    """Where the runtime folder is the group's: telemetry and control, and no other socket."""
    with tempfile.TemporaryDirectory() as folder:  # short: paths of sockets are limited
        check_sharing(pathlib.Path(folder))


def check_sharing(tmp_path):
    """Of a runtime folder that the group may enter, and of another."""
    for mode, shared in ((0o750, True), (0o700, False)):
        folder = tmp_path / oct(mode)
        folder.mkdir()
        folder.chmod(mode)
        manager = Manager(f'{tmp_path}/notify-{mode}')
        with running(manager, '--control', folder / 'control',
                     eal=switch.eal_options(['net_null0,no-rx=1'], 256, telemetry=True),
                     environment={'RUNTIME_DIRECTORY': str(folder)}):
            manager.until('READY')
            [telemetry] = folder.glob('dpdk/*/dpdk_telemetry.v2')
            others = {path for path in telemetry.parent.iterdir() if path != telemetry}
            if shared:
                assert rights_of_group(folder / 'control') == rights_of_group(telemetry) == 0o060
            for path in (telemetry.parent, telemetry.parent.parent):
                assert rights_of_group(path) == (0o050 if shared else 0)
            assert others and all(rights_of_group(path) & 0o020 == 0 for path in others)


@pytest.mark.parametrize('port, missing', [
    pytest.param('net_af_packet0,iface=no-such-if', 'the interface no-such-if does not exist', marks=needs_packet_socket),
    ('net_pcap0,rx_iface_in=no-such-if,tx_iface=no-such-if', 'interface no-such-if does not exist'),
])
@pytest.mark.parametrize('managed', [True, False])
def test_what_is_not_there_yet_has_its_own_status(port, missing, managed):
    """For a manager, which may try again; to others it is a wrong configuration."""
    environment = [f'NOTIFY_SOCKET=@netfc-test-{os.getpid()}'] if managed else []
    command = [switch.PROGRAM, *switch.eal_options([port], 256), '--', '--match', 'direct']
    done = switch.execute([*environment, *command], program='env')
    assert done.returncode == (LATER if managed else 1), done.stderr
    assert missing in done.stderr.splitlines()[-1]


@needs_mounts
def test_no_tap_device(tmp_path):
    command = [switch.PROGRAM, *switch.eal_options(['net_tap0'], 256), '--', '--match', 'direct']
    done = subprocess.run(
        ['unshare', '--mount', 'sh', '-c',
         'mount -t tmpfs none /dev/net && exec "$@"', 'sh', *map(str, command)],
        env={**os.environ, 'NOTIFY_SOCKET': f'@netfc-test-{os.getpid()}'},
        text=True, capture_output=True, timeout=HANG, check=False, cwd=tmp_path)
    assert done.returncode == LATER, done.stderr
    assert done.stderr.endswith('there is no such port; /dev/net/tun does not exist\n')


TAKES_THE_GROUP = '''
import os, socket, struct, sys
other, interface, *command = sys.argv[1:]
group = (os.getpid() ^ socket.if_nametoindex(interface)) & 0xFFFF
taken = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
taken.bind((other, 3))
taken.setsockopt(263, 18, struct.pack('I', group | 0x9000 << 16))  # PACKET_FANOUT: hash, rollover, defragment
taken.set_inheritable(True)
os.execv(command[0], command)
'''


def test_another_program_s_fanout_group():
    """DPDK makes it of process ID and interface: another process ID is another group."""
    with hosts.veth_network(2) as (middle, _):
        command = [switch.PROGRAM, *switch.eal_options(['net_af_packet0,iface=p0'], 256), '--', '--match', 'direct',
                   '--idle-exit', '1']
        taken = middle.inside(sys.executable, '-c', TAKES_THE_GROUP, 'p1', 'p0', *command)
        for environment, status in ([f'NOTIFY_SOCKET=@netfc-test-{os.getpid()}'], LATER), ([], 1):
            done = switch.execute([*environment, *taken], 'env')
            assert done.returncode == status, done.stderr
            assert done.stderr.splitlines()[-1].endswith('would take: start it again')
        assert middle.run(*command).startswith('dpdk-netfc')


# ---- --check ---------------------------------------------------------------------------------


def check(*options, eal=()):
    """dpdk-netfc --check."""
    return switch.execute([*EAL, *eal, '--', '--check', *options])


def test_check_opens_nothing(tmp_path):
    done = check('--control', tmp_path / 'control', '--stats-json', tmp_path / 'stats')
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('options, said', [
    (['--tables', 'fp17'], "table set 'fp17'"),
    (['--tables', '/proc/nonexistent.netfc'], '/proc/nonexistent.netfc'),
    (['--match', 'x'], '--match'),
    (['--address', '10.0.0.1', '--aggregate', 'key=/proc/nonexistent'], 'key file /proc/nonexistent'),
])
def test_check_finds_what_is_wrong(options, said):
    done = check(*options)
    assert done.returncode == 1 and said in done.stderr


def test_check_reads_the_file_of_commands(tmp_path):
    """All of it, and says which line is wrong."""
    commands = tmp_path / 'init'
    commands.write_text('tables fp16_k16\nset ageing 7\n')
    bridge = ['--forward', 'bridge', '--init', commands]
    assert check(*bridge).returncode == 0
    commands.write_text('tables fp16_k16\nset ageing 0\n')
    done = check(*bridge)
    assert done.returncode == 1 and f'{commands}:2: ' in done.stderr


def test_check_finds_a_key_that_others_read(tmp_path):
    key = tmp_path / 'key'
    key.write_bytes(bytes(32))
    key.chmod(0o644)
    options = ['--address', '10.0.0.1', '--aggregate', f'key={key}']
    done = check(*options)
    assert done.returncode == 1 and 'mode 0644' in done.stderr
    key.chmod(0o600)
    assert check(*options).returncode == 0


def own_group():
    """This process's control group of version 2."""
    lines = pathlib.Path('/proc/self/cgroup').read_text().splitlines()
    return next((line[3:] for line in lines if line.startswith('0::')), None)


@needs_mounts
@hosts.needs_namespaces
@pytest.mark.skipif(own_group() is None, reason='there are no control groups of version 2')
@pytest.mark.parametrize('limit, options, fits', [
    (100 << 20, ['-m', '256'], False), (256 << 20, ['-m', '256'], True), ('max', ['-m256'], True),
    (100 << 20, ['-m101'], False)])
@pytest.mark.parametrize('above', [False, True])
def test_check_finds_a_limit_of_memory(limit, options, fits, above):
    """In the process's own group, or in one above it."""
    group = own_group().rstrip('/')
    at = group.rpartition('/')[0] if above else group
    eal = ['--no-huge', '--no-pci', *options]
    script = f"""mount -t tmpfs none /sys/fs/cgroup
        mkdir -p /sys/fs/cgroup{group}
        echo {limit} >/sys/fs/cgroup{at}/memory.max
        exec "$@" """
    done = subprocess.run(
        ['unshare', '--mount', 'sh', '-ec', script, 'sh', switch.PROGRAM, *eal, '--', '--check'],
        text=True, capture_output=True, timeout=HANG, check=False)
    assert done.returncode == (0 if fits else 1), done.stderr
    if not fits:
        assert f'the control group {at or "/"} may use 100 MB' in done.stderr
