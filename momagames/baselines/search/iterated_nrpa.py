"""Iterated nested rollout policy adaptation: searches from positions of the best game so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Plans
from momagames.baselines.search.nrpa import Nrpa, make_search
from momagames.baselines.search.nrpa_bias import make_bias, set_weights
from momagames.baselines.search.nrpa_kernels import make_lines, make_policies, make_scratch
from momagames.baselines.search.playout_buffer import PlayoutBuffer
from momagames.baselines.weight_lattice import format_weights, simplex_lattice
from momagames.contract import Game
from momagames.engine.episode import Episode
from momagames.engine.playouts import NO_LIMIT
from momagames.errors import check_range


@dataclass(frozen=True)
class IteratedNrpa(Nrpa):
    """Large neighborhood search whose repairs are searches of `Nrpa`, once for each weight vector of a simplex lattice.

    The first round is one complete search of the top level from the start position. Each later round is one complete search of
    the level below, from a uniformly random later ply of the current game; its best line replaces the rest of the game if the
    game does not get worse. After `patience` rounds without an improvement the current game is given up and the next round
    begins at the start position again. The moves before the position of a round count as steps of the budget as well.

    Options as of `Nrpa`, and
    patience     rounds without an improvement before a new start

    Source: Shaw, "Using constraint programming and local search methods to solve vehicle routing problems", CP 1998 (large
    neighborhood search); Rosin, "Nested rollout policy adaptation for Monte Carlo tree search", IJCAI 2011; see `Nrpa`.
    """

    name: ClassVar[str] = "iterated_nrpa"
    patience: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"{self.name}: patience", self.patience, 0)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        return self.improve(game, start, (), budget, seed)

    def improve(self, game: Game, start: NDArray[Any], actions: Sequence[int], budget: int, seed: int) -> Plans:
        """Search as `plan`, with a known complete game instead of a first round; () if there is none.

        actions    legal actions from `start` to the end, as of a `Plan`
        """
        self.check_plan(game)
        lattice = simplex_lattice(len(game.objectives), self.divisions)
        rounds = _Rounds(self, game, start, budget, seed)
        starts = num_rounds = 0
        for i, weights in enumerate(lattice):
            share = budget * (i + 1) // len(lattice)
            set_weights(rounds.bias, weights)
            current, score, stale = tuple(actions), float(rounds.play(actions) @ weights), 0
            while rounds.used < share or not rounds.buffer.num_games:
                is_start = stale >= self.patience or not current
                cut = 0 if is_start else int(rounds.rng.integers(1, max(len(current), 2)))
                found, found_score = rounds.search_from(current[:cut], weights, share)
                stale = 0 if is_start or found_score > score else stale + 1
                if found and (is_start or found_score >= score):
                    current, score = found, found_score
                starts += is_start
                num_rounds += 1
        facts = {"episodes": rounds.buffer.num_games, "rounds": num_rounds, "starts": starts, "weights": len(lattice)}
        return Plans(rounds.buffer.archive.front(), rounds.used, info=facts, dominated=rounds.buffer.archive.dominated)


class _Rounds:
    """Arrays of the searches of all rounds, the steps used, and the games found."""

    def __init__(self, method: Nrpa, game: Game, start: NDArray[Any], budget: int, seed: int) -> None:
        self._method, self._start, self._budget = method, start, budget
        self.bias = make_bias(game, method.bias, 1)
        self._policies, self._lines = make_policies(method.levels), make_lines(game, method.levels + 1, method.has_priors)
        self._scratch = make_scratch(game, start, self.bias, method.prior)
        self._completed, self._best = np.zeros(method.levels + 1, np.int64), np.full(method.levels + 1, -np.inf)
        self._repeats = np.zeros(method.levels + 1, np.int64)
        self._limits = np.array([method.iterations, method.playouts, method.repetitions or NO_LIMIT, 1])
        self._search = make_search(game, method.has_priors, method.selective)
        self._episode = Episode(game)
        self.buffer, self.used = PlayoutBuffer(game), 0
        self.rng = np.random.default_rng(seed)
        self._word = self.rng.integers(2**64, dtype=np.uint64)

    def play(self, actions: Sequence[int]) -> NDArray[np.float64]:
        """Play actions from the start position; return their return, float64[K]."""
        self._episode.load(self._start[0])
        for action in actions:
            self._episode.step(action)
        gained: NDArray[np.float64] = self._episode.returns[0].astype(np.float64)
        return gained

    def search_from(self, prefix: tuple[int, ...], weights: NDArray[np.float64], share: int) -> tuple[tuple[int, ...], float]:
        """Run one search after these actions; return the best game, () if none was completed, and its score."""
        gained, batch = self.play(prefix), self.buffer.batch
        self.used = min(self.used + len(prefix), max(self.used, share))
        self._scratch.start[0] = self._episode.states[0]
        completed = self._completed[: None if not prefix else max(self._method.levels, 2)]
        completed[:] = self._method.iterations  # as after a complete search, so a new one starts
        best: tuple[tuple[int, ...], float] = (), -np.inf
        searches = 0
        while not searches and (self.used < share or not self.buffer.num_games):
            num_games, searches, self.used, word = self._search(
                self._policies, self._lines, self._scratch, batch, weights, completed, self._best, self._repeats,
                self._limits, self._method.alpha, self._word, self.used, share, self._budget, not self.buffer.num_games,
            )  # fmt: skip
            self._word = np.uint64(word)
            if num_games:
                scores = (batch.values[:num_games] + gained) @ weights
                top = int(scores.argmax())
                if scores[top] > best[1]:
                    best = (*prefix, *batch.moves[top, : batch.lengths[top]].tolist()), float(scores[top])
            self.buffer.flush(num_games, format_weights(weights), prefix, gained)
        return best
