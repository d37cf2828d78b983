# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Pieces of a batch for several threads: the compiled half of `momagames.engine.workers`.

The rows are cut into pieces. Each thread has a run of pieces of its own, and helps with the others' when it has done them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from momagames.kernels.jit import add_atomically, driver, kernel, read_atomically, relax, write_atomically

# The mailbox, int64[...]: words that different threads write stand on cache lines of their own.
LINE = 8
CALLS, DONE, PIECES, PIECE, ROWS, FIRST = (LINE * k for k in range(6))

SPIN_ITERATIONS = 4000  # rounds of waiting, some 50 ns each, before a worker goes to sleep
YIELD_AFTER = 400  # rounds of waiting before a caller lets others run: a worker may have lost its core


@kernel
def piece_limit(mail, thread, threads):
    """Where the run of pieces of a thread ends, and that of the next begins; 0 for thread -1."""
    return (thread + 1) * mail[PIECES] // threads


@kernel
def publish_pieces(mail, threads):
    """Lay out the pieces anew, and tell the workers that are awake.

    A worker that is late may still look for pieces of the call before. It finds none, or one of this call, which is its
    as well as anybody's: that is why the first pieces are written outright, and not counted back.
    """
    write_atomically(mail, DONE, 0)
    for run in range(threads):
        write_atomically(mail, FIRST + run * LINE, piece_limit(mail, run - 1, threads))
    add_atomically(mail, CALLS, 1)


def share_rows(loop: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A compiled function for all threads from a loop (low, high, *arrays) over rows.

    share(mail, thread, threads, begin, *arrays)   works on pieces while there are any. Thread 0 is the caller: with
                                                   `begin` it makes a new call; returns 1 when all pieces are done, 0
                                                   when it has been waiting long. Others return the number of the last
                                                   call that they looked at when there has been none for a while.
    """

    def share(mail, thread, threads, begin, *arrays):
        if begin:
            publish_pieces(mail, threads)
        while True:
            call = read_atomically(mail, CALLS)
            for turn in range(threads):
                run = (thread + turn) % threads
                limit = piece_limit(mail, run, threads)
                while read_atomically(mail, FIRST + run * LINE) < limit:
                    piece = add_atomically(mail, FIRST + run * LINE, 1)
                    if piece < limit:
                        loop(piece * mail[PIECE], min((piece + 1) * mail[PIECE], mail[ROWS]), *arrays)
                        add_atomically(mail, DONE, 1)
            rounds = 0
            if thread == 0:
                while read_atomically(mail, DONE) < mail[PIECES]:
                    if rounds == YIELD_AFTER:
                        return 0
                    rounds += 1
                    relax()
                return 1
            while read_atomically(mail, CALLS) == call:
                if rounds == SPIN_ITERATIONS:
                    return call
                rounds += 1
                relax()

    return driver(share, name)
