# SPDX-License-Identifier: BSD-3-Clause
"""Names and addresses of hosts; and who calls an HTTP server otherwise: the way of DNS rebinding.

A page from anywhere may have its own name lead to an address of this machine or of its network; a
browser then takes the server there for the page's own, and lets the page read it. The browser still
says by which name it came, in Host.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable

_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
_HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(?::[0-9]*)?")


def resolve(host: str, port: int, kind: int = socket.SOCK_DGRAM) -> tuple[int, tuple[object, ...]]:
    """The family of a host's first address, and what connect() and bind() take.

    Raises ValueError where there is none, or where it says nothing without its interface.
    """
    try:
        family, _, _, _, target = socket.getaddrinfo(host, port, type=kind)[0]
    except (socket.gaierror, UnicodeError) as error:
        raise ValueError(f"'{host}' cannot be resolved: {error.args[-1]}") from error
    link_local = ipaddress.ip_address(target[0]).is_link_local
    if link_local and target[3:] == (0,):
        example = f"{target[0]}%eth0"
        raise ValueError(f"'{host}' is a link-local address: add its interface, as in {example}")
    return family, target


def plain_host(text: str) -> str:
    """A name or an address as it is compared: in lower case, addresses in their one short form.

    Raises ValueError where it is neither.
    """
    bare = text.lower()
    if bare.startswith("[") and bare.endswith("]"):
        bare = bare[1:-1]
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        bare = bare.removesuffix(".")
        if not _NAME.fullmatch(bare):
            raise ValueError(f"'{text}': expected a name or an address, without a port") from None
        return bare
    # The zone of a link-local address is this machine's alone: no other may say it so.
    return str(getattr(address, "ipv4_mapped", None) or address).partition("%")[0]


def is_meant(host: str, names: Iterable[str]) -> bool:
    """Whether a request with this Host, which may have a port, is for one of these plain hosts."""
    parts = _HOST.fullmatch(host)
    try:
        return parts is not None and plain_host(parts[1]) in names
    except ValueError:
        return False
