"""Who plays what: a bounded store of running games."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

from momagames.games.tileblast.serve.protocol import Refusal
from momagames.games.tileblast.serve.simulator import Position


class Sessions:
    """Positions by session.

    most    sessions at a time: one more, and the one that was not used for longest is closed
    idle    seconds after which a session that nobody uses is closed; 0: never

    Used by one thread: a request is answered from its first look at a session to the last without a pause, so that requests
    for one session cannot come between each other.
    """

    def __init__(self, most: int = 10_000, idle: float = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.idle, self._clock = most, idle, clock
        self._held: OrderedDict[str, tuple[Position, float]] = OrderedDict()  # with the time of use, longest ago first

    def __len__(self) -> int:
        self._close_idle()
        return len(self._held)

    def create(self, position: Position) -> str:
        """A new session: 32 hexadecimal digits."""
        self._close_idle()
        while len(self._held) >= self.most:
            self._held.popitem(last=False)
        session = secrets.token_hex(16)
        self._held[session] = position, self._clock()
        return session

    def position(self, session: str) -> Position:
        """Where a session stands, which counts as a use; Refusal 404 for one that there is not."""
        self._close_idle()
        if session not in self._held:
            raise Refusal(404, f"no session {session[:40]!r}: never created, destroyed, or closed after others were used")
        position, _ = self._held[session]
        self.move(session, position)
        return position

    def move(self, session: str, position: Position) -> None:
        """A session goes on from here."""
        self._held[session] = position, self._clock()
        self._held.move_to_end(session)

    def destroy(self, session: str | None) -> bool:
        """Whether there was such a session."""
        self._close_idle()
        return session is not None and self._held.pop(session, None) is not None

    def ids(self) -> list[str]:
        """All sessions, the one that was not used for longest first."""
        self._close_idle()
        return list(self._held)

    def clear(self) -> None:
        self._held.clear()

    def _close_idle(self) -> None:
        if not self.idle:
            return
        since = self._clock() - self.idle
        while self._held and next(iter(self._held.values()))[1] < since:
            self._held.popitem(last=False)
