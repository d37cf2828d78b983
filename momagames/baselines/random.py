"""Uniformly random legal actions: the floor that every method must clear."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import Archive
from momagames.baselines.base import Method, Plan, Plans, check_certain
from momagames.contract import Game, State
from momagames.engine.playouts import RANDOM, Episodes, play
from momagames.engine.policies import Compiled, Member
from momagames.engine.policy_loops import random_act

RANDOM_KERNEL = Compiled("random", random_act)
BATCH = 512  # episodes between two looks at the budget


@dataclass(frozen=True)
class Random(Method):
    """Uniformly random legal actions. As a planner: as many episodes as the budget pays for, the best of them kept.

    Source: pure random search, Brooks, "A discussion of random methods for seeking maxima", Operations Research 6, 1958.
    """

    name: ClassVar[str] = "random"

    def check_plan(self, game: Game) -> None:
        check_certain(self.name, game)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        return sample(game, start, self.policies(game), budget, seed)

    def policies(self, game: Game) -> tuple[Member, ...]:
        return (Member("random", RANDOM, (0.0,) * len(game.objectives), RANDOM_KERNEL),)


def sample(game: Game, start: NDArray[Any], members: tuple[Member, ...], budget: int, seed: int) -> Plans:
    """Play episodes from `start`, the members in turn, while the budget lasts (the first is always played)."""
    generator = np.random.default_rng(seed)
    archive = Archive(len(game.objectives))
    agents = len(game.agents)
    used = episodes = 0
    while used < budget or not episodes:
        turn = (episodes + np.arange(BATCH)) % len(members)
        rules = np.array([m.rule for m in members])[turn, None].repeat(agents, axis=1)
        weights = np.array([m.weights for m in members])[turn, None].repeat(agents, axis=1)
        words = generator.integers(2**64, size=(BATCH, agents), dtype=np.uint64)
        done = play(game, start.repeat(BATCH), rules, weights, words, keep_moves=True)
        spent = used + np.cumsum(done.steps)
        paid = max(int(np.searchsorted(spent, budget, side="right")), int(not episodes))
        archive.add(done.returns[:paid, 0], partial(_plan, done, spent, [members[t].label for t in turn]))
        episodes += paid
        used = int(spent[paid - 1]) if paid else used
        if paid < BATCH:
            break
    return Plans(archive.front(), used, facts={"episodes": episodes, "policies": len(members)}, passed=archive.passed)


def _plan(done: Episodes, spent: NDArray[np.int64], labels: list[str], i: int) -> Plan:
    actions = tuple(int(a) for a in done.moves[i, : done.lengths[i]])
    return Plan(actions, done.returns[i, 0].copy(), int(spent[i]), labels[i])


class RandomPolicy:
    """A legal action, uniformly."""

    compiled: ClassVar[Compiled] = RANDOM_KERNEL

    @classmethod
    def member(cls, game: Game) -> Member:
        return Random().policies(game)[0]

    def __init__(self, game: Game, agent: int | None = None) -> None:
        self._cuts = np.cumsum(game.actions)[:-1]

    def __call__(self, state: State, mask: NDArray[np.int8], rng: np.random.Generator) -> Any:
        if not len(self._cuts):
            return _one_of(mask, rng)
        return np.array([_one_of(part, rng) for part in np.split(mask, self._cuts)], np.int64)


def _one_of(mask: NDArray[np.int8], rng: np.random.Generator) -> int:
    legal = mask.nonzero()[0]
    return int(legal[rng.integers(len(legal))])
