"""How much anybody may ask: requests per second, bytes of a request, seconds to send it."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from momagames.games.tileblast.serve.protocol import Refusal

CLIENTS = 10_000  # whose rates are remembered
DRAINED = 64  # how many times the limit of a body is read and thrown away, so that its sender gets to read the answer


@dataclass(frozen=True)
class Limits:
    """What is allowed.

    rate          requests per second of one address, 0: any number; as many may come at once
    body          bytes of a request
    patience      seconds for a request to come in whole, and for its answer to be taken
    connections   at a time: one more, and the one that has asked nothing for longest is closed
    """

    rate: float = 5000
    body: int = 65536
    patience: float = 30
    connections: int = 500


class Rates:
    """A bucket for each address: it holds `rate` requests when full, and fills again within a second."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self._clock = rate, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what is in it, and when that was so

    def admit(self, client: str) -> None:
        """Count a request; Refusal 429 if there are too many."""
        if not self.rate:
            return
        now, full = self._clock(), max(1.0, self.rate)
        held, since = self._buckets.pop(client, (full, now))
        held = min(full, held + (now - since) * self.rate)
        self._buckets[client] = (held - 1 if held >= 1 else held), now
        if len(self._buckets) > CLIENTS:
            self._buckets.popitem(last=False)
        if held < 1:
            raise Refusal(429, f"more than {self.rate:g} requests per second; try again later", {"retry-after": "1"})


async def whole(chunks: AsyncIterator[bytes], declared: str | None, limits: Limits) -> bytes:
    """The body of a request; Refusal 413 if it is too large, 408 if it does not come.

    declared   the header content-length
    """
    try:
        async with asyncio.timeout(limits.patience):
            return await gathered(chunks, declared, limits.body)
    except TimeoutError:
        raise Refusal(408, f"the request did not come within {limits.patience:g} seconds") from None


async def gathered(chunks: AsyncIterator[bytes], declared: str | None, most: int) -> bytes:
    """The body, or Refusal 413; of one that is too large no more than `most` bytes are kept."""
    kept, size = bytearray(), 0
    huge = bool(declared and declared.isdecimal() and int(declared) > most * DRAINED)
    if not huge:
        async for chunk in chunks:
            size += len(chunk)
            if size <= most:
                kept += chunk
            elif size > most * DRAINED:
                break
    if huge or size > most:
        raise Refusal(413, f"the request is too large; allowed: {most} bytes")
    return bytes(kept)
