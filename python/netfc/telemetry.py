# SPDX-License-Identifier: BSD-3-Clause
"""Asks a running switch for its state, over DPDK's telemetry socket.

The socket is where the EAL puts it: RUNTIME/dpdk/FILE_PREFIX/dpdk_telemetry.v2, RUNTIME being
$RUNTIME_DIRECTORY, else /var/run for root and $XDG_RUNTIME_DIR or /tmp for others.
"""

import json
import os
import pathlib
import socket
from typing import Any

from netfc.errors import TelemetryError

SOCKET_NAME = "dpdk_telemetry.v2"
FILE_PREFIX = "rte"  # the EAL's default
SERVICES = pathlib.Path("/run")  # packaged services have their runtime folders there
SERVICE_FOLDERS = "dpdk-netfc*"
TIMEOUT = 5
_GREETING_BYTES = 1024


def runtime_folder() -> pathlib.Path:
    """The folder that the EAL of this user has its runtime folders in."""
    named = os.environ.get("RUNTIME_DIRECTORY")
    if named:
        return pathlib.Path(named)
    if os.getuid() == 0:
        return pathlib.Path("/var/run")
    return pathlib.Path(os.environ.get("XDG_RUNTIME_DIR", "/tmp"))


def socket_path(file_prefix: str = FILE_PREFIX) -> pathlib.Path:
    """The path of the telemetry socket of a process with that --file-prefix."""
    return runtime_folder() / "dpdk" / file_prefix / SOCKET_NAME


def service_sockets() -> list[pathlib.Path]:
    """The telemetry sockets of the packaged services that answer, and that this user may ask."""
    found = SERVICES.glob(f"{SERVICE_FOLDERS}/dpdk/*/{SOCKET_NAME}")
    return sorted(path for path in found if _answers(path))


def default_path() -> pathlib.Path:
    """The socket of the EAL's default prefix; if none answers, the only packaged service's."""
    named = socket_path()
    services = [] if _answers(named) else service_sockets()
    return services[0] if len(services) == 1 else named


def running(folder: pathlib.Path | None = None) -> list[str]:
    """The --file-prefix of each process that answers in a runtime folder, or in this user's."""
    found = (folder or runtime_folder()).glob(f"dpdk/*/{SOCKET_NAME}")
    return sorted(path.parent.name for path in found if _answers(path))


def _answers(path: pathlib.Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked:
        asked.settimeout(TIMEOUT)
        try:
            asked.connect(str(path))
        except OSError:
            return False
        return True


def nobody(path: str | os.PathLike[str]) -> str:
    """What to say where no switch answers at the path of a telemetry socket: which ones do."""
    place = pathlib.Path(path)
    named = place == socket_path(place.parent.name)
    said = f"no switch with --file-prefix {place.parent.name}" if named else f"no switch at {path}"
    options = [f"--file-prefix {prefix}" for prefix in running()]
    options += [
        f"--telemetry {path}" for path in service_sockets() if runtime_folder() not in path.parents
    ]
    if options:
        return f"{said}; these run: {', '.join(options)}"
    return f"{said}; none runs with telemetry" + (", or it is root's: sudo" if os.getuid() else "")


class Telemetry:
    """A connection to a running switch. A context manager.

    path: of the telemetry socket; timeout: seconds to wait for an answer. Raises TelemetryError.
    """

    def __init__(self, path: str | os.PathLike[str], timeout: float = TIMEOUT):
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(str(path))
            greeting = self._receive(_GREETING_BYTES, "max_output_len", "pid")
        except (FileNotFoundError, ConnectionRefusedError) as error:
            self._socket.close()
            raise TelemetryError(nobody(path)) from error
        except OSError as error:
            self._socket.close()
            raise TelemetryError(f"{path}: {error.strerror or error}") from error
        self._bytes: int = greeting["max_output_len"]
        self.pid: int = greeting["pid"]

    def __enter__(self) -> "Telemetry":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leaves."""
        self._socket.close()

    def send(self, command: str) -> None:
        """Asks without waiting for the answer."""
        self._socket.send(command.encode())

    def ask(self, command: str) -> Any:
        """The answer to a command, such as /netfc/port,0; None where there is nothing to say."""
        try:
            self.send(command)
            name = command.partition(",")[0]
            return self._receive(self._bytes, name)[name]
        except OSError as error:
            raise TelemetryError(f"{self._path}: {error.strerror or error}") from error

    def _receive(self, most: int, *names: str) -> Any:
        """A JSON object that has these names."""
        answer = self._socket.recv(most)
        if not answer:
            raise TelemetryError(
                f"{self._path}: the switch has closed the connection; "
                "it may have as many clients as it serves"
            )
        try:
            said = json.loads(answer)
        except ValueError as error:
            raise TelemetryError(f"{self._path}: not valid JSON: {answer[:60]!r}") from error
        if not isinstance(said, dict) or not all(name in said for name in names):
            raise TelemetryError(f"{self._path}: this is no answer of DPDK: {answer[:60]!r}")
        return said
