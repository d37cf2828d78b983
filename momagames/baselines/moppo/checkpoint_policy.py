"""Checkpoints as opponents: a policy whose name is the path of a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from momagames.baselines.moppo.checkpoint import load
from momagames.baselines.weight_lattice import given_weights
from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy


class TrainedPolicy(CompiledPolicy):
    """What a checkpoint has learned; a subclass says which.

    weights    of the objectives, float[K], for which it plays; none: all equal
    greedy     whether it takes the likeliest action, instead of drawing one
    """

    path: ClassVar[Path]

    def __init__(
        self, game: Game, agent: int | None = None, weights: Sequence[float] | None = None, greedy: bool = True
    ) -> None:
        network = load(self.path).network(game)
        chosen = given_weights(str(self.path), game, weights)
        self.compiled = network.kernel(chosen.tolist(), greedy)  # type: ignore[misc]
        super().__init__(game, agent)


def trained(path: Path) -> type[TrainedPolicy]:
    """The policy of a checkpoint."""
    return type("TrainedPolicy", (TrainedPolicy,), {"path": path})
