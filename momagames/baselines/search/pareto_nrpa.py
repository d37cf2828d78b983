# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Nested rollout policy adaptation towards a front, with several policies and non-dominated sets of lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans
from momagames.baselines.search.nrpa import check_nesting
from momagames.baselines.search.nrpa_bias import make_bias, set_weights
from momagames.baselines.search.nrpa_kernels import (
    adapt,
    check_lines,
    copy_line,
    copy_policy,
    make_lines,
    make_playout,
    make_policies,
    make_scratch,
    reset_policy,
    write_game,
)
from momagames.baselines.search.playout_buffer import PlayoutBuffer
from momagames.contract import Game
from momagames.engine.loops import cache_by_rules
from momagames.engine.playouts import NO_LIMIT
from momagames.errors import check_range
from momagames.kernels.jit import compile_entry_point, kernel
from momagames.kernels.rng import advance, below

MAX_POLICIES = 32
FRONT_CAPACITY = 32  # largest number of lines in the front of a level


@dataclass(frozen=True)
class ParetoNrpa(Method):
    """Nested rollout policy adaptation with a set of policies and a front of lines at each level, without weights.

    A search of level 0 is one playout; the policies take turns. A search of level n calls `iterations` searches of level
    n - 1, each with copies of its policies, and merges their fronts into its own. Each policy is adapted towards a line of the
    front that it found itself, or towards any line if there is none: of two random candidates the more isolated one, so the
    policies spread. At level 1 only the policy that played is adapted. A front holds up to 32 lines; beyond that the most
    crowded line is removed. A search of the top level that ends within the budget restarts with uniform policies. The result
    holds all complete games.

    With a bias, which is added as in `nrpa`, each policy has random weights of the objectives, uniform on the simplex.

    Move codes and the counting of steps are those of `nrpa`. Several policies, fronts at each level and adaptation by
    isolation follow the source; the choice of lines and the capacity of a front are our own.

    num_policies  policies at each level, 1..32
    levels        nesting levels, 1..6
    iterations    iterations of each level
    alpha         step size of an adaptation, more than 0, up to 10
    bias          stored scorer of candidate actions, added to the weights of a policy: "champion", or the path of a checkpoint
                  of training; empty: none

    Source: Lallouet, Cazenave and Enderli, "Pareto-NRPA: a novel Monte-Carlo search algorithm for multi-objective
    optimization", arXiv:2507.19109, 2025; Rosin, "Nested rollout policy adaptation for Monte Carlo tree search", IJCAI 2011.
    """

    name: ClassVar[str] = "pareto_nrpa"
    file_option: ClassVar[str] = "bias"
    num_policies: int
    levels: int
    iterations: int
    alpha: float
    bias: str = ""

    def __post_init__(self) -> None:
        check_range(f"{self.name}: num_policies", self.num_policies, 1, MAX_POLICIES)
        check_nesting(self.name, self.levels, self.iterations, self.alpha)

    def check_plan(self, game: Game) -> None:
        self.check_one_return(game)
        check_lines(self.name, game, self.levels * FRONT_CAPACITY + 1, bool(self.bias))
        make_bias(game, self.bias, 1)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        policies = make_policies(self.levels * self.num_policies)
        bias = make_bias(game, self.bias, self.num_policies)
        lines = make_lines(game, self.levels * FRONT_CAPACITY + 1, bool(bias))
        scratch = make_scratch(game, start, bias)
        fronts = _make_fronts(self.levels, len(game.objectives))
        completed = np.full(self.levels + 1, self.iterations)  # as after a complete search, so a new one starts
        search = make_search(game, bool(bias))
        buffer = PlayoutBuffer(game)
        rng = np.random.default_rng(seed)
        word = rng.integers(2**64, dtype=np.uint64)
        set_weights(bias, rng.dirichlet(np.ones(len(game.objectives)), self.num_policies))
        used = searches = 0
        while used < budget or not buffer.num_games:
            num_games, completed_searches, used, word = search(
                policies, lines, scratch, buffer.batch, fronts, completed, self.num_policies, self.iterations, self.alpha, word,
                used, budget, not buffer.num_games,
            )  # fmt: skip
            word = np.uint64(word)
            searches += completed_searches
            buffer.flush(num_games, self.name)
        return Plans(
            buffer.archive.front(),
            used,
            info={"episodes": buffer.num_games, "searches": searches},
            dominated=buffer.archive.dominated,
        )


class Fronts(NamedTuple):
    """Non-dominated lines of each level, of capacity C.

    members   int64[L + 1, C], indices of lines; the first `sizes` of a row are in the front, the others are free
    owners    int64[L + 1, C], the policy that found the line
    sizes     int64[L + 1]
    ranges    float64[K], the range of each objective in the front measured last
    """

    members: NDArray[np.int64]
    owners: NDArray[np.int64]
    sizes: NDArray[np.int64]
    ranges: NDArray[np.float64]


def _make_fronts(levels: int, objectives: int) -> Fronts:
    """Make empty fronts: level n owns the lines from 1 + (n - 1) * FRONT_CAPACITY; level 0 has none."""
    members = np.arange(FRONT_CAPACITY) + 1 + (np.arange(levels + 1)[:, None] - 1) * FRONT_CAPACITY
    return Fronts(members, np.zeros_like(members), np.zeros(levels + 1, np.int64), np.zeros(objectives))


@kernel
def _weakly_dominates(lines, a, b):
    """Return whether line a weakly dominates line b."""
    for k in range(lines.values.shape[1]):  # noqa: SIM110 - compiled without generators
        if lines.values[a, k] < lines.values[b, k]:
            return False
    return True


