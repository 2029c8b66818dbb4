# SPDX-License-Identifier: BSD-3-Clause
"""scripts/release: one version everywhere, the same tarball of a commit each time, a bill that is true."""

import hashlib
import json
import re
import shutil
import subprocess
import tarfile

import pytest

from needs import needs_program
from project_scripts import PROJECT
from releasing import bill, version

TIMEOUT_S = 1200
NOBODY = ['-c', 'user.name=nobody', '-c', 'user.email=nobody@example.org', '-c', 'commit.gpgSign=false']

pytestmark = pytest.mark.skipif(not shutil.which('git'), reason='git is not installed')


def run(tree, *command):
    return subprocess.run(command, cwd=tree, text=True, check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S)


def commit(tree):
    for words in (['add', '--all'], ['commit', '--quiet', '--message', 'release: try it']):
        done = run(tree, 'git', *NOBODY, *words)
        assert done.returncode == 0, done.stdout


def release(tree, *options):
    done = run(tree, 'scripts/release', *options)
    return done.returncode, done.stdout


@pytest.fixture
def repository(tmp_path):
    """The sources, committed, with something that is not released yet."""
    tree = tmp_path / 'dpdk-netfc'
    shutil.copytree(PROJECT, tree, symlinks=True, ignore=shutil.ignore_patterns(
        'build', 'build-*', '.git', '__pycache__', 'corpus', 'images'))
    changelog = tree / 'CHANGELOG.md'
    text = re.sub(r'## Unreleased\n', '', changelog.read_text())
    changelog.write_text(text.replace('\n## ', '\n## Unreleased\n\n### Added\n\n- More.\n\n## ', 1))
    run(tree, 'git', 'init', '--quiet')
    commit(tree)
    return tree


def test_all_files_have_one_version():
    versions = version.found(PROJECT)
    assert len(versions) > 10 and len(set(versions.values())) == 1, versions


def test_one_version(repository):
    """Written everywhere; a file that is forgotten is named."""
    status, said = release(repository, '--set', '7.8.9')
    assert (status, said.strip()) == (0, '7.8.9'), said
    changed = run(repository, 'git', 'diff', '--name-only').stdout.split()
    assert {'meson.build', 'CHANGELOG.md', 'debian/changelog', 'docs/man/dpdk-netfc.8',
            'python/netfc/_native/version.py'} <= set(changed)
    assert re.search(r'## Unreleased\n\n## 7\.8\.9 - \d{4}-\d\d-\d\d\n\n### Added\n',
                     (repository / 'CHANGELOG.md').read_text())
    page = repository / 'docs' / 'man' / 'netfc-top.1'
    assert re.search(r'^\.TH \S+ 1 "\d{4}-\d\d-\d\d" "dpdk\\-netfc 7\.8\.9" ', page.read_text(), re.M)
    page.write_text(page.read_text().replace('7.8.9', '7.8.8'))
    status, said = release(repository, '--sources')
    assert status == 1 and 'docs/man/netfc-top.1 has 7.8.8' in said


@needs_program('dpkg-parsechangelog', ' (Debian: dpkg-dev)')
def test_debians_changelog(repository):
    release(repository, '--set', '7.8.9')
    top = run(repository, 'dpkg-parsechangelog').stdout
    assert 'Version: 7.8.9\n' in top and 'warning' not in top


@pytest.mark.parametrize('wrong, said', [('7.8', 'not a version'), ('v7.8.9', 'not a version')])
def test_what_is_no_version(repository, wrong, said):
    status, words = release(repository, '--set', wrong)
    assert status == 1 and said in words
    assert run(repository, 'git', 'status', '--porcelain').stdout == ''


def test_what_is_not_committed_is_not_released(repository):
    release(repository, '--set', '7.8.9')
    status, said = release(repository, '--sources')
    assert status == 1 and 'only what is committed' in said and 'meson.build' in said


def test_what_is_of_no_version_is_not_released(repository):
    """Its packages would have another version than the tarball."""
    status, said = release(repository, '--sources')
    assert status == 1 and 'changes below "Unreleased"' in said
    assert not (repository / 'build-test').exists()


def test_the_release_before_has_to_be_known(repository):
    """Or the libraries would be released without a comparison; said before anything is made."""
    status, said = release(repository)
    assert status == 1 and 'whose tag v' in said and '--since' in said
    assert not (repository / 'build-test').exists()
    assert release(repository, '--since')[0] == 1


