# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Nested rollout policy adaptation towards a front: several policies, and sets of lines that do not dominate each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans, check_certain
from momagames.baselines.search.nrpa import check_nesting
from momagames.baselines.search.nrpa_kernels import (
    adapt,
    check_lines,
    copy_line,
    copy_policy,
    forget,
    lines,
    playout,
    scratch,
    tables,
    write,
)
from momagames.baselines.search.playout_buffer import PlayoutBuffer
from momagames.contract import Game
from momagames.engine.loops import once_for_rules
from momagames.errors import check_range
from momagames.kernels.jit import driver, kernel
from momagames.kernels.rng import advance, below

MAX_POLICIES = 32
ROOM = 32  # lines in the front of a level


@dataclass(frozen=True)
class ParetoNrpa(Method):
    """Nested rollout policy adaptation with a set of policies and a front of lines at each level, without weights.

    A search of level 0 is one playout by one of the policies, taken in turn. A search of level n calls `iterations` searches
    of level n - 1, each with copies of its policies, and takes their fronts into its own. Each policy is adapted towards a
    line of the front that it found itself (one of any, if there is none): of two such lines drawn by lot that which is
    further from all others, so that the policies spread. At level 1 only the policy that played is adapted. A front keeps up to
    32 lines; where there are more the most crowded goes. A search of the top level that ends before the budget is spent
    starts anew, without what was learnt. All complete games make the result.

    Moves are known to a policy by codes, and steps are counted, as in `nrpa`. What is taken from the source is the idea of
    several policies, fronts at each level and adaptation by isolation; the choice of lines and the bound are our own.

    num_policies at each level, 1..32
    levels       of nesting, 1..6
    iterations   of each level
    alpha        by how much the weight of a move grows in an adaptation, more than 0, up to 10

    Source: Lallouet, Cazenave and Enderli, "Pareto-NRPA: a novel Monte-Carlo search algorithm for multi-objective
    optimization", arXiv:2507.19109, 2025; Rosin, "Nested rollout policy adaptation for Monte Carlo tree search", IJCAI 2011.
    """

    name: ClassVar[str] = "pareto_nrpa"
    num_policies: int
    levels: int
    iterations: int
    alpha: float

    def __post_init__(self) -> None:
        check_range(f"{self.name}: num_policies", self.num_policies, 1, MAX_POLICIES)
        check_nesting(self.name, self.levels, self.iterations, self.alpha)

    def check_chance(self, game: Game) -> None:
        """Raise InvalidParameter if the search may not know what this game will draw."""
        check_certain(self.name, game)

    def check_plan(self, game: Game) -> None:
        self.check_chance(game)
        check_lines(self.name, game, self.levels * ROOM + 1)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        minds, memory, work = tables(self.levels * self.num_policies), lines(game, self.levels * ROOM + 1), scratch(game, start)
        fronts = _fronts(self.levels, len(game.objectives))
        done = np.full(self.levels + 1, self.iterations)  # as after a search: the next one starts anew
        search = searcher(game)
        harvest = PlayoutBuffer(game)
        word = np.random.default_rng(seed).integers(2**64, dtype=np.uint64)
        used = finished = 0
        while used < budget or not harvest.games:
            made, ended, used, word = search(
                minds, memory, work, harvest.batch, fronts, done, self.num_policies, self.iterations, self.alpha, word, used,
                budget, not harvest.games,
            )  # fmt: skip
            word = np.uint64(word)
            finished += ended
            harvest.bring(made, self.name)
        return Plans(
            harvest.archive.front(),
            used,
            facts={"episodes": harvest.games, "searches": finished},
            passed=harvest.archive.passed,
        )


class Fronts(NamedTuple):
    """The lines of each level that do not dominate each other.

    members   int64[L + 1, ROOM], which line; the first `sizes` of a row count, the others are free
    owners    int64[L + 1, ROOM], by which policy it was found
    sizes     int64[L + 1]
    spans     float64[K], the range of each objective in the front that was measured last
    """

    members: NDArray[np.int64]
    owners: NDArray[np.int64]
    sizes: NDArray[np.int64]
    spans: NDArray[np.float64]


def _fronts(levels: int, objectives: int) -> Fronts:
    """Empty fronts: level n has the lines from 1 + (n - 1) * ROOM on; level 0 has none."""
    members = np.arange(ROOM) + 1 + (np.arange(levels + 1)[:, None] - 1) * ROOM
    return Fronts(members, np.zeros_like(members), np.zeros(levels + 1, np.int64), np.zeros(objectives))


@kernel
def _covers(lines, a, b):
    """Whether line a is at least as good as line b in every objective."""
    for k in range(lines.values.shape[1]):  # noqa: SIM110 - compiled without generators
        if lines.values[a, k] < lines.values[b, k]:
            return False
    return True


@kernel
def measure(lines, fronts, level):
    """The range of each objective in a front."""
    for k in range(lines.values.shape[1]):
        low, high = np.inf, -np.inf
        for i in range(fronts.sizes[level]):
            value = lines.values[fronts.members[level, i], k]
            low, high = min(low, value), max(high, value)
        fronts.spans[k] = high - low


