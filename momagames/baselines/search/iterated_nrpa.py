"""Iterated nested rollout policy adaptation: searches from positions of the best game so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Plans
from momagames.baselines.search.nrpa import Nrpa, SearchArrays
from momagames.baselines.search.playout_buffer import PlayoutBuffer
from momagames.baselines.weight_lattice import format_weights, simplex_lattice
from momagames.contract import Game
from momagames.engine.episode import Episode
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
    """The searches of all rounds, the steps used, and the games found."""

    def __init__(self, method: Nrpa, game: Game, start: NDArray[Any], budget: int, seed: int) -> None:
        self._start, self._budget = start, budget
        self._arrays = SearchArrays(method, game, start, searches=1)
        self._levels = method.levels
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
        self._arrays.start[0] = self._episode.states[0]
        self._arrays.restart(weights, self._levels if not prefix else max(self._levels - 1, 1))
        best: tuple[tuple[int, ...], float] = (), -np.inf
        searches = 0
        while not searches and (self.used < share or not self.buffer.num_games):
            num_games, searches, self.used, word = self._arrays.run(
                batch, weights, self._word, self.used, share, self._budget, not self.buffer.num_games
            )
            self._word = np.uint64(word)
            if num_games:
                scores = (batch.values[:num_games] + gained) @ weights
                top = int(scores.argmax())
                if scores[top] > best[1]:
                    best = (*prefix, *batch.moves[top, : batch.lengths[top]].tolist()), float(scores[top])
            self.buffer.flush(num_games, format_weights(weights), prefix, gained)
        return best
