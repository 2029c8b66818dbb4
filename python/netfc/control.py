# SPDX-License-Identifier: BSD-3-Clause
"""Commands to a running switch, over its control channel (dpdk-netfc --control PATH)."""

import contextlib
import json
import os
import select
import socket
import struct
from typing import Any

from netfc.errors import ControlError

TIMEOUT = 60  # seconds; a command that builds table sets takes a while
END_S = 60  # that a switch has to free what it has; what passes the channel on, as ssh does, stays


class Control:
    """A connection to the control channel. A context manager.

    path: of the socket; timeout: seconds to wait for an answer. Raises ControlError.
    """

    def __init__(self, path: str | os.PathLike[str], timeout: float = TIMEOUT):
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            advice = (
                "; was a switch started with --control and this path?"
                if isinstance(error, (FileNotFoundError, ConnectionRefusedError))
                else ""
            )
            raise ControlError(f"{path}: {error.strerror or error}{advice}") from error
        self._lines = self._socket.makefile("rb")

    def __enter__(self) -> "Control":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leaves."""
        self._lines.close()
        self._socket.close()

    def wait_for_end(self) -> None:
        """Waits, however long it takes, until the switch ends: it leaves this channel before, and
        its process is waited for as well, for END_S."""
        with contextlib.ExitStack() as opened:
            process = self._process(opened)
            with contextlib.suppress(ConnectionError):  # it has ended
                self._socket.settimeout(None)
                while self._lines.read(1):
                    pass
            if process is not None:
                ended = select.poll()
                ended.register(process, select.POLLIN)
                ended.poll(1000 * END_S)

    def _process(self, opened: contextlib.ExitStack) -> int | None:
        """A descriptor of the switch's process; None where that cannot be seen from here."""
        size = struct.calcsize("iII")
        said = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        pid = struct.unpack("iII", said)[0]
        try:
            process = os.pidfd_open(pid)
        except (OSError, AttributeError):  # in another container, or a Python without it
            return None
        opened.callback(os.close, process)
        return process

    def do(self, command: str, **fields: Any) -> dict[str, Any]:
        """Gives a command and returns what the switch has to say to it, a dictionary.

        Raises ValueError for a text that is not UTF-8, such as a file's name may be: the channel
        takes no other.
        """
        asked = {name: _as_json(value) for name, value in fields.items()}
        try:
            line = json.dumps({"command": command, **asked}, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            said = os.fsencode(error.object).decode("utf-8", "backslashreplace")
            raise ValueError(f"not UTF-8, which the switch takes alone: {said}") from error
        answer = self.exchange(line)
        if not answer.pop("ok"):
            raise ControlError(answer["error"])
        return answer

    def exchange(self, line: bytes) -> dict[str, Any]:
        """Sends a line of bytes as it is and returns the answer, a dictionary."""
        try:
            # What a switch says before it leaves a client is there to be read all the same.
            with contextlib.suppress(BrokenPipeError):
                self._socket.sendall(line + b"\n")
            answer = self._lines.readline()
        except TimeoutError as error:
            raise ControlError(
                f"{self._path}: no answer within {self._socket.gettimeout():g} s; "
                "the switch may do it all the same"
            ) from error
        except OSError as error:
            raise ControlError(f"{self._path}: {error.strerror or error}") from error
        # A client that is too slow to read is left in the middle of a line.
        if not answer.endswith(b"\n"):
            raise ControlError(f"{self._path}: the switch has closed the connection")
        return self._parsed(answer)

    def _parsed(self, answer: bytes) -> dict[str, Any]:
        with contextlib.suppress(ValueError):
            parsed = json.loads(answer)
            if isinstance(parsed, dict) and (parsed.get("ok") or {"ok", "error"} <= parsed.keys()):
                return parsed
        raise ControlError(f"{self._path}: this is no answer of a switch: {answer[:60]!r}")


def _as_json(value: Any) -> Any:
    """A number that JSON's readers have no room for as a text: the switch says what it takes."""
    return str(value) if isinstance(value, int) and not -(2**63) <= value < 2**63 else value
