# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Nested rollouts of a trained scorer: a search before each move, for games of one agent without chance during play.

A rollout of level 0 plays the candidate actions with the highest scores to the end. A rollout of level n plays, at each step,
the candidate whose own rollout of level n-1 ends best; its value is the best weighted return that any of these reaches.

Source: Cazenave, "Nested Monte-Carlo search", IJCAI 2009; improvement of a policy by its own rollouts, Tesauro and Galperin,
"On-line policy improvement using Monte-Carlo search", NeurIPS 1996.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans
from momagames.baselines.candidates.kernels import make_scoring_kernel
from momagames.baselines.candidates.policy import Scorer
from momagames.baselines.checkpoint_policy import CHAMPION, load_stored_policies
from momagames.baselines.random import sample_plans
from momagames.baselines.weight_lattice import MAX_POLICIES, format_weights, resolve_weights, simplex_lattice
from momagames.contract import Game
from momagames.engine.lookahead import Trial, make_lookahead, make_trial
from momagames.engine.loops import cache_by_rules, make_distinct_legal
from momagames.engine.policies import CompiledPolicy
from momagames.engine.policy_sources import PolicyFactory
from momagames.errors import InvalidParameter, check_range
from momagames.kernels.jit import kernel

NAME = "nested_rollouts"
MAX_LEVEL = 3


@dataclass(frozen=True)
class NestedRollouts(Method):
    """One policy for each weight vector of a simplex lattice; before each move it evaluates every candidate action by a nested
    rollout of a trained scorer, and takes the best.

    For games of one agent without chance during play, for which a scorer is trained. All steps of rollouts count as environment
    steps: with n candidates and d moves to the end about (n * d) ** (level + 1) for one move.

    divisions    of the lattice: C(divisions + K - 1, K - 1) policies for K objectives
    level        of nesting, 1..3
    scorer       "champion", or the path of a checkpoint of `cross_entropy` or `grpo`
    """

    name: ClassVar[str] = NAME
    file_option: ClassVar[str] = "scorer"
    divisions: int
    level: int = 1
    scorer: str = CHAMPION

    def __post_init__(self) -> None:
        check_range(f"{NAME}: divisions", self.divisions, 1)
        check_range(f"{NAME}: level", self.level, 1, MAX_LEVEL, whole=True)

    def check_plan(self, game: Game) -> None:
        simplex_lattice(len(game.objectives), self.divisions, MAX_POLICIES)
        _load_scorer(game, self.scorer)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        return sample_plans(game, start, self.policies(game), budget, seed)

    def policies(self, game: Game) -> tuple[CompiledPolicy, ...]:
        scorer = _load_scorer(game, self.scorer)
        lattice = simplex_lattice(len(game.objectives), self.divisions, MAX_POLICIES)
        return tuple(compile_nested(scorer, row, self.level) for row in lattice)


def make_nested_policy(
    game: Game, weights: Sequence[float] | None = None, level: int = 1, scorer: str = CHAMPION
) -> CompiledPolicy:
    """Return the policy with these weights, float[K], by default all equal; see `NestedRollouts`."""
    check_range(f"{NAME}: level", level, 1, MAX_LEVEL, whole=True)
    return replace(compile_nested(_load_scorer(game, scorer), resolve_weights(NAME, game, weights), level), label=NAME)


NESTED_POLICY = PolicyFactory(make_nested_policy, optional=("level", "scorer"), file_option="scorer")


def _load_scorer(game: Game, name: str) -> Scorer:
    if len(game.agents) > 1 or game.chance == "step":
        raise InvalidParameter(f"{NAME}: {game.id} has several agents or chance during play, expected one agent and no chance")
    return load_stored_policies(game, name, Scorer, "scorer", "cross_entropy or grpo")


def compile_nested(scorer: Scorer, weights: NDArray[np.float64], level: int) -> CompiledPolicy:
    """Return the policy of a scorer for weights float64[K]; see `NestedRollouts`."""
    game, label = scorer.policy.game, format_weights(weights)

    def scratch(game: Game) -> tuple[Any, ...]:
        return _make_nest(game, level), scorer.policy.make_scratch(game)

    policy = scorer.compile(label, weights.tolist(), greedy=True)
    return replace(policy, name=f"{policy.name}.nested", act=make_nested_kernel(game), scratch=scratch, arrays={})


