"""Policies of MO-Connect4."""

from __future__ import annotations

from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.contract.objective_weights import read_weights
from momagames.engine.policies import LOOKAHEAD_MEMORY, CompiledPolicy
from momagames.engine.policy_sources import PolicyFactory
from momagames.errors import InvalidParameter, check_range, invalid_value
from momagames.games.connect4.search_kernels import ENTRY, act

RULES = ("connect4",)
MAX_DEPTH = 20
MAX_SOLVED_CELLS = 20  # 5x4
SLOTS = 1 << 21  # of a table of 48 MiB
DEFAULT_WEIGHTS = {"win": 1.0, "speed": 1.0}


def make_alphabeta(game: Game, depth: int = 6, weights: Any = None) -> CompiledPolicy:
    """Return a policy that searches `depth` moves ahead for the weighted return of its side.

    weights    of the objectives, by name or in their order; None or empty: win and speed equally, or all if the
               game has neither

    Source: our own; alpha-beta as in Knuth and Moore, "An analysis of alpha-beta pruning", 1975.
    """
    check_range("alphabeta: depth", depth, 1, MAX_DEPTH, whole=True)
    return _make_search("alphabeta", game, depth, 0, weights)


def make_solved(game: Game, weights: Any = None) -> CompiledPolicy:
    """Return a policy that plays a random one of the best moves for its weights, see `make_alphabeta`.

    Raises InvalidParameter for a board of more than 20 cells
    """
    cells = game.max_episode_steps
    if cells > MAX_SOLVED_CELLS:
        raise InvalidParameter(f"solved: {invalid_value('cells', cells, f'a board of at most {MAX_SOLVED_CELLS} cells')}")
    return _make_search("solved", game, cells, SLOTS, weights)


def _make_search(name: str, game: Game, depth: int, slots: int, weights: Any) -> CompiledPolicy:
    names = [one.name for one in game.objectives]
    chosen = {one: DEFAULT_WEIGHTS.get(one, 0.0) for one in names}
    usual = chosen if any(chosen.values()) else dict.fromkeys(names, 1.0)
    row = read_weights(weights, names, name, usual)
    columns = np.int64(game.blank_state["column"])
    factors = np.where(columns >= 0, row[columns], 0.0)
    width = game.actions[0]
    order = np.argsort(abs(np.arange(width) - (width - 1) / 2), kind="stable")  # the middle first

    def make_scratch(game: Game) -> tuple[Any, ...]:
        buffers = np.zeros((3, depth), np.int64), np.zeros((3, depth))
        return np.array([depth]), factors, order, *buffers, np.zeros(slots, ENTRY), np.zeros(1, game.dtype)

    return CompiledPolicy(name, act, LOOKAHEAD_MEMORY, RULES, scratch=make_scratch)


ALPHABETA = PolicyFactory(make_alphabeta)
SOLVED = PolicyFactory(make_solved)
