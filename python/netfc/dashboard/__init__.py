# SPDX-License-Identifier: BSD-3-Clause
"""A page that shows a running switch, and the state behind it, as JSON, for whoever serves it."""

import dataclasses
import json
import os
import threading
import time
from collections.abc import Callable, Iterable
from importlib import resources
from typing import Any

from netfc import snapshot
from netfc.errors import TelemetryError

# However many pages are open, the switch is asked this often at most: seconds.
MIN_AGE = 0.9

_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}
_STATE = "/state"
_HEADERS = [
    ("Cache-Control", "no-store"),
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
]

_Environment = dict[str, Any]
_Start = Callable[[str, list[tuple[str, str]]], Any]
Application = Callable[[_Environment, _Start], Iterable[bytes]]


class LatestState:
    """What a switch has said of itself in the last second, as JSON, for any number of threads.

    The JSON is an object: "up", whether it answered; then all parts of a snapshot.Snapshot, or
    "why" it did not.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self._path = path
        self._lock = threading.Lock()
        self._taken = -MIN_AGE
        self._text = b""

    def get(self) -> bytes:
        """The state; asks the switch if what it said last is too old."""
        with self._lock:
            if time.monotonic() - self._taken >= MIN_AGE:
                self._text = json.dumps(self._ask()).encode()
                self._taken = time.monotonic()
            return self._text

    def _ask(self) -> dict[str, Any]:
        try:
            return {"up": True, **dataclasses.asdict(snapshot.take(self._path))}
        except TelemetryError as error:
            return {"up": False, "why": str(error)}


def application(path: str | os.PathLike[str], metrics: Application) -> Application:
    """The pages of a switch, by its telemetry socket, as a WSGI application.

    metrics: the application that serves /metrics.
    """
    state = LatestState(path)
    folder = resources.files(__name__)
    files = {at: (folder.joinpath(name).read_bytes(), kind) for at, (name, kind) in _FILES.items()}

    def answer(environment: _Environment, start: _Start) -> Iterable[bytes]:
        at = environment.get("PATH_INFO") or "/"
        if environment["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return answer_with(
                start, "405 Method Not Allowed", b"Only GET and HEAD.\n", "text/plain"
            )
        if at == "/metrics":
            return metrics(environment, start)
        if at == _STATE:
            return answer_with(start, "200 OK", state.get(), "application/json")
        if at in files:
            return answer_with(start, "200 OK", *files[at])
        return answer_with(start, "404 Not Found", b"There are / and /metrics.\n", "text/plain")

    return answer


def answer_with(start: _Start, status: str, body: bytes, kind: str) -> Iterable[bytes]:
    """Answers a request with all of a body, which nobody may keep or frame."""
    start(status, [("Content-Type", kind), ("Content-Length", str(len(body))), *_HEADERS])
    return [body]
