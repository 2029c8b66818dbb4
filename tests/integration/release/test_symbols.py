# SPDX-License-Identifier: BSD-3-Clause
"""Shared libraries export what their headers declare, each name with the version of a release."""

import re
import subprocess

import pytest

import switch
from project_scripts import PROJECT

DECLARATION = re.compile(r'\bNETFC_(?:ALLREDUCE_)?API\b[^;(]*?\b(netfc_\w+)\(')
# A library: its file in a build, its headers, its list of symbols.
LIBRARIES = {
    'libnetfc1': ('netfc/libnetfc.so.1', 'netfc/include', 'netfc/netfc.map'),
    'libnetfc-allreduce0': ('allreduce/libnetfc-allreduce.so.0', 'allreduce',
                            'allreduce/netfc-allreduce.map'),
}


def declared(folder):
    return {name for header in (PROJECT / 'lib' / folder).glob('netfc*.h')
            for name in DECLARATION.findall(header.read_text())}


def exported(library):
    """Names and versions, as the dynamic linker sees them."""
    said = subprocess.run(['nm', '--dynamic', '--defined-only', '--with-symbol-versions',
                           switch.BUILD / 'lib' / library],
                          text=True, capture_output=True, check=True, timeout=1200).stdout
    return {line.split()[-1] for line in said.splitlines() if line.split()[1] != 'A'}


def listed(map_file):
    """Names and versions, as the list has them."""
    text = (PROJECT / 'lib' / map_file).read_text()
    return {f'{name}@@{node}' for node, names in re.findall(r'^(\w+\.?[\w.]*) \{\nglobal:\n(.*?)^[l}]',
                                                            text, re.M | re.S)
            for name in re.findall(r'(\w+);', names)}


@pytest.mark.parametrize('library, headers, map_file', LIBRARIES.values(), ids=LIBRARIES)
def test_exports_are_the_headers_functions(library, headers, map_file):
    names = exported(library)
    assert names == listed(map_file)
    assert {name.partition('@')[0] for name in names} == declared(headers)


@pytest.mark.parametrize('package, library, map_file',
                         [(name, library, map_file)
                          for name, (library, _, map_file) in LIBRARIES.items()], ids=LIBRARIES)
def test_debian_knows_every_version(package, library, map_file):
    """A program's package depends on the release that brought what it uses."""
    lines = (PROJECT / 'debian' / f'{package}.symbols').read_text().splitlines()
    assert lines[0] == f'{library.rpartition("/")[2]} {package} #MINVER#'
    nodes = {name.rpartition('@')[2] for name in listed(map_file)}
    assert {line.split()[0] for line in lines[1:] if line.startswith(' ')} == {f'(symver){node}' for node in nodes}
