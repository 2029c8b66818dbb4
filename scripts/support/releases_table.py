# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/platforms.md: what scripts/test-releases has tried, the latest of each, and how long it took."""

import pathlib
import sys

COMMANDS = {
    "scripts/quickstart": "`quickstart`",
    "scripts/demo sums": "`demo sums`",
    "scripts/support/try-use": '"Use it"',
    "scripts/support/try-install": "installing",
    "scripts/test": "`scripts/test`",
}
SAID = {0: "{}", 77: "no namespaces"}


def duration(seconds: int) -> str:
    """Of a command, as one would say it."""
    return f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} min"


def read(path: pathlib.Path) -> dict[tuple[str, str, str], dict[str, str]]:
    """What became of each command, by release, rights and load."""
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        *place, command, status, seconds = line.split("\t")
        if command not in COMMANDS:
            continue
        release, rights, busy = place
        outcome = SAID.get(int(status), "fails")
        rows.setdefault((release, rights, busy), {})[command] = outcome.format(duration(int(seconds)))
    return rows


def main() -> int:
    """Prints the table."""
    path = pathlib.Path(sys.argv[1])
    if not path.exists():
        print(f"{path} is not there: nothing has been tried yet", file=sys.stderr)
        return 1
    print("| Debian | as |", " | ".join(COMMANDS.values()), "|")
    print("|---" * (2 + len(COMMANDS)) + "|")
    for (release, rights, busy), outcomes in sorted(read(path).items()):
        cells = [outcomes.get(command, "") for command in COMMANDS]
        print("|", " | ".join([release, f"`{rights}`" + (", busy" if busy else ""), *cells]), "|")
    return 0


if __name__ == "__main__":
    sys.exit(main())
