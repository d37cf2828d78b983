"""Candidate policies: one scorer for all actions, all weights of the objectives and all positions of a game.

The policy tries each distinct legal action on a copy of the position, whose random draws are its own, and scores the features
of that step (see `features`). It takes the action with the highest score, ties broken at random, or samples from the softmax of
the scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import check_array, check_array_names
from momagames.baselines.candidates.features import CandidateFeatures
from momagames.baselines.candidates.kernels import make_candidate_kernel
from momagames.contract import Game
from momagames.engine.lookahead import make_trial
from momagames.engine.policies import CompiledPolicy
from momagames.errors import InvalidParameter, check_range

Recording = tuple[NDArray[np.float32], NDArray[np.int64]]
MIN_LENGTH = 16  # of the arrays in a memory; a common minimum lets games share compiled code
MAX_HIDDEN, MAX_SAMPLES, MAX_POLICIES = 256, 100, 1024


class CandidatePolicy:
    """The candidate policies of a game.

    hidden            units of the hidden layer of the scorer; 0: a linear scorer
    samples           copies on which each action is tried, each with random draws of its own; the features are their means. 1
                      in games without chance during play
    extra_features    whether it reads the game's extra features, see `features`
    num_parameters    of a scorer, see `kernels.score_candidate`
    """

    def __init__(self, game: Game, hidden: int = 0, samples: int = 1, extra_features: bool = False) -> None:
        check_range("hidden", hidden, 0, MAX_HIDDEN)
        check_range("samples", samples, 1, MAX_SAMPLES)
        self.game, self.hidden, self.features = game, hidden, CandidateFeatures(game, extra_features)
        self.samples = samples if game.chance == "step" else 1
        count = self.features.count
        self.num_parameters = count + hidden * (count + 2)
        self.memory = np.dtype([
            ("parameters", "f8", (_round_up(self.num_parameters),)),
            ("weights", "f8", (_round_up(len(game.objectives)),)),
            ("temperature", "f8"), ("lookahead_steps", "i8"), ("first_row", "i8"), ("num_rows", "i8"), ("choice", "i8"),
        ])  # fmt: skip

    def compile(self, recording: Recording | None = None) -> CompiledPolicy:
        """Return the policy whose parameters, weights and temperature are in the initial memories of its environments.

        recording   rows float32[R, F] and cursor int64[1], the next free row: the features of all candidates of each decision
                    are written to rows, and its memory says where: from first_row on, num_rows of them, and of these `choice`
                    is the action's
        """
        return self._compile("", (), {}, recording=recording)

    def compile_with(
        self, parameters: NDArray[np.float64], weights: Sequence[float], label: str, greedy: bool = True
    ) -> CompiledPolicy:
        """Return the policy with these parameters, float64[num_parameters], for these weights, float64[K].

        greedy    take the action with the highest score instead of sampling one
        """
        row = np.array(weights, np.float64)
        memory = self.initial_memories(parameters[None], row[None])[0]
        initial = (
            ("parameters", tuple(memory["parameters"].tolist())), ("weights", tuple(memory["weights"].tolist())),
            ("temperature", 0.0 if greedy else 1.0),
        )  # fmt: skip
        arrays = {"parameters": parameters.copy(), "weights": row, "greedy": np.array(greedy)}
        return self._compile(label, initial, arrays, tuple(row.tolist()))

    def initial_memories(
        self, parameters: NDArray[np.float64], weights: NDArray[np.float64], temperature: float = 0.0
    ) -> NDArray[Any]:
        """Return memories at the start of an episode, record[n], for parameters float64[n, P] and weights float64[n, K].

        temperature    of the softmax; 0: the action with the highest score
        """
        memories = np.zeros(len(parameters), self.memory)
        memories["parameters"][:, : self.num_parameters] = parameters
        memories["weights"][:, : weights.shape[1]] = weights
        memories["temperature"] = temperature
        return memories

    def _compile(
        self,
        label: str,
        initial: tuple[tuple[str, float | tuple[float, ...]], ...],
        arrays: dict[str, NDArray[Any]],
        weights: tuple[float, ...] = (),
        recording: Recording | None = None,
    ) -> CompiledPolicy:
        scratch = self.make_scratch if recording is None else partial(self.make_scratch, recording=recording)
        act, rules = make_candidate_kernel(self.game), (self.game.rules_key,)
        return CompiledPolicy("candidates", act, self.memory, rules, initial, scratch, label, weights=weights, arrays=arrays)

    def make_scratch(self, game: Game, recording: Recording | None = None) -> tuple[Any, ...]:
        """Return the scratch arrays of its kernels for a game; see `compile`. Raises InvalidParameter for other objectives."""
        if [one.name for one in game.objectives] != [one.name for one in self.game.objectives]:
            raise InvalidParameter(f"the candidate policy is for {self.game.id} with other objectives than this {game.id}")
        sets, count, vectors = self.features.sets, self.features.count, len(self.features.vectors)
        before, after = np.zeros((2, vectors, len(sets)))
        settings = np.array([sets.max() + 1, self.samples])
        rows, cursor = recording or (np.zeros((0, count), np.float32), np.zeros(1, np.int64))
        return (
            np.zeros(game.mask_size, np.int8), np.zeros(game.mask_size), sets, before, after, np.zeros(count),
            np.zeros(self.hidden), settings, rows, cursor, *make_trial(game),
        )  # fmt: skip


@dataclass(frozen=True)
class Scorer:
    """A trained scorer, float64[num_parameters]: the candidate policies for all weights. See `TrainedPolicies`."""

    policy: CandidatePolicy
    parameters: NDArray[np.float64]
    reads_weights: bool = True

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its parameters, as they are stored."""
        return {"parameters": self.parameters}

    def compile(self, label: str, weights: Sequence[float], greedy: bool) -> CompiledPolicy:
        """Return the policy for these weights; see `CandidatePolicy.compile_with`."""
        return self.policy.compile_with(self.parameters, weights, label, greedy)


