# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Single-player Monte Carlo tree search for weighted sums of the objectives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans, check_deterministic
from momagames.baselines.mcts.tree import (
    ROOT,
    check_size,
    get_or_add_node,
    hash_child,
    list_legal_arms,
    make_tree,
    natural_log,
    reset_tree,
)
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
from momagames.kernels.rng import update_best

MAX_SIMULATIONS, MAX_EXPLORATION, MAX_DEVIATION = 1_000_000, 1000.0, 1e6
SUM, SQUARES = 0, 1  # criteria of an arm in the tree


@dataclass(frozen=True)
class SpMcts(Method):
    """Single-player Monte Carlo tree search, once for each weight vector of a simplex lattice.

    A search is a tree with the start position as its root. Each simulation follows the moves with the highest

        mean + exploration * sqrt(ln N / n) + sqrt(variance + deviation / n)

    where a move has been tried n times and its position has been visited N times, moves not tried yet first, ties broken at
    random; adds one position to the tree; and ends with a random playout. Scores are weighted returns, normalized to 0..1 by
    the smallest and the largest one of this search. After `simulations` games the tree is discarded and a new search begins
    (randomized restarts). The weight vectors share the budget evenly, one after the other. The result holds all complete
    games: moves are not decided one by one, as `uct` does.

    Each move of a simulation counts as one step of the budget. The first game is completed even if the budget is smaller; any
    other game that exceeds the budget is discarded.

    divisions     lattice divisions: C(divisions + K - 1, K - 1) weight vectors for K objectives
    simulations   games of a search, 1..1,000,000
    exploration   factor of the confidence radius, 0..1000
    deviation     constant that raises the deviation of moves that were tried a few times, 0..1,000,000
    selective     whether the tree and the playouts leave out the moves that the game calls unpromising
                  (`SearchSupport.selective_moves`)

    Source: Schadd, Winands, Tak and Uiterwijk, "Single-player Monte-Carlo tree search for SameGame", Knowledge-Based Systems
    34, 2012, where scores are not normalized; linear scalarization as in Roijers et al., "A survey of multi-objective
    sequential decision-making", JAIR 48, 2013.
    """

    name: ClassVar[str] = "sp_mcts"
    divisions: int
    simulations: int
    exploration: float
    deviation: float
    selective: bool = False

    def __post_init__(self) -> None:
        check_range(f"{self.name}: divisions", self.divisions, 1)
        check_range(f"{self.name}: simulations", self.simulations, 1, MAX_SIMULATIONS)
        check_range(f"{self.name}: exploration", self.exploration, 0, MAX_EXPLORATION)
        check_range(f"{self.name}: deviation", self.deviation, 0, MAX_DEVIATION)

    def check_plan(self, game: Game) -> None:
        check_deterministic(self.name, game)
        simplex_lattice(len(game.objectives), self.divisions)
        check_lines(self.name, game, 1)
        check_size(self.name, game, self.simulations, 2)
        check_selective(self.name, game, self.selective)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        tree, policies, lines = make_tree(game, self.simulations, 2), make_policies(1), make_lines(game, 1)
        scratch = make_scratch(game, start)
        line = Line(
            start.copy(),
            np.zeros(game.max_episode_steps, np.int32),
            np.zeros(game.max_episode_steps, np.int64),
            np.zeros(len(game.objectives)),
            np.zeros(game.mask_size + 1, np.uint64),
            np.zeros(1, np.int64),
        )
        constants = np.array([self.exploration, self.deviation])
        search = make_search(game, self.selective)

        def start_search(weights: NDArray[np.float64]) -> Run:
            line.simulations[0] = 0
            return lambda batch, word, used, share, first: search(
                tree, line, policies, lines, scratch, batch, weights, self.simulations, constants, word, used, share, budget,
                first,
            )  # fmt: skip

        return search_each_weight(game, simplex_lattice(len(game.objectives), self.divisions), budget, seed, start_search)


class Line(NamedTuple):
    """The part of a simulation in the tree.

    start         record[1], the root
    path          int32[T], the moves
    arms          int64[T], their arms
    gained        float64[K], the return
    codes         uint64[M + 1], scratch array of `list_moves`
    simulations   int64[1], the games of this search so far
    """

    start: NDArray[Any]
    path: NDArray[np.int32]
    arms: NDArray[np.int64]
    gained: NDArray[np.float64]
    codes: NDArray[np.uint64]
    simulations: NDArray[np.int64]


