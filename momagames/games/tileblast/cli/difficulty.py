"""Difficulty of a level of MO-TileBlast for a policy: moves to win, over many games without a limit of moves."""

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
DEFAULT_SEED = 1000
DEFAULT_CAP = 150  # moves


@dataclass(frozen=True)
class Rating:
    """Results of the games of a level.

    runs       number of games
    limit      limit of moves
    win_rate   share of games won within the limit, 0..1
    error      standard error of that share
    p5         moves after which 5 % of the games are won; None if fewer are won
    median     moves after which half of the games are won, or None
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


def rate_level(
    level: Source | loader.Level,
    policy: str = "one_step_lookahead",
    runs: int = 200,
    seed: int = DEFAULT_SEED,
    cap: int = DEFAULT_CAP,
) -> Rating:
    """Play a level with a policy. Game k starts with the seed `seed` + k and continues past the limit of moves.

    level     its number, a file, its data, or a loaded level
    policy    by name
    cap       largest number of moves of a game
    Raises    InvalidParameter, InvalidLevel, UnknownId
    """
    loaded = level if isinstance(level, loader.Level) else loader.load(level)
    moves, dead = measure_moves_to_win(loaded, policy, runs, seed, cap)
    won = float((moves <= loaded.moves).mean())
    return Rating(
        runs,
        loaded.moves,
        won,
        math.sqrt(won * (1 - won) / runs),
        win_quantile(moves, 0.05),
        win_quantile(moves, 0.5),
        int(dead.sum()),
    )


def measure_moves_to_win(
    level: loader.Level, policy: str, runs: int, seed: int = DEFAULT_SEED, cap: int = DEFAULT_CAP
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the moves that each game took to be won, float64[runs], infinite without a win; and whether it ended dead."""
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


def win_quantile(moves: NDArray[np.float64], share: float) -> int | None:
    """Return the moves after which this share of the games is won; None if it never is."""
    value = np.sort(moves)[math.ceil(share * len(moves)) - 1]
    return int(value) if np.isfinite(value) else None
