"""Sockets, start and stop of the simulator."""

from __future__ import annotations

import errno
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from momagames.errors import InvalidParameter, MissingExtra, TooLarge

try:
    import starlette  # noqa: F401 - imported here for one error about both
    import uvicorn
except ImportError as error:
    raise MissingExtra('the simulator needs starlette and uvicorn: pip install "momagames[serve]"') from error

from momagames.games.tileblast.serve.app import app
from momagames.games.tileblast.serve.health import Counters
from momagames.games.tileblast.serve.hosts import HostCheck
from momagames.games.tileblast.serve.limits import Limits
from momagames.games.tileblast.serve.request_log import make_logger
from momagames.games.tileblast.serve.service import Service
from momagames.games.tileblast.serve.sessions import Sessions
from momagames.games.tileblast.serve.simulator import Levels
from momagames.games.tileblast.serve.timeouts import Connections

LOCALHOST = "localhost"
LOOPBACKS = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
BACKLOG = 1024
KEEP_ALIVE = 5  # seconds until an idle connection is closed
SHUTDOWN_TIMEOUT = 10  # seconds for running requests when the server stops
START_TIMEOUT = 60


def listen(host: str, port: int) -> list[socket.socket]:
    """Return sockets that listen at a host; "localhost" is IPv4 and, if there is one, the IPv6 loopback.

    port     0: a free one, the same for all
    Raises   InvalidParameter if the port is in use or the host is not an address of this machine
    """
    opened: list[socket.socket] = []
    for family, address in resolve_host(host):
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
                continue  # this machine has no IPv6
            for other in opened:
                other.close()
            raise InvalidParameter(f"cannot listen at {address} port {port}: {describe_error(error)}") from None
        opened.append(one)
        port = one.getsockname()[1]
    return opened


def resolve_host(host: str) -> list[tuple[int, str]]:
    """Return families and addresses of a host; raise InvalidParameter if it has none."""
    if host == LOCALHOST:
        return list(LOOPBACKS) if socket.has_ipv6 else list(LOOPBACKS[:1])
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InvalidParameter(
            f"invalid --host={host!r}: expected {LOCALHOST!r} or an address; {describe_error(error)}"
        ) from None
    return [(found[0][0], str(found[0][4][0]))]


def describe_error(error: Exception) -> str:
    if getattr(error, "errno", None) == errno.EADDRINUSE:
        return "another program listens there; stop it, or use another --port"
    return str(getattr(error, "strerror", None) or error)


def make_server(service: Service, limits: Limits, hosts: HostCheck) -> uvicorn.Server:
    """Return the server, not started."""
    config: Any = {
        "access_log": False,
        "lifespan": "off",
        "log_level": "warning",
        "proxy_headers": False,  # clients could forge their address and evade the rate limit
        "server_header": False,
        "timeout_graceful_shutdown": SHUTDOWN_TIMEOUT,
        "timeout_keep_alive": KEEP_ALIVE,
        "ws": "none",
    }
    counters = Counters()
    connections = Connections(limits, make_logger(counters))
    protocol: Any = connections.protocol  # uvicorn calls it, but declares a class
    tracked_app = connections.track_requests(app(service, limits, hosts, counters))
    return uvicorn.Server(uvicorn.Config(tracked_app, http=protocol, **config))


def run_server(service: Service, limits: Limits, hosts: HostCheck, sockets: list[socket.socket]) -> None:
    """Serve until Ctrl-C or SIGTERM; running requests are answered first."""
    try:
        make_server(service, limits, hosts).run(sockets=sockets)
    finally:
        for one in sockets:
            one.close()


@contextmanager
def serve_in_background(
    service: Service | None = None,
    limits: Limits | None = None,
    host: str = LOCALHOST,
    port: int = 0,
    allow_hosts: Iterable[str] = (),
) -> Iterator[str]:
    """Serve in a thread during a context; yield the address, such as "http://localhost:40123".

    allow_hosts   names in the header Host that are served, in addition to the loopback ones and `host`
    """
    hosts = HostCheck([host, *allow_hosts])
    sockets = listen(host, port)
    server = make_server(service or Service(Levels(), Sessions()), limits or Limits(), hosts)
    thread = threading.Thread(target=server.run, kwargs={"sockets": sockets}, daemon=True)
    thread.start()
    try:
        until = time.monotonic() + START_TIMEOUT
        while not server.started:
            if not thread.is_alive() or time.monotonic() > until:
                raise TooLarge(f"the simulator did not start within {START_TIMEOUT} s")
            time.sleep(0.005)
        yield url(host, sockets)
    finally:
        server.should_exit = True
        thread.join()
        for one in sockets:
            one.close()


def url(host: str, sockets: list[socket.socket]) -> str:
    """Return the address of the server."""
    return f"http://{f'[{host}]' if ':' in host else host}:{sockets[0].getsockname()[1]}"
