# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Nested rollout policy adaptation for weighted sums of the objectives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans, check_certain
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
from momagames.baselines.weight_lattice import label, simplex_lattice
from momagames.contract import Game
from momagames.engine.loops import once_for_rules
from momagames.errors import check_range
from momagames.kernels.jit import driver, kernel

MAX_LEVELS, MAX_ITERATIONS, MAX_ALPHA = 6, 10_000, 10.0


@dataclass(frozen=True)
class Nrpa(Method):
    """Nested rollout policy adaptation, once for each weight vector of a simplex lattice.

    A search of level 0 is one playout by the policy. A search of level n calls `iterations` searches of level n - 1, each
    with a copy of its policy, and adapts its policy after each towards the best line so far, of equal ones the latest. The
    weight vectors share the budget evenly, one after the other; a search of the top level that ends before its share is
    spent starts anew, without what was learnt. All complete games make the result.

    Moves are known to a policy by codes: in MO-SameGame the group that is removed, elsewhere the action and its ply.
    Each move of a playout is a step of the budget; adaptation makes none. The first game is finished even if the budget is
    smaller, otherwise a game that the budget breaks off is lost.

    divisions    of the lattice: C(divisions + K - 1, K - 1) weight vectors for K objectives
    levels       of nesting, 1..6
    iterations   of each level
    alpha        by how much the weight of a move grows in an adaptation, more than 0, up to 10

    Source: Rosin, "Nested rollout policy adaptation for Monte Carlo tree search", IJCAI 2011; linear scalarization as in
    Roijers et al., "A survey of multi-objective sequential decision-making", JAIR 48, 2013.
    """

    name: ClassVar[str] = "nrpa"
    divisions: int
    levels: int
    iterations: int
    alpha: float

    def __post_init__(self) -> None:
        check_range(f"{self.name}: divisions", self.divisions, 1)
        check_nesting(self.name, self.levels, self.iterations, self.alpha)

    def check_chance(self, game: Game) -> None:
        """Raise InvalidParameter if the search may not know what this game will draw."""
        check_certain(self.name, game)

    def check_plan(self, game: Game) -> None:
        self.check_chance(game)
        simplex_lattice(len(game.objectives), self.divisions)
        check_lines(self.name, game, self.levels + 1)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        lattice = simplex_lattice(len(game.objectives), self.divisions)
        policies, memory, work = tables(self.levels), lines(game, self.levels + 1), scratch(game, start)
        done, best = np.zeros(self.levels + 1, np.int64), np.full(self.levels + 1, -np.inf)
        search = searcher(game)
        harvest = PlayoutBuffer(game)
        word = np.random.default_rng(seed).integers(2**64, dtype=np.uint64)
        used = finished = 0
        for i, weights in enumerate(lattice):
            share = budget * (i + 1) // len(lattice)
            done[:] = self.iterations  # as after a search: the next one starts anew
            while used < share or not harvest.games:
                made, ended, used, word = search(
                    policies, memory, work, harvest.batch, weights, done, best, self.iterations, self.alpha, word, used,
                    share, budget, not harvest.games,
                )  # fmt: skip
                word = np.uint64(word)
                finished += ended
                harvest.bring(made, label(weights))
        facts = {"episodes": harvest.games, "searches": finished, "weights": len(lattice)}
        return Plans(harvest.archive.front(), used, facts=facts, passed=harvest.archive.passed)


def check_nesting(name: str, levels: int, iterations: int, alpha: float) -> None:
    """Raise InvalidParameter for options that are not possible."""
    check_range(f"{name}: levels", levels, 1, MAX_LEVELS)
    check_range(f"{name}: iterations", iterations, 1, MAX_ITERATIONS)
    check_range(f"{name}: alpha", alpha, 0, MAX_ALPHA, above=True)


@kernel
def _begin(tables, done, best):
    """The top level starts anew."""
    for level in range(1, done.shape[0]):
        forget(tables, level - 1)
        done[level] = 0
        best[level] = -np.inf


@once_for_rules
def searcher(game: Game) -> Callable[..., Any]:
    """The compiled search for this game's rules."""
    play = playout(game)

    def search(
        tables, lines, scratch, batch, weights, done, best, iterations, alpha, word, used, share, budget, first
    ):  # fmt: skip
        """Playouts until the batch is full or the share is spent; returns their number, that of searches of the top level
        that came to an end, the steps made so far, and the generator word.

        Level n has its policy in table n - 1, its best line in line n (its score in best[n]) and has made done[n] of its
        iterations; line 0 is the playout. `first`: the first game is finished in any case.
        """
        top = done.shape[0] - 1
        made, ended = 0, 0
        while made < batch.lengths.shape[0] and (used < share or first):
            if done[top] >= iterations:
                _begin(tables, done, best)
            complete, steps, word = play(tables, 0, lines, 0, scratch, word, batch.moves.shape[1] if first else budget - used)
            used += steps
            if not complete:
                break
            first = False
            write(lines, 0, batch, made, used)
            made += 1
            score = 0.0
            for k in range(weights.shape[0]):
                score += weights[k] * lines.values[0, k]
            level, line = 1, 0
            while True:
                if score >= best[level]:
                    best[level] = score
                    copy_line(lines, line, level)
                adapt(tables, level - 1, lines, level, alpha, scratch)
                done[level] += 1
                if done[level] < iterations or level == top:
                    break
                score, line = best[level], level
                done[level], best[level] = 0, -np.inf
                level += 1
            if done[top] >= iterations:
                ended += 1
            else:
                for lower in range(level - 1, 0, -1):
                    copy_policy(tables, lower, lower - 1)
        return made, ended, used, word

    return driver(search, f"{game.rules_key}.nrpa")
