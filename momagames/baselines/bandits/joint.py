# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""One learner of joint actions: mean vectors of local rewards, which serve all weights, and the choice of joint actions.

The choice for weights is that of multi-agent upper confidence exploration (Bargiacchi et al. 2018): the joint action with the
highest sum of weighted means plus sqrt(log(t J) / 2 * sum r^2 / n), for t pulls, J joint actions, and n pulls of a local joint
action. r is the range of weighted local rewards: the largest that any of them has had, since one that is seldom other than 0
has none at first. Pulls are for the weights of a lattice in turn. Without a coordination graph there is one local reward, that
of all agents: UCB1 over joint actions.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.bandits.elimination import Graph, Ints, Plan, list_joint_actions
from momagames.baselines.bandits.elimination_kernels import eliminate, make_pool
from momagames.baselines.bandits.independent import make_buffers
from momagames.baselines.bandits.pareto import choose_pareto
from momagames.baselines.bandits.trainer import NO_HISTORY, Learner
from momagames.contract import Game
from momagames.engine.loops import cache_by_rules
from momagames.kernels.jit import compile_entry_point, kernel
from momagames.kernels.rng import advance, below, mix

UNTRIED = 1e12  # variance of an entry without pulls
FIRST_POOL = 1 << 10
Floats = NDArray[np.float64]


class JointTables(NamedTuple):
    """Statistics of N entries of F factors.

    counts    float64[N], pulls
    means     float64[N, K], mean local rewards
    lows, highs    float64[F, K], the smallest and the largest local reward
    """

    counts: Floats
    means: Floats
    lows: Floats
    highs: Floats


class EntryCodes(NamedTuple):
    """The entry of a factor is the sum of the codes of its agents' actions.

    first    int64[F + 1], the agents of each factor
    agents   int64[n]
    codes    int64[n, M]
    starts   int64[F], the first entry of each factor
    """

    first: Ints
    agents: Ints
    codes: Ints
    starts: Ints


def make_codes(graph: Graph) -> EntryCodes:
    """Return the codes of a graph."""
    pairs = [(number, agent) for number, one in enumerate(graph.factors) for agent in one.agents]
    base = dict.fromkeys(range(len(graph.arms)), np.zeros(1, np.int64))
    starts = [int(graph.find_entry(number, base).max()) for number in range(len(graph.factors))]
    codes = np.zeros((len(pairs), max(graph.arms)), np.int64)
    for row, (number, agent) in enumerate(pairs):
        arms = np.arange(graph.arms[agent])
        codes[row, : len(arms)] = graph.find_entry(number, {**base, agent: arms}) - starts[number]
    first = np.concatenate([[0], np.cumsum([len(one.agents) for one in graph.factors])]).astype(np.int64)
    return EntryCodes(first, np.array([agent for _, agent in pairs], np.int64), codes, np.array(starts, np.int64))


class JointLearner(Learner):
    """A learner of joint actions.

    starts         record[S], start positions, of which each pull draws one
    weights        float64[W, K], of unscaled rewards: pull t is for row t modulo W
    has_factors    whether local rewards are those that the game declares; else there is one, the mean of all agents
    is_pareto      whether pulls are by Pareto UCB1, for one factor without classes; weights then play no part
    word, pulls    generator word, and pulls so far
    """

    def __init__(
        self, game: Game, starts: NDArray[Any], graph: Graph, plan: Plan, weights: Floats, exploration: float,
        has_factors: bool, is_pareto: bool, word: int,
    ) -> None:  # fmt: skip
        self.game, self.starts, self.graph, self.weights, self.word, self.pulls = game, starts, graph, weights, word, 0
        self._exploration, self._kind, self._plan = exploration, (has_factors, is_pareto), plan
        size, factors, objectives = int(graph.first[-1]), len(graph.factors), len(game.objectives)
        self.tables = JointTables(
            np.zeros(size), np.zeros((size, objectives)), np.full((factors, objectives), np.inf),
            np.full((factors, objectives), -np.inf),
        )  # fmt: skip
        self._codes, self._pool = make_codes(graph), make_pool(self._plan, factors, FIRST_POOL)
        self._joint = list_joint_actions(graph.arms) if is_pareto else np.zeros((0, 0), np.int64)
        self._numbers = np.zeros(size), np.zeros(size), np.zeros((size, objectives)), np.zeros((factors, objectives))

    def pull(self, count: int, history: NDArray[np.int16] = NO_HISTORY) -> None:
        """Pull `count` times. The joint actions of the first pulls are written to history int16[n, A]."""
        loop, log_joint = compile_joint_pulls(self.game, *self._kind), sum(map(log, self.graph.arms))
        left = count
        while left:
            word, done = loop(
                self.starts, self.weights, self._plan, self._codes, self._joint, self.tables, self._exploration, log_joint,
                np.uint64(self.word), self.pulls, left, make_buffers(self.game), self._numbers, self._pool,
                history[count - left :],
            )  # fmt: skip
            self.word = int(word)
            self.pulls += done
            left -= done
            if left:
                self._pool = make_pool(self._plan, len(self.graph.factors), 2 * len(self._pool.means))

    def estimate_values(self) -> Floats:
        """Return the mean local rewards of all entries, float64[N, K]: of untried ones the lowest of the factor."""
        lows = self.tables.lows[self._plan.entry_factors]
        values: Floats = np.where(self.tables.counts[:, None] > 0, self.tables.means, np.where(np.isfinite(lows), lows, 0.0))
        return values


