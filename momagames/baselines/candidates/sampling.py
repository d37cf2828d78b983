"""Plans for one instance from samples of a trained scorer's policies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans, check_deterministic
from momagames.baselines.candidates.policy import Scorer
from momagames.baselines.checkpoint_policy import CHAMPION, load_stored_policies
from momagames.baselines.random import collect_plans
from momagames.contract import Game
from momagames.engine.playouts import Episodes
from momagames.engine.policies import play_policies
from momagames.errors import check_range

FIRST_BATCH = 16  # episodes


@dataclass(frozen=True)
class PolicySampling(Method):
    """Episodes of a trained scorer of candidate actions, each with random weights of the objectives, uniform on the simplex.

    Actions are sampled from the softmax of the scores. The non-dominated episodes are the plans. Each action that is scored
    counts as one step as well.

    temperature   divisor of the scores, more than 0: a smaller one samples the best actions more often
    scorer        "champion", or the path of a checkpoint of `cross_entropy` or `grpo`
    """

    name: ClassVar[str] = "policy_sampling"
    file_option: ClassVar[str] = "scorer"
    temperature: float = 1.0
    scorer: str = CHAMPION

    def __post_init__(self) -> None:
        check_range(f"{self.name}: temperature", self.temperature, 0, 1000, above=True)

    def _load_scorer(self, game: Game) -> Scorer:
        return load_stored_policies(game, self.scorer, Scorer, "scorer", "cross_entropy or grpo")

    def check_plan(self, game: Game) -> None:
        check_deterministic(self.name, game)
        self._load_scorer(game)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        scorer = self._load_scorer(game)
        policy, rng = scorer.policy.compile(), np.random.default_rng([seed, 1])

        def play(numbers: NDArray[np.int64], words: NDArray[np.uint64]) -> Episodes:
            count = len(numbers)
            weights = rng.dirichlet(np.ones(len(game.objectives)), count)
            memories = scorer.policy.initial_memories(scorer.parameters[None].repeat(count, axis=0), weights, self.temperature)
            seats = np.zeros(words.shape, np.int64)
            return play_policies(game, start.repeat(count), [policy], seats, words, memories, keep_moves=True)

        return collect_plans(game, play, [self.name], budget, seed, FIRST_BATCH)
