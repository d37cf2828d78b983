"""All positions of MO-Breakthrough from a start, for objectives that do not depend on the number of moves.

A move advances a piece, and may capture another one. So the positions with the same number of pieces are a level; a move leads
to the level below, or within the level to a position whose pieces have advanced by one row more in all.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momagames.games.breakthrough.solver.guarantees import Board, Words, check_cells, check_states, chunk_slices
from momagames.games.breakthrough.solver.packed_words import HALF, LOW, MAX_CELLS

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Level:
    """Positions with the same number of pieces, one of each mirrored pair, for each agent to move.

    pieces          of both agents
    words           for each agent to move uint64[N], ascending, see packed_words.py
    advancements    for each agent to move uint8[N], the rows that all pieces have advanced
    """

    pieces: int
    words: tuple[Words, Words]
    advancements: tuple[Bytes, Bytes]

    @property
    def bytes(self) -> int:
        return sum(part.nbytes for part in (*self.words, *self.advancements))


def list_levels(board: Board) -> list[Level]:
    """Return all levels, that of the start first.

    Raises    InvalidParameter for more than 32 cells; TooLarge for more than `board.max_states` positions
    """
    check_cells(board.game, MAX_CELLS)
    incoming: list[list[Words]] = [[], []]
    incoming[board.mover].append(board.pack_states(board.start))
    levels, states = list[Level](), 0
    while any(incoming):
        level, incoming = _list_level(board, incoming)
        levels.append(level)
        states += sum(map(len, level.words))
        check_states(board.game, states, board.max_states)
    return levels


def _list_level(board: Board, incoming: list[list[Words]]) -> tuple[Level, list[list[Words]]]:
    """Return a level and the positions after its captures, from the positions after the captures of the level before.

    Positions are lists of words for each agent to move.
    """
    waiting: defaultdict[int, list[list[Words]]] = defaultdict(lambda: [[], []])  # by advancement
    pieces = next(int(np.bitwise_count(words[0][0])) for words in incoming if words)
    for mover in (0, 1):
        words = join_words(incoming[mover])
        rows = count_advancements(board, words)
        for rows_advanced in np.unique(rows).tolist():
            waiting[rows_advanced][mover].append(words[rows == rows_advanced])
    found: list[list[Words]] = [[], []]
    advancements: list[list[Bytes]] = [[], []]
    captures: list[list[Words]] = [[], []]
    while waiting:
        advanced = min(waiting)
        reached = waiting.pop(advanced)
        for mover in (0, 1):
            words = join_words(reached[mover])
            found[mover].append(words)
            advancements[mover].append(np.full(len(words), advanced, np.uint8))
            for chunk in chunk_slices(len(words)):
                out = np.zeros(len(words[chunk]) * board.game.mask_size, np.uint64)
                count = board.loops.list_successors(words[chunk], board.ply, mover, board.trial, out)
                after = np.unique(out[:count])
                captured = np.bitwise_count(after) < pieces
                captures[1 - mover].append(after[captured])
                if not captured.all():
                    waiting[advanced + 1][1 - mover].append(after[~captured])
    parts = []
    for mover in (0, 1):
        words = np.concatenate(found[mover])
        order = np.argsort(words)
        parts.append((words[order], np.concatenate(advancements[mover])[order]))
    (first, first_rows), (second, second_rows) = parts
    following = [[words] if len(words) else [] for words in map(join_words, captures)]
    return Level(pieces, (first, second), (first_rows, second_rows)), following


def join_words(parts: list[Words]) -> Words:
    """Return the distinct words of all parts, in ascending order."""
    return np.unique(np.concatenate([np.zeros(0, np.uint64), *parts]))


def count_advancements(board: Board, words: Words) -> NDArray[np.int64]:
    """Return how many rows all pieces of each position have advanced, int64[n]."""
    width, height = int(board.start["width"][0]), int(board.start["height"][0])
    rows = np.zeros(len(words), np.int64)
    for y in range(height):
        row = np.uint64(sum(1 << (x * height + y) for x in range(width)))
        rows += y * np.bitwise_count(words & LOW & row).astype(np.int64)
        rows += (height - 1 - y) * np.bitwise_count(words >> HALF & row).astype(np.int64)
    return rows
