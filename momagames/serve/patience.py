"""Connections that never come to a request are closed: uvicorn by itself waits for ever, and for heads of any length."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD = 65536  # bytes before a request has begun


def patient(seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's protocol, with this many seconds for the head of each request."""
    Base: Any = AutoHTTPProtocol

    class Patient(Base):  # type: ignore[misc]
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._head, self._seen = 0, None
            self._alarm = self.loop.call_later(seconds, self._look)

        def connection_lost(self, exc: Exception | None) -> None:
            self._alarm.cancel()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._head > HEAD:
                self.transport.close()
                return
            self._head = self._head + len(data) if self._waits() else 0
            super().data_received(data)

        def _waits(self) -> bool:
            """No request is being read or answered."""
            return self.cycle is None or bool(self.cycle.response_complete)

        def _look(self) -> None:
            """Close the connection if nothing has begun since the last look."""
            if self._waits() and self.cycle is self._seen:
                self.transport.close()
                return
            self._seen = self.cycle
            self._alarm = self.loop.call_later(seconds, self._look)

    return Patient