@kernel
def measure_ranges(lines, fronts, level):
    """Compute the range of each objective in a front."""
    for k in range(lines.values.shape[1]):
        low, high = np.inf, -np.inf
        for i in range(fronts.sizes[level]):
            value = lines.values[fronts.members[level, i], k]
            low, high = min(low, value), max(high, value)
        fronts.ranges[k] = high - low


@kernel
def isolation(lines, fronts, level, i):
    """Return the distance of a line to its nearest neighbor in a measured front: the largest difference in an objective,
    relative to its range."""
    nearest = np.inf
    line = fronts.members[level, i]
    for j in range(fronts.sizes[level]):
        if j != i:
            other = fronts.members[level, j]
            distance = 0.0
            for k in range(lines.values.shape[1]):
                if fronts.ranges[k] > 0:
                    distance = max(distance, abs(lines.values[line, k] - lines.values[other, k]) / fronts.ranges[k])
            nearest = min(nearest, distance)
    return nearest


@kernel
def add_to_front(lines, fronts, level, line, owner):
    """Add a line to a front unless a member weakly dominates it. Dominated members are removed; from a full front the most
    crowded one is removed."""
    members, owners = fronts.members[level], fronts.owners[level]
    for i in range(fronts.sizes[level]):
        if _weakly_dominates(lines, members[i], line):
            return
    i = 0
    while i < fronts.sizes[level]:
        if _weakly_dominates(lines, line, members[i]):
            _remove(fronts, level, i)
        else:
            i += 1
    if fronts.sizes[level] == FRONT_CAPACITY:
        measure_ranges(lines, fronts, level)
        most_crowded, smallest = 0, np.inf
        for i in range(FRONT_CAPACITY):
            distance = isolation(lines, fronts, level, i)
            if distance < smallest:
                most_crowded, smallest = i, distance
        _remove(fronts, level, most_crowded)
    last = fronts.sizes[level]
    copy_line(lines, line, members[last])
    owners[last] = owner
    fronts.sizes[level] = last + 1


@kernel
def _remove(fronts, level, i):
    """Remove a member of a front by moving the last one to its place."""
    members, owners = fronts.members[level], fronts.owners[level]
    last = fronts.sizes[level] - 1
    members[i], members[last] = members[last], members[i]
    owners[i] = owners[last]
    fronts.sizes[level] = last


@kernel
def choose_target(lines, fronts, level, policy, word):
    """Choose the line that a policy is adapted towards; return it and the generator word."""
    num_own = 0
    for i in range(fronts.sizes[level]):
        num_own += np.int64(fronts.owners[level, i] == policy)
    word = advance(word)
    first = _choose_line(fronts, level, policy, num_own, word)
    word = advance(word)
    second = _choose_line(fronts, level, policy, num_own, word)
    if first != second:
        measure_ranges(lines, fronts, level)
        if isolation(lines, fronts, level, second) > isolation(lines, fronts, level, first):
            first = second
    return fronts.members[level, first], word


@kernel
def _choose_line(fronts, level, policy, num_own, word):
    """Return a random one of the `num_own` lines that a policy found, or any line if there are none."""
    if num_own == 0:
        return below(word, fronts.sizes[level])
    remaining = below(word, num_own)
    i = 0
    while fronts.owners[level, i] != policy or remaining > 0:
        remaining -= np.int64(fronts.owners[level, i] == policy)
        i += 1
    return i


@cache_by_rules
def make_search(game: Game, biased: bool = False) -> Callable[..., Any]:
    """Compile the search for this game's rules, with or without a bias."""
    play_game = make_playout(game, biased)

    def search(
        policies, lines, scratch, batch, fronts, completed, num_policies, iterations, alpha, word, used, budget, first
    ):  # fmt: skip
        """Run playouts until the batch is full or the budget is spent.

        Returns the number of games, of completed searches of the top level, the steps so far, and the generator word.

        Level n has the policies from (n - 1) * num_policies on and completed[n] completed iterations; line 0 is the playout.
        `first`: complete the first game even beyond the budget.
        """
        top = completed.shape[0] - 1
        num_games, completed_searches = 0, 0
        while num_games < batch.lengths.shape[0] and (used < budget or first):
            if completed[top] >= iterations:
                for table in range(top * num_policies):
                    reset_policy(policies, table)
                completed[:] = 0
                fronts.sizes[:] = 0
            policy = completed[1] % num_policies
            max_steps = NO_LIMIT if first else budget - used
            complete, steps, word = play_game(policies, policy, lines, 0, scratch, word, max_steps)
            used += steps
            if not complete:
                break
            first = False
            write_game(lines, batch, num_games, used)
            num_games += 1
            add_to_front(lines, fronts, 1, 0, policy)
            line, word = choose_target(lines, fronts, 1, policy, word)
            adapt(policies, policy, lines, line, alpha, scratch)
            completed[1] += 1
            level = 1
            while completed[level] >= iterations and level < top:
                for i in range(fronts.sizes[level]):
                    add_to_front(lines, fronts, level + 1, fronts.members[level, i], fronts.owners[level, i])
                completed[level], fronts.sizes[level] = 0, 0
                level += 1
                completed[level] += 1
                for policy in range(num_policies):
                    line, word = choose_target(lines, fronts, level, policy, word)
                    adapt(policies, (level - 1) * num_policies + policy, lines, line, alpha, scratch)
            completed_searches += np.int64(completed[top] >= iterations)
            for lower in range(level - 1, 0, -1):
                for policy in range(num_policies):
                    copy_policy(policies, lower * num_policies + policy, (lower - 1) * num_policies + policy)
        return num_games, completed_searches, used, word

    return compile_entry_point(search, f"{game.rules_key}.pareto_nrpa{'.biased' if biased else ''}")
