# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Nested Monte Carlo search for weighted sums of the objectives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans, check_deterministic
from momagames.baselines.search.nrpa import MAX_LEVELS
from momagames.baselines.search.nrpa_kernels import (
    check_lines,
    check_selective,
    make_lines,
    make_move_kernels,
    make_playout,
    make_policies,
    make_scratch,
    score_line,
    write_game,
)
from momagames.baselines.search.weighted_search import Run, search_each_weight
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.contract import Game
from momagames.engine.loops import cache_by_rules, make_distinct_legal
from momagames.engine.masks import list_actions
from momagames.engine.playouts import NO_LIMIT
from momagames.errors import check_range
from momagames.kernels.jit import compile_entry_point, kernel

CHILD = 0  # the entry of the levels that holds the position after the last move
UNLISTED = -1


@dataclass(frozen=True)
class Nmcs(Method):
    """Nested Monte Carlo search, once for each weight vector of a simplex lattice.

    A search of level 0 is one random playout. A search of level n tries each move of its position by a search of level n - 1
    after it, plays the next move of the best game that it has found so far, the first among equals, and repeats this until
    the game is over. The weight vectors share the budget evenly, one after the other. A search of the top level that ends
    within its share restarts. The result holds all complete games.

    Each move, of playouts and of levels, counts as one step of the budget. The first game is completed even if the budget is
    smaller; any other game that exceeds the budget is discarded.

    divisions    lattice divisions: C(divisions + K - 1, K - 1) weight vectors for K objectives
    levels       nesting levels, 1..6
    selective    whether all levels leave out the moves that the game calls unpromising (`SearchSupport.selective_moves`)

    Source: Cazenave, "Nested Monte-Carlo search", IJCAI 2009; linear scalarization as in Roijers et al., "A survey of
    multi-objective sequential decision-making", JAIR 48, 2013.
    """

    name: ClassVar[str] = "nmcs"
    divisions: int
    levels: int
    selective: bool = False

    def __post_init__(self) -> None:
        check_range(f"{self.name}: divisions", self.divisions, 1)
        check_range(f"{self.name}: levels", self.levels, 1, MAX_LEVELS)

    def check_plan(self, game: Game) -> None:
        check_deterministic(self.name, game)
        simplex_lattice(len(game.objectives), self.divisions)
        check_lines(self.name, game, 1)
        check_selective(self.name, game, self.selective)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        levels = _make_levels(game, start, self.levels)
        policies, lines, scratch = make_policies(1), make_lines(game, 1), make_scratch(game, start)
        search = make_search(game, self.selective)

        def start_search(weights: NDArray[np.float64]) -> Run:
            levels.active[0] = CHILD
            return lambda batch, word, used, share, first: search(
                levels, policies, lines, scratch, batch, weights, word, used, share, budget, first
            )

        return search_each_weight(game, simplex_lattice(len(game.objectives), self.divisions), budget, seed, start_search)


class Levels(NamedTuple):
    """The searches of L levels, entries 1 to L; entry CHILD holds the position after the last move.

    start         record[1], the position where games start
    positions     record[L + 1], where each search stands
    gained        float64[L + 1, K], the return before this position
    plies         int64[L + 1], the number of moves before this position
    actions       int64[L + 1, M + 1], its listed moves
    counts        int64[L + 1], their number, UNLISTED before they are listed
    tried         int64[L + 1], the number of tried moves
    path          int32[T], the moves to the position of the active level
    best_moves    int32[L + 1, T], the best game of each search, from the start
    best_lengths  int64[L + 1]
    best_scores   float64[L + 1]
    codes         uint64[M + 1], scratch array of `list_moves`
    active        int64[1], the active level; CHILD: a new search begins
    """

    start: NDArray[Any]
    positions: NDArray[Any]
    gained: NDArray[np.float64]
    plies: NDArray[np.int64]
    actions: NDArray[np.int64]
    counts: NDArray[np.int64]
    tried: NDArray[np.int64]
    path: NDArray[np.int32]
    best_moves: NDArray[np.int32]
    best_lengths: NDArray[np.int64]
    best_scores: NDArray[np.float64]
    codes: NDArray[np.uint64]
    active: NDArray[np.int64]


