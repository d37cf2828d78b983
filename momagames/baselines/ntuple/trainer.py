"""Training of pattern tables: the self-play of each weight vector in turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.ntuple.self_play import SelfPlay
from momagames.baselines.ntuple.tables import PatternTables
from momagames.baselines.trainer import Arrays, restore_arrays
from momagames.baselines.training_setup import TrainingSetup

CHUNK = 2_000_000  # environment steps of one call of the compiled loop, which Ctrl-C does not interrupt


class NtupleTrainer:
    """Self-play of each weight vector; all have equal shares of the budget, and progress side by side.

    players          their self-play
    make_tables      tables of each weight vector, float32[H, n] -> policies
    return_scale     float64[K]
    search_fraction  see `method.Ntuple`
    """

    def __init__(
        self,
        setup: TrainingSetup,
        players: Sequence[SelfPlay],
        make_tables: Callable[[Sequence[NDArray[np.float32]]], PatternTables],
        return_scale: NDArray[np.float64],
        search_fraction: float,
    ) -> None:
        self.setup, self.players, self.return_scale, self._make_tables = setup, players, return_scale, make_tables
        budget, count = setup.budget, len(players)
        self._shares = [budget * (i + 1) // count - budget * i // count for i in range(count)]
        self._target = 0
        if search_fraction > 0:
            for player, share in zip(players, self._shares, strict=True):
                player.search_from = math.ceil(share * (1 - search_fraction))

    @property
    def steps(self) -> int:
        """Environment steps so far, those of look-ahead included."""
        return sum(one.steps for one in self.players)

    @property
    def decisions(self) -> int:
        """Moves of all agents so far."""
        return sum(one.moves for one in self.players)

    @property
    def is_done(self) -> bool:
        return self._target >= max(self._shares)

    def train_iteration(self) -> dict[str, float]:
        """Play the next part of the budget. Returns metrics."""
        self._target += max(1, CHUNK // len(self.players))
        for player, share in zip(self.players, self._shares, strict=True):
            if player.steps < share:
                player.play(min(self._target, share), share)
        return {"steps": self.steps, "decisions": self.decisions, "games": self._games}

    def make_policies(self) -> PatternTables:
        """Return the current policies."""
        return self._make_tables([one.tables for one in self.players])

    def summarize(self) -> dict[str, Any]:
        """Return counts that are stored with results."""
        return {"games": self._games}

    def state_dict(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that the next iteration depends on, as JSON-able data and arrays."""
        states = [one.state_dict() for one in self.players]
        return {"target": self._target, "players": [data for data, _ in states]}, self._collect_arrays()

    def load_state_dict(self, data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state of a trainer with the same setup and options. Raises InvalidFile if it does not fit."""
        given = restore_arrays(arrays, self._collect_arrays())
        for i, (player, one) in enumerate(zip(self.players, data["players"], strict=True)):
            player.load_state_dict(one, {name: given[f"{i}/{name}"] for name in player.state_dict()[1]})
        self._target = data["target"]

    @property
    def _games(self) -> int:
        return sum(one.games for one in self.players)

    def _collect_arrays(self) -> Arrays:
        return {f"{i}/{name}": array for i, one in enumerate(self.players) for name, array in one.state_dict()[1].items()}
