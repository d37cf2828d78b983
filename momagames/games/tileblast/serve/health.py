"""Counters of a simulator, for the answer to /health."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from momagames import __version__


@dataclass
class Counters:
    """Counts since the start.

    requests    HTTP requests
    errors      answers with a status of 400 or more
    malformed   times that a client sent data that is not HTTP
    """

    requests: int = 0
    errors: int = 0
    malformed: int = 0
    _started: float = field(default_factory=time.monotonic, init=False)

    def describe_health(self, sessions: int) -> dict[str, Any]:
        """Return the answer to /health; `sessions`: number of open sessions."""
        return {
            "status": "ok",
            "version": __version__,
            "uptime": round(time.monotonic() - self._started, 3),
            "sessions": sessions,
            "requests": self.requests,
            "errors": self.errors,
            "malformed": self.malformed,
        }
