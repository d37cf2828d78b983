"""Strategies of Pareto-Nash equilibria of MO-Breakthrough, from the sets of backward induction; see equilibria.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.strategies import Floats, compute_legal_masks, step_states, walk
from momagames.games.breakthrough.solver.equilibrium_kernels import Table
from momagames.games.breakthrough.solver.guarantees import Board, Words, read_words

Numbers = NDArray[np.int64]
Bits = NDArray[np.bool_]


def find_strategies(
    board: Board, size: int, tables: Mapping[int, Sequence[Table]], outcome: int
) -> tuple[list[int], list[int]]:
    """Return the actions of both agents in an equilibrium with an outcome, in the order of their walks.

    On the way to the outcome both play the moves of a game whose positions hold it. Elsewhere each agent plays a move after
    which the other cannot force a vector that dominates its vector in the outcome.

    tables    by the number of pieces and the agent to move, see equilibrium_kernels.py
    """
    initial = board.start["count"][0].astype(np.int64)

    def list_children(
        states: NDArray[Any], column: Callable[[Table], Words], bit: int
    ) -> tuple[Numbers, Numbers, Numbers, Bits]:
        """Return for each move its row and action, the outcome of the game or -1, and whether a set of the position has a bit.

        column    sets of the positions of a table, uint64[N]
        """
        rows, actions = np.nonzero(compute_legal_masks(board.game, states))
        after, _ = step_states(board.game, states[rows], actions)
        over, captured = after["over"] != 0, initial - after["count"]
        ends = (states["to_move"][rows].astype(np.int64) * size + captured[:, 1]) * size + captured[:, 0]
        found, words, pieces = np.zeros(len(rows), np.bool_), board.pack_states(after), after["count"].sum(axis=1)
        for number in np.unique(pieces[~over]).tolist():
            chosen = ~over & (pieces == number)
            table = tables[number][int(after["to_move"][0])]
            found[chosen] = _has_bit(column(table)[np.searchsorted(table.words, words[chosen])], bit)
        return rows, actions, np.where(over, ends, -1), found

    def find_game() -> list[tuple[int, int]]:
        """Return the word and the action of each position of a game to the outcome."""
        state, found = board.start, list[tuple[int, int]]()
        while not state["over"][0]:
            _, actions, ends, leads = list_children(state, lambda table: table.paths[:, outcome >> 6], outcome & 63)
            action = int(actions[np.argmax(leads | (ends == outcome))])
            found.append((int(read_words(state)[0]), action))
            state, _ = step_states(board.game, state, np.array([action]))
        return found

    game = find_game()

    def follow(agent: int) -> list[int]:
        vectors, played = _list_vectors(1 - agent, size), list[int]()
        vector = int(vectors[outcome])
        improves = (vectors != vector) & (vectors // size >= vector // size) & (vectors % size >= vector % size)

        def choose(states: NDArray[Any], returns: Floats) -> Numbers:
            moves = int(states["ply"][0]) - board.ply
            rows, actions, ends, forced = list_children(states, lambda table: table.forced[:, 1 - agent], vector)
            prevents = ~np.where(ends < 0, forced, improves[ends])
            chosen = np.full(len(states), -1, np.int64)
            chosen[rows[prevents][::-1]] = actions[prevents][::-1]  # the first one
            if moves < len(game):
                chosen[read_words(states) == game[moves][0]] = game[moves][1]
            played.extend(chosen.tolist())
            return chosen

        walk(board.game, board.start, agent, choose, returns_of=1 - agent)
        return played

    return follow(0), follow(1)


def _list_vectors(agent: int, size: int) -> Numbers:
    """Return the number of an agent's vector in each outcome, as in equilibrium_kernels.py."""
    outcomes = np.arange(2 * size * size)
    captures = outcomes // size % size if agent == 0 else outcomes % size
    vectors: Numbers = size * (outcomes // size**2 == agent) + captures
    return vectors


def _has_bit(words: Words, bit: int) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (words >> np.uint64(bit)) & np.uint64(1) != 0
    return found
