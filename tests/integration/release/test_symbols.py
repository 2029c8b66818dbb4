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
# Where an MPI was found.
MPI_LIBRARIES = sorted(str(path.relative_to(switch.BUILD / 'lib'))
                       for path in (switch.BUILD / 'lib/mpi').glob('libnetfc-mpi-*.so'))


def declared(folder):
    return {name for header in (PROJECT / 'lib' / folder).glob('netfc*.h')
            for name in DECLARATION.findall(header.read_text())}


def exported(library):
    """Names and versions, as the dynamic linker sees them."""
    said = subprocess.run(['nm', '--dynamic', '--defined-only', '--with-symbol-versions',
                           switch.BUILD / 'lib' / library],
                          text=True, capture_output=True, check=True, timeout=1200).stdout
    return {line.split()[-1] for line in said.splitlines() if line.split()[1] != 'A'}


def imported(library):
    """What it calls of other libraries, without versions and glibc's prefixes of C99 and C23."""
    said = subprocess.run(['nm', '--dynamic', '--undefined-only', switch.BUILD / 'lib' / library],
                          text=True, capture_output=True, check=True, timeout=1200).stdout
    return {re.sub(r'^__isoc\d+_', '', line.split()[-1].partition('@')[0]) for line in said.splitlines()}


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


@pytest.mark.parametrize('library', [file for file, _, _ in LIBRARIES.values()] + MPI_LIBRARIES)
def test_numbers_are_read_alike_in_every_locale(library):
    """A program's locale may write a decimal comma."""
    assert not imported(library) & {'strtod', 'strtof', 'strtold', 'atof', 'scanf', 'fscanf', 'sscanf', 'vsscanf',
                                    'localeconv', 'setlocale', 'uselocale'}


@pytest.mark.parametrize('library', [file for file, _, _ in LIBRARIES.values()])
def test_libraries_neither_print_nor_end_the_program(library):
    assert not imported(library) & {'printf', 'vprintf', 'puts', 'putchar', 'perror', 'stdout', 'stderr', 'exit',
                                    '_exit', 'quick_exit', 'abort'}
