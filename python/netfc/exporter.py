# SPDX-License-Identifier: BSD-3-Clause
"""The server of a running switch's metrics and of its page, over HTTP."""

import io
import os
import re
import socket
import socketserver
import threading
import time
from collections.abc import Iterable
from typing import Any
from wsgiref import simple_server

from netfc import dashboard, hosts

try:
    from prometheus_client import exposition

    from netfc import metrics  # pylint: disable=ungrouped-imports

    WITHOUT_METRICS = ""
except ModuleNotFoundError as _error:
    WITHOUT_METRICS = (
        f"/metrics needs {_error.name}: install python3-prometheus-client; "
        "the page works without it"
    )

SILENCE = 10  # seconds that a client may take to ask, and then to take the answer
MAX_CLIENTS = 256  # at a time; others are closed
_ABSOLUTE = re.compile("https?://([^/?]*)/?(.*)", re.ASCII | re.IGNORECASE)
REACHED_AT = "netfc.reached_at"  # in a request's environment: the server's address, as a plain host


class _Request(io.RawIOBase):
    """What a client sends until its time is over, however little it sends at a time."""

    def __init__(self, connection: socket.socket):
        self._connection = connection
        self._end = time.monotonic() + SILENCE

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Raises TimeoutError."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        try:
            return self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(SILENCE)


class _Handler(simple_server.WSGIRequestHandler):
    def setup(self) -> None:
        """As any other's, with a time for the whole request."""
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_Request(self.connection))

    def log_message(self, *_: object) -> None:  # pylint: disable=arguments-differ
        """Says nothing."""

    def get_environ(self) -> dict[str, Any]:
        """A request's, with the address that it has come to. A target in absolute form has the host
        that counts (RFC 9112, section 3.2.2)."""
        absolute = _ABSOLUTE.fullmatch(self.path)
        if absolute:
            # pylint: disable-next=attribute-defined-outside-init
            self.path = f"/{absolute[2]}"
            del self.headers["Host"]
            self.headers["Host"] = absolute[1]
        reached = hosts.plain_host(self.connection.getsockname()[0].partition("%")[0])
        return {**super().get_environ(), REACHED_AT: reached}


class _Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: str, port: int):
        # With the zone that an address may have.
        self.address_family, bound = hosts.resolve(address, port, socket.SOCK_STREAM)
        self._free = threading.Semaphore(MAX_CLIENTS)
        super().__init__(bound, _Handler)  # type: ignore[arg-type]

    def server_bind(self) -> None:
        """Binds, without asking who has that address: the name server may be slow."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]
        self.setup_environ()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serves a client in a thread of its own, if there are not too many."""
        # pylint: disable-next=consider-using-with
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except Exception:  # there is no thread for it, which would release
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serves a client to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, *_: object) -> None:  # pylint: disable=arguments-differ
        """Says nothing of clients that leave."""


def _only_for(names: Iterable[str], served: dashboard.Application) -> dashboard.Application:
    """That application, for requests that ask for one of these hosts or for the address reached."""
    known = frozenset((*names, "localhost"))

    def answer(environment: dict[str, Any], start: Any) -> Iterable[bytes]:
        host = environment.get("HTTP_HOST", "")
        if hosts.is_meant(host, known | {environment[REACHED_AT]}):
            return served(environment, start)
        said = (
            f"This is not '{host}'. netfc-exporter answers to the address that it is reached at, "
            "to localhost, and to what --host says.\n"
        )
        return dashboard.answer_with(start, "421 Misdirected Request", said.encode(), "text/plain")

    return answer


def _without_bodies(served: dashboard.Application) -> dashboard.Application:
    """That application, with the headers alone for HEAD (RFC 9110, section 9.3.2)."""

    def answer(environment: dict[str, Any], start: Any) -> Iterable[bytes]:
        if environment["REQUEST_METHOD"] != "HEAD":
            return served(environment, start)
        said: list[tuple[str, list[tuple[str, str]]]] = []
        body = served(environment, lambda status, headers: said.append((status, headers)))
        status, headers = said[0]
        kept = [(name, value) for name, value in headers if name != "Content-Length"]
        start(status, [*kept, ("Content-Length", str(sum(map(len, body))))])
        return []

    return answer


def _metrics_of(path: str | os.PathLike[str]) -> dashboard.Application:
    """What answers at /metrics."""
    if not WITHOUT_METRICS:
        return exposition.make_wsgi_app(metrics.registry_for(path))

    def refuse(_: dict[str, Any], start: Any) -> Iterable[bytes]:
        said = f"{WITHOUT_METRICS}\n".encode()
        return dashboard.answer_with(start, "501 Not Implemented", said, "text/plain")

    return refuse


def serve(path: str | os.PathLike[str], address: str, port: int, names: Iterable[str] = ()) -> None:
    """Serves the switch at that telemetry socket: /metrics, and / as a page. In threads of its own.

    names: plain hosts (see hosts.plain_host) that it answers to besides localhost and its address.
    Raises OSError where it cannot listen.
    """
    server = _Server(address, port)
    pages = dashboard.application(path, _metrics_of(path))
    server.set_app(_without_bodies(_only_for(names, pages)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
