"""Whole episodes of candidate policies side by side, with a record of their decisions on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import assign_seats
from momagames.baselines.candidates.policy import CandidatePolicy
from momagames.engine.batch import Batch
from momagames.engine.policies import BatchPolicy, SeatedPolicies
from momagames.engine.threads import run_jobs

SHARDS = 4  # parts of a rollout that threads share; results do not depend on the number of threads


@dataclass(frozen=True)
class Decisions:
    """Decisions with more than one legal action.

    features   float32[R, F], one row for each candidate action
    counts     int64[D], candidate actions of each decision: their rows are one after the other
    choices    int64[D], the chosen one
    episodes   int64[D], the episode of each decision
    """

    features: NDArray[np.float32]
    counts: NDArray[np.int64]
    choices: NDArray[np.int64]
    episodes: NDArray[np.int64]

    @staticmethod
    def join(parts: Sequence[Decisions]) -> Decisions:
        """Return the decisions of several parts, one after the other."""
        columns = ("features", "counts", "choices", "episodes")
        return Decisions(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))


@dataclass(frozen=True)
class Rollout:
    """Outcome of n episodes.

    returns     float64[n, K], of the learning agent
    steps       environment steps, those of the look-ahead included
    moves       environment steps in which a candidate policy moves, without the look-ahead
    decisions   None without `record`
    """

    returns: NDArray[np.float64]
    steps: int
    moves: int
    decisions: Decisions | None


class RolloutCollector:
    """Plays candidate policies.

    learning_agents   agents that they play in turn, each with its team
    opponents         policies of the other agents, in turn
    threads           number of threads
    """

    def __init__(
        self, policy: CandidatePolicy, learning_agents: Sequence[int], opponents: Sequence[BatchPolicy], threads: int = 1
    ) -> None:
        self.policy, self.threads = policy, threads
        self._opponents = tuple(opponents)
        matches = [(agent, i) for i in range(max(1, len(opponents))) for agent in learning_agents]
        self._agents = np.array([agent for agent, _ in matches])
        self._seats = np.array([assign_seats(policy.game, agent, i) for agent, i in matches])

    def collect(
        self, memories: NDArray[Any], starts: NDArray[Any], words: NDArray[np.uint64], matches: NDArray[np.int64], record: bool
    ) -> Rollout:
        """Play one episode for each of `memories`, record[n], from `starts`, record[n].

        words      uint64[n, A], seeds of the draws of the players
        matches    int64[n], numbers of seats and opponents; used modulo the number of different ones
        record     whether to return the decisions
        """
        bounds = np.linspace(0, len(memories), SHARDS + 1).astype(int)
        shards = [slice(low, high) for low, high in pairwise(bounds) if low < high]
        played: dict[int, Rollout] = {}

        def play(shard: slice) -> None:
            rows = memories[shard], starts[shard], words[shard], matches[shard]
            played[shard.start] = self._play(*rows, shard.start, record)

        run_jobs([partial(play, shard) for shard in shards], self.threads)
        parts = [played[shard.start] for shard in shards]
        decisions = Decisions.join([part.decisions for part in parts if part.decisions]) if record else None
        returns = np.concatenate([part.returns for part in parts])
        return Rollout(returns, sum(part.steps for part in parts), sum(part.moves for part in parts), decisions)

    def _play(
        self,
        memories: NDArray[Any],
        starts: NDArray[Any],
        words: NDArray[np.uint64],
        matches: NDArray[np.int64],
        first: int,
        record: bool,
    ) -> Rollout:
        game, n = self.policy.game, len(memories)
        batch = Batch(game, n, autoreset="disabled")
        batch.load(starts)
        rows = np.zeros((n * game.mask_size if record else 0, self.policy.features.count), np.float32)
        cursor = np.zeros(1, np.int64)
        seats, agents = self._seats[matches % len(self._seats)], self._agents[matches % len(self._agents)]
        seated = SeatedPolicies(batch, [self.policy.compile((rows, cursor)), *self._opponents], seats, words, memories)
        own, parts, steps, moves = seated.state_dict()[1], [], 0, 0
        while not batch.states["over"].all():
            is_running = batch.states["over"] == 0
            steps += int(is_running.sum())
            moves += int((is_running & (seats[np.arange(n), batch.to_move] == 0)).sum())
            own["num_rows"], cursor[0] = 0, 0
            batch.step(seated.act())
            if record:
                parts.append(_read_decisions(own, rows, first))
        steps += int(seated.lookahead_steps(seats == 0).sum())
        return Rollout(batch.returns[np.arange(n), agents], steps, moves, Decisions.join(parts) if record else None)


def list_rows(firsts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of several decisions, one after the other, given the first row and the number of rows of each."""
    return np.arange(counts.sum()) + np.repeat(firsts - np.cumsum(counts) + counts, counts)


def _read_decisions(memories: NDArray[Any], rows: NDArray[np.float32], first: int) -> Decisions:
    """Return the decisions of one step from the memories, record[n, A]; episode numbers start at `first`."""
    episodes, agents = np.nonzero(memories["num_rows"] > 0)
    chosen = memories[episodes, agents]
    order = np.argsort(chosen["first_row"])
    chosen, end = chosen[order], int(chosen["num_rows"].sum())
    return Decisions(rows[:end].copy(), chosen["num_rows"].copy(), chosen["choice"].copy(), first + episodes[order])
