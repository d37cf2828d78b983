# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Local search for weighted sums of the objectives: a plan is cut somewhere and played to the end anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans, check_certain
from momagames.baselines.search.move_codes import move_codes
from momagames.baselines.search.nrpa_kernels import list_actions, unit
from momagames.baselines.search.playout_buffer import PlayoutBuffer
from momagames.baselines.weight_lattice import label, simplex_lattice
from momagames.contract import Game
from momagames.engine.loops import keep_all, once_for_rules
from momagames.engine.playouts import FOREVER, buffers
from momagames.errors import check_range
from momagames.kernels.jit import driver, kernel
from momagames.kernels.rng import advance, below, lot


@dataclass(frozen=True)
class LocalSearch(Method):
    """Local search over plans, once for each weight vector of a simplex lattice.

    It starts from one complete game. Again and again it cuts its game at a ply chosen by lot, goes on from there with a move
    chosen by lot, and plays to the end: with probability `keep` a move is the next one of the old game that is still there
    (moves are told apart by codes: in MO-SameGame the group that is removed, elsewhere the action and its ply), else greedy
    or random. The new game takes the place of the old one if its weighted sum of returns is not less. After `patience` games
    in a row without a gain it starts anew. The weight vectors share the budget evenly, one after the other. All complete
    games make the result.

    Each move is a step of the budget, and so is each action that a greedy move looks at; positions before the cut are
    remembered, not played again. The first game is finished even if the budget is smaller, otherwise a game that the budget
    breaks off is lost.

    divisions    of the lattice: C(divisions + K - 1, K - 1) weight vectors for K objectives
    keep         probability, 0..1, that a move after the cut follows the old game
    greed        probability, 0..1, that another move takes the best weighted immediate reward, ties by lot; else it is random
    patience     games without a gain before it starts anew, 1 or more

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

    def check_chance(self, game: Game) -> None:
        """Raise InvalidParameter if the search may not know what this game will draw."""
        check_certain(self.name, game)

    def check_plan(self, game: Game) -> None:
        self.check_chance(game)
        simplex_lattice(len(game.objectives), self.divisions)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        lattice = simplex_lattice(len(game.objectives), self.divisions)
        walk, work = _walk(game, start), _work(game)
        search = searcher(game)
        harvest = PlayoutBuffer(game)
        word = np.random.default_rng(seed).integers(2**64, dtype=np.uint64)
        used = restarts = 0
        for i, weights in enumerate(lattice):
            share = budget * (i + 1) // len(lattice)
            idle = self.patience  # the first game of these weights is a start
            while used < share or not harvest.games:
                made, begun, idle, used, word = search(
                    walk, work, harvest.batch, weights, self.keep, self.greed, self.patience, idle, word, used, share,
                    budget, not harvest.games,
                )  # fmt: skip
                word = np.uint64(word)
                restarts += begun
                harvest.bring(made, label(weights))
        facts = {"episodes": harvest.games, "starts": restarts, "weights": len(lattice)}
        return Plans(harvest.archive.front(), used, facts=facts, passed=harvest.archive.passed)


class Walk(NamedTuple):
    """The game that the search stands at, and the one that it tries.

    states    record[T + 1], the position before each ply of the game
    sums      float64[T + 1, K], what had been won before each ply
    moves     int32[T]
    codes     uint64[T], of the moves
    length    int64[1], its plies
    tried     record[T + 1], and so on: the other game, from the cut on
    """

    states: NDArray[Any]
    sums: NDArray[np.float64]
    moves: NDArray[np.int32]
    codes: NDArray[np.uint64]
    length: NDArray[np.int64]
    tried: NDArray[Any]
    tried_sums: NDArray[np.float64]
    tried_moves: NDArray[np.int32]
    tried_codes: NDArray[np.uint64]


class Work(NamedTuple):
    """Scratch: mask, listed actions and their codes, the action and reward of a step, a spare position."""

    mask: NDArray[np.int8]
    actions: NDArray[np.int64]
    codes: NDArray[np.uint64]
    action: NDArray[np.int64]
    reward: NDArray[np.float32]
    spare: NDArray[Any]


def _walk(game: Game, start: NDArray[Any]) -> Walk:
    plies, goals = game.max_episode_steps, len(game.objectives)
    walk = Walk(
        np.empty(plies + 1, game.dtype),
        np.zeros((plies + 1, goals)),
        np.empty(plies, np.int32),
        np.empty(plies, np.uint64),
        np.zeros(1, np.int64),
        np.empty(plies + 1, game.dtype),
        np.zeros((plies + 1, goals)),
        np.empty(plies, np.int32),
        np.empty(plies, np.uint64),
    )
    walk.states[0] = start[0]
    return walk


def _work(game: Game) -> Work:
    size = game.mask_size
    return Work(
        np.zeros(size, np.int8),
        np.zeros(size + 1, np.int64),
        np.zeros(size + 1, np.uint64),
        *buffers(game),
        np.zeros(1, game.dtype),
    )


@kernel
def _weigh(weights, sums):
    total = 0.0
    for k in range(weights.shape[0]):
        total += weights[k] * sums[k]
    return total


@kernel
def _accept(walk, cut, length):
    """The game that was tried becomes the one that the search stands at."""
    for ply in range(cut, length):
        walk.moves[ply], walk.codes[ply] = walk.tried_moves[ply], walk.tried_codes[ply]
        walk.states[ply + 1] = walk.tried[ply + 1]
        for k in range(walk.sums.shape[1]):
            walk.sums[ply + 1, k] = walk.tried_sums[ply + 1, k]
    walk.length[0] = length


@kernel
def _write(walk, cut, length, batch, row, found):
    """The game that was tried as a row of a batch; see `harvest`."""
    for ply in range(cut):
        batch.moves[row, ply] = walk.moves[ply]
    for ply in range(cut, length):
        batch.moves[row, ply] = walk.tried_moves[ply]
    for k in range(walk.sums.shape[1]):
        batch.values[row, k] = walk.tried_sums[length, k]
    batch.lengths[row] = length
    batch.found[row] = found


@kernel
def _next_of(old, first, length, codes, count, otherwise):
    """The next move of the old game that is legal: whether there is one, which of the codes, and from where to look on."""
    for ply in range(first, length):
        for i in range(count):
            if codes[i] == old[ply]:
                return True, i, ply + 1
    return False, otherwise, length


@once_for_rules
def searcher(game: Game) -> Callable[..., Any]:
    """The compiled search for this game's rules."""
    legal, step, thin = game.kernels.legal, game.kernels.step, game.search.prune_equivalent_actions or keep_all
    codes = move_codes(game)

    @kernel
    def greedy(state, agent, work, count, weights, word):
        """Which of the listed actions brings the best weighted reward, ties by lot; and the word."""
        best, chosen, ties = -np.inf, 0, 0
        for i in range(count):
            work.spare[0] = state
            work.action[0, 0] = work.actions[i]
            step(work.spare[0], work.action, work.reward)
            value = _weigh(weights, work.reward[agent])
            taken, best, ties, word = lot(value, best, ties, word)
            if taken:
                chosen = i
        return chosen, word

    @kernel
    def play_on(walk, work, cut, old, weights, keep, greed, word, left):
        """Play from the cut on, in at most `left` steps; `old` is the length of the game that is followed.

        Returns whether the game ended, its plies, the steps and the word.
        """
        walk.tried[cut] = walk.states[cut]
        for k in range(weights.shape[0]):
            walk.tried_sums[cut, k] = walk.sums[cut, k]
        ply, steps, followed = cut, 0, cut
        while walk.tried[ply]["over"] == 0:
            state = walk.tried[ply]
            agent = np.int64(state["to_move"])
            legal(state, agent, work.mask)
            thin(state, work.mask)
            count = list_actions(work.mask, work.actions)
            work.spare[0] = walk.tried[ply]
            count = codes(work.spare[0], work.actions, count, work.codes)
            word = advance(word)
            i = below(word, count)
            word = advance(word)
            kept = False
            if ply > cut and unit(word) < keep:
                kept, i, followed = _next_of(walk.codes, followed, old, work.codes, count, i)
            word = advance(word)
            wise = ply > cut and not kept and unit(word) < greed
            if steps + 1 + (count if wise else 0) > left:
                return False, ply, left, word
            if wise:
                i, word = greedy(state, agent, work, count, weights, word)
                steps += count
            walk.tried[ply + 1] = walk.tried[ply]
            work.action[0, 0] = work.actions[i]
            step(walk.tried[ply + 1], work.action, work.reward)
            steps += 1
            walk.tried_moves[ply], walk.tried_codes[ply] = work.actions[i], work.codes[i]
            for k in range(weights.shape[0]):
                walk.tried_sums[ply + 1, k] = walk.tried_sums[ply, k] + work.reward[agent, k]
            ply += 1
        return True, ply, steps, word

    def search(
        walk, work, batch, weights, keep, greed, patience, idle, word, used, share, budget, first
    ):  # fmt: skip
        """Games until the batch is full or the share is spent; returns their number, that of starts, the games since the
        last gain, the steps made so far, and the generator word.

        `idle` at `patience` means a start; `first`: the first game is finished in any case.
        """
        made, starts = 0, 0
        while made < batch.lengths.shape[0] and (used < share or first):
            fresh = idle >= patience
            word = advance(word)
            cut = 0 if fresh else below(word, walk.length[0])
            old = 0 if fresh else walk.length[0]
            left = FOREVER if first else budget - used
            complete, length, steps, word = play_on(walk, work, cut, old, weights, keep, greed, word, left)
            used += steps
            if not complete:
                break
            first = False
            _write(walk, cut, length, batch, made, used)
            made += 1
            gain = _weigh(weights, walk.tried_sums[length]) - _weigh(weights, walk.sums[walk.length[0]])
            if fresh or gain >= 0:
                _accept(walk, cut, length)
            starts += np.int64(fresh)
            idle = 0 if fresh or gain > 0 else idle + 1
        return made, starts, idle, used, word

    return driver(search, f"{game.rules_key}.local_search")
