"""Limits on connections: uvicorn waits without limit for the head of a request, and for clients that do not read.

`Connections.protocol` is an asyncio protocol between the event loop and uvicorn's protocol, and forwards everything.
`Connections.track_requests` wraps the application and reports when a request begins and ends.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from momagames.games.tileblast.serve.limits import DRAIN_FACTOR, Limits

HEAD = 65536  # bytes that a client may send before a request begins or before an answer, in addition to a body
TURNS = 4  # of the loop until a request begins whose bytes have arrived: read, parsed, task made, task run

Address = tuple[str, int]


class Connection(asyncio.Protocol):
    """Connection that is closed when it waits too long or sends too much."""

    def __init__(self, inner: Any, connections: Connections) -> None:
        self._inner, self._connections = inner, connections
        self._requests = 0  # number of requests
        self._is_running = self._reads_body = False
        self._received = 0  # bytes since the last time without open requests
        self.address: Address | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        peer = transport.get_extra_info("peername")
        self.address = (peer[0], peer[1]) if peer else None  # as uvicorn names the client
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()
        self._alarm = self._loop.call_later(self._connections.limits.patience, self._check)
        self._connections.add(self)
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        limits = self._connections.limits
        if self._received > HEAD + limits.body * (DRAIN_FACTOR if self._reads_body else 1):
            self.transport.abort()
            return
        self._received += len(data)
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        keep_open: bool | None = self._inner.eof_received()
        return keep_open

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._alarm.cancel()
        self._connections.remove(self)
        self._inner.connection_lost(exc)

    def begin_request(self) -> None:
        self._requests += 1
        self._is_running = self._reads_body = True
        self._since = self._loop.time()

    def end_body(self) -> None:
        self._reads_body = False

    def end_request(self) -> None:
        self._is_running = self._reads_body = False
        self._since = self._loop.time()
        self._loop.call_soon(
            self._loop.call_soon, self._reset_received, self._requests
        )  # an arrived request begins before that

    def _reset_received(self, requests: int) -> None:
        if requests == self._requests:
            self._received = 0

    def _check(self, turns: int = TURNS) -> None:
        """Close the connection after too long without a request; abort it if its client does not read the answers.

        If the loop was busy, what the client sent may not have been read yet: it gets some turns of the loop to begin
        its request.
        """
        if turns:
            self._alarm = self._loop.call_later(0, self._check, turns - 1)
            return
        patience, waited = self._connections.limits.patience, self._loop.time() - self._since
        if self.transport.is_closing() or waited > 2 * patience:
            self.transport.abort()
            return
        if not self._is_running and waited >= patience:
            self.transport.close()
        self._alarm = self._loop.call_later(patience, self._check)


class Connections:
    """Open connections, the one with the oldest last request first; `logger` replaces that of uvicorn's protocol."""

    def __init__(self, limits: Limits, logger: logging.Logger) -> None:
        self.limits, self._logger = limits, logger
        self._open: dict[Address | None, Connection] = {}

    def protocol(self, **options: Any) -> Connection:
        """Return a protocol, for uvicorn's option `http`."""
        inner: Any = AutoHTTPProtocol(**options)
        inner.logger = self._logger
        return Connection(inner, self)

    def track_requests(self, app: ASGIApp) -> ASGIApp:
        """Return the application wrapped in calls of begin_request and end_request."""

        async def tracked_app(scope: Scope, receive: Receive, send: Send) -> None:
            connection = self._open.pop(scope["client"], None)
            if connection is None:  # the connection is lost
                return
            self._open[connection.address] = connection

            async def tracked_receive() -> Message:
                message = await receive()
                if not message.get("more_body"):
                    connection.end_body()
                return message

            connection.begin_request()
            try:
                await app(scope, tracked_receive, send)
            except RuntimeError:
                if not connection.transport.is_closing():  # uvloop raises for writes to an aborted connection
                    raise
            finally:
                connection.end_request()

        return tracked_app

    def add(self, connection: Connection) -> None:
        self._open[connection.address] = connection
        if len(self._open) > self.limits.connections:
            opened = [one for one in self._open.values() if not one.transport.is_closing()]
            for one in opened[
                : len(opened) - self.limits.connections
            ]:  # these wait for their clients, because answers are fast
                one.transport.abort()

    def remove(self, connection: Connection) -> None:
        if self._open.get(connection.address) is connection:
            del self._open[connection.address]
