"""Hosts and origins that are served: a web page of another site must not reach the simulator through a browser."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv6Address
from typing import TYPE_CHECKING

from momagames.errors import InvalidParameter
from momagames.games.tileblast.serve.protocol import RequestError

if TYPE_CHECKING:
    from starlette.datastructures import Headers  # the server names the missing extra

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
HOST = re.compile(r"(?P<name>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]*)?", re.IGNORECASE)
SIMPLE_TYPES = ("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data")  # sent without a CORS preflight
MAX_QUOTED = 100  # characters of a header in an error


class HostCheck:
    """Check of the headers Host and Origin.

    hosts    names and addresses that are served in addition to the loopback ones, without a port; IPv6 with or without brackets
    Raises   InvalidParameter for something else than a name or an address
    """

    def __init__(self, hosts: Iterable[str] = ()) -> None:
        self.hosts = tuple(dict.fromkeys((*LOOPBACK_HOSTS, *map(normalize_host, hosts))))

    def check(self, headers: Headers) -> None:
        """Raise RequestError 421 for another host, and 403 for a request of a web page of another origin.

        A request without the header passes: browsers send Host always, and Origin with every POST.
        """
        hosts = headers.getlist("host")
        for host in hosts:
            if parse_host(host) not in self.hosts:
                raise RequestError(
                    421,
                    f"invalid Host={host[:MAX_QUOTED]!r}: expected {', '.join(self.hosts)}; "
                    "to serve another name, start the simulator with --allow-host NAME",
                )
        for origin in headers.getlist("origin"):
            if origin.partition("://")[2] not in hosts and has_simple_type(headers):
                raise RequestError(
                    403,
                    f"invalid Origin={origin[:MAX_QUOTED]!r}: web pages of other origins are not served; "
                    "expected no Origin, or the content type application/json",
                )


def has_simple_type(headers: Headers) -> bool:
    """Return whether a browser sends this content type to other origins without asking the server first."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() in SIMPLE_TYPES


def parse_host(text: str) -> str | None:
    """Return the name or address of a Host header, without the port; None for an invalid one."""
    match = HOST.fullmatch(text)
    if match is None:
        return None
    name = match["name"].lower()
    return normalize_address(name) if name.startswith("[") else name


def normalize_address(text: str) -> str | None:
    """Return an IPv6 address in brackets and in its shortest form; None for something else."""
    try:
        return f"[{IPv6Address(text.strip('[]').partition('%')[0]).compressed}]"
    except ValueError:
        return None


def normalize_host(name: str) -> str:
    """Return a host as `parse_host` returns it; raise InvalidParameter for something else than a name or an address."""
    host = normalize_address(name) if ":" in name else parse_host(name)
    if host is None:
        raise InvalidParameter(
            f"invalid host={name!r}: expected a name or an address without scheme and port, such as 'example.com', '192.0.2.1'"
        )
    return host
