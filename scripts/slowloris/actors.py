# SPDX-License-Identifier: BSD-3-Clause
"""Who takes part: a web server, honest clients, an attacker, and who counts packets."""

import collections
import concurrent.futures
import contextlib
import socket
import subprocess
import threading
import time

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


class Background:
    """Runs in a thread of its own from the beginning of a `with` block to its end.

    Classes made of it have run(), which goes on until `stop` is set, an Event.
    """

    def __init__(self):
        self.stop = threading.Event()
        self._thread = threading.Thread(target=self.run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self._thread.join()

    def run(self):
        """What goes on."""
        raise NotImplementedError


class Server:
    """nginx on a host. A context manager."""

    def __init__(self, host, folder, connections, body_timeout):
        self._folder = folder / "nginx"
        self._folder.mkdir()
        (self._folder / "conf").write_text(
            NGINX.format(folder=self._folder, connections=connections, port=SERVER_PORT,
                         body_timeout=body_timeout), encoding="ascii")
        self._folder.chmod(0o755)
        folder.chmod(0o755)
        self._process = host.start("/usr/sbin/nginx", "-p", self._folder, "-c",
                                   self._folder / "conf", stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()


class HonestClients:
    """curl, one request after the other, a few at a time. A context manager.

    results: (when it was begun, whether it succeeded) of each request.
    """

    def __init__(self, host, url):
        self._host, self._url = host, url
        self._stop = threading.Event()
        self._pool = concurrent.futures.ThreadPoolExecutor(HONEST_CLIENTS)
        self.results = []

    def __enter__(self):
        for _ in range(HONEST_CLIENTS):
            self._pool.submit(self._ask)
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._pool.shutdown()

    def _ask(self):
        while not self._stop.wait(PAUSE):
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

    def run(self):
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
