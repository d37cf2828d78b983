"""A line on stderr when compilation takes long, so that the first use of a game on a machine is no silent wait."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import sys
import threading
from collections.abc import Iterator
from typing import Any

NOTICE_AFTER = 1.0  # seconds
_announced: set[str] = set()


def announce_compilation(compiled: Any, name: str) -> None:
    """Make an entry point announce compilations that take long, once for each game; `name` is `GAME.LOOP`."""
    compile_overload = compiled._compiler.compile  # called where the disk cache has no code

    def compile_with_notice(*args: Any) -> Any:
        with _notice(name.partition(".")[0]), _without_garbage_collection():
            return compile_overload(*args)

    compiled._compiler.compile = compile_with_notice


@contextlib.contextmanager
def _notice(game: str) -> Iterator[None]:
    """Announce the compilation of a game's rules if the block takes long; only one process of several says so."""
    timer = threading.Timer(NOTICE_AFTER, _announce, [game, sys.stderr])
    timer.daemon = True
    if multiprocessing.parent_process() is None and game not in _announced:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _announce(game: str, stream: Any) -> None:
    if game in _announced:
        return
    _announced.add(game)
    with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or none
        stream.write(
            f"momagames: compiling the code of {game}, once on this machine (up to half a minute); "
            "`momagames warmup` compiles ahead\n"
        )
        stream.flush()


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Compile without the cyclic garbage collector, which takes a tenth of the time and finds little."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
