# SPDX-License-Identifier: BSD-3-Clause
"""What the documents point to is there: files of links, their headings, paths and names of files."""

import pathlib
import re

import pytest

PROJECT = pathlib.Path(__file__).resolve().parents[3]
DOCUMENTS = sorted(path.relative_to(PROJECT) for pattern in (
    '*.md', 'docs/*.md', 'data/*.md', 'examples/*.md', 'python/*.md', 'tables/*.md')
    for path in PROJECT.glob(pattern))
# These tell of what was, or is no more.
HISTORY = {pathlib.Path('CHANGELOG.md')}
FOLDERS = {path.name for path in PROJECT.iterdir()
           if path.is_dir() and not path.name.startswith(('.', 'build'))}
SOURCES = {path.name for folder in FOLDERS for pattern in ('*.c', '*.h', '*.p4', '*.py', '*.lua')
           for path in (PROJECT / folder).rglob(pattern)}

BLOCK = re.compile(r'^```.*?^```', re.M | re.S)
LINK = re.compile(r'\[[^][]*\]\(([^()\s]+)\)|(?:src|srcset)="([^"]+)"')
SPAN = re.compile(r'(?<!`)`([^`\n]+)`(?!`)')
HEADING = re.compile(r'^#+ +(.*)$', re.M)
PLACEHOLDER = re.compile(r'[A-Z]{3,}')


def text_of(document):
    """A document without its blocks of code."""
    return BLOCK.sub('', (PROJECT / document).read_text(encoding='utf-8'))


def anchors_of(path):
    """The headings of a document as links name them."""
    titles = (re.sub(r'\[([^][]*)\]\([^()]*\)', r'\1', title)
              for title in HEADING.findall(text_of(path)))
    return {re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-') for title in titles}


def broken_links(document):
    """Links to what is not there."""
    for match in LINK.finditer(text_of(document)):
        link = match[1] or match[2]
        if re.match(r'[a-z]+:', link):
            continue
        path, _, anchor = link.partition('#')
        target = (PROJECT / document.parent / path).resolve() if path else PROJECT / document
        if not target.exists() or anchor and anchor not in anchors_of(target):
            yield link


def missing_from_blocks(document):
    """Paths in blocks of code that are not there, and are not made by what they show."""
    made = (PROJECT / '.gitignore').read_text(encoding='utf-8').split()
    path = re.compile(rf"(?<![\w./-])(?:{'|'.join(sorted(FOLDERS))})/[\w./-]*\w")
    for block in BLOCK.findall((PROJECT / document).read_text(encoding='utf-8')):
        for word in path.findall(block):
            if f'/{word}' not in made and not any(PROJECT.glob(PLACEHOLDER.sub('*', word))):
                yield word


def missing_paths(document):
    """Paths in the tree, and names of sources, that are not there. NAME stands for any."""
    for span in SPAN.findall(text_of(document)):
        word = span.split()[0].rstrip('/')
        if not re.fullmatch(r'[\w.*/-]+', word):
            continue
        folder, slash, _ = word.partition('/')
        if slash and folder in FOLDERS:
            if not any(PROJECT.glob(PLACEHOLDER.sub('*', word))):
                yield span
        elif not slash and re.fullmatch(r'\w+\.(c|h|p4|py|lua)', word) and word not in SOURCES:
            yield span


@pytest.mark.parametrize('document', DOCUMENTS, ids=str)
def test_links(document):
    assert list(broken_links(document)) == []


@pytest.mark.parametrize('document', [path for path in DOCUMENTS if path not in HISTORY], ids=str)
def test_paths(document):
    assert list(missing_paths(document)) + list(missing_from_blocks(document)) == []


def test_no_page_is_an_orphan():
    """All of them are in the list of pages."""
    text = (PROJECT / 'docs' / 'README.md').read_text(encoding='utf-8')
    listed = {match[1] for match in LINK.finditer(text)}
    pages = {path.name for path in (PROJECT / 'docs').glob('*.md')} - {'README.md'}
    assert len(pages) > 20 and pages - listed == set()


def test_what_is_looked_for(tmp_path):
    """The test itself finds what is wrong, and lets pass what is right."""
    page = tmp_path / 'page.md'
    page.write_text('# A `title`, here\n[a](page.md#a-title-here) [b](gone.md) [c](#none)'
                    ' <img src="gone.svg"> [d](https://example.org/x)\n'
                    '`scripts/test --all` `lib/gone.c` `app/NAME/main.c` `gone.c` `set.c` `1/3`\n'
                    '```\n[e](gone.md) scripts/test lib/gone.h build/x\n```\n')
    assert list(broken_links(page)) == ['gone.md', '#none', 'gone.svg']
    assert list(missing_paths(page)) == ['lib/gone.c', 'gone.c']
    assert list(missing_from_blocks(page)) == ['lib/gone.h']


def test_installed_table_sets_are_described():
    listed = (PROJECT / 'tables' / 'meson.build').read_text(encoding='utf-8')
    names = set(re.findall(r"^  '(\w+)',$", listed, re.M))
    described = (PROJECT / 'tables' / 'README.md').read_text(encoding='utf-8')
    assert len(names) > 5 and [name for name in names if f'`{name}`' not in described] == []
