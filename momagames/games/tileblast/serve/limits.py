"""Limits of requests: requests per second, bytes of a request, seconds to send it."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from momagames.games.tileblast.serve.protocol import RequestError

MAX_CLIENTS = 10_000  # addresses with a stored bucket
MAX_DIGITS = 18  # of a declared number of bytes that is compared
DRAIN_FACTOR = 64  # a body of up to this many times the limit is read and dropped, so that its sender can read the answer


@dataclass(frozen=True)
class Limits:
    """Limits of the server.

    rate          requests per second of one address, 0: unlimited; as many may come at once
    body          bytes of a request
    patience      seconds to receive a whole request, and to send its answer
    connections   at a time: when one more opens, the server closes the one whose last request is the oldest
    """

    rate: float = 5000
    body: int = 65536
    patience: float = 30
    connections: int = 500


class RateLimiter:
    """Token buckets by address: a bucket holds up to `rate` requests and refills within a second."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self._clock = rate, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens and the time of their count

    def check(self, client: str) -> None:
        """Count a request; raise RequestError 429 if there are too many."""
        if not self.rate:
            return
        now, full = self._clock(), max(1.0, self.rate)
        tokens, since = self._buckets.pop(client, (full, now))
        tokens = min(full, tokens + (now - since) * self.rate)
        self._buckets[client] = (tokens - 1 if tokens >= 1 else tokens), now
        if len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        if tokens < 1:
            raise RequestError(429, f"expected at most {self.rate:g} requests per second", {"retry-after": "1"})


async def read_body(chunks: AsyncIterator[bytes], declared: str | None, limits: Limits) -> bytes:
    """Return the body of a request.

    declared   the header content-length
    Raises     RequestError 413 if it is too large, 408 if it takes too long
    """
    try:
        async with asyncio.timeout(limits.patience):
            return await read_chunks(chunks, declared, limits.body)
    except TimeoutError:
        raise RequestError(408, f"the request did not arrive within {limits.patience:g} seconds") from None


async def read_chunks(chunks: AsyncIterator[bytes], declared: str | None, max_bytes: int) -> bytes:
    """Return the body, or raise RequestError 413; store at most `max_bytes` bytes."""
    body, size = bytearray(), 0
    digits = (declared or "").lstrip("0")
    too_large = digits.isdecimal() and (len(digits) > MAX_DIGITS or int(digits) > max_bytes * DRAIN_FACTOR)
    if not too_large:
        async for chunk in chunks:
            size += len(chunk)
            if size <= max_bytes:
                body += chunk
            elif size > max_bytes * DRAIN_FACTOR:
                break
    if too_large or size > max_bytes:
        raise RequestError(413, f"the request is too large: expected at most {max_bytes} bytes")
    return bytes(body)
