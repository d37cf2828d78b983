"""Sockets, start and stop of the simulator."""

from __future__ import annotations

import errno
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from momagames.errors import InvalidParameter, MissingExtra, TooLarge

try:
    import starlette  # noqa: F401 - asked for here, so that one error tells of both
    import uvicorn
except ImportError as error:
    raise MissingExtra('the simulator needs starlette and uvicorn: pip install "momagames[serve]"') from error

from momagames.games.tileblast.serve.app import app
from momagames.games.tileblast.serve.limits import Limits
from momagames.games.tileblast.serve.service import Service
from momagames.games.tileblast.serve.sessions import Sessions
from momagames.games.tileblast.serve.simulator import Levels
from momagames.games.tileblast.serve.timeouts import Connections

LOCALHOST = "localhost"
LOOPBACKS = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
BACKLOG = 1024
KEEP_ALIVE = 5  # seconds that a connection may wait for its next request
FAREWELL = 10  # seconds that running requests have when the server stops
STARTING = 60


def listen(host: str, port: int) -> list[socket.socket]:
    """Sockets that listen at a host; "localhost" is IPv4 and, where there is one, the IPv6 loopback.

    port     0: any that is free, the same for all
    Raises   InvalidParameter if the port is taken or the host is none of this machine's
    """
    opened: list[socket.socket] = []
    for family, address in places(host):
        one = socket.socket(family, socket.SOCK_STREAM)
        try:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            one.bind((address, port))
            one.listen(BACKLOG)
        except (OSError, OverflowError) as error:
            one.close()
            if opened and getattr(error, "errno", None) in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                continue  # there is no IPv6 here
            for other in opened:
                other.close()
            raise InvalidParameter(f"cannot listen at {address} port {port}: {reason(error)}") from None
        opened.append(one)
        port = one.getsockname()[1]
    return opened


def places(host: str) -> list[tuple[int, str]]:
    """Families and addresses of a host; InvalidParameter if it has none."""
    if host == LOCALHOST:
        return list(LOOPBACKS) if socket.has_ipv6 else list(LOOPBACKS[:1])
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InvalidParameter(f"--host {host!r} is not known here: {reason(error)}; the usual one is {LOCALHOST!r}") from None
    return [(found[0][0], str(found[0][4][0]))]


def reason(error: Exception) -> str:
    if getattr(error, "errno", None) == errno.EADDRINUSE:
        return "another program listens there; stop it, or choose another --port"
    return str(getattr(error, "strerror", None) or error)


def make(service: Service, limits: Limits) -> uvicorn.Server:
    """The server, not started."""
    config: Any = {
        "access_log": False,
        "lifespan": "off",
        "log_level": "warning",
        "proxy_headers": False,  # anybody could claim to be somebody else, and so evade the limit of the rate
        "server_header": False,
        "timeout_graceful_shutdown": FAREWELL,
        "timeout_keep_alive": KEEP_ALIVE,
        "ws": "none",
    }
    connections = Connections(limits)
    protocol: Any = connections.protocol  # uvicorn calls it, but declares a class
    return uvicorn.Server(uvicorn.Config(connections.watch(app(service, limits)), http=protocol, **config))


def run(service: Service, limits: Limits, sockets: list[socket.socket]) -> None:
    """Serve until Ctrl-C or SIGTERM; requests that are running then are answered."""
    try:
        make(service, limits).run(sockets=sockets)
    finally:
        for one in sockets:
            one.close()


@contextmanager
def background(
    service: Service | None = None, limits: Limits | None = None, host: str = LOCALHOST, port: int = 0
) -> Iterator[str]:
    """Serve in a thread for as long as the context lasts; gives the address, such as "http://localhost:40123"."""
    sockets = listen(host, port)
    server = make(service or Service(Levels(), Sessions()), limits or Limits())
    thread = threading.Thread(target=server.run, kwargs={"sockets": sockets}, daemon=True)
    thread.start()
    try:
        until = time.monotonic() + STARTING
        while not server.started:
            if not thread.is_alive() or time.monotonic() > until:
                raise TooLarge(f"the simulator did not start within {STARTING} s")
            time.sleep(0.005)
        yield url(host, sockets)
    finally:
        server.should_exit = True
        thread.join()
        for one in sockets:
            one.close()


def url(host: str, sockets: list[socket.socket]) -> str:
    """Where clients find the server."""
    return f"http://{f'[{host}]' if ':' in host else host}:{sockets[0].getsockname()[1]}"
