"""Policy of MO-Breakthrough that never gives a won position away."""

from __future__ import annotations

from typing import Any

from momagames.contract import Game
from momagames.engine.lookahead import make_trial
from momagames.engine.policies import LOOKAHEAD_MEMORY, CompiledPolicy
from momagames.engine.policy_sources import PolicyFactory
from momagames.games.breakthrough.solver.guarantees import check_cells
from momagames.games.breakthrough.solver.policy_kernels import make_solved_kernel
from momagames.games.breakthrough.solver.proof_number import make_search_arrays, make_win_goal

MAX_SOLVED_CELLS = 25  # 5x5: a move takes seconds at most
SLOTS = 1 << 22


def make_solved(game: Game) -> CompiledPolicy:
    """Return the policy; InvalidParameter for a board of more than 25 cells."""
    policy = CompiledPolicy("solved", make_solved_kernel(game), LOOKAHEAD_MEMORY, ("breakthrough",), scratch=_make_scratch)
    policy.check(game)
    check_cells(game, MAX_SOLVED_CELLS)
    return policy


def _make_scratch(game: Game) -> tuple[Any, ...]:
    return make_win_goal(), *make_search_arrays(game, SLOTS), *make_trial(game)


SOLVED = PolicyFactory(make_solved)
"""Plays a random move of those that win with best play, and any random move in a lost position.

It solves each position by proof-number search, with a table of 128 MiB for each batch. On boards of up to 25 cells.
"""