@dataclass(frozen=True)
class LinearScorer(Scorer):
    """A trained scorer without a hidden layer."""

    @property
    def factors(self) -> dict[str, float]:
        """The factors of the features by name."""
        return dict(zip(self.policy.features.names, self.parameters.tolist(), strict=True))


def make_scorer(policy: CandidatePolicy, parameters: NDArray[np.float64]) -> Scorer:
    """Return the scorer with these parameters, float64[num_parameters]."""
    return Scorer(policy, parameters) if policy.hidden else LinearScorer(policy, parameters)


def restore_scorer(policy: CandidatePolicy, name: str, arrays: Mapping[str, NDArray[Any]]) -> Scorer:
    """Return a scorer from its stored arrays; InvalidParameter, with the name of its method, if they do not fit the policy."""
    check_array_names(name, arrays, ("parameters",))
    check_array(name, "parameters", arrays["parameters"], np.float64, (policy.num_parameters,))
    return make_scorer(policy, arrays["parameters"])


def restore_policy(policy: CandidatePolicy, label: str, arrays: Mapping[str, NDArray[Any]]) -> CompiledPolicy:
    """Return a policy from its stored arrays, or raise InvalidParameter."""
    check_array_names(label, arrays, ("parameters", "weights", "greedy"))
    check_array(label, "weights", arrays["weights"], np.float64, (len(policy.game.objectives),))
    check_array(label, "greedy", arrays["greedy"], np.bool_, ())
    scorer = restore_scorer(policy, label, {"parameters": arrays["parameters"]})
    return scorer.compile(label, arrays["weights"].tolist(), bool(arrays["greedy"]))


def _round_up(length: int) -> int:
    """Return the next power of 2, at least MIN_LENGTH."""
    return max(MIN_LENGTH, 1 << (length - 1).bit_length())
