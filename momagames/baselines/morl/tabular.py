"""Tabular learners of morl-baselines: Pareto Q-learning and scalarized Q-learning. They need few different observations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from momagames.baselines.morl.learned_policy import LearnedPolicy, Situation
from momagames.baselines.morl.method import LibraryLearner, make_weighted_policy, within_budget
from momagames.baselines.morl.training_env import TrainingEnv
from momagames.contract import Game
from momagames.errors import InvalidParameter, TooLarge, check_range
from momagames.wrappers.gymnasium import TabularObservation

MAX_ROWS = 1_000_000  # of a table


@dataclass(frozen=True)
class Pql(LibraryLearner):
    """Pareto Q-learning of morl-baselines: the set of non-dominated returns from each state, in a table.

    max_states       rows of the table; a training that visits more states fails
    final_epsilon    rate of random actions at the end of the budget; at its start all actions are random

    It learns the front of one start position, and plans only. Its sets are those of a deterministic game: illegal="random"
    makes it stochastic. At the end it follows each return that it has found; these episodes are plans, too.

    Source: Van Moffaert and Nowé, "Multi-objective reinforcement learning using sets of Pareto dominating policies", JMLR 15,
    2014.
    """

    name: ClassVar[str] = "pql"
    scales_rewards: ClassVar[bool] = False
    max_states: int
    final_epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"{self.name}: max_states", self.max_states, 1, MAX_ROWS)
        check_range(f"{self.name}: final_epsilon", self.final_epsilon, 0, 1)

    def check_train(self, game: Game) -> None:
        raise InvalidParameter(
            f"{self.name} learns the front of one start position and plans only: use it in an experiment of kind 'plans'; "
            f"envelope, gpi_ls and pcn train policies for {game.id}"
        )

    def learn(self, env: TrainingEnv, seed: int) -> list[LearnedPolicy]:
        from morl_baselines.multi_policy.pareto_q_learning.pql import PQL

        steps = env.budget.limit or 0
        table = TabularObservation(TableLimit(env, self.max_states, self.name), self.max_states)
        agent = PQL(
            table, np.array(env.game.reference_point), gamma=self.gamma, final_epsilon=self.final_epsilon,
            epsilon_decay_steps=steps, seed=seed, log=False,
        )  # fmt: skip
        with within_budget():
            agent.train(steps, table)
        env.budget.limit = None
        for value in sorted(agent.get_local_pcs(state=0)):
            agent.track_policy(value, table)
        return []

    def make_chooser(self, game: Game, arrays: Mapping[str, NDArray[Any]]) -> Any:
        raise InvalidParameter(f"{self.name} stores no policies: it plans only")


@dataclass(frozen=True)
class MoQLearning(LibraryLearner):
    """Scalarized Q-learning of morl-baselines in an outer loop: a table for each weight vector, chosen by linear support.

    num_policies     weight vectors, with equal parts of the budget
    learning_rate    step size of the updates
    final_epsilon    rate of random actions at the end of each part; at its start all actions are random
    eval_episodes    episodes in which each policy is evaluated after its training; they are part of the budget
    max_states       rows of a table; a training that visits more states fails

    Its policies play random actions in states that they have not seen.

    Source: Van Moffaert, Drugan and Nowé, "Scalarized multi-objective reinforcement learning: novel design techniques",
    ADPRL 2013; the choice of weights, Roijers, Whiteson and Oliehoek, "Computing convex coverage sets for faster
    multi-objective coordination", JAIR 52, 2015.
    """

    name: ClassVar[str] = "mo_q_learning"
    num_policies: int
    learning_rate: float
    final_epsilon: float
    eval_episodes: int
    max_states: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"{self.name}: num_policies", self.num_policies, 1)
        check_range(f"{self.name}: learning_rate", self.learning_rate, 0, 1, above=True)
        check_range(f"{self.name}: final_epsilon", self.final_epsilon, 0, 1)
        check_range(f"{self.name}: eval_episodes", self.eval_episodes, 1)
        check_range(f"{self.name}: max_states", self.max_states, 1, MAX_ROWS)

    def learn(self, env: TrainingEnv, seed: int) -> list[LearnedPolicy]:
        from morl_baselines.multi_policy.multi_policy_moqlearning.mp_mo_q_learning import MPMOQLearning

        steps = max(1, ((env.budget.limit or 0) - env.budget.used) // self.num_policies)
        agent = MPMOQLearning(
            TableLimit(env, self.max_states, self.name), learning_rate=self.learning_rate, gamma=self.gamma,
            initial_epsilon=1.0, final_epsilon=self.final_epsilon, epsilon_decay_steps=steps, weight_selection_algo="ols",
            epsilon_ols=0.0, seed=seed, log=False,
        )  # fmt: skip
        with within_budget():
            agent.train(
                steps * self.num_policies,
                eval_env=env.make_evaluation_env(),
                ref_point=np.array(env.game.reference_point),
                timesteps_per_iteration=steps,
                num_eval_episodes_for_front=self.eval_episodes,
            )
        return [_make_table_policy(policy.weights, policy.q_table) for policy in agent.policies if policy.q_table]

    def make_chooser(self, game: Game, arrays: Mapping[str, NDArray[Any]]) -> Any:
        actions = dict(zip((row.tobytes() for row in arrays["states"]), arrays["actions"].tolist(), strict=True))

        def choose(situation: Situation) -> int:
            action = actions.get(situation.observation.tobytes())
            return int(situation.rng.choice(np.flatnonzero(situation.mask))) if action is None else int(action)

        return choose


def _make_table_policy(weights: NDArray[np.float64], table: Mapping[tuple[float, ...], NDArray[np.float64]]) -> LearnedPolicy:
    """Return the greedy policy of a table of values float64[M, K] by state."""
    states = np.array(list(table), np.float32)
    actions = (np.array(list(table.values())) @ weights).argmax(axis=1)
    return make_weighted_policy(np.asarray(weights), {"states": states, "actions": actions.astype(np.int32)})


class TableLimit(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Returns observations as they are, and raises TooLarge if there are more different ones than a limit."""

    def __init__(self, env: TrainingEnv, limit: int, name: str) -> None:
        super().__init__(env)
        self._seen: set[bytes] = set()
        self._limit, self._name = limit, name

    def observation(self, observation: Any) -> Any:
        """Return the observation."""
        self._seen.add(observation.tobytes())
        if len(self._seen) > self._limit:
            raise TooLarge(
                f"{self._name}: more than max_states={self._limit} states: choose a larger number or a smaller game; envelope, "
                "gpi_ls and pcn have no tables"
            )
        return observation