class Nest(NamedTuple):
    """Scratch arrays of a search of level L; frame i is a rollout of level L - i, and 0 the move to choose.

    states      record[L+1], the position of each frame; the last one is that of a rollout of level 0
    moves       int8[L, M], candidates that are left to try at the present step
    cursors     int64[L], where they begin
    tried       int64[L], the candidate that is tried
    choices     int64[L], the best one so far, and its value
    values      float64[L]
    returns     float64[L+1], the weighted return up to the position
    found       float64[L], the best return that a frame has found at all of its steps
    trial       see `Trial`
    """

    states: NDArray[Any]
    moves: NDArray[np.int8]
    cursors: NDArray[np.int64]
    tried: NDArray[np.int64]
    choices: NDArray[np.int64]
    values: NDArray[np.float64]
    returns: NDArray[np.float64]
    found: NDArray[np.float64]
    trial: Trial


def _make_nest(game: Game, level: int) -> Nest:
    cursors, tried, choices = np.zeros((3, level), np.int64)
    values, found = np.zeros((2, level))
    return Nest(
        np.zeros(level + 1, game.dtype), np.zeros((level, game.mask_size), np.int8), cursors, tried, choices, values,
        np.zeros(level + 1), found, make_trial(game),
    )  # fmt: skip


@cache_by_rules
def make_nested_kernel(game: Game) -> Callable[..., Any]:
    """Return the policy kernel, see `engine.policies`; scratch: `Nest`, and that of `CandidatePolicy`."""
    legal, play, write_legal = game.kernels.legal, make_lookahead(game).play, make_distinct_legal(game)
    score_actions = make_scoring_kernel(game)

    @kernel
    def play_frame(nest, frame, a, memory):
        """Play an action in the position of a frame; return whether the episode goes on."""
        reward = nest.trial.reward
        is_over = play(nest.states[frame], a, nest.trial)
        for k in range(reward.shape[1]):
            nest.returns[frame] += memory["weights"][k] * reward[0, k]
        return not is_over

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        nest, own = scratch
        level, length = nest.moves.shape
        nest.trial.steps[0] = 0
        frame, is_new_step = 0, True
        nest.states[0], nest.returns[0] = state, 0.0
        while True:
            if is_new_step:
                write_legal(nest.states[frame], nest.moves[frame])
                nest.cursors[frame], nest.values[frame] = 0, -np.inf
                is_new_step = False
            a = nest.cursors[frame]
            while a < length and nest.moves[frame, a] == 0:
                a += 1
            if a < length:
                nest.cursors[frame], nest.tried[frame] = a + 1, a
                nest.states[frame + 1], nest.returns[frame + 1] = nest.states[frame], nest.returns[frame]
                goes_on = play_frame(nest, frame + 1, a, memory)
                if goes_on and frame + 1 < level:
                    frame += 1
                    nest.found[frame], is_new_step = -np.inf, True
                    continue
                while goes_on:
                    legal(nest.states[level], agent, nest.trial.mask)
                    word = score_actions(nest.states[level], agent, nest.trial.mask, memory, own, word)
                    candidates, scores, best = own[0], own[1], -1
                    for b in range(length):
                        if candidates[b] and (best < 0 or scores[b] > scores[best]):
                            best = b
                    goes_on = play_frame(nest, level, best, memory)
                value = nest.returns[frame + 1]
            elif frame == 0:
                action[0] = nest.choices[0]
                memory["lookahead_steps"] += nest.trial.steps[0]
                return word
            else:
                if play_frame(nest, frame, nest.choices[frame], memory):
                    is_new_step = True
                    continue
                value = nest.found[frame]
                frame -= 1
            nest.found[frame] = max(nest.found[frame], value)
            if value > nest.values[frame]:
                nest.values[frame], nest.choices[frame] = value, nest.tried[frame]

    return act
