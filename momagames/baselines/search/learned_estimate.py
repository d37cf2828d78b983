# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""What a linear scorer of candidate actions has learned, as the score of a position for each objective.

A linear scorer adds factors times the rewards of a step and the changes of features of the position. Over the moves of a game
these sums depend on the return and the last position alone, so that games of equal length can be compared. With all weight on
an objective its score is that of the objective. The weights of rewarded objectives, which are features of the steps, are left
out: with them the score would depend on the path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.candidates.kernels import make_position_features
from momagames.baselines.candidates.policy import LinearScorer
from momagames.baselines.checkpoint_policy import load_stored_policies
from momagames.contract import Game
from momagames.engine.loops import cache_by_rules, make_distinct_legal
from momagames.kernels.jit import kernel


class LearnedEstimate(NamedTuple):
    """Factors of V features of a position with an entry for each objective, and of the return; then buffers.

    own            float64[V + 1, K], of the entries of the objective itself; the last row is that of the return
    shared         float64[V + 1, K], of all entries, for the scores of all objectives
    num_actions    float64[1], of the number of distinct legal actions
    features       float64[V + 1, K]
    mask           int8[M]
    """

    own: NDArray[np.float64]
    shared: NDArray[np.float64]
    num_actions: NDArray[np.float64]
    features: NDArray[np.float64]
    mask: NDArray[np.int8]


def load_estimate(game: Game, name: str) -> LearnedEstimate:
    """Return what a stored linear scorer has learned. Raises InvalidParameter, InvalidFile."""
    return make_estimate(game, load_stored_policies(game, name, LinearScorer, "estimate", "beam_estimate or cross_entropy"))


def reads_feature(name: str) -> bool:
    """Return whether an estimate has the factor of this feature of candidate actions."""
    return name.startswith(("reward ", "change of "))


def make_estimate(game: Game, scorer: LinearScorer) -> LearnedEstimate:
    """Return what a linear scorer has learned, for a game with its objectives."""
    factors, own, shared = scorer.factors, [], []
    for name in (*(f"change of {vector}" for vector in scorer.policy.features.vectors), "reward"):
        titles = [f"{name} {title}" for title in scorer.policy.features.titles]
        own.append([factors[f"{titles[i]} weighted"] for i in scorer.policy.features.sets])
        shared.append([factors[titles[i]] for i in scorer.policy.features.sets])
    return LearnedEstimate(
        np.array(own), np.array(shared), np.array([factors["change of actions"]]), np.zeros((len(own), len(own[0]))),
        np.zeros(game.mask_size, np.int8),
    )  # fmt: skip


@cache_by_rules
def make_estimate_kernel(game: Game) -> Callable[..., Any]:
    """Return the kernel that writes the scores of a position."""
    write_legal = make_distinct_legal(game)
    write_position_features = make_position_features(game)

    @kernel
    def write_scores(trial, returns, learned, out):
        """Write float64[K] for the position trial.states[0], which is overwritten, and the returns so far."""
        features, mask = learned.features, learned.mask
        last = features.shape[0] - 1
        features[:] = 0.0
        common = 0.0
        if trial.states[0]["over"] == 0:
            write_legal(trial.states[0], mask)
            common = learned.num_actions[0] * mask.sum()
            write_position_features(trial, features[:last])
        for k in range(out.shape[0]):
            features[last, k] = returns[k]
            out[k] = 0.0
        for v in range(last + 1):
            for k in range(out.shape[0]):
                common += learned.shared[v, k] * features[v, k]
                out[k] += learned.own[v, k] * features[v, k]
        for k in range(out.shape[0]):
            out[k] += common

    return write_scores


@kernel
def ignore_estimate(trial, returns, learned, out):
    """The kernel of searches without a learned estimate."""
