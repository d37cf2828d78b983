# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Local search for weighted sums of the objectives: a plan is cut at a random ply and its suffix is replayed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans
from momagames.baselines.search.move_codes import get_move_codes
from momagames.baselines.search.playout_buffer import PlayoutBuffer
from momagames.baselines.weight_lattice import format_weights, simplex_lattice
from momagames.contract import Game
from momagames.engine.lookahead import Trial, make_lookahead, make_trial, weigh
from momagames.engine.loops import cache_by_rules, make_distinct_legal
from momagames.engine.masks import list_actions
from momagames.engine.playouts import NO_LIMIT
from momagames.errors import check_range
from momagames.kernels.jit import compile_entry_point, kernel
from momagames.kernels.rng import advance, below, uniform, update_best


@dataclass(frozen=True)
class LocalSearch(Method):
    """Local search over plans, once for each weight vector of a simplex lattice.

    The search starts from one complete game. It repeatedly cuts the game at a random ply, plays a random move there, and plays
    to the end. With probability `keep` a move is the next move of the old game that is still legal; otherwise it is greedy or
    random. Move codes identify moves: in MO-SameGame the removed group, elsewhere the action and its ply. The new game
    replaces the old one if its weighted sum of returns is not smaller. After `patience` consecutive games without improvement
    the search restarts. The weight vectors share the budget evenly, one after the other. The result holds all complete games.

    Each move and each action tried by a greedy move counts as one step of the budget; positions before the cut are stored, not
    replayed. The first game is completed even if the budget is smaller; any other game that exceeds the budget is discarded.

    divisions    lattice divisions: C(divisions + K - 1, K - 1) weight vectors for K objectives
    keep         probability, 0..1, that a move after the cut follows the old game
    greed        probability, 0..1, that another move is greedy for the weighted immediate reward, ties broken at random
    patience     games without improvement before a restart, 1 or more

    Source: Hoos and Stützle, "Stochastic local search", 2004 (iterative improvement with restarts); linear scalarization as
    in Roijers et al., "A survey of multi-objective sequential decision-making", JAIR 48, 2013.
    """

    name: ClassVar[str] = "local_search"
    divisions: int
    keep: float
    greed: float
    patience: int

    def __post_init__(self) -> None:
        check_range(f"{self.name}: divisions", self.divisions, 1)
        check_range(f"{self.name}: keep", self.keep, 0, 1)
        check_range(f"{self.name}: greed", self.greed, 0, 1)
        check_range(f"{self.name}: patience", self.patience, 1)

    def check_plan(self, game: Game) -> None:
        self.check_one_return(game)
        simplex_lattice(len(game.objectives), self.divisions)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        lattice = simplex_lattice(len(game.objectives), self.divisions)
        pair, workspace = _make_game_pair(game, start), _make_workspace(game)
        search = make_search(game)
        buffer = PlayoutBuffer(game)
        word = np.random.default_rng(seed).integers(2**64, dtype=np.uint64)
        used = restarts = 0
        for i, weights in enumerate(lattice):
            share = budget * (i + 1) // len(lattice)
            stale = self.patience  # the first game of these weights is a restart
            while used < share or not buffer.num_games:
                num_games, new_starts, stale, used, word = search(
                    pair, workspace, buffer.batch, weights, self.keep, self.greed, self.patience, stale, word, used,
                    share, budget, not buffer.num_games,
                )  # fmt: skip
                word = np.uint64(word)
                restarts += new_starts
                buffer.flush(num_games, format_weights(weights))
        facts = {"episodes": buffer.num_games, "starts": restarts, "weights": len(lattice)}
        return Plans(buffer.archive.front(), used, info=facts, dominated=buffer.archive.dominated)


class GamePair(NamedTuple):
    """Current game of the search, and the candidate game.

    states       record[T + 1], the position before each ply
    sums         float64[T + 1, K], the return before each ply
    moves        int32[T]
    codes        uint64[T], codes of the moves
    length       int64[1], the number of plies
    candidate_*  the same arrays for the candidate, valid from the cut
    """

    states: NDArray[Any]
    sums: NDArray[np.float64]
    moves: NDArray[np.int32]
    codes: NDArray[np.uint64]
    length: NDArray[np.int64]
    candidate_states: NDArray[Any]
    candidate_sums: NDArray[np.float64]
    candidate_moves: NDArray[np.int32]
    candidate_codes: NDArray[np.uint64]


class Workspace(NamedTuple):
    """Scratch arrays: those of steps, listed actions, and their codes."""

    trial: Trial
    actions: NDArray[np.int64]
    codes: NDArray[np.uint64]


def _make_game_pair(game: Game, start: NDArray[Any]) -> GamePair:
    plies, num_objectives = game.max_episode_steps, len(game.objectives)
    pair = GamePair(
        np.empty(plies + 1, game.dtype),
        np.zeros((plies + 1, num_objectives)),
        np.empty(plies, np.int32),
        np.empty(plies, np.uint64),
        np.zeros(1, np.int64),
        np.empty(plies + 1, game.dtype),
        np.zeros((plies + 1, num_objectives)),
        np.empty(plies, np.int32),
        np.empty(plies, np.uint64),
    )
    pair.states[0] = start[0]
    return pair


def _make_workspace(game: Game) -> Workspace:
    size = game.mask_size + 1
    return Workspace(make_trial(game), np.zeros(size, np.int64), np.zeros(size, np.uint64))


