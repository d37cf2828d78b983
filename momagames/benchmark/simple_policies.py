"""Random and scripted policies of a game, which should not be enough in a setting with a trade-off."""

from __future__ import annotations

from inspect import signature
from typing import Any

from momagames.baselines import SAFE, method
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.contract import Game
from momagames.engine.policies import BatchPolicy

DIVISIONS = {2: 10, 3: 3, 4: 2, 5: 1}  # of the lattice of weights by the number of objectives; scripted policies may be slow


def list_simple_policies(game: Game) -> tuple[BatchPolicy, ...]:
    """Return random and scripted policies in all their variants, for a lattice of weights where they take some; also with safe
    actions only.

    The game has two to five objectives.
    """
    names = ["random", *game.policies]
    names += [f"{SAFE}{name}" for name in names if game.learning.clear_unsafe_actions]
    count = len(game.objectives)
    lattice = simplex_lattice(count, DIVISIONS[count]).tolist()

    def list_options(name: str) -> list[dict[str, Any]]:
        takes_weights = "weights" in signature(method(name, game)).parameters
        return [{"weights": row} for row in lattice] if takes_weights else [{}]

    return tuple(
        policy for name in names for given in list_options(name) for policy in method(name, game)(**given).policies(game)
    )
