"""Games of one step as bandits: which ones fit, their arms, and the start positions of pulls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.errors import InvalidParameter


def check_one_step(name: str, game: Game) -> None:
    """Raise InvalidParameter unless all agents act once, at the same time, with one discrete action each."""
    if game.max_episode_steps != 1:
        raise InvalidParameter(
            f"{name} needs a game whose episodes have one step: expected 1 step, {game.id} has up to {game.max_episode_steps:,}"
        )
    if game.actors != len(game.agents) or len(game.actions) > 1:
        raise InvalidParameter(
            f"{name} needs a game in which all agents choose one discrete action at once; {game.id} is {game.dynamics} with "
            f"actions {game.actions}"
        )


def check_fixed_start(name: str, game: Game) -> None:
    """Raise InvalidParameter if start positions differ: a bandit does not see in which one it is."""
    if game.chance == "start":
        raise InvalidParameter(
            f"{name} needs a game that always starts in the same position; that of {game.id} is drawn: expected a given one "
            "(`momagames train --instance-seed`)"
        )


def make_starts(name: str, game: Game, given: NDArray[Any] | None) -> NDArray[Any]:
    """Return the start positions of pulls, record[S]: the given ones, or that of the game. Errors as of `check_fixed_start`."""
    if given is not None:
        return given
    check_fixed_start(name, game)
    return generate_starts(game, np.zeros(1, np.uint64))


def find_arms(name: str, game: Game, starts: NDArray[Any]) -> NDArray[np.int8]:
    """Return the legal actions of each agent in the start positions, int8[A, M].

    Raises InvalidParameter unless these are the same in all of them
    """
    batch = Batch(game, len(starts))
    batch.load(starts)
    masks = batch.masks.reshape(len(starts), len(game.agents), -1)
    if (masks != masks[:1]).any():
        raise InvalidParameter(f"{name}: {game.id}: start positions differ in legal actions: expected the same in all of them")
    arms: NDArray[np.int8] = masks[0].copy()
    return arms
