"""Which hosts are this machine alone."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone: an address of loopback, or its name."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_without_port(host: str) -> str:
    """A ``Host`` header in lower case without its port; brackets of an IPv6 address stay.

    >>> host_without_port("LOCALHOST:8080"), host_without_port("[::1]:8080")
    ('localhost', '[::1]')
    """
    name, _, port = host.rpartition(":")
    return (name if port.isdecimal() and name else host).lower()