@kernel
def isolation(lines, fronts, level, i):
    """How far a line is from the nearest other one of its front, which was measured: the greatest of the differences in the
    objectives, in shares of their ranges."""
    nearest = np.inf
    line = fronts.members[level, i]
    for j in range(fronts.sizes[level]):
        if j != i:
            other = fronts.members[level, j]
            apart = 0.0
            for k in range(lines.values.shape[1]):
                if fronts.spans[k] > 0:
                    apart = max(apart, abs(lines.values[line, k] - lines.values[other, k]) / fronts.spans[k])
            nearest = min(nearest, apart)
    return nearest


@kernel
def offer(lines, fronts, level, line, owner):
    """Take a line into a front unless another covers it; those that it covers go, or the most crowded if there is no room."""
    members, owners = fronts.members[level], fronts.owners[level]
    for i in range(fronts.sizes[level]):
        if _covers(lines, members[i], line):
            return
    i = 0
    while i < fronts.sizes[level]:
        if _covers(lines, line, members[i]):
            _drop(fronts, level, i)
        else:
            i += 1
    if fronts.sizes[level] == ROOM:
        measure(lines, fronts, level)
        crowded, least = 0, np.inf
        for i in range(ROOM):
            apart = isolation(lines, fronts, level, i)
            if apart < least:
                crowded, least = i, apart
        _drop(fronts, level, crowded)
    last = fronts.sizes[level]
    copy_line(lines, line, members[last])
    owners[last] = owner
    fronts.sizes[level] = last + 1


@kernel
def _drop(fronts, level, i):
    """The last of a front takes the place of one that goes."""
    members, owners = fronts.members[level], fronts.owners[level]
    last = fronts.sizes[level] - 1
    members[i], members[last] = members[last], members[i]
    owners[i] = owners[last]
    fronts.sizes[level] = last


@kernel
def aim(lines, fronts, level, policy, word):
    """The line that a policy is adapted to, and the generator word."""
    own = 0
    for i in range(fronts.sizes[level]):
        own += np.int64(fronts.owners[level, i] == policy)
    word = advance(word)
    one = _nth(fronts, level, policy, own, word)
    word = advance(word)
    two = _nth(fronts, level, policy, own, word)
    if one != two:
        measure(lines, fronts, level)
        if isolation(lines, fronts, level, two) > isolation(lines, fronts, level, one):
            one = two
    return fronts.members[level, one], word


@kernel
def _nth(fronts, level, policy, own, word):
    """By lot one of the `own` lines that a policy found, or any if there are none."""
    if own == 0:
        return below(word, fronts.sizes[level])
    left = below(word, own)
    i = 0
    while fronts.owners[level, i] != policy or left > 0:
        left -= np.int64(fronts.owners[level, i] == policy)
        i += 1
    return i


@once_for_rules
def searcher(game: Game) -> Callable[..., Any]:
    """The compiled search for this game's rules."""
    play = playout(game)

    def search(
        tables, lines, scratch, batch, fronts, done, policies, iterations, alpha, word, used, budget, first
    ):  # fmt: skip
        """Playouts until the batch is full or the budget is spent; returns their number, that of searches of the top level
        that came to an end, the steps made so far, and the generator word.

        Level n has its policies in the tables from (n - 1) * policies on, and has made done[n] of its iterations; line 0 is
        the playout. `first`: the first game is finished in any case.
        """
        top = done.shape[0] - 1
        made, ended = 0, 0
        while made < batch.lengths.shape[0] and (used < budget or first):
            if done[top] >= iterations:
                for table in range(top * policies):
                    forget(tables, table)
                done[:] = 0
                fronts.sizes[:] = 0
            who = done[1] % policies
            complete, steps, word = play(tables, who, lines, 0, scratch, word, batch.moves.shape[1] if first else budget - used)
            used += steps
            if not complete:
                break
            first = False
            write(lines, 0, batch, made, used)
            made += 1
            offer(lines, fronts, 1, 0, who)
            line, word = aim(lines, fronts, 1, who, word)
            adapt(tables, who, lines, line, alpha, scratch)
            done[1] += 1
            level = 1
            while done[level] >= iterations and level < top:
                for i in range(fronts.sizes[level]):
                    offer(lines, fronts, level + 1, fronts.members[level, i], fronts.owners[level, i])
                done[level], fronts.sizes[level] = 0, 0
                level += 1
                done[level] += 1
                for policy in range(policies):
                    line, word = aim(lines, fronts, level, policy, word)
                    adapt(tables, (level - 1) * policies + policy, lines, line, alpha, scratch)
            ended += np.int64(done[top] >= iterations)
            for lower in range(level - 1, 0, -1):
                for policy in range(policies):
                    copy_policy(tables, lower * policies + policy, (lower - 1) * policies + policy)
        return made, ended, used, word

    return driver(search, f"{game.rules_key}.pareto_nrpa")