def find_best_actions(graph: Graph, plan: Plan, values: Floats) -> Ints:
    """Return the joint action with the largest sum of values, float64[N]: int64[A]."""
    pool, actions = make_pool(plan, len(graph.factors), int(plan.first_row[-1]) + 1), np.zeros((len(graph.arms), 1), np.int64)
    run_elimination(plan, values, np.zeros(len(values)), pool, actions)  # with equal variances one pair in each row
    return actions[:, 0]


def call_eliminate(plan, means, variances, pool, actions):
    return eliminate(plan, means, variances, pool, actions)


run_elimination: Callable[..., bool] = compile_entry_point(call_eliminate, "bandits.eliminate")


@kernel
def write_nothing(state, out):
    """Stand in for the local rewards of a game that declares none."""


@cache_by_rules
def compile_joint_pulls(game: Game, has_factors: bool, is_pareto: bool) -> Callable[..., Any]:
    """Compile the loop of `JointLearner.pull`."""
    step, declared = game.kernels.step, game.learning.reward_factors
    write_factors = declared.write if declared and has_factors else write_nothing

    def run(
        starts, lattice, plan, codes, joint, tables, exploration, log_joint, word, pulls, count, buffers, numbers, pool, history
    ):  # fmt: skip
        state, actions, rewards = buffers.work[0], buffers.actions, buffers.rewards
        means, variances, bounds, values = numbers
        factors, objectives = values.shape
        for number in range(count):
            if is_pareto:
                entry, word = choose_pareto(tables, pulls + number, exploration, bounds, word)
                for agent in range(actions.shape[0]):
                    actions[agent, 0] = joint[entry, agent]
            else:
                weights, spread = lattice[(pulls + number) % lattice.shape[0]], 0.0
                for k in range(objectives):
                    largest = 0.0
                    for factor in range(factors):
                        largest = max(largest, tables.highs[factor, k] - tables.lows[factor, k])
                    spread += weights[k] * largest
                scale = exploration * exploration * 0.5 * (np.log(pulls + number + 1.0) + log_joint) * spread * spread
                for entry in range(means.shape[0]):
                    total = 0.0
                    for k in range(objectives):
                        total += weights[k] * tables.means[entry, k]
                    means[entry] = total
                    variances[entry] = scale / tables.counts[entry] if tables.counts[entry] > 0.0 else UNTRIED
                if not eliminate(plan, means, variances, pool, actions):
                    return word, number
            word = advance(word)
            buffers.work[0] = starts[below(word, starts.shape[0])]
            state["rng"] = mix(word)
            step(state, actions, rewards)
            for agent in range(actions.shape[0] if number < history.shape[0] else 0):
                history[number, agent] = actions[agent, 0]
            if has_factors:
                write_factors(state, values)
            else:
                for k in range(objectives):
                    values[0, k] = 0.0
                    for agent in range(rewards.shape[0]):
                        values[0, k] += rewards[agent, k] / rewards.shape[0]
            for factor in range(factors):
                entry = codes.starts[factor]
                for i in range(codes.first[factor], codes.first[factor + 1]):
                    entry += codes.codes[i, actions[codes.agents[i], 0]]
                tables.counts[entry] += 1.0
                for k in range(objectives):
                    tables.means[entry, k] += (values[factor, k] - tables.means[entry, k]) / tables.counts[entry]
                    tables.lows[factor, k] = min(tables.lows[factor, k], values[factor, k])
                    tables.highs[factor, k] = max(tables.highs[factor, k], values[factor, k])
        return word, count

    return compile_entry_point(run, f"{game.rules_key}.bandit.joint{'.factors' * has_factors}{'.pareto' * is_pareto}")
