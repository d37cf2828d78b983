"""A linear policy for every game, as a kernel with its parameters in its memory.

In games where agents move in turn with a single number as action and perfect information, the policy tries each legal action
on a copy of the state and takes the one with the highest weighted sum of the agent's rewards, whether the episode is over, and
the features of the agent's next observation (see `linear_features`). The copy has a random seed of its own, independent of the
random events to come. In all other games each value of each part of an action has a weighted sum over the features of the
current observation, and a constant. Ties are broken at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.evolution.linear_features import FeatureLayout
from momagames.baselines.evolution.linear_kernels import make_feature_loop, make_lookahead_kernel, make_reactive_kernel
from momagames.baselines.observation_layout import make_workspace
from momagames.contract import Game
from momagames.engine.batch import Batch
from momagames.engine.lookahead import make_trial, supports_lookahead
from momagames.engine.policies import CompiledPolicy
from momagames.errors import InvalidParameter
from momagames.kernels.rng import random_words

SCALE_EPISODES, SCALE_STEPS = 64, 100  # environments of random play for the feature scale, and their steps
MAX_PARAMETERS = 8192
MIN_MEMORY = 32  # parameters in a memory; a common minimum lets most games share compiled code


class LinearPolicy:
    """The linear policies of a game.

    rows             for each agent its row of the parameters; agents of the same row share parameters
    num_rows         rows of the parameters
    row_size         parameters in a row
    has_lookahead    whether the policy tries actions on a copy of the state
    """

    def __init__(self, game: Game, rows: Sequence[int]) -> None:
        self.game, self.rows = game, np.array(rows, np.int64)
        self.layout = FeatureLayout(game)
        self.has_lookahead = supports_lookahead(game)
        objectives = len(game.objectives)
        self.row_size = objectives + 1 + self.layout.count if self.has_lookahead else game.mask_size * (1 + self.layout.count)
        if self.rows.shape != (len(game.agents),) or self.rows.min() < 0:
            raise InvalidParameter(f"invalid rows={rows!r}: expected {len(game.agents)} numbers, 0 or more")
        self.num_rows = int(self.rows.max()) + 1
        self.num_parameters = self.num_rows * self.row_size
        if self.num_parameters > MAX_PARAMETERS:
            raise InvalidParameter(
                f"a linear policy of {game.id} has {self.num_parameters} parameters: expected at most {MAX_PARAMETERS}"
            )
        length = max(MIN_MEMORY, 1 << (self.num_parameters - 1).bit_length())
        self.memory = np.dtype([("parameters", "f8", (length,)), ("lookahead_steps", "i8")])

    def compile(self, label: str = "", parameters: NDArray[np.float64] | None = None) -> CompiledPolicy:
        """Return the policy with these parameters, float64[num_rows, row_size]; None: they are in `initial_memories`."""
        name, make = ("linear_lookahead", make_lookahead_kernel) if self.has_lookahead else ("linear", make_reactive_kernel)
        act, rules = make(self.game), (self.game.rules_key,)
        if parameters is None:
            return CompiledPolicy(name, act, self.memory, rules, scratch=self._make_scratch)
        initial = (("parameters", tuple(self.initial_memories(parameters[None])["parameters"][0].tolist())),)
        arrays = {"numbers": parameters.copy(), "rows": self.rows.copy()}
        return CompiledPolicy(name, act, self.memory, rules, initial, self._make_scratch, label, arrays=arrays)

    def initial_memories(self, parameters: NDArray[np.float64]) -> NDArray[Any]:
        """Return memories, record[n], at the start of an episode for parameters float64[n, num_rows, row_size]."""
        memories = np.zeros(len(parameters), self.memory)
        memories["parameters"][:, : self.num_parameters] = parameters.reshape(len(parameters), -1)
        return memories

    def _make_scratch(self, game: Game) -> tuple[Any, ...]:
        workspace, size = make_workspace(game), np.array([self.row_size])
        return self.rows, self.layout.sources, np.zeros(self.layout.count), workspace, size, *make_trial(game)

    def estimate_scale(self, seed: int, budget: int) -> tuple[NDArray[np.float64], int]:
        """Return the divisor of each parameter of a row, float64[row_size], and the environment steps of the estimate.

        Estimated by random play: with lookahead the root mean square of the change in a step, else the standard deviation.
        """
        game, count = self.game, self.layout.count
        batch = Batch(game, SCALE_EPISODES)
        batch.seed(seed)
        batch.reset()
        words = random_words(seed, SCALE_EPISODES)
        num_steps = max(2, min(SCALE_STEPS, budget // SCALE_EPISODES))
        features, rewards, is_first = [], [], []
        for _ in range(num_steps):
            batch.step(batch.sample_actions(words))
            features.append(self.compute_features(batch.states))
            rewards.append(batch.rewards.copy())
            is_first.append(batch.lengths == 0)
        steps = num_steps * SCALE_EPISODES
        if not self.has_lookahead:
            deviation = np.concatenate(features).reshape(-1, count).std(axis=0)
            return np.tile([1.0, *np.where(deviation > 0, deviation, 1.0)], game.mask_size), steps
        same_episode = ~np.array(is_first)[1:]
        changes = (np.array(features)[1:] - np.array(features)[:-1])[same_episode]
        tables: list[NDArray[Any]] = [np.array(rewards).reshape(-1, len(game.objectives)), changes.reshape(-1, count)]
        scale = np.concatenate([np.sqrt((table**2).sum(axis=0) / max(1, len(table))) for table in tables])
        return np.insert(np.where(scale > 0, scale, 1.0), len(game.objectives), 1.0), steps

    def compute_features(self, states: NDArray[Any]) -> NDArray[np.float64]:
        """Return the features of each agent in each of the states record[N], float64[N, A, count]."""
        out = np.zeros((len(states), len(self.game.agents), self.layout.count))
        make_feature_loop(self.game)(states, self.layout.sources, make_workspace(self.game), out)
        return out
