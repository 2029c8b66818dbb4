# SPDX-License-Identifier: BSD-3-Clause
"""Results, kept in a file after every measurement so that a run can go on where it was stopped."""

import hashlib
import json
import time


class Results:
    """A JSON object in a file. `data` is it."""

    def __init__(self, path, identity, resume):
        """identity: of programs and settings; results of others are not taken up again."""
        self._path = path
        self.data = {"identity": identity, "seconds": 0.0, "done": {}}
        if resume and path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["identity"] == identity:
                self.data = kept

    def get(self, section, key, measure):
        """A result: measured now, unless it is there already."""
        done = self.data["done"].setdefault(section, {})
        if key not in done:
            began = time.monotonic()
            done[key] = measure()
            self.data["seconds"] += time.monotonic() - began
            self.save()
        return done[key]

    def save(self):
        """Write the file, whole or not at all."""
        unfinished = self._path.with_suffix(".tmp")
        unfinished.write_text(json.dumps(self.data, indent=1), encoding="utf-8")
        unfinished.replace(self._path)


def identity(programs, settings):
    """What results depend on that a run can change: the programs' bytes, how it measures."""
    return {
        "programs": {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in programs
        },
        "settings": settings,
    }
