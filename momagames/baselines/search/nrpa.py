# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Nested rollout policy adaptation for weighted sums of the objectives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans
from momagames.baselines.search.nrpa_bias import make_bias, set_weights
from momagames.baselines.search.nrpa_kernels import (
    adapt,
    check_lines,
    check_selective,
    copy_line,
    copy_policy,
    make_lines,
    make_playout,
    make_policies,
    make_scratch,
    reset_policy,
    score_line,
    write_game,
)
from momagames.baselines.search.playout_buffer import Batch
from momagames.baselines.search.weighted_search import Run, search_each_weight
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.contract import Game
from momagames.engine.loops import cache_by_rules
from momagames.engine.playouts import NO_LIMIT
from momagames.errors import InvalidParameter, check_range, invalid_value
from momagames.kernels.jit import compile_entry_point, kernel

MAX_LEVELS, MAX_ITERATIONS, MAX_ALPHA, MAX_PRIOR, MAX_GUIDE = 6, 10_000, 10.0, 4.0, 100


@dataclass(frozen=True)
class Nrpa(Method):
    """Nested rollout policy adaptation, once for each weight vector of a simplex lattice.

    A search of level 0 is one playout by the policy. A search of level n calls `iterations` searches of level n - 1, each
    with a copy of its policy. After each it adapts its policy towards the best line so far, the latest among equals. The
    weight vectors share the budget evenly, one after the other. A search of the top level that ends within its share restarts
    with a uniform policy. The result holds all complete games.

    With a bias the probability of a move is that of the softmax of its score plus the adapted weight, so that the first
    playouts are those of the trained policy for the same weights of the objectives. Each action that is scored counts as one
    step as well.

    A policy identifies moves by codes: in MO-SameGame the removed group, elsewhere the action and its ply. Each move of a
    playout counts as one step of the budget; adaptation is free. The first game is completed even if the budget is smaller;
    any other game that exceeds the budget is discarded.

    divisions    lattice divisions: C(divisions + K - 1, K - 1) weight vectors for K objectives
    levels       nesting levels, 1..6
    iterations   iterations of each level
    alpha        step size of an adaptation, more than 0, up to 10
    bias         stored scorer of candidate actions, added to the weights of a policy: "champion", or the path of a checkpoint
                 of training; empty: none
    selective    whether playouts leave out the moves that the game calls unpromising (`SearchGuidance.selective_moves`)
    prior        weight of the grades of the moves in selective playouts, added to the weights of a policy, up to 4
    playouts     playouts before each adaptation of level 1, which then takes the best line of all
    repetitions  a level ends early when its best score has been found that many times again; 0: never
    guide        rank of the guide of selective playouts, 0 for the game's first choice (see `SearchGuidance.playout_guide`; in
                 MO-SameGame the color whose groups are removed late)

    Source: Rosin, "Nested rollout policy adaptation for Monte Carlo tree search", IJCAI 2011; linear scalarization as in
    Roijers et al., "A survey of multi-objective sequential decision-making", JAIR 48, 2013; bias and prior, Cazenave,
    "Generalized nested rollout policy adaptation", Monte Carlo Search 2020, CCIS 1379, 2021; selective playouts, Cazenave,
    "Nested rollout policy adaptation with selective policies", Computer Games 2016, CCIS 705, 2017; several playouts, Cazenave,
    Sevestre and Toulemont, "Stabilized nested rollout policy adaptation", arXiv:2101.03563, 2021.
    """

    name: ClassVar[str] = "nrpa"
    file_option: ClassVar[str] = "bias"
    divisions: int
    levels: int
    iterations: int
    alpha: float
    bias: str = ""
    selective: bool = False
    prior: float = 0.0
    playouts: int = 1
    repetitions: int = 0
    guide: int = 0

    def __post_init__(self) -> None:
        check_range(f"{self.name}: divisions", self.divisions, 1)
        check_nesting(self.name, self.levels, self.iterations, self.alpha)
        check_range(f"{self.name}: prior", self.prior, 0, MAX_PRIOR)
        check_range(f"{self.name}: playouts", self.playouts, 1, MAX_ITERATIONS)
        check_range(f"{self.name}: repetitions", self.repetitions, 0, MAX_ITERATIONS)
        check_range(f"{self.name}: guide", self.guide, 0, MAX_GUIDE)
        if self.selective and self.bias:
            raise InvalidParameter(
                invalid_value(f"{self.name}: bias", self.bias, "none, because selective playouts have priors of their own")
            )
        for name, value, use in (("prior", self.prior, "moves have grades"), ("guide", self.guide, "moves it chooses")):
            if value and not self.selective:
                raise InvalidParameter(
                    invalid_value(f"{self.name}: {name}", value, f"0 without selective playouts, whose {use}")
                )

    def check_plan(self, game: Game) -> None:
        self.check_one_return(game)
        simplex_lattice(len(game.objectives), self.divisions)
        check_lines(self.name, game, self.levels + 1, self.has_priors)
        make_bias(game, self.bias, 1)
        check_selective(self.name, game, self.selective)

    @property
    def has_priors(self) -> bool:
        return bool(self.bias) or self.prior > 0

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        arrays = SearchArrays(self, game, start)

        def start_search(weights: NDArray[np.float64]) -> Run:
            arrays.restart(weights)
            return lambda batch, word, used, share, first: arrays.run(batch, weights, word, used, share, budget, first)

        return search_each_weight(game, simplex_lattice(len(game.objectives), self.divisions), budget, seed, start_search)


