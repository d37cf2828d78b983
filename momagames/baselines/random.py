"""Uniformly random legal actions: the lower bound for every method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import Archive
from momagames.baselines.base import Method, Plan, Plans, check_deterministic
from momagames.contract import Game, State, split_mask
from momagames.engine.playouts import RANDOM, Episodes, play_episodes
from momagames.engine.policies import CompiledPolicy, policy_weights
from momagames.engine.policy_loops import random_act

BATCH_SIZE = 512  # episodes between two checks of the budget


@dataclass(frozen=True)
class Random(Method):
    """Uniformly random legal actions. As a planner: episodes within the budget; the non-dominated ones are the plans.

    Source: pure random search, Brooks, "A discussion of random methods for seeking maxima", Operations Research 6, 1958.
    """

    name: ClassVar[str] = "random"

    def check_plan(self, game: Game) -> None:
        check_deterministic(self.name, game)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        return sample_plans(game, start, self.policies(game), budget, seed)

    def policies(self, game: Game) -> tuple[CompiledPolicy, ...]:
        return (RANDOM_POLICY,)


def sample_plans(game: Game, start: NDArray[Any], policies: tuple[CompiledPolicy, ...], budget: int, seed: int) -> Plans:
    """Play episodes from `start`, one policy after the other, within the budget (at least one episode)."""
    rng = np.random.default_rng(seed)
    archive = Archive(len(game.objectives))
    agents = len(game.agents)
    used = episodes = 0
    while used < budget or not episodes:
        turn = (episodes + np.arange(BATCH_SIZE)) % len(policies)
        rules = np.array([policy.rule for policy in policies])[turn, None].repeat(agents, axis=1)
        weights = policy_weights(game, policies)[turn, None].repeat(agents, axis=1)
        words = rng.integers(2**64, size=(BATCH_SIZE, agents), dtype=np.uint64)
        played = play_episodes(game, start.repeat(BATCH_SIZE), rules, weights, words, keep_moves=True)
        spent = used + np.cumsum(played.steps)
        affordable = max(int(np.searchsorted(spent, budget, side="right")), int(not episodes))
        archive.add(played.returns[:affordable, 0], partial(_make_plan, played, spent, [policies[t].label for t in turn]))
        episodes += affordable
        used = int(spent[affordable - 1]) if affordable else used
        if affordable < BATCH_SIZE:
            break
    return Plans(archive.front(), used, info={"episodes": episodes, "policies": len(policies)}, dominated=archive.dominated)


def _make_plan(played: Episodes, spent: NDArray[np.int64], labels: list[str], i: int) -> Plan:
    actions = tuple(int(a) for a in played.moves[i, : played.lengths[i]])
    return Plan(actions, played.returns[i, 0].copy(), int(spent[i]), labels[i])


class RandomAgent:
    """The random policy for one agent of one environment."""

    def __init__(self, game: Game, agent: int | None) -> None:
        self._actions = game.actions

    def __call__(self, state: State, mask: NDArray[np.int8], rng: np.random.Generator) -> Any:
        chosen = [int(legal[rng.integers(len(legal))]) for legal in map(np.flatnonzero, split_mask(mask, self._actions))]
        return chosen[0] if len(chosen) == 1 else np.array(chosen, np.int64)


RANDOM_POLICY = CompiledPolicy("random", random_act, rule=RANDOM, agent_policy=RandomAgent)
