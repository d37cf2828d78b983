"""Bounded log: a client that sends malformed requests in a loop must not fill a disk."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from momagames.games.tileblast.serve.health import Counters

FULL_RECORDS = 10  # of a kind, before they are counted
MAX_ERROR = 200  # characters of an exception in a line
INTERVAL = 60  # seconds between two lines of counted records of a kind
MALFORMED = "Invalid HTTP request received."  # record of uvicorn for data that is not HTTP


@dataclass
class Repetition:
    """Records of a kind: those in full, those counted since the last line, and the time of this line."""

    full: int = 0
    counted: int = 0
    since: float = 0.0


class LogLimiter(logging.Filter):
    """Pass the first records of a kind in full, then one line per minute with the number of records.

    A kind is a message before formatting, with the type of the exception; these come from code, not from clients.
    """

    def __init__(self, counters: Counters, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._counters, self._clock = counters, clock
        self._repetitions: dict[tuple[object, object], Repetition] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is logged; shorten it to one line with a number if it stands for several."""
        self._counters.malformed += record.msg == MALFORMED
        kind = record.msg, record.exc_info and record.exc_info[0]
        found, now = self._repetitions.setdefault(kind, Repetition()), self._clock()
        if found.full < FULL_RECORDS:
            found.full, found.since = found.full + 1, now
            return True
        found.counted += 1
        if now - found.since < INTERVAL:
            return False
        error = f" {record.exc_info[1]!r}"[:MAX_ERROR] if record.exc_info else ""
        record.msg = f"{str(record.msg).strip()}{error} ({found.counted:,} times in {now - found.since:.0f} s)"
        record.args, record.exc_info = (), None
        found.counted, found.since = 0, now
        return True


def make_logger(counters: Counters) -> logging.Logger:
    """Return the logger of one server: its records reach the handlers of uvicorn through a LogLimiter."""
    logger = logging.Logger("uvicorn.error", logging.WARNING)
    logger.parent = logging.getLogger("uvicorn.error")
    logger.addFilter(LogLimiter(counters))
    return logger
