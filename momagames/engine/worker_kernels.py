# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Work sharing between threads: the compiled half of `momagames.engine.workers`.

The rows are split into pieces. Each thread owns a run of pieces, and takes pieces of other runs when its own are done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from momagames.kernels.jit import add_atomically, compile_entry_point, kernel, read_atomically, relax, write_atomically

# The control block, int64[...]: words that different threads write are on separate cache lines.
LINE = 8
CALLS, DONE, PIECES, PIECE, ROWS, FIRST = (LINE * k for k in range(6))

SPIN_ITERATIONS = 4000  # iterations, about 50 ns each, before a worker sleeps
YIELD_AFTER = 400  # iterations before the calling thread yields its core


@kernel
def piece_limit(control, thread, threads):
    """Return the end of the run of pieces of a thread, where the next run begins; 0 for thread -1."""
    return (thread + 1) * control[PIECES] // threads


@kernel
def publish_pieces(control, threads):
    """Reset the pieces and start a new call, which spinning workers notice.

    A late worker may still look for pieces of the previous call. It finds none, or one of this call, which it may take.
    Therefore the first pieces are written directly and not counted back.
    """
    write_atomically(control, DONE, 0)
    for run in range(threads):
        write_atomically(control, FIRST + run * LINE, piece_limit(control, run - 1, threads))
    add_atomically(control, CALLS, 1)


def compile_shared_loop(loop: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Compile a function for all threads from a loop (low, high, *arrays) over rows.

    run_pieces(control, thread, threads, begin, *arrays)
        works on pieces while there are any. Thread 0 is the calling thread: with `begin` it starts a new call; it returns 1
        when all pieces are done and 0 after a long wait. Workers return the number of the last call after a time without a
        new one.
    """

    def run_pieces(control, thread, threads, begin, *arrays):
        if begin:
            publish_pieces(control, threads)
        while True:
            call = read_atomically(control, CALLS)
            for turn in range(threads):
                run = (thread + turn) % threads
                limit = piece_limit(control, run, threads)
                while read_atomically(control, FIRST + run * LINE) < limit:
                    piece = add_atomically(control, FIRST + run * LINE, 1)
                    if piece < limit:
                        loop(piece * control[PIECE], min((piece + 1) * control[PIECE], control[ROWS]), *arrays)
                        add_atomically(control, DONE, 1)
            iterations = 0
            if thread == 0:
                while read_atomically(control, DONE) < control[PIECES]:
                    if iterations == YIELD_AFTER:
                        return 0
                    iterations += 1
                    relax()
                return 1
            while read_atomically(control, CALLS) == call:
                if iterations == SPIN_ITERATIONS:
                    return call
                iterations += 1
                relax()

    return compile_entry_point(run_pieces, name)
