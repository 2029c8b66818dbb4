# SPDX-License-Identifier: BSD-3-Clause
"""Who takes part: a web server, honest clients, an attacker, and who counts packets."""

import collections
import contextlib
import socket
import subprocess
import time

from background import Background

EVERY_PROTOCOL = 0x0003
OUTGOING = 4  # PACKET_OUTGOING, from linux/if_packet.h
IPV4_TCP = (b"\x08\x00", 6)
HONEST_CLIENTS = 4
REQUEST_TIMEOUT = 1  # seconds
PAUSE = 0.1
SERVER_PORT = 80

# Small, so that a small attack fills it: what a large server does against a large one.
NGINX = """
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error crit;
events {{ worker_connections {connections}; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_timeout 0;
    client_body_timeout {body_timeout}s;
    server {{
        listen {port} backlog=1024;
        location / {{ return 200 "at your service\\n"; }}
        location /form {{ proxy_pass http://127.0.0.1:9; }}
    }}
}}
"""


@contextlib.contextmanager
def server(host, folder, connections, body_timeout):
    """nginx on a host."""
    place = folder / "nginx"
    place.mkdir()
    (place / "conf").write_text(
        NGINX.format(folder=place, connections=connections, port=SERVER_PORT,
                     body_timeout=body_timeout), encoding="ascii")
    for each in place, folder:
        each.chmod(0o755)
    with host.start("/usr/sbin/nginx", "-p", place, "-c", place / "conf",
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


class HonestClients(Background):
    """curl, one request after the other, a few at a time. A context manager.

    results: (when it was begun, whether it succeeded) of each request.
    """

    def __init__(self, host, url):
        super().__init__(HONEST_CLIENTS)
        self._host, self._url, self.results = host, url, []

    def run(self, _):
        while not self.stop.wait(PAUSE):
            begun = time.monotonic()
            done = self._host.start("curl", "--silent", "--fail", "--output", "/dev/null",
                                    "--max-time", REQUEST_TIMEOUT, self._url).wait()
            self.results.append((begun, done == 0))


def attack(host, url, connections, rate, seconds):
    """Starts slowhttptest with slow bodies (RUDY): a little every second. Returns the process."""
    return host.start("slowhttptest", "-B", "-u", url, "-c", connections, "-r", rate, "-i", 1,
                      "-l", seconds, "-x", 8, "-s", 8192, "-p", 3, stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL)


class PacketCounter(Background):
    """Counts TCP packets between addresses at a host's interface. A context manager.

    sent, received: by (source, destination), as texts; first: when the first was sent.
    """

    def __init__(self, host):
        super().__init__()
        self.sent, self.received = collections.Counter(), collections.Counter()
        self.first = None
        self._socket = host.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                   socket.htons(EVERY_PROTOCOL))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        self._socket.bind(("eth0", EVERY_PROTOCOL))
        self._socket.settimeout(0.1)

    def run(self, _):
        with self._socket:
            while not self.stop.is_set():
                with contextlib.suppress(TimeoutError):
                    self._count(*self._socket.recvfrom(64))

    def _count(self, frame, address):
        if len(frame) < 34 or (frame[12:14], frame[23]) != IPV4_TCP:
            return
        ends = socket.inet_ntoa(frame[26:30]), socket.inet_ntoa(frame[30:34])
        if address[2] != OUTGOING:
            self.received[ends] += 1
            return
        self.sent[ends] += 1
        self.first = self.first or time.monotonic()
