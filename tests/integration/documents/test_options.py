# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages have the options, keys and defaults of --help, which prints the programs' own tables."""

import re
import subprocess

import pytest

import project_scripts
import switch

MANUALS = project_scripts.PROJECT / 'docs' / 'man'
PYTHON = ('client', 'conform', 'ctl', 'demo', 'exporter', 'p4', 'top')
PROGRAMS = {'dpdk-netfc': 'dpdk-netfc.8', 'netfc-bench': 'netfc-bench.1',
            **{f'netfc-{name}': f'netfc-{name}.1' for name in PYTHON}}
COMMANDS = ('build', 'list', 'show', 'calc', 'verify', 'size')
PROGRAMS.update({f'netfc-tables {command}': 'netfc-tables.1' for command in COMMANDS})
ITS_COMMANDS = {'netfc-ctl': ('netfc-ctl capture start',)}
METAVAR = re.compile(r'^ {2}(?:-[a-z] [A-Z]+, )?--([a-z-]+) ([A-Z][^ \n]*)', re.MULTILINE)
HEAD = r'^ {2}(?:-[a-z](?: [^ ]+)?, | {4})?--'
ROW = re.compile(rf'{HEAD}([a-z0-9-]+)(.*?)(?={HEAD}|\n\n|\Z)', re.MULTILINE | re.DOTALL)

KEY = re.compile(r'^ {29}([a-z_]+)( .*?|\n.*?)(?=^ {29}[a-z_]|\Z)', re.MULTILINE | re.DOTALL)
DEFAULT = re.compile(r'\(default ([^)]+?)[,)]')


def default_of(text):
    """What (default X) says, the last of them; None if nothing does."""
    found = DEFAULT.findall(re.sub(r'\s+', ' ', text))
    return found[-1] if found and ' ' not in found[-1] else None


def help_of(name, *command):
    """What a program's --help prints."""
    folder = project_scripts.PROGRAMS if name.removeprefix('netfc-') in PYTHON else switch.BUILD / 'app'
    return subprocess.run([folder / name, *command, '--help'], text=True, check=True, capture_output=True).stdout


def rows(program):
    """Options of --help, each with its keys: pairs of a name and a default."""
    name, *command = program.split()
    for name, text in ROW.findall(help_of(name, *command)):
        keys = [(key, default_of(meaning)) for key, meaning in KEY.findall(text)]
        yield name, None if keys else default_of(text), keys


def plain(page):
    """A manual page's text without roff's marks."""
    text = re.sub(r'^\.(?:BR|RB|B|I|IR|RI|SS|SH|TP|PP|RS|RE|br)\b ?', '', page, flags=re.MULTILINE)
    text = text.replace(r'\-', '-').replace('"', '')
    return re.sub(r'\\f[A-Z]|\\c', '', text)


def options_section(program):
    """From OPTIONS to the end; or, of a command, its section and the options of all commands."""
    page = (MANUALS / PROGRAMS[program]).read_text()
    behind = page.split('.SH OPTIONS')[1]
    if ' ' not in program:
        return behind
    own = page.split(f'\n.SS {program.split()[1]}\n')[1]
    return re.split(r'^\.S[SH] ', own, flags=re.MULTILINE)[0] + behind.split('.SH ')[0]


def has_default(section, name, default):
    """Whether the default stands near one of the places where the name does."""
    pattern = rf'{name}\b.{{0,1500}}?(?<![\w.]){re.escape(default)}(?![\w])'
    return re.search(pattern, section, re.DOTALL) is not None


@pytest.mark.parametrize('program', PROGRAMS)
def test_the_manual_page_has_every_option_key_and_default(program):
    section, missing = plain(options_section(program)), []
    for name, default, keys in rows(program):
        if name in ('help', 'version'):
            continue
        if f'--{name}' not in section:
            missing.append(f'--{name}')
        if default is not None and not has_default(section, f'--{name}', default):
            missing.append(f'--{name}: default {default}')
        for key, value in keys:
            if not re.search(rf'\b{key}\b', section):
                missing.append(f'{name} {key}')
            elif value is not None and not has_default(section, rf'\b{key}', value):
                missing.append(f'{name} {key}: default {value}')
    assert not missing


@pytest.mark.parametrize('name', PYTHON)
def test_the_manual_page_has_the_names_of_values(name):
    section = plain(options_section(f'netfc-{name}'))
    missing = [(option, value) for option, value in METAVAR.findall(help_of(f'netfc-{name}'))
               if not re.search(rf'--{option} +{re.escape(value)}(?!\w)', section)]
    assert not missing


@pytest.mark.parametrize('program', PROGRAMS)
def test_the_manual_page_has_no_other_option(program):
    options = {name for each in (program, *ITS_COMMANDS.get(program, ())) for name, _, _ in rows(each)}
    heads = re.findall(r'^\.TP\n(.*)$', options_section(program), re.MULTILINE)
    named = {name for head in heads for name in re.findall(r'--([a-z][a-z0-9-]*)', plain(head))}
    assert named and named <= options | {'help', 'version'}


def test_keys_and_defaults_are_found():
    """Not vacuous: what is known of them."""
    options = {name: (default, dict(keys)) for name, default, keys in rows('netfc-bench')}
    assert options['lanes'][0] == '1' and options['json'][0] is None
    assert options['aggregate'][1]['workers'] == '8' and options['aggregate'][1]['key'] is None
    assert len(options) > 25 and len(options['aggregate'][1]) > 20
    options = {name: default for name, default, _ in rows('netfc-p4')}
    assert options['layout'] == 'direct' and options['output'] is None and len(options) > 10
