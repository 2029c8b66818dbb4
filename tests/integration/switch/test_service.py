# SPDX-License-Identifier: BSD-3-Clause
"""The systemd unit, the switch without root, and completion in the shell."""

import os
import shlex
import shutil
import signal
import subprocess

import pytest

import frames
import hosts
import project_scripts
import switch
from needs import AS_NOBODY, needs_program, needs_nobody, needs_tap

PACKAGING = project_scripts.PROJECT / 'packaging'
UNIT = PACKAGING / 'dpdk-netfc.service'
NOBODY = 65534
MAX_EXPOSED = 30  # tenths; systemd calls up to 4.9 "OK"
INTERFACE, NEXT_TO_IT, ITS_ADDRESS = 'netfc0', '10.0.0.1/24', '10.0.0.2'


def without_root(*capabilities):
    """A command prefix: as nobody, with these capabilities and no way to others."""
    named = ','.join(f'+{name}' for name in capabilities) or '-all'
    return [*AS_NOBODY, '--no-new-privs',
            '--bounding-set', f'-all,{named}' if capabilities else '-all',
            '--inh-caps', f'-all,{named}' if capabilities else '-all', '--ambient-caps', named]


@pytest.fixture(name='runtime')
def runtime_folder_of_nobody(tmp_path_factory):
    """A folder that nobody owns, all the way from /tmp, and a copy of the program in it."""
    folder = tmp_path_factory.mktemp('nobody')
    for parent in (folder, *folder.parents):
        if parent.name:
            parent.chmod(parent.stat().st_mode | 0o011)
    shutil.copy(switch.PROGRAM, folder / 'dpdk-netfc')
    os.chown(folder, NOBODY, NOBODY)
    return folder


@needs_nobody
def test_files_need_no_privileges(runtime):
    switch.write_capture(runtime / 'in', [frames.plain_frame(frames.lanes(3))] * 5)
    vdev = f'net_pcap0,rx_pcap={runtime}/in,tx_pcap={runtime}/out'
    done = subprocess.run(
        [*without_root(), runtime / 'dpdk-netfc', *switch.eal_options([vdev]), '--', '--match',
         'direct', '--idle-exit', '100', '--control', runtime / 'control'],
        env={**os.environ, 'RUNTIME_DIRECTORY': str(runtime)}, text=True, capture_output=True,
        timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert len(switch.read_capture(runtime / 'out')) == 5


def settings():
    """What the environment file of the service sets, by name, split as systemd does."""
    lines = (PACKAGING / 'dpdk-netfc.default').read_text().splitlines()
    pairs = [line.split('=', 1) for line in lines if '=' in line and not line.startswith('#')]
    return {name: shlex.split(value.strip('"')) for name, value in pairs}


@needs_nobody
@needs_tap
@hosts.needs_namespaces
def test_the_service_as_it_is_installed(runtime):
    """Its options, with its capabilities, as nobody: hosts ping it, and it takes commands."""
    found = settings()
    options = ['--control', str(runtime / 'control'), *found['OPTIONS']]
    with hosts.Namespace() as space:
        process = space.start(
            *without_root('net_admin', 'net_raw'), runtime / 'dpdk-netfc', *found['EAL_OPTIONS'],
            '--', *options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, 'RUNTIME_DIRECTORY': str(runtime)})
        try:
            hosts.wait_until(lambda: process.poll() is not None or space.is_watched(INTERFACE),
                             'the interface')
            assert process.poll() is None, process.stdout.read()
            space.ip('address', 'add', NEXT_TO_IT, 'dev', INTERFACE)
            space.ip('link', 'set', INTERFACE, 'up')
            space.run('ping', '-c', 2, '-w', 10, '-i', '0.1', ITS_ADDRESS)
            subprocess.run([project_scripts.PROGRAMS / 'netfc-ctl', '--socket', runtime / 'control',
                            'show'], check=True, capture_output=True)
        finally:
            process.send_signal(signal.SIGTERM)
            said = process.communicate(timeout=600)[0]
        assert process.returncode == 0, said


