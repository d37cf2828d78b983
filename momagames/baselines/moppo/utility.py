"""Weights of the objectives and the utility of vector returns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.utilities import augmented_chebyshev, logarithmic
from momagames.contract import Game
from momagames.engine.playouts import RANDOM, generate_starts, play_episodes
from momagames.engine.policies import play_policies

SCALE_EPISODES = 256  # episodes from which the reward scale is estimated
RUNNING_RETURNS = 1024  # number of returns in the running reward scale


class WeightSampler:
    """Random weights of the objectives, from a symmetric Dirichlet distribution.

    fixed_weights    float64[K]: always return these
    """

    def __init__(
        self,
        objectives: int,
        concentration: float,
        rng: np.random.Generator,
        fixed_weights: NDArray[np.float64] | None = None,
    ) -> None:
        self._alpha, self._rng, self._fixed_weights = np.full(objectives, concentration), rng, fixed_weights

    def sample(self, *shape: int) -> NDArray[np.float64]:
        """Return weights float64[*shape, K]."""
        if self._fixed_weights is not None:
            return np.tile(self._fixed_weights, (*shape, 1))
        return self._rng.dirichlet(self._alpha, shape)


class Utility:
    """Scalar utility of scaled returns, for weights of the objectives.

    reward_scale      float64[K], divisor of the rewards of each objective; if given, it does not change
    reference_point   float64[K] of the game, not scaled
    ideal_point       float64[K], best return of each objective so far, not scaled
    seed              of the episodes from which the reward scale is estimated
    """

    def __init__(self, game: Game, options: MoppoOptions, seed: int, reward_scale: NDArray[np.float64] | None = None) -> None:
        self._name = options.utility
        self._is_running = reward_scale is None and options.reward_scaling == "running"
        player = (options.reward_scaling == "expert" and options.expert) or "random"
        self.reward_scale = _estimate_reward_scale(game, player, seed) if reward_scale is None else reward_scale
        self.reference_point = np.array(game.reference_point)
        self.ideal_point = self.reference_point + self.reward_scale

    def update(self, returns: NDArray[np.float64]) -> None:
        """Update the ideal point and a running reward scale with returns float64[n, K], n > 0."""
        self.ideal_point = np.maximum(self.ideal_point, returns.max(axis=0))
        if self._is_running:
            share = min(1.0, len(returns) / RUNNING_RETURNS)
            squares = (returns**2).mean(axis=0)
            scale = np.sqrt((1 - share) * self.reward_scale**2 + share * squares)
            self.reward_scale = np.where(squares > 0, scale, self.reward_scale)

    def evaluate(self, returns: NDArray[np.float64], weights: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the utilities float64[R] of scaled returns float64[R, K]."""
        if self._name == "log":
            return logarithmic(returns - self.reference_point / self.reward_scale, weights)
        if self._name == "chebyshev":
            normalized = (returns * self.reward_scale - self.reference_point) / (self.ideal_point - self.reference_point)
            return augmented_chebyshev(normalized, weights)
        utilities: NDArray[np.float64] = (weights * returns).sum(axis=1)
        return utilities


def _estimate_reward_scale(game: Game, player: str, seed: int) -> NDArray[np.float64]:
    """Return the root mean square of the returns of a policy in all seats, for each objective; 1 where it is 0."""
    from momagames.baselines import batch_policy

    seeds = np.random.default_rng(seed).integers(2**63, size=(SCALE_EPISODES, 1 + len(game.agents)), dtype=np.uint64)
    starts, words = generate_starts(game, seeds[:, 0]), seeds[:, 1:].copy()
    if player == "random":
        rules = np.full(words.shape, RANDOM)
        returns = play_episodes(game, starts, rules, np.zeros((*rules.shape, len(game.objectives))), words).returns
    else:
        returns = play_policies(game, starts, [batch_policy(player, game)], np.zeros(words.shape, np.int64), words).returns
    scale: NDArray[np.float64] = np.sqrt((returns**2).mean(axis=(0, 1)))
    return np.where(scale > 0, scale, 1.0)
