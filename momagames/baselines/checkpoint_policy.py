"""Policies from training checkpoints, named by the path of the checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from momagames.baselines.checkpoint import load_checkpoint
from momagames.baselines.weight_lattice import resolve_weights
from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy
from momagames.engine.policy_sources import PolicyFactory


def make_checkpoint_factory(path: Path) -> PolicyFactory:
    """Return the policy of a checkpoint, with the options weights (of the objectives; None: all equal) and greedy."""

    def make(game: Game, weights: Sequence[float] | None = None, greedy: bool = True) -> CompiledPolicy:
        policies = load_checkpoint(path).make_policies(game)
        resolved = resolve_weights(str(path), game, weights)
        return replace(policies.compile("trained", resolved.tolist(), greedy), weights=(), arrays={})

    return PolicyFactory(make)
