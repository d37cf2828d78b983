"""Uniformly random legal actions: the lower bound for every method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import Archive
from momagames.baselines.base import Method, Plan, Plans
from momagames.contract import Game, State, split_mask
from momagames.engine.playouts import RANDOM, Episodes, play_episodes
from momagames.engine.policies import CompiledPolicy, has_kernel_policy, play_policies, policy_weights
from momagames.engine.policy_loops import random_act

BATCH_SIZE = 512  # episodes between two checks of the budget


@dataclass(frozen=True)
class Random(Method):
    """Uniformly random legal actions. As a planner: episodes within the budget; the non-dominated ones are the plans.

    Source: pure random search, Brooks, "A discussion of random methods for seeking maxima", Operations Research 6, 1958.
    """

    name: ClassVar[str] = "random"

    def check_plan(self, game: Game) -> None:
        self.check_one_return(game)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        return sample_plans(game, start, self.policies(game), budget, seed)

    def policies(self, game: Game) -> tuple[CompiledPolicy, ...]:
        return (RANDOM_POLICY,)


def sample_plans(game: Game, start: NDArray[Any], policies: tuple[CompiledPolicy, ...], budget: int, seed: int) -> Plans:
    """Collect the non-dominated of the episodes from `start` within the budget (at least one episode).

    The policies play one after the other. The size of a batch is what the budget suffices for, as far as those before tell.
    """
    rng, archive = np.random.default_rng(seed), Archive(len(game.objectives))
    all_weights, has_kernel, agents = policy_weights(game, policies), has_kernel_policy(policies), len(game.agents)
    rules = np.array([policy.rule for policy in policies])
    used = episodes = 0
    size = 1 if has_kernel else BATCH_SIZE
    while used < budget or not episodes:
        turn = ((episodes + np.arange(size)) % len(policies))[:, None].repeat(agents, axis=1)
        words, starts = rng.integers(2**64, size=(size, agents), dtype=np.uint64), start.repeat(size)
        if has_kernel:
            played = play_policies(game, starts, policies, turn, words, keep_moves=True)
        else:
            played = play_episodes(game, starts, rules[turn], all_weights[turn], words, keep_moves=True)
        spent = used + np.cumsum(played.steps)
        affordable = max(int(np.searchsorted(spent, budget, side="right")), int(not episodes))

        def make_plan(i: int, played: Episodes = played, spent: NDArray[np.int64] = spent, first: int = episodes) -> Plan:
            actions = tuple(played.moves[i, : played.lengths[i]].tolist())
            return Plan(actions, played.returns[i, 0].copy(), int(spent[i]), policies[(first + i) % len(policies)].label)

        archive.add(played.returns[:affordable, 0], make_plan)
        episodes += affordable
        used = int(spent[affordable - 1]) if affordable else used
        if affordable < size:
            break
        if size < BATCH_SIZE:
            size = min(BATCH_SIZE, max(1, (budget - used) * episodes // max(used, 1)))
    return Plans(archive.front(), used, info={"episodes": episodes, "policies": len(policies)}, dominated=archive.dominated)


class RandomAgent:
    """The random policy for one agent of one environment."""

    def __init__(self, game: Game, agent: int | None) -> None:
        self._actions = game.actions

    def __call__(self, state: State, mask: NDArray[np.int8], rng: np.random.Generator) -> Any:
        chosen = [int(legal[rng.integers(len(legal))]) for legal in map(np.flatnonzero, split_mask(mask, self._actions))]
        return chosen[0] if len(chosen) == 1 else np.array(chosen, np.int64)


RANDOM_POLICY = CompiledPolicy("random", random_act, rule=RANDOM, agent_policy=RandomAgent)
