"""Pattern tables as a method: a policy for each weight vector, trained by self-play of this weight vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, TrainingResult, check_array, check_array_names, check_sequential
from momagames.baselines.ntuple.heads import make_heads
from momagames.baselines.ntuple.patterns import check_board, make_patterns
from momagames.baselines.ntuple.search import MEMORY, make_search, make_search_kernel
from momagames.baselines.ntuple.self_play import SelfPlay, TdOptions
from momagames.baselines.weight_lattice import check_lattice_size, format_weights, simplex_lattice
from momagames.contract import Game
from momagames.engine.policies import BatchPolicy, CompiledPolicy
from momagames.errors import InvalidParameter, check_range

MAX_POLICIES, MAX_DEPTH, MAX_WINDOW, MAX_OPENING = 256, 3, 8, 1000
RESOLUTION = 4096  # stored table entries are multiples of 1 / RESOLUTION
CHUNK = 10_000_000  # environment steps of one call of the compiled loop, which Ctrl-C does not interrupt


@dataclass(frozen=True)
class Ntuple(Method):
    """Tables of cell patterns for each weight vector of a simplex lattice, by TD(lambda) in self-play; see this package.

    For turn-based board games with perfect information whose `LearningSupport` declares a board. Each weight vector has tables
    of its own and an even share of the budget, because values for one weight vector depend on how the agents play for it. All
    agents share the tables. The opponents of the experiment take no part in training.

    divisions    of the lattice: C(divisions + K - 1, K - 1) policies for K objectives
    depth        moves that a policy looks ahead, 1..3; more than 1 needs one or two agents and no chance during play
    short, long  sides of the patterns: windows of short x long and of long x short cells
    alpha        step size
    td_lambda    decay of the lambda-returns, 0..1
    epsilon      probability of a random move in self-play, 0..1
    opening      games of self-play begin with 0 to `opening` random moves
    """

    name: ClassVar[str] = "ntuple"
    trains: ClassVar[bool] = True
    divisions: int
    depth: int
    short: int
    long: int
    alpha: float
    td_lambda: float
    epsilon: float
    opening: int

    def __post_init__(self) -> None:
        for option, low, high in (
            ("divisions", 1, 100),
            ("depth", 1, MAX_DEPTH),
            ("short", 1, MAX_WINDOW),
            ("long", 1, MAX_WINDOW),
            ("opening", 0, MAX_OPENING),
        ):
            check_range(f"{self.name}: {option}", getattr(self, option), low, high, whole=True)
        check_range(f"{self.name}: alpha", self.alpha, 0, 10, above=True)
        check_range(f"{self.name}: td_lambda", self.td_lambda, 0, 1)
        check_range(f"{self.name}: epsilon", self.epsilon, 0, 1)

    @property
    def windows(self) -> tuple[tuple[int, int], ...]:
        """The sides of the patterns."""
        return (self.short, self.long), (self.long, self.short)

    def check_train(self, game: Game) -> None:
        check_sequential(self.name, game)
        check_board(game)
        if game.information != "perfect" or game.can_pass:
            raise InvalidParameter(f"{self.name} needs a game of perfect information without passes, unlike {game.id}")
        if self.depth > 1 and (game.chance == "step" or len(game.agents) > 2):
            raise InvalidParameter(
                f"{self.name}: invalid depth={self.depth} for {game.id}: expected 1, because it has draws to come or more than "
                "two agents"
            )
        check_lattice_size(self.name, game, self.divisions, MAX_POLICIES)
        make_patterns(game, self.windows)

    def start_self_play(self, game: Game, weights: NDArray[np.float64], seed: int) -> SelfPlay:
        """Return the self-play of a weight vector, float64[K], before its first game."""
        patterns, entries = make_patterns(game, self.windows)
        options = TdOptions(float(self.alpha), float(self.td_lambda), float(self.epsilon), int(self.opening))
        return SelfPlay(game, patterns, entries, weights, seed, options)

    def train(
        self, game: Game, learning_agents: Sequence[int], opponents: Sequence[BatchPolicy], budget: int, seed: int
    ) -> TrainingResult:
        self.check_train(game)
        lattice = simplex_lattice(len(game.objectives), self.divisions)
        seeds = np.random.default_rng(seed).integers(2**64, size=len(lattice), dtype=np.uint64).tolist()
        policies, steps, games = [], 0, 0
        for i, (weights, own_seed) in enumerate(zip(lattice, seeds, strict=True)):
            share = budget * (i + 1) // len(lattice) - budget * i // len(lattice)
            playing = self.start_self_play(game, weights, own_seed)
            for target in (*range(CHUNK, share, CHUNK), share):
                playing.play(target, share)
            steps, games = steps + playing.steps, games + playing.games
            policies.append(self.make_policy(game, weights, playing.tables))
        return TrainingResult(tuple(policies), steps, {"games": games})

    def make_policy(self, game: Game, weights: NDArray[np.float64], tables: NDArray[Any], label: str = "") -> CompiledPolicy:
        """Return the policy of tables, float[H, n], which are rounded so that they compress to half the size."""
        stored = (np.round(tables * RESOLUTION) / RESOLUTION).astype(np.float16)
        patterns, heads = make_patterns(game, self.windows)[0], make_heads(game, weights)

        def scratch(other: Game) -> tuple[Any, ...]:
            if (other.objectives, other.learning.board_shape) != (game.objectives, game.learning.board_shape):
                raise InvalidParameter(f"{self.name}: these tables are for {game.id} with other objectives or another board")
            return make_search(other, weights, patterns, heads, stored.astype(np.float32), self.depth)

        return CompiledPolicy(
            "ntuple", make_search_kernel(game), MEMORY, (game.rules_key,), scratch=scratch,
            label=label or format_weights(weights), weights=tuple(weights.tolist()),
            arrays={"tables": stored, "weights": weights},
        )  # fmt: skip

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> CompiledPolicy:
        self.check_train(game)
        check_array_names(label, arrays, ("tables", "weights"))
        tables, weights = arrays["tables"], arrays["weights"]
        check_array(label, "weights", weights, np.float64, (len(game.objectives),))
        shape = len(make_heads(game, weights).scales), make_patterns(game, self.windows)[1]
        check_array(label, "tables", tables, np.float16, shape)
        return self.make_policy(game, weights, tables, label)
