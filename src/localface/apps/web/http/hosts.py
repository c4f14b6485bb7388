"""Which hosts are this machine alone."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone: an address of loopback, or its name.

    Brackets come in pairs, round an IPv6 address that names no network interface.
    """
    if host == "localhost":
        return True
    bracketed = host.startswith("[") and host.endswith("]")
    try:
        address = ipaddress.ip_address(host[1:-1] if bracketed else host)
    except ValueError:
        return False
    if address.version == 4:
        return address.is_loopback and not bracketed
    return address.is_loopback and address.scope_id is None


def host_without_port(host: str) -> str:
    """A ``Host`` header in lower case without its port; brackets of an IPv6 address stay.

    >>> host_without_port("LOCALHOST:8080"), host_without_port("[::1]:8080")
    ('localhost', '[::1]')
    """
    name, _, port = host.rpartition(":")
    return (name if port.isdecimal() and name else host).lower()
