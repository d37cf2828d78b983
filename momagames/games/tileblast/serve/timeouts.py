"""Connections that keep the simulator waiting are closed: uvicorn by itself waits for ever, and for heads of any length."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from momagames.games.tileblast.serve.limits import Limits

HEAD = 65536  # bytes before a request has begun
AHEAD = 64  # requests that a client may send before it has the answer to the first; uvicorn would hold any number


class OnePiece:
    """A transport that sends what is written in one turn of the loop in one piece: head and body of an answer."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._pieces: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._pieces:
            self._loop.call_soon(self._send)
        self._pieces.append(data)

    def close(self) -> None:
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(b"".join(self._pieces))
        self._pieces.clear()


def patient(limits: Limits) -> type[asyncio.Protocol]:
    """uvicorn's protocol, with so much patience for the head of each request and for clients that do not read.

    Bodies of requests are looked after where they are read.
    """
    Base: Any = AutoHTTPProtocol
    turns = count()  # the loop's clock stands still within a turn of it, in which many may come

    class Patient(Base):  # type: ignore[misc]
        def connection_made(self, transport: Any) -> None:
            super().connection_made(OnePiece(transport, self.loop))
            self._begin()
            self._alarm = self.loop.call_later(limits.patience, self._look)
            if len(self.connections) > limits.connections:
                self._make_room()

        def connection_lost(self, exc: Exception | None) -> None:
            self._alarm.cancel()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._head > HEAD:
                self.transport.close()
                return
            before = self.cycle
            super().data_received(data)
            if self.cycle is not before:
                self._begin()
            elif self._waits():
                self._head += len(data)
            if len(getattr(self, "pipeline", ())) > AHEAD:
                self.transport.abort()

        def _begin(self) -> None:
            self._head, self._begun, self._turn = 0, self.loop.time(), next(turns)

        def _make_room(self) -> None:
            """Close those whose last request is longest ago: answers do not take long, so these wait for their clients."""
            opened = [one for one in self.connections if not one.transport.is_closing()]
            opened.sort(key=lambda one: one._turn)
            for one in opened[: len(opened) - limits.connections]:
                one.transport.abort()

        def _waits(self) -> bool:
            """No request is being read or answered."""
            return self.cycle is None or bool(self.cycle.response_complete)

        def _look(self) -> None:
            """Close the connection if no request has begun for too long, and at once if it does not read its last answers."""
            since = self.loop.time() - self._begun
            if self.transport.is_closing() or since > 2 * limits.patience:
                self.transport.abort()
                return
            if self._waits() and since >= limits.patience:
                self.transport.close()
            self._alarm = self.loop.call_later(limits.patience, self._look)

    return Patient
