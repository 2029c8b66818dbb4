# SPDX-License-Identifier: BSD-3-Clause
"""The package as it is installed: by pip, by meson, and run from the source tree."""

import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys

import pytest

import hosts
import project_scripts
import sanitized
import switch

import netfc

PYTHON = project_scripts.PROJECT / 'python'
DISTRIBUTION = '/usr/bin/python3'
COMMANDS = ('client', 'conform', 'ctl', 'demo', 'exporter', 'p4', 'top')
TIMEOUT_S = 1200


def run(*command, **options):
    """Runs a command to its end; gives all it said."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, timeout=TIMEOUT_S,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize('name', COMMANDS)
def test_version_and_usage(name):
    """As programs in C say them."""
    program = PYTHON / 'bin' / f'netfc-{name}'
    assert run(DISTRIBUTION, program, '--version') == f'netfc-{name} {netfc.__version__}\n'
    assert run(DISTRIBUTION, program, '--help').startswith(f'Usage: netfc-{name} ')


def introspect(what):
    """What meson knows of the build under test."""
    return json.loads((switch.BUILD / 'meson-info' / f'intro-{what}.json').read_text())


def sources():
    """The package's files, from the folder it is in."""
    return {str(path.relative_to(PYTHON)) for path in (PYTHON / 'netfc').rglob('*')
            if path.suffix in ('.py', '.css', '.html', '.js') or path.name == 'py.typed'}


def test_one_version():
    """Of the package, of the project and so of libnetfc."""
    assert netfc.__version__ == introspect('projectinfo')['version']


@pytest.mark.parametrize('words', [['-c', 'import netfc'], [PYTHON / 'bin' / 'netfc-client', 'add', '1', '2']],
                         ids=['package', 'program'])