@kernel
def _accept_candidate(pair, cut, length):
    """Make the candidate the current game."""
    for ply in range(cut, length):
        pair.moves[ply], pair.codes[ply] = pair.candidate_moves[ply], pair.candidate_codes[ply]
        pair.states[ply + 1] = pair.candidate_states[ply + 1]
        for k in range(pair.sums.shape[1]):
            pair.sums[ply + 1, k] = pair.candidate_sums[ply + 1, k]
    pair.length[0] = length


@kernel
def _write_candidate(pair, cut, length, batch, row, steps):
    """Write the candidate as a row of a batch; see `playout_buffer`."""
    for ply in range(cut):
        batch.moves[row, ply] = pair.moves[ply]
    for ply in range(cut, length):
        batch.moves[row, ply] = pair.candidate_moves[ply]
    for k in range(pair.sums.shape[1]):
        batch.values[row, k] = pair.candidate_sums[length, k]
    batch.lengths[row] = length
    batch.steps[row] = steps


@kernel
def _find_next_move(old_codes, first, length, codes, count, default):
    """Find the next legal move of the old game: whether there is one, the index of its code, and the ply to continue from."""
    for ply in range(first, length):
        for i in range(count):
            if codes[i] == old_codes[ply]:
                return True, i, ply + 1
    return False, default, length


@cache_by_rules
def make_search(game: Game) -> Callable[..., Any]:
    """Compile the search for this game's rules."""
    play_copy, write_legal = make_lookahead(game).play_copy, make_distinct_legal(game)
    codes = get_move_codes(game)

    @kernel
    def choose_greedy(state, agent, workspace, count, weights, word):
        """Return the index of the listed action with the best weighted reward, ties broken at random; and the word."""
        best, chosen, ties, trial = -np.inf, 0, 0, workspace.trial
        for i in range(count):
            play_copy(state, workspace.actions[i], trial.states, 0, trial)
            value = weigh(weights, trial.reward, agent)
            is_best, best, ties, word = update_best(value, best, ties, word)
            if is_best:
                chosen = i
        return chosen, word

    @kernel
    def play_candidate(pair, workspace, cut, old_length, weights, keep, greed, word, max_steps):
        """Play from the cut in at most `max_steps` steps; `old_length` is the length of the old game.

        Returns whether the game ended, its plies, the steps, and the generator word.
        """
        pair.candidate_states[cut] = pair.states[cut]
        for k in range(weights.shape[0]):
            pair.candidate_sums[cut, k] = pair.sums[cut, k]
        ply, followed, trial = cut, cut, workspace.trial
        trial.steps[0] = 0
        while pair.candidate_states[ply]["over"] == 0:
            state = pair.candidate_states[ply]
            agent = np.int64(state["to_move"])
            write_legal(state, trial.mask)
            count = list_actions(trial.mask, workspace.actions)
            trial.states[1] = state
            count = codes(trial.states[1], workspace.actions, count, workspace.codes)
            word = advance(word)
            i = below(word, count)
            word = advance(word)
            follows = False
            if ply > cut and uniform(word) < keep:
                follows, i, followed = _find_next_move(pair.codes, followed, old_length, workspace.codes, count, i)
            word = advance(word)
            is_greedy = ply > cut and not follows and uniform(word) < greed
            if trial.steps[0] + 1 + (count if is_greedy else 0) > max_steps:
                return False, ply, max_steps, word
            if is_greedy:
                i, word = choose_greedy(state, agent, workspace, count, weights, word)
            play_copy(state, workspace.actions[i], pair.candidate_states, ply + 1, trial)
            pair.candidate_moves[ply], pair.candidate_codes[ply] = workspace.actions[i], workspace.codes[i]
            for k in range(weights.shape[0]):
                pair.candidate_sums[ply + 1, k] = pair.candidate_sums[ply, k] + trial.reward[agent, k]
            ply += 1
        return True, ply, int(trial.steps[0]), word

    def search(
        pair, workspace, batch, weights, keep, greed, patience, stale, word, used, share, budget, first
    ):  # fmt: skip
        """Play games until the batch is full or the share is spent.

        Returns the number of games, of restarts, of games since the last improvement, the steps so far, and the generator
        word. The search restarts if `stale` reaches `patience`. `first`: complete the first game even beyond the budget.
        """
        num_games, starts = 0, 0
        while num_games < batch.lengths.shape[0] and (used < share or first):
            restart = stale >= patience
            word = advance(word)
            cut = 0 if restart else below(word, pair.length[0])
            old_length = 0 if restart else pair.length[0]
            max_steps = NO_LIMIT if first else budget - used
            complete, length, steps, word = play_candidate(
                pair, workspace, cut, old_length, weights, keep, greed, word, max_steps
            )
            used += steps
            if not complete:
                break
            first = False
            _write_candidate(pair, cut, length, batch, num_games, used)
            num_games += 1
            gain = weigh(weights, pair.candidate_sums, length) - weigh(weights, pair.sums, pair.length[0])
            if restart or gain >= 0:
                _accept_candidate(pair, cut, length)
            starts += np.int64(restart)
            stale = 0 if restart or gain > 0 else stale + 1
        return num_games, starts, stale, used, word

    return compile_entry_point(search, f"{game.rules_key}.local_search")
