# SPDX-License-Identifier: BSD-3-Clause
"""What the package raises besides ValueError and TypeError, which tell of wrong arguments."""


class NetfcError(Exception):
    """The base of all others here; its text says what to do."""


class LibraryError(NetfcError):
    """libnetfc is missing or of another version."""


class TableSetError(NetfcError, ValueError):
    """A table set that libnetfc cannot build, in its own words."""


class ClientError(NetfcError):
    """Why a switch has computed nothing."""


class NoReplyError(ClientError, TimeoutError):
    """Datagrams were sent as often as allowed, and no reply came."""


class ControlError(NetfcError):
    """What a switch has refused on its control channel, or why it cannot be asked."""


class TelemetryError(NetfcError):
    """Why a switch could not be asked for its state."""