def test_tarball_and_bill(repository):
    release(repository, '--set', '7.8.9')
    commit(repository)
    out = repository / 'build-test' / 'release'
    sums = []
    for _ in range(2):
        status, said = release(repository, '--sources')
        assert status == 0, said
        sums.append((out / 'SHA256SUMS').read_text())
    assert sums[0] == sums[1]
    for line in sums[0].splitlines():
        value, name = line.split()
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == value
    with tarfile.open(out / 'dpdk-netfc-7.8.9.tar.gz') as tarball:
        contents = {'.' + name.removeprefix('dpdk-netfc-7.8.9'): tarball.extractfile(name).read()
                    for name in tarball.getnames() if tarball.getmember(name).isfile()}
    files = run(repository, 'git', 'ls-files').stdout.split()
    assert {name[2:] for name in contents} == {
        name for name in files if not (repository / name).is_symlink()}
    check_bill(json.loads((out / 'dpdk-netfc-7.8.9.spdx.json').read_text()), contents)


def check_bill(bill, contents):
    assert bill['spdxVersion'] == 'SPDX-2.3' and bill['dataLicense'] == 'CC0-1.0'
    found = {file['fileName']: {value['algorithm']: value['checksumValue']
                                for value in file['checksums']} for file in bill['files']}
    assert found == {name: {'SHA1': hashlib.sha1(text).hexdigest(),
                            'SHA256': hashlib.sha256(text).hexdigest()}
                     for name, text in contents.items()}
    source, = bill['packages']
    code = ''.join(sorted(hashlib.sha1(text).hexdigest() for text in contents.values()))
    assert source['packageVerificationCode'] == {
        'packageVerificationCodeValue': hashlib.sha1(code.encode()).hexdigest()}
    names = [element['SPDXID'] for element in (*bill['packages'], *bill['files'])]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r'SPDXRef-[a-zA-Z0-9.-]+', name) for name in names)
    assert source['hasFiles'] == names[1:]
    assert bill['relationships'] == [{'spdxElementId': 'SPDXRef-DOCUMENT', 'relationshipType': 'DESCRIBES',
                                      'relatedSpdxElement': 'SPDXRef-Source'}]
    licences = {file['fileName']: file['licenseInfoInFiles'] for file in bill['files']}
    assert licences['./meson.build'] == ['BSD-3-Clause'] and licences['./LICENSE'] == ['NONE']


def make_package(folder, name, depends):
    control = folder / name / 'DEBIAN' / 'control'
    control.parent.mkdir(parents=True)
    control.write_text(f'Package: {name}\nVersion: 1:7.8.9+1\nArchitecture: all\nMaintainer: nobody\n'
                       f'Depends: {depends}\nDescription: for a test\n')
    subprocess.run(['dpkg-deb', '--build', folder / name, folder], check=True, capture_output=True,
                   timeout=TIMEOUT_S)


def test_packages_in_the_bill(tmp_path):
    """With versions, checksums and what they need, of Debian or each other."""
    (tmp_path / 'sources').mkdir()
    (tmp_path / 'sources.tar.gz').write_bytes(b'nothing')
    make_package(tmp_path, 'netfc-one', 'libc6 (>= 2.36), netfc-two | netfc-three')
    make_package(tmp_path, 'netfc-two', 'libc6')
    made = bill.make('7.8.9', tmp_path / 'sources.tar.gz', tmp_path / 'sources', tmp_path, 0)
    packages = {package['name']: package for package in made['packages'][1:]}
    assert list(packages) == ['netfc-one', 'netfc-two', 'libc6']
    for name in ('netfc-one', 'netfc-two'):
        package, = tmp_path.glob(f'{name}_*.deb')
        value = hashlib.sha256(package.read_bytes()).hexdigest()
        assert packages[name]['checksums'] == [{'algorithm': 'SHA256', 'checksumValue': value}]
        assert packages[name]['externalRefs'][0]['referenceLocator'] == (
            f'pkg:deb/debian/{name}@1%3A7.8.9%2B1?arch=all')
    assert packages['libc6']['versionInfo'] in run(tmp_path, 'dpkg-query', '--show', 'libc6').stdout
    names = {package['SPDXID']: name for name, package in packages.items()}
    needed = [(names[each['spdxElementId']], names[each['relatedSpdxElement']])
              for each in made['relationships'] if each['relationshipType'] == 'DEPENDS_ON']
    assert needed == [('netfc-one', 'libc6'), ('netfc-one', 'netfc-two'), ('netfc-two', 'libc6')]
