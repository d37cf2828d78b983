"""Compressed text in the page, which reduces its size by a factor of four; templates/page.html decompresses it."""

from __future__ import annotations

import base64
import zlib


def compress(text: str) -> str:
    """Return zlib-compressed text as base64, which cannot contain the end tag of its element."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()
