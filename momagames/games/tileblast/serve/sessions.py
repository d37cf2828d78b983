"""Bounded store of running games."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

from momagames.games.tileblast.serve.protocol import RequestError
from momagames.games.tileblast.serve.simulator import Position


class Sessions:
    """Positions by session.

    max_sessions   at a time: when one more is created, the least recently used one is closed
    idle           seconds after which an unused session is closed; 0: never

    Used by one thread: a request is answered without a pause between its first and its last access to a session, so that
    requests for one session do not interleave.
    """

    def __init__(self, max_sessions: int = 10_000, idle: float = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.max_sessions, self.idle, self._clock = max_sessions, idle, clock
        self._sessions: OrderedDict[str, tuple[Position, float]] = OrderedDict()  # with the time of the last use, oldest first

    def __len__(self) -> int:
        self._close_idle()
        return len(self._sessions)

    def create(self, position: Position) -> str:
        """Create a session; return its id of 32 hexadecimal digits."""
        self._close_idle()
        while len(self._sessions) >= self.max_sessions:
            self._sessions.popitem(last=False)
        session = secrets.token_hex(16)
        self._sessions[session] = position, self._clock()
        return session

    def position(self, session: str) -> Position:
        """Return the position of a session and mark it as used; raise RequestError 404 for an unknown one."""
        self._close_idle()
        if session not in self._sessions:
            raise RequestError(404, f"unknown sessionId={session[:40]!r}: never created, destroyed, or closed")
        position, _ = self._sessions[session]
        self.update(session, position)
        return position

    def update(self, session: str, position: Position) -> None:
        """Store the new position of a session."""
        self._sessions[session] = position, self._clock()
        self._sessions.move_to_end(session)

    def destroy(self, session: str | None) -> bool:
        """Close a session; return whether it existed."""
        self._close_idle()
        return session is not None and self._sessions.pop(session, None) is not None

    def ids(self) -> list[str]:
        """Return all sessions, the least recently used first."""
        self._close_idle()
        return list(self._sessions)

    def clear(self) -> None:
        self._sessions.clear()

    def _close_idle(self) -> None:
        if not self.idle:
            return
        since = self._clock() - self.idle
        while self._sessions and next(iter(self._sessions.values()))[1] < since:
            self._sessions.popitem(last=False)
