# SPDX-License-Identifier: BSD-3-Clause
"""The version of the sources: in which places it is, whether they agree, and a new one for all of them."""

import argparse
import datetime
import pathlib
import re
import sys

VERSION = re.compile(r"\d+\.\d+\.\d+")
# A file, or files; what is before the version there, and what a version looks like.
PLACES = [
    ("meson.build", r"^(  version: ')([^']*)"),
    ("python/netfc/_native/version.py", r'^(VERSION = ")([^"]*)'),
    ("docs/man/*.[0-9]", r'^(\.TH .*"dpdk\\-netfc )([^"]*)'),
    ("docs/monitoring.md", r"^(dpdk-netfc )(\d+\.\d+\.\d+)(?=   up )"),
]
# Of each release, the latest first.
CHANGELOGS = [
    ("debian/changelog", r"\A(dpdk-netfc \()([^)]*)"),
    ("CHANGELOG.md", r"^(## )(\d+\.\d+\.\d+)(?= - )"),
]
MANUAL_DATE = r'^(\.TH \S+ \d ")([^"]*)'  # as mandoc wants it
ENTRY = """dpdk-netfc ({version}) unstable; urgency=medium

  * Version {version}; CHANGELOG.md says what is new.

 -- dpdk-netfc developers <dpdk-netfc@example.org>  {date:%a, %d %b %Y %H:%M:%S} +0000

"""


def found(root: pathlib.Path) -> dict[str, str]:
    """The version that each file has; of the changelogs, the latest."""
    versions = {}
    for pattern, expression in PLACES + CHANGELOGS:
        for path in sorted(root.glob(pattern)):
            match = re.search(expression, path.read_text(encoding="utf-8"), re.M)
            versions[str(path.relative_to(root))] = match[2] if match else ""
    return versions


def agreed(root: pathlib.Path) -> str:
    """The version; ValueError where files disagree."""
    versions = found(root)
    version = versions["meson.build"]
    others = [
        f"{name} has {other or 'none'}" for name, other in versions.items() if other != version
    ]
    if others:
        raise ValueError(f"meson.build has version {version}, but " + ", ".join(others))
    return version


def write(root: pathlib.Path, version: str, date: datetime.datetime) -> None:
    """Another version into every file; what is unreleased in CHANGELOG.md becomes that release."""
    if not VERSION.fullmatch(version):
        raise ValueError(f"{version} is not a version such as 0.2.0")
    if version in found(root).values():
        raise ValueError(f"some files have version {version} already: see git diff")
    changelog = root / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    if not re.search(r"^## Unreleased\n+[^#\s]|^## Unreleased\n+### ", text, re.M):
        raise ValueError('CHANGELOG.md has nothing below "## Unreleased"')
    heading = f"## Unreleased\n\n## {version} - {date:%Y-%m-%d}\n"
    changelog.write_text(text.replace("## Unreleased\n", heading, 1), encoding="utf-8")
    entries = root / "debian" / "changelog"
    text = entries.read_text(encoding="utf-8")
    entries.write_text(ENTRY.format(version=version, date=date) + text, encoding="utf-8")
    for pattern, expression in PLACES:
        for path in root.glob(pattern):
            text = path.read_text(encoding="utf-8")
            text = re.sub(expression, rf"\g<1>{version}", text, count=1, flags=re.M)
            text = re.sub(MANUAL_DATE, rf"\g<1>{date:%Y-%m-%d}", text, count=1, flags=re.M)
            path.write_text(text, encoding="utf-8")


def has_unreleased(root: pathlib.Path) -> bool:
    """Whether CHANGELOG.md has changes that are of no release yet."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.search(r"^## Unreleased\n+(?!## )\S", text, re.M) is not None


def released(root: pathlib.Path) -> str:
    """The version; ValueError where it is not all there is."""
    version = agreed(root)
    if has_unreleased(root):
        raise ValueError(
            f'CHANGELOG.md has changes below "Unreleased": move them below {version}, '
            "or scripts/release --set gives them a version of their own"
        )
    return version


def between(root: pathlib.Path, commits: int) -> str:
    """What packages of sources after a release are called: newer than it, older than the next."""
    version = agreed(root)
    if not has_unreleased(root):
        return version
    major, minor, _ = version.split(".")
    return f"{major}.{int(minor) + 1}.0~git{commits}"


def write_between(root: pathlib.Path, commits: int, date: datetime.datetime) -> str:
    """Gives debian/changelog that version. Returns it."""
    version = between(root, commits)
    entries = root / "debian" / "changelog"
    text = entries.read_text(encoding="utf-8")
    if not text.startswith(f"dpdk-netfc ({version})"):
        entries.write_text(ENTRY.format(version=version, date=date) + text, encoding="utf-8")
    return version


def main() -> int:
    """Prints the version, or writes another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", metavar="VERSION", help="write this one into all files")
    parser.add_argument(
        "--between",
        metavar="COMMITS",
        type=int,
        help="give debian/changelog the version of packages that are made after so many commits",
    )
    parser.add_argument(
        "--released", action="store_true", help="an error where changes are of no version yet"
    )
    arguments = parser.parse_args()
    root = pathlib.Path.cwd()
    now = datetime.datetime.now(datetime.timezone.utc)
    try:
        if arguments.between is not None:
            print(write_between(root, arguments.between, now))
            return 0
        if arguments.set:
            write(root, arguments.set, now)
        print(released(root) if arguments.released else agreed(root))
    except ValueError as error:
        print(f"scripts/release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