def test_without_numpy(words):
    """It says what to install; here no package of the distribution is found."""
    done = subprocess.run([DISTRIBUTION, '-S', *words], env=os.environ | {'PYTHONPATH': str(PYTHON)}, text=True,
                          capture_output=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 1 and 'install python3-numpy' in done.stderr.splitlines()[-1]


def test_meson_installs_all_of_it_where_the_distributions_python_looks():
    installed = {pathlib.Path(source): pathlib.Path(target)
                 for source, target in introspect('installed').items()}
    package = {str(source.relative_to(PYTHON)): target for source, target in installed.items()
               if source.is_relative_to(PYTHON / 'netfc')}
    package['netfc/_native/place.py'] = installed[switch.BUILD / 'python' / 'place.py']
    assert set(package) == sources()
    folder = package['netfc/__init__.py'].parents[1]
    assert all(target == folder / source for source, target in package.items())
    prefix = {option['name']: option['value'] for option in introspect('buildoptions')}['prefix']
    if prefix in ('/usr', '/usr/local'):
        found = run(DISTRIBUTION, '-c', 'import site; print(*site.getsitepackages())')
        assert str(folder) in found.split()
    programs = {target.name: source for source, target in installed.items()
                if source.name.startswith('installed-')}
    assert set(programs) == {f'netfc-{command}' for command in COMMANDS}
    for command in COMMANDS:
        text = programs[f'netfc-{command}'].read_text()
        assert f'from netfc.commands.{command} import main' in text and str(folder) in text


def test_meson_installs_what_other_programs_read():
    """Each dissector, dashboard and set of alerts that the documents name."""
    packaging = PYTHON.parent / 'packaging'
    installed = {pathlib.Path(source): pathlib.Path(target) for source, target in introspect('installed').items()}
    for folder in ('wireshark', 'grafana', 'prometheus'):
        for source in (packaging / folder).iterdir():
            assert installed[source].parts[-3:] == ('dpdk-netfc', folder, source.name)


def test_the_installed_package_finds_the_installed_library(tmp_path):
    """In any prefix, without a variable and whoever has installed it."""
    installed = {pathlib.Path(source): pathlib.Path(target)
                 for source, target in introspect('installed').items()}
    library = switch.BUILD / 'lib' / 'netfc' / 'libnetfc.so.1'
    there = installed[library]
    said = (switch.BUILD / 'python' / 'place.py').read_text()
    assert f'FOLDER = "{there.parent}"\n' in said
    run('cp', '-r', PYTHON / 'netfc', tmp_path)
    folder = tmp_path / 'library'
    folder.mkdir()
    (folder / library.name).symlink_to(library)
    (tmp_path / 'netfc' / '_native' / 'place.py').write_text(said.replace(str(there.parent), str(folder)))
    code = 'import netfc; print(netfc.TableSet("fp16_k1024").add(1.5, 2.25))'
    environment = {name: value for name, value in sanitized.environment().items()
                   if name != 'NETFC_BUILD'}
    assert run(DISTRIBUTION, '-c', code, cwd=tmp_path, env=environment).strip() == '3.75'


@pytest.mark.slow
def test_pip_installs_it_beside_the_distributions_numpy(tmp_path):
    """Without a network, as docs/clients.md says."""
    source = tmp_path / 'python'
    run('cp', '-r', PYTHON, source)  # pip leaves files behind
    run(DISTRIBUTION, '-m', 'venv', '--system-site-packages', tmp_path / 'venv')
    python = tmp_path / 'venv' / 'bin' / 'python'
    run(python, '-m', 'pip', 'install', '-q', '--no-build-isolation', '--no-deps', '--no-index',
        source)
    code = 'import netfc, numpy; print(netfc.__file__, numpy.__file__, netfc.__version__)'
    package, numpy, version = run(python, '-c', code, cwd=tmp_path).split()
    assert package.startswith(str(tmp_path / 'venv')) and version == netfc.__version__
    assert numpy.startswith('/usr/lib/python3')
    listed = run(python, '-m', 'pip', 'show', '-f', 'netfc')
    assert sources() <= {line.strip() for line in listed.splitlines()}
    for command in COMMANDS:
        assert f'netfc-{command}' in run(tmp_path / 'venv' / 'bin' / f'netfc-{command}', '--help')


@pytest.mark.parametrize('command', COMMANDS)
def test_programs_of_the_source_tree(command, tmp_path):
    """From any folder, by any path."""
    link = tmp_path / 'linked'
    link.symlink_to(project_scripts.PROGRAMS / f'netfc-{command}')
    for program in (project_scripts.PROGRAMS / f'netfc-{command}', link):
        assert f'netfc-{command}' in run(program, '--help', cwd=tmp_path)


def test_import_needs_neither_libnetfc_nor_what_is_recommended(tmp_path):
    """Nor the switch: the client's side works, and what does not says which package is missing."""
    code = '''
import sys
sys.modules["prometheus_client"] = sys.modules["scapy"] = None
import netfc, netfc.capture, netfc.control, netfc.snapshot
assert netfc.Format("posit16").decode(netfc.Format("posit16").encode(1.5)) == 1.5
from netfc.commands import exporter
sys.exit(exporter.main(["--listen", "127.0.0.1"]))
'''
    done = subprocess.run([sys.executable, '-c', code], cwd=tmp_path, text=True, check=False,
                          capture_output=True, timeout=TIMEOUT_S,
                          env={**os.environ, 'PYTHONPATH': str(PYTHON)})
    assert done.returncode == 1 and 'expected ADDRESS:PORT' in done.stderr


@pytest.mark.parametrize('given, said', [
    ('fe80::5:9622', 'an IPv6 address in brackets'), ('[127.0.0.1]:9622', 'an IPv6 address in brackets'),
    ('127.0.0.1:65536', 'expected ADDRESS:PORT'), ('[::1]:', 'expected ADDRESS:PORT'),
    ('[fe80::5]:9622', '--listen [fe80::5]:9622: \'fe80::5\' is a link-local address: add its interface'),
    ('[fe80::5%nosuch]:9622', "'fe80::5%nosuch' cannot be resolved")])
def test_an_address_to_serve_at_that_is_none(given, said):
    done = subprocess.run([project_scripts.PROGRAMS / 'netfc-exporter', '--listen', given], text=True, check=False,
                          capture_output=True, timeout=TIMEOUT_S)
    assert done.returncode > 0 and said in done.stderr and 'Traceback' not in done.stderr


def test_the_demo_says_what_is_missing(tmp_path):
    done = subprocess.run([project_scripts.PROGRAMS / 'netfc-demo', '--build', tmp_path], text=True,
                          check=False, capture_output=True, timeout=TIMEOUT_S)
    assert done.returncode == 2 and 'not the folder of a build' in done.stderr


def test_a_signal_ends_the_demo_with_all_that_it_has(tmp_path):
    """Its switch, and its files."""
    with subprocess.Popen([project_scripts.PROGRAMS / 'netfc-demo', '--build', switch.BUILD], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**sanitized.environment(), 'TMPDIR': str(tmp_path)}) as process:
        children = pathlib.Path(f'/proc/{process.pid}/task/{process.pid}/children')
        child = os.pidfd_open(int(hosts.wait_until(children.read_text, 'the switch').split()[0]))
        os.kill(process.pid, signal.SIGTERM)
        os.kill(process.pid, signal.SIGHUP)  # as systemd sends it besides
        said, ended = process.communicate(timeout=TIMEOUT_S)[0], select.select([child], [], [], 0)[0]
    assert said == '' and process.returncode - 128 in (signal.SIGTERM, signal.SIGHUP)
    assert ended and not os.listdir(tmp_path)
    os.close(child)


def test_the_demo_has_no_folder_for_its_files():
    """As in a container whose file system is read-only."""
    program = ("import tempfile; tempfile._candidate_tempdir_list = lambda: ['/none']; "
               f"from netfc.commands import demo; raise SystemExit(demo.main(['--build', {str(switch.BUILD)!r}]))")
    done = subprocess.run([DISTRIBUTION, '-c', program], env={**sanitized.environment(), 'PYTHONPATH': str(PYTHON)},
                          text=True, check=False, capture_output=True, timeout=TIMEOUT_S)
    assert done.returncode == 2 and "['/none']; let the environment variable TMPDIR" in done.stderr


@pytest.mark.skipif(not sanitized.is_sanitized(), reason='the build under test has no sanitizer')
@pytest.mark.parametrize('name', [
    'test_allreduce.py', 'test_allreduce_process.py', 'test_fp32.py', 'test_functions.py', 'test_table_sets.py'])
def test_libraries_where_the_sanitizer_comes_first(name):
    file = pathlib.Path(__file__).with_name(name)
    said = run(DISTRIBUTION, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', file,
               env=sanitized.environment())
    assert re.search(r'\d+ passed', said) and 'skipped' not in said
