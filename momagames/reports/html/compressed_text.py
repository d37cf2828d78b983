"""Text in a page, packed: a page of many figures is a quarter of its size by it. `unpacked` in page.html is the other way."""

from __future__ import annotations

import base64
import zlib


def packed(text: str) -> str:
    """Text as base64 of its zlib form, which cannot end the element that it stands in."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpacked(text: str) -> str:
    """The text again."""
    return zlib.decompress(base64.b64decode(text)).decode()
