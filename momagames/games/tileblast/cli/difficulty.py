"""How hard a level of MO-TileBlast is for a policy: many games past the limit of moves, and how many moves they took."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.baselines import batch_policy
from momagames.engine.batch import Batch
from momagames.engine.policies import SeatedPolicies
from momagames.errors import check_range
from momagames.games.tileblast.levels import loader

GAME = "mo-tileblast-v0"
FIRST_SEED = 1000
CAP = 150  # moves


@dataclass(frozen=True)
class Rating:
    """How the games of a level went.

    runs       how many games
    limit      of moves
    win_rate   share of the games that were won within the limit, 0..1
    error      standard error of that share
    p5         moves after which 5 % of the games were won; None if fewer were
    median     moves after which half of them were won, or None
    dead       games that ended without a valid tap
    """

    runs: int
    limit: int
    win_rate: float
    error: float
    p5: int | None
    median: int | None
    dead: int


Source = int | str | PathLike[str] | Mapping[str, Any]


def rate(
    level: Source | loader.Level, policy: str = "one_step_lookahead", runs: int = 200, seed: int = FIRST_SEED, cap: int = CAP
) -> Rating:
    """Let a policy play a level: game k is dealt by the seed `seed` + k, and goes on past the limit of moves.

    level     its number, a file, its data, or what `levels.load` gave
    policy    by name
    cap       moves after which a game is given up
    Raises    InvalidParameter, InvalidLevel, UnknownId
    """
    loaded = level if isinstance(level, loader.Level) else loader.load(level)
    took, dead = moves_to_win(loaded, policy, runs, seed, cap)
    won = float((took <= loaded.moves).mean())
    return Rating(
        runs, loaded.moves, won, math.sqrt(won * (1 - won) / runs), quantile(took, 0.05), quantile(took, 0.5), int(dead.sum())
    )


def moves_to_win(
    level: loader.Level, policy: str, runs: int, seed: int = FIRST_SEED, cap: int = CAP
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The moves that each game took to be won, float64[runs], infinite for those that were not; and which ended dead."""
    check_range("runs", runs, 1)
    check_range("cap", cap, 1)
    game = registry.spec(GAME, level=level.data, strict_moves=False, max_taps=cap)
    player = batch_policy(policy, game)
    batch = Batch(game, runs, autoreset="disabled")
    batch.seed(seed)
    batch.reset()
    players = SeatedPolicies(batch, [player], np.zeros(1, np.int64), seed)
    states = batch.states
    while not states["over"].all():
        batch.step(players.act())
    return np.where(states["won"] != 0, states["moves"], np.inf), states["dead"] != 0


def quantile(took: NDArray[np.float64], share: float) -> int | None:
    """The moves after which this share of the games was won; None if it never was."""
    value = np.sort(took)[math.ceil(share * len(took)) - 1]
    return int(value) if np.isfinite(value) else None