@needs_program('systemd-analyze')
def test_systemd_finds_nothing_wrong(tmp_path):
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace('/usr/bin/dpdk-netfc', str(switch.PROGRAM)))
    # It makes /run/systemd, which an ordinary user may not; the user's manager has a folder elsewhere.
    scope = [] if os.path.isdir('/run/systemd') or os.access('/run', os.W_OK) else ['--user']
    done = subprocess.run(['systemd-analyze', 'verify', '--man=no', *scope, unit], text=True,
                          env={**os.environ, 'XDG_RUNTIME_DIR': str(tmp_path)},
                          capture_output=True, timeout=600, check=False)
    assert done.returncode == 0 and unit.name not in done.stderr, done.stderr
    done = subprocess.run(['systemd-analyze', 'security', '--offline=true',
                           f'--threshold={MAX_EXPOSED}', unit], text=True, capture_output=True,
                          timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-500:]


@needs_program('systemctl')
@pytest.mark.parametrize('file, enabled', [(None, True), ('90-dpdk-netfc.preset', False)])
def test_presets_leave_the_service_off(tmp_path, file, enabled):
    """systemd's own preset is to enable what is installed."""
    for folder in ('etc/systemd/system', 'usr/lib/systemd/system', 'usr/lib/systemd/system-preset'):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(UNIT, tmp_path / 'usr/lib/systemd/system')
    if file:
        shutil.copy(PACKAGING / file, tmp_path / 'usr/lib/systemd/system-preset')
    subprocess.run(['systemctl', f'--root={tmp_path}', 'preset', UNIT.name], check=True,
                   capture_output=True, timeout=600)
    link = tmp_path / 'etc/systemd/system/multi-user.target.wants' / UNIT.name
    assert link.is_symlink() == enabled


@pytest.mark.parametrize('line, offered', [
    ('dpdk-netfc -- --match ', ['direct', 'fpu', 'hash', 'lpm']),
    ('netfc-bench -- --match ', ['direct', 'hash', 'lpm']),
    ('dpdk-netfc -- --forw', ['--forward']),
    ('dpdk-netfc -- --tables bf16_k128', ['bf16_k128', 'bf16_k128_floor']),
    ('netfc-ctl t', ['tables']),
    ('netfc-ctl capture st', ['start', 'stop']),
    ('netfc-ctl capture start x --by', ['--bytes']),
    ('netfc-tables ver', ['verify']),
    ('netfc-p4 --target b', ['bfrt', 'bfrt-json', 'bmv2']),
    ('netfc-p4 --layout ', ['compact', 'direct']),
    ('netfc-tables calc --s', ['--stream']),
    ('netfc-tables build bf16_k128', ['bf16_k128', 'bf16_k128_floor']),
    ('dpdk-netfc -- --slowloris-policy ', ['connection', 'destination']),
    ('netfc-bench -- --operands ra', ['random']),
    ('netfc-ctl add bf16_k128', ['bf16_k128', 'bf16_k128_floor']),
    ('netfc-client ', 'add compare div fma max min mul query sub'.split()),
    ('netfc-client min --l', ['--lanes']),
    ('netfc-top --int', ['--interval']),
    ('netfc-conform --tables bf16_k128', ['bf16_k128', 'bf16_k128_floor']),
])
def test_completion(line, offered, tmp_path):
    (tmp_path / 'bf16_k128.netfc').touch()  # a file that is installed is no further set
    words = line.split(' ')
    script = f"""
        source /usr/share/bash-completion/bash_completion
        source {shlex.quote(str(PACKAGING / 'bash-completion'))}
        COMP_WORDS=({' '.join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}
        COMP_LINE={shlex.quote(line)}; COMP_POINT={len(line)}
        _netfc {words[0]}
        printf '%s\\n' "${{COMPREPLY[@]}}" | sort
    """
    path = f'{switch.PROGRAM.parent}:{project_scripts.PROGRAMS}:{os.environ["PATH"]}'
    done = subprocess.run(['bash', '-c', script], text=True, capture_output=True, timeout=600,
                          env={**os.environ, 'PATH': path, 'NETFC_TABLES_DIR': str(tmp_path)},
                          check=False)
    assert done.stdout.split() == offered, done.stderr


def test_every_program_has_a_manual_page():
    programs = {path.name for path in switch.PROGRAM.parent.iterdir()
                if path.is_file() and os.access(path, os.X_OK)}
    programs |= {path.name for path in project_scripts.PROGRAMS.glob('netfc-*')}
    pages = {path.stem for path in (project_scripts.PROJECT / 'docs' / 'man').glob('*.[18]')}
    assert programs == pages