class SearchArrays:
    """Arrays of a search: the policies, lines and counters of its levels, and the position it starts from."""

    def __init__(self, method: Nrpa, game: Game, start: NDArray[Any], searches: int = NO_LIMIT) -> None:
        """searches    complete searches of the top level after which `run` returns"""
        self._method = method
        self._bias = make_bias(game, method.bias, 1)
        self._policies, self._lines = make_policies(method.levels), make_lines(game, method.levels + 1, method.has_priors)
        self._scratch = make_scratch(game, start, self._bias, method.prior, method.guide)
        self._completed, self._best = np.zeros(method.levels + 1, np.int64), np.full(method.levels + 1, -np.inf)
        self._repeats = np.zeros(method.levels + 1, np.int64)
        self._limits = np.array([method.iterations, method.playouts, method.repetitions or NO_LIMIT, searches])
        self._search = make_search(game, method.has_priors, method.selective)
        self._levels = method.levels

    @property
    def start(self) -> NDArray[Any]:
        """record[1], the position that games start from; writable."""
        return self._scratch.start

    def restart(self, weights: NDArray[np.float64], levels: int | None = None) -> None:
        """Let the next run start a new search, with these weights and by default all levels."""
        set_weights(self._bias, weights)
        self._levels = levels or self._method.levels
        self._completed[: self._levels + 1] = self._method.iterations  # as after a complete search

    def run(
        self, batch: Batch, weights: NDArray[np.float64], word: np.uint64, used: int, share: int, budget: int, first: bool
    ) -> tuple[int, int, int, int]:
        """Run the loop of `make_search`."""
        found: tuple[int, int, int, int] = self._search(
            self._policies, self._lines, self._scratch, batch, weights, self._completed[: self._levels + 1], self._best,
            self._repeats, self._limits, self._method.alpha, word, used, share, budget, first,
        )  # fmt: skip
        return found


def check_nesting(name: str, levels: int, iterations: int, alpha: float) -> None:
    """Raise InvalidParameter for options out of range."""
    check_range(f"{name}: levels", levels, 1, MAX_LEVELS)
    check_range(f"{name}: iterations", iterations, 1, MAX_ITERATIONS)
    check_range(f"{name}: alpha", alpha, 0, MAX_ALPHA, above=True)


@kernel
def _reset_search(policies, completed, best, repeats):
    """Restart the search of the top level."""
    completed[0] = 0
    for level in range(1, completed.shape[0]):
        reset_policy(policies, level - 1)
        completed[level] = 0
        best[level] = -np.inf
        repeats[level] = 0


@cache_by_rules
def make_search(game: Game, biased: bool = False, selective: bool = False) -> Callable[..., Any]:
    """Compile the search for this game's rules, with or without priors of moves, and with all moves or selective playouts."""
    play_game = make_playout(game, biased, selective)

    def search(
        policies, lines, scratch, batch, weights, completed, best, repeats, limits, alpha, word, used, share, budget, first
    ):  # fmt: skip
        """Run playouts until the batch is full, the share is spent, or enough searches of the top level are complete.

        Returns the number of games, of completed searches of the top level, the steps so far, and the generator word.

        Level n has policy n - 1, line n as its best line with score best[n], completed[n] completed iterations, and
        repeats[n], the times that an iteration found the best score again; line 0 is the playout, and completed[0] counts the
        playouts since the last adaptation. limits: iterations, playouts before an adaptation, repeats that end a level,
        searches. `first`: complete the first game even beyond the budget.
        """
        top = completed.shape[0] - 1
        iterations, playouts, repetitions, searches = limits[0], limits[1], limits[2], limits[3]
        num_games, completed_searches = 0, 0
        while num_games < batch.lengths.shape[0] and completed_searches < searches and (used < share or first):
            if completed[top] >= iterations:
                _reset_search(policies, completed, best, repeats)
            complete, steps, word = play_game(policies, 0, lines, 0, scratch, word, NO_LIMIT if first else budget - used)
            used += steps
            if not complete:
                break
            first = False
            write_game(lines, batch, num_games, used)
            num_games += 1
            score = score_line(lines, 0, weights)
            level, line = 1, 0
            while True:
                repeats[level] = repeats[level] + 1 if score == best[level] else 0 if score > best[level] else repeats[level]
                if score >= best[level]:
                    best[level] = score
                    copy_line(lines, line, level)
                if level == 1:
                    completed[0] += 1
                    if completed[0] < playouts:
                        break
                    completed[0] = 0
                adapt(policies, level - 1, lines, level, alpha, scratch)
                completed[level] += 1
                if repeats[level] >= repetitions:
                    completed[level] = iterations
                if completed[level] < iterations or level == top:
                    break
                score, line = best[level], level
                completed[level], best[level], repeats[level] = 0, -np.inf, 0
                level += 1
            if completed[top] >= iterations:
                completed_searches += 1
            else:
                for lower in range(level - 1, 0, -1):
                    copy_policy(policies, lower, lower - 1)
        return num_games, completed_searches, used, word

    return compile_entry_point(search, f"{game.rules_key}.nrpa{'.selective' if selective else ''}{'.biased' if biased else ''}")
