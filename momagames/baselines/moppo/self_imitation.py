"""Self-imitation: the best episodes from one start position are archived, and replayed during training."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import Archive
from momagames.baselines.base import Plan
from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.moppo.utility import Utility
from momagames.contract import Game
from momagames.engine.batch import Batch


class SelfImitation:
    """Episodes from one start position.

    has_start    whether all episodes start from one position; otherwise nothing is archived

    archive      non-dominated episodes
    actions      int32[N, T], actions of the current episodes; T is 0 without a start position
    is_replay    bool[N], whether the current episode replays an archived one
    """

    def __init__(self, game: Game, options: MoppoOptions, utility: Utility, rng: np.random.Generator, has_start: bool) -> None:
        self._name, self._fraction = options.name, options.self_imitation_coef
        self._utility, self._rng = utility, rng
        self.archive = Archive(len(game.objectives))
        self.actions = np.zeros((options.num_envs, game.max_episode_steps if has_start else 0), np.int32)
        self.is_replay = np.zeros(options.num_envs, np.bool_)

    def choose_replays(self, reset: NDArray[np.bool_], weights: NDArray[np.float32]) -> None:
        """Choose at random which of the new episodes replay the best archived one for their weights float32[N, K].

        reset    bool[N], environments in which an episode begins
        """
        if not (self._fraction and self.archive.plans):
            return
        self.is_replay[reset] = self._rng.random(int(reset.sum())) < self._fraction
        for n in np.flatnonzero(self.is_replay & reset):
            actions = self._find_best(weights[n])
            self.actions[n, : len(actions)] = actions

    def _find_best(self, weights: NDArray[np.float32]) -> tuple[int, ...]:
        """Return the actions of the archived episode with the highest utility."""
        values = self.archive.values
        utilities = self._utility.evaluate(values / self._utility.reward_scale, np.tile(weights, (len(values), 1)))
        return self.archive.plans[int(utilities.argmax())].actions

    def apply_replays(self, actions: NDArray[np.int64], lengths: NDArray[np.int32]) -> None:
        """Replace the actions int64[N, S, P] of replays by the archived ones, and record those of all other episodes.

        lengths    int[N], steps of the current episodes so far
        """
        if self.actions.size:
            now = np.arange(len(actions)), lengths
            actions[:, 0, 0] = self.actions[now] = np.where(self.is_replay, self.actions[now], actions[:, 0, 0])

    def archive_finished(self, batch: Batch, steps: int) -> None:
        """Add the episodes that have just finished to the archive; `steps` is the number of environment steps so far."""
        if not self.actions.size:
            return
        finished = np.flatnonzero(batch.finished)

        def make_plan(i: int) -> Plan:
            actions = self.actions[finished[i], : batch.final_lengths[finished[i]]]
            return Plan(tuple(actions.tolist()), batch.returns[finished[i], 0].copy(), steps, self._name)

        self.archive.add(batch.returns[finished, 0], make_plan)
