"""Seats of the training environments: learning agents, opponents, the opponent pool, and the expert."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import list_team
from momagames.baselines.moppo.model import Model
from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.moppo.utility import WeightSampler
from momagames.contract import Game
from momagames.engine.batch import Batch
from momagames.engine.policies import UNSEATED, BatchPolicy, SeatedPolicies

POOL_INTERVAL = 10  # updates between two changes of the pool


class Opponents:
    """Policies that play agents which do not learn, and the expert that plays for learning agents in behavior cloning.

    learning_agents   agents that learn in turn, each with its team, in environments without self-play
    policies          opponents in these environments, in turn with those of the pool
    model             the current version of its network fills the pool at first
    threads           number of threads that let them act

    seed              of the random generators of the opponents
    seats             int64[N, A]: index of the opponent that plays an agent; UNSEATED: the agent learns
    is_learning       bool[N, A]
    pool              arrays of earlier versions of the network, and the weights float64[n, K] with which they play
    expert            None without behavior cloning
    """

    def __init__(
        self,
        batch: Batch,
        options: MoppoOptions,
        learning_agents: Sequence[int],
        policies: Sequence[BatchPolicy],
        model: Model,
        weight_sampler: WeightSampler,
        rng: np.random.Generator,
        threads: int,
    ) -> None:
        self._batch, self._policies, self._weight_sampler, self._rng = batch, tuple(policies), weight_sampler, rng
        self._threads, self._model = threads, model
        self.seed = int(rng.integers(2**63))
        self.seats = _assign_seats(batch.game, options, learning_agents, len(policies))
        self.is_learning = self.seats == UNSEATED
        self.expert = self._make_expert(options.expert, rng)
        self.pool = [model.export_actor()] * options.opponent_pool_size
        self.pool_weights = weight_sampler.sample(options.opponent_pool_size)
        self.players = self._make_players()

    def _make_expert(self, name: str | None, rng: np.random.Generator) -> SeatedPolicies | None:
        """Return the expert in the seats of all learning agents; None without a name."""
        if not name:
            return None
        from momagames.baselines import batch_policy

        seats = np.where(self.is_learning, 0, UNSEATED)
        return SeatedPolicies(
            self._batch, [batch_policy(name, self._batch.game)], seats, int(rng.integers(2**63)), threads=self._threads
        )

    def _make_players(self) -> SeatedPolicies:
        pool = [
            self._model.restore(arrays).compile("pool", weights, greedy=False)
            for arrays, weights in zip(self.pool, self.pool_weights.tolist(), strict=True)
        ]
        return SeatedPolicies(self._batch, [*self._policies, *pool], self.seats, self.seed, threads=self._threads)

    def reseat(self) -> None:
        """Seat the opponents again after the pool has changed; their random generators and memories continue."""
        state = self.players.state_dict()
        self.players = self._make_players()
        self.players.load_state_dict(state)

    def update_pool(self, updates: int) -> None:
        """Every POOL_INTERVAL updates replace the oldest version in the pool, and draw new weights."""
        if self.pool and updates % POOL_INTERVAL == 0:
            self.pool[updates // POOL_INTERVAL % len(self.pool)] = self._model.export_actor()
            self.pool_weights = self._weight_sampler.sample(len(self.pool))
            self.reseat()


def _assign_seats(game: Game, options: MoppoOptions, learning_agents: Sequence[int], policies: int) -> NDArray[np.int64]:
    """Return the seats int64[N, A], see `Opponents`."""
    seats = np.full((options.num_envs, len(game.agents)), UNSEATED)
    opponents = policies + options.opponent_pool_size
    has_opponents = opponents and len(set(game.teams)) > 1
    num_self_play = round(options.self_play * options.num_envs) if has_opponents else options.num_envs
    for n in range(num_self_play, options.num_envs):
        team = list_team(game, learning_agents[n % len(learning_agents)])
        opponent = (n // len(learning_agents)) % opponents
        seats[n] = [UNSEATED if agent in team else opponent for agent in range(len(game.agents))]
    return seats
