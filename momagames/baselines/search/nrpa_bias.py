# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""The bias of nested rollout policy adaptation: the scores of a trained candidate policy as prior odds of the moves.

Source: Cazenave, "Generalized nested rollout policy adaptation", Monte Carlo Search 2020, CCIS 1379, 2021.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.candidates.kernels import make_scoring_kernel
from momagames.baselines.candidates.policy import Scorer
from momagames.baselines.checkpoint_policy import load_stored_policies
from momagames.contract import Game
from momagames.kernels.jit import kernel


class Bias(NamedTuple):
    """A scorer of candidate actions.

    memories    record[P], its memory for each policy, with the weights of the objectives
    scratch     its scratch arrays; the first two are the candidates int8[M] and their scores float64[M]
    samples     environment steps for each candidate
    """

    memories: NDArray[Any]
    scratch: tuple[Any, ...]
    samples: int


def make_bias(game: Game, name: str, policies: int) -> Bias | tuple[()]:
    """Return the bias by a stored scorer for that many policies, or () without a name. Raises InvalidParameter."""
    if not name:
        return ()
    scorer = load_stored_policies(game, name, Scorer, "bias", "cross_entropy or grpo")
    parameters = scorer.parameters[None].repeat(policies, axis=0)
    memories = scorer.policy.initial_memories(parameters, np.zeros((policies, len(game.objectives))))
    return Bias(memories, scorer.policy.make_scratch(game), scorer.policy.samples)


def set_weights(bias: Bias | tuple[()], weights: NDArray[np.float64]) -> None:
    """Set the weights of the objectives, float64[P, K] or float64[K] for all policies."""
    if bias:
        bias.memories["weights"][:, : weights.shape[-1]] = weights


def make_bias_kernels(game: Game, exponential: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the kernels that count the environment steps of a position's scores, and write its prior odds."""
    score_actions = make_scoring_kernel(game)

    @kernel
    def count_lookahead(bias, count):
        return count * bias.samples if count > 1 else 0

    @kernel
    def write_priors(state, agent, scratch, count, policy, priors, word):
        """Write exp(score) of the listed actions, relative to the highest score. Draws of the look-ahead start at `word`."""
        mask, actions, bias = scratch.trial.mask, scratch.actions, scratch.bias
        if mask.sum() > 1:
            score_actions(state, agent, mask, bias.memories[policy], bias.scratch, word)
        scores, highest = bias.scratch[1], -np.inf
        for i in range(count):
            highest = max(highest, scores[actions[i]])
        for i in range(count):
            priors[i] = exponential(scores[actions[i]] - highest)

    return count_lookahead, write_priors


@kernel
def count_none(bias, count):
    return 0


@kernel
def _write_none(state, agent, scratch, count, policy, priors, word):
    pass


ignore_bias = count_none, _write_none
