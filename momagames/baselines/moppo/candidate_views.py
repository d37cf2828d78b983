"""What a network that scores candidate actions reads: features of one step of look-ahead, and of the position."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.candidates.kernels import compile_candidate_encoder
from momagames.baselines.candidates.policy import CandidatePolicy
from momagames.baselines.candidates.rollout import list_rows
from momagames.baselines.moppo.options import MoppoOptions
from momagames.contract import Game
from momagames.engine.lookahead import supports_lookahead
from momagames.errors import InvalidParameter


class CandidateViews:
    """Candidate actions of decisions and their features, each decision with its own number of them.

    capacity       number of decisions
    rng            of the random draws of the look-ahead
    looks_ahead    whether there are candidates; otherwise there are only positions, which take no environment steps

    starts         int64[capacity + 1]; decision i has the candidates from starts[i] to starts[i + 1]
    features       float32[candidates, F], and their actions int64[candidates]
    positions      float32[capacity, P]: the features of the position for each objective, and the number of distinct actions
    weights        float32[capacity, K]
    steps          environment steps of the look-ahead so far
    """

    def __init__(self, game: Game, capacity: int, rng: np.random.Generator, looks_ahead: bool = True) -> None:
        self._game, self._rng, self._looks_ahead, self._count = game, rng, looks_ahead, 0
        self._policy = CandidatePolicy(game)  # with the shortest scorer, which is not used
        vectors, objectives = len(self._policy.features.vectors), len(game.objectives)
        self.starts = np.zeros(capacity + 1, np.int64)
        self.features, self.actions = np.zeros((0, self._policy.features.count), np.float32), np.zeros(0, np.int64)
        self.positions = np.zeros((capacity, vectors * objectives + 1), np.float32)
        self.weights = np.zeros((capacity, objectives), np.float32)
        self._memory, self._mask = np.zeros(1, self._policy.memory), np.zeros(game.mask_size, np.int8)

    @property
    def steps(self) -> int:
        return int(self._memory["lookahead_steps"][0])

    def append(
        self, states: NDArray[Any], n: NDArray[np.int64], agents: NDArray[np.int64], weights: NDArray[np.float32]
    ) -> NDArray[np.int64]:
        """Append the decisions of agents int64[R] in the states n of record[N], with weights float32[R, K].

        Returns the indices of the new decisions, int64[R].
        """
        first, self._count = self._count, self._count + len(n)
        self.weights[first : self._count] = weights
        self._make_room(first, len(n))
        scratch = self._policy.make_scratch(self._game, (self.features, self.starts[first : first + 1].copy()))
        compile_candidate_encoder(self._game)(
            states, n, agents, weights, np.int8(self._looks_ahead), first, self.starts, self.actions, self.positions,
            self._memory, self._mask, scratch, self._rng.integers(2**64, dtype=np.uint64),
        )  # fmt: skip
        return np.arange(first, self._count)

    def _make_room(self, first: int, count: int) -> None:
        """Make the arrays longer if the candidates of `count` more decisions might not fit."""
        used, needed = self.starts[first], self.starts[first] + count * len(self._mask)
        if needed > len(self.actions):
            for name in ("features", "actions"):
                array = getattr(self, name)
                longer = np.zeros((2 * needed, *array.shape[1:]), array.dtype)
                longer[:used] = array[:used]
                setattr(self, name, longer)

    def select(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the candidates of decisions int64[R], one after the other, and the place of the decision of each in `rows`."""
        counts = self.starts[rows + 1] - self.starts[rows]
        return list_rows(self.starts[rows], counts), np.repeat(np.arange(len(rows)), counts)


CandidateRows = tuple[CandidateViews, NDArray[np.int64]]


def make_candidates(game: Game, options: MoppoOptions) -> CandidatePolicy | None:
    """Return the candidate policy whose scorer these options train; None: another network. Raises InvalidParameter."""
    if options.network not in ("auto", "candidates") or (options.network == "auto" and not is_made_for_candidates(game)):
        return None
    reason = "" if supports_lookahead(game) else "since it needs moves in turn, one discrete action and perfect information"
    if reason := reason or ("since its scorer masks no unsafe actions" if options.caution else ""):
        raise InvalidParameter(
            f"moppo: invalid network='candidates' for {game.id}: expected 'auto' or 'convolutional', {reason}"
        )
    return CandidatePolicy(game, options.hidden)


def is_made_for_candidates(game: Game) -> bool:
    """Return whether candidate actions have features that the game declares, and there is no egocentric view to read."""
    has_features = game.learning.objective_features or game.search.present or game.search.optimistic
    return bool(has_features) and game.learning.egocentric_view is None and supports_lookahead(game)