def _make_levels(game: Game, start: NDArray[Any], levels: int) -> Levels:
    rows, plies, actions = levels + 1, game.max_episode_steps, game.mask_size + 1
    return Levels(
        start=start.copy(),
        positions=np.zeros(rows, game.dtype),
        gained=np.zeros((rows, len(game.objectives))),
        plies=np.zeros(rows, np.int64),
        actions=np.zeros((rows, actions), np.int64),
        counts=np.zeros(rows, np.int64),
        tried=np.zeros(rows, np.int64),
        path=np.zeros(plies, np.int32),
        best_moves=np.zeros((rows, plies), np.int32),
        best_lengths=np.zeros(rows, np.int64),
        best_scores=np.zeros(rows),
        codes=np.zeros(actions, np.uint64),
        active=np.zeros(1, np.int64),
    )


@kernel
def _copy_best(levels, source, target):
    """Copy the best game of a level."""
    levels.best_scores[target], levels.best_lengths[target] = levels.best_scores[source], levels.best_lengths[source]
    for i in range(levels.best_lengths[source]):
        levels.best_moves[target, i] = levels.best_moves[source, i]


@cache_by_rules
def make_search(game: Game, selective: bool = False) -> Callable[..., Any]:
    """Compile the search for this game's rules, with all moves or selective ones."""
    step, write_legal = game.kernels.step, make_distinct_legal(game)
    find_guide, list_moves = make_move_kernels(game, selective)
    play_game = make_playout(game, selective=selective)

    def search(levels, policies, lines, scratch, batch, weights, word, used, share, budget, first):
        """Run playouts until the batch is full or the share is spent.

        Returns the number of games, of completed searches of the top level, the steps so far, and the generator word.
        `first`: complete the first game even beyond the budget. The policy of playouts has no codes: it is uniform.
        """
        top = levels.plies.shape[0] - 1
        guide = find_guide(levels.start[0], 0)
        positions, gained, plies, tried = levels.positions, levels.gained, levels.plies, levels.tried
        num_games, completed_searches = 0, 0
        while num_games < batch.lengths.shape[0] and (used < share or first):
            level = levels.active[0]
            if level == CHILD:
                level = top
                positions[top] = levels.start[0]
                gained[top] = 0.0
                plies[top] = 0
                levels.counts[top] = UNLISTED
                levels.best_scores[top] = -np.inf
            if levels.counts[level] == UNLISTED:
                state = positions[level]
                write_legal(state, scratch.mask)
                count = list_actions(scratch.mask, levels.actions[level])
                scratch.spare[0] = positions[level]
                levels.counts[level] = list_moves(
                    scratch.spare[0], guide, levels.actions[level], count, levels.codes, scratch.grades
                )
                tried[level] = 0
            is_decided = tried[level] == levels.counts[level]
            ply = plies[level]
            action = np.int64(levels.best_moves[level, ply]) if is_decided else levels.actions[level, tried[level]]
            levels.path[ply] = action
            positions[CHILD] = positions[level]
            child = positions[CHILD]
            agent = np.int64(child["to_move"])
            scratch.action[0, 0] = action
            step(child, scratch.action, scratch.reward)
            used += 1
            for k in range(gained.shape[1]):
                gained[CHILD, k] = gained[level, k] + scratch.reward[agent, k]
            is_over = child["over"] != 0
            if not is_over and (is_decided or level > 1):  # this level goes on after the move, or the level below begins there
                if not is_decided:
                    level -= 1
                    levels.best_scores[level] = -np.inf
                positions[level] = positions[CHILD]
                for k in range(gained.shape[1]):
                    gained[level, k] = gained[CHILD, k]
                plies[level] = ply + 1
                levels.counts[level] = UNLISTED
                levels.active[0] = level
                continue
            if is_decided:  # the search of this level is complete, with its best game
                completed_searches += np.int64(level == top)
                levels.active[0] = level + 1 if level < top else CHILD
                if level < top:
                    tried[level + 1] += 1
                    if levels.best_scores[level] > levels.best_scores[level + 1]:
                        _copy_best(levels, level, level + 1)
                continue
            levels.active[0] = level
            scratch.start[0] = positions[CHILD]
            complete, steps, word = play_game(policies, 0, lines, 0, scratch, word, NO_LIMIT if first else budget - used)
            used += steps
            if not complete:
                break
            first = False
            for k in range(gained.shape[1]):
                lines.values[0, k] += gained[CHILD, k]
            write_game(lines, 0, batch, num_games, used, levels.path, ply + 1)
            score = score_line(lines, 0, weights)
            tried[level] += 1
            if score > levels.best_scores[level]:
                levels.best_scores[level] = score
                levels.best_lengths[level] = batch.lengths[num_games]
                for i in range(batch.lengths[num_games]):
                    levels.best_moves[level, i] = batch.moves[num_games, i]
            num_games += 1
        return num_games, completed_searches, used, word

    return compile_entry_point(search, f"{game.rules_key}.nmcs{'.selective' if selective else ''}")
