"""Policies from training checkpoints, named by the path of the checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from momagames.baselines.moppo.checkpoint import load_checkpoint
from momagames.baselines.weight_lattice import resolve_weights
from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy


class CheckpointPolicy(CompiledPolicy):
    """Policy of a checkpoint; subclasses state its path.

    weights    of the objectives, float[K]; None: all equal
    greedy     play the most likely action instead of sampling one
    """

    path: ClassVar[Path]

    def __init__(
        self, game: Game, agent: int | None = None, weights: Sequence[float] | None = None, greedy: bool = True
    ) -> None:
        network = load_checkpoint(self.path).make_policy(game)
        checked = resolve_weights(str(self.path), game, weights)
        self.compiled = network.kernel(checked.tolist(), greedy)  # type: ignore[misc]
        super().__init__(game, agent)


def make_policy_class(path: Path) -> type[CheckpointPolicy]:
    """Return the policy class of a checkpoint."""
    return type("CheckpointPolicy", (CheckpointPolicy,), {"path": path})