@kernel
def _select_arm(tree, count, constants, word):
    """Return the candidate to follow, of the first `count`, and the generator word."""
    total = 0
    for i in range(count):
        total += tree.visits[tree.candidates[i]]
    spread, low, size = natural_log(max(total, 1)), tree.low[0, SUM], tree.high[0, SUM] - tree.low[0, SUM]
    chosen, ties, best = 0, 0, -np.inf
    for i in range(count):
        arm = tree.candidates[i]
        visits = tree.visits[arm]
        bound = np.inf
        if visits > 0:
            mean = tree.sums[arm, SUM] / visits
            variance = max(tree.sums[arm, SQUARES] / visits - mean * mean, 0.0)
            scaled, variance = ((mean - low) / size, variance / (size * size)) if size > 0 else (0.0, 0.0)
            bound = scaled + constants[0] * np.sqrt(spread / visits) + np.sqrt(variance + constants[1] / visits)
        is_best, best, ties, word = update_best(bound, best, ties, word)
        if is_best:
            chosen = np.int64(arm)
    return chosen, word


@cache_by_rules
def make_search(game: Game, selective: bool = False) -> Callable[..., Any]:
    """Compile the search for this game's rules, with all moves or selective ones."""
    step, write_legal = game.kernels.step, make_distinct_legal(game)
    find_guide, list_moves = make_move_kernels(game, selective)
    play_game = make_playout(game, selective=selective)

    def search(
        tree, line, policies, lines, scratch, batch, weights, simulations, constants, word, used, share, budget, first
    ):  # fmt: skip
        """Run simulations until the batch is full or the share is spent.

        Returns the number of games, of completed searches, the steps so far, and the generator word. constants: exploration
        and deviation. `first`: complete the first game even beyond the budget. The policy of playouts has no codes: it is
        uniform.
        """
        guide = find_guide(line.start[0], 0)
        num_games, completed_searches = 0, 0
        while num_games < batch.lengths.shape[0] and (used < share or first):
            if line.simulations[0] == 0:
                reset_tree(tree)
            scratch.start[0] = line.start[0]
            state = scratch.start[0]
            line.gained[:] = 0.0
            key, ply = ROOT, 0
            node, is_new = get_or_add_node(tree, key)
            while not is_new and state["over"] == 0 and (used < budget or first):
                write_legal(state, scratch.mask)
                count = list_actions(scratch.mask, scratch.actions)
                scratch.spare[0] = scratch.start[0]
                count = list_moves(scratch.spare[0], guide, scratch.actions, count, line.codes, scratch.grades)
                scratch.mask[:] = 0
                for i in range(count):
                    scratch.mask[scratch.actions[i]] = 1
                arm, word = _select_arm(tree, list_legal_arms(tree, node, 0, scratch.mask), constants, word)
                action = np.int64(tree.action[arm])
                line.path[ply], line.arms[ply] = action, arm
                agent = np.int64(state["to_move"])
                scratch.action[0, 0] = action
                step(state, scratch.action, scratch.reward)
                used += 1
                ply += 1
                for k in range(line.gained.shape[0]):
                    line.gained[k] += scratch.reward[agent, k]
                key = hash_child(key, action)
                if state["over"] == 0:
                    node, is_new = get_or_add_node(tree, key)
            complete, steps, word = play_game(policies, 0, lines, 0, scratch, word, NO_LIMIT if first else budget - used)
            used += steps
            if not complete:
                break
            first = False
            for k in range(line.gained.shape[0]):
                lines.values[0, k] += line.gained[k]
            write_game(lines, 0, batch, num_games, used, line.path, ply)
            num_games += 1
            score = score_line(lines, 0, weights)
            tree.low[0, SUM], tree.high[0, SUM] = min(tree.low[0, SUM], score), max(tree.high[0, SUM], score)
            for i in range(ply):
                tree.visits[line.arms[i]] += 1
                tree.sums[line.arms[i], SUM] += score
                tree.sums[line.arms[i], SQUARES] += score * score
            line.simulations[0] += 1
            if line.simulations[0] == simulations:
                line.simulations[0] = 0
                completed_searches += 1
        return num_games, completed_searches, used, word

    return compile_entry_point(search, f"{game.rules_key}.sp_mcts{'.selective' if selective else ''}")
