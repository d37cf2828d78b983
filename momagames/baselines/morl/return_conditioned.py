"""Networks of morl-baselines that are conditioned on a desired return and horizon: PCN.

The best episodes of the training give the commands: each is a policy. A command is a return and a number of steps; rewards and
steps so far are subtracted from it before each action.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.morl.learned_policy import Chooser, LearnedPolicy, Situations
from momagames.baselines.morl.method import LibraryLearner, within_budget
from momagames.baselines.morl.networks import Floats, extract_layers, read_network, relu, sigmoid
from momagames.baselines.morl.training_env import IdleEnv, TrainingEnv
from momagames.contract import Game
from momagames.errors import check_range


class CommandFollower(Chooser):
    """The chooser of a command: the likeliest action for what is left of it at each seat.

    arrays    of the network, with its `factor` float32[K + 1] for commands; `target` float32[K + 1], the command: scaled return
              and horizon; `limit` float32[K], the largest return that is desired; `scale` float64[K], divisors of rewards
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], seats: int) -> None:
        self._state = read_network("state", arrays, sigmoid, sigmoid)
        self._desire = read_network("command", arrays, sigmoid, sigmoid)
        self._actions = read_network("actions", arrays, relu)
        self._factor, self._command, self._limit = arrays["factor"], arrays["target"], arrays["limit"]
        self._scale = arrays["scale"]
        self._left: Floats = np.zeros((seats, len(self._command)), np.float32)
        self._values = np.zeros((seats, len(self._scale)))
        self._is_first = np.zeros(seats, np.bool_)
        self.reset(np.arange(seats))

    def reset(self, seats: NDArray[np.int64]) -> None:
        self._left[seats], self._values[seats], self._is_first[seats] = self._command, 0, True

    def __call__(self, situations: Situations) -> NDArray[np.int64]:
        seats = situations.seats
        rewards = ((situations.values - self._values[seats]) / self._scale).astype(np.float32)
        before = self._left[seats]
        left = np.column_stack([np.minimum(before[:, :-1] - rewards, self._limit), np.maximum(before[:, -1] - 1, 1)])
        left = np.where(self._is_first[seats, None], before, left)
        self._left[seats], self._values[seats], self._is_first[seats] = left, situations.values, False
        features = self._state(situations.observations) * self._desire(left * self._factor)
        actions: NDArray[np.int64] = np.argmax(self._actions(features), axis=1)
        return actions


@dataclass(frozen=True)
class Pcn(LibraryLearner):
    """Pareto conditioned networks of morl-baselines, which imitate the best episodes so far.

    num_policies         commands of the trained network: returns of the best episodes, dissimilar ones first
    hidden_dim           units of a layer
    learning_rate        of Adam
    batch_size           decisions of an update
    random_episodes      episodes of random play at first
    episodes             episodes between updates
    updates              updates between these episodes
    max_buffer_size      best episodes in the buffer

    Source: Reymond, Bargiacchi and Nowé, "Pareto conditioned networks", AAMAS 2022.
    """

    name: ClassVar[str] = "pcn"
    module: ClassVar[str] = "morl_baselines.multi_policy.pcn.pcn"
    num_policies: int
    hidden_dim: int
    learning_rate: float
    batch_size: int
    random_episodes: int
    episodes: int
    updates: int
    max_buffer_size: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"{self.name}: learning_rate", self.learning_rate, 0, above=True)
        for name in (
            "num_policies", "hidden_dim", "batch_size", "random_episodes", "episodes", "updates", "max_buffer_size",
        ):  # fmt: skip
            check_range(f"{self.name}: {name}", getattr(self, name), 1)

    def learn(self, env: TrainingEnv, seed: int) -> list[LearnedPolicy]:
        from morl_baselines.multi_policy.pcn.pcn import PCN

        factor = np.append(np.ones(env.reward_dim), 1 / env.game.max_episode_steps)
        limit = (np.array([one.return_high for one in env.game.objectives]) / env.return_scale).astype(np.float32)
        agent = PCN(
            env, factor, learning_rate=self.learning_rate, gamma=self.gamma, batch_size=self.batch_size,
            hidden_dim=self.hidden_dim, seed=seed, device="cpu", log=False,
        )  # fmt: skip
        agent.save = lambda *_, **__: None  # no files of networks in the current folder
        with within_budget():
            agent.train(
                env.budget.limit,
                eval_env=IdleEnv(env),
                ref_point=np.array(env.game.reference_point),
                num_er_episodes=self.random_episodes,
                num_step_episodes=self.episodes,
                num_model_updates=self.updates,
                max_return=limit,
                max_buffer_size=self.max_buffer_size,
                num_points_pf=1,
            )
        return self._list_policies(env, agent, {"factor": factor.astype(np.float32), "limit": limit})

    def _list_policies(self, env: TrainingEnv, agent: Any, arrays: dict[str, NDArray[Any]]) -> list[LearnedPolicy]:
        """Return the policies for the returns of the best episodes in the buffer."""
        if len(agent.experience_replay) < 2:
            return []
        arrays |= {
            **extract_layers("state", agent.model.s_emb),
            **extract_layers("command", agent.model.c_emb),
            **extract_layers("actions", agent.model.fc),
            "scale": env.return_scale,
        }
        best = agent._nlargest(min(self.num_policies, len(agent.experience_replay)))
        targets = np.array([[*episode[0].reward, len(episode)] for _, _, episode in best], np.float32)
        return [
            LearnedPolicy(f"command {number}", (), {**arrays, "target": target})
            for number, target in enumerate(np.unique(targets, axis=0))
        ]

    def make_chooser(self, game: Game, arrays: Mapping[str, NDArray[Any]], seats: int = 1) -> CommandFollower:
        return CommandFollower(arrays, seats)
