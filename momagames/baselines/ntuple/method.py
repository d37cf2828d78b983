"""Pattern tables as a method: a policy for each weight vector, trained by self-play of this weight vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import check_array, check_array_names, check_sequential
from momagames.baselines.mcts.tree import check_size
from momagames.baselines.ntuple.heads import make_heads
from momagames.baselines.ntuple.patterns import check_board, make_patterns
from momagames.baselines.ntuple.self_play import SelfPlay, TdOptions
from momagames.baselines.ntuple.tables import PatternTables, make_policy, round_tables
from momagames.baselines.ntuple.trainer import NtupleTrainer
from momagames.baselines.trainer import TrainerMethod, list_weights
from momagames.baselines.training_setup import TrainingSetup
from momagames.baselines.weight_lattice import check_lattice_size
from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy
from momagames.errors import InvalidParameter, check_range

MAX_POLICIES, MAX_DEPTH, MAX_WINDOW, MAX_OPENING, MAX_SIMULATIONS = 256, 5, 8, 1000, 100_000


@dataclass(frozen=True)
class Ntuple(TrainerMethod):
    """Tables of cell patterns for each weight vector of a simplex lattice, by TD(lambda) in self-play; see this package.

    For turn-based board games with perfect information that declare `BoardTables`. Each weight vector has tables
    of its own and an even share of the budget, because values for one weight vector depend on how the agents play for it. All
    agents share the tables. The opponents of the experiment take no part in training.

    divisions    of the lattice: C(divisions + K - 1, K - 1) policies for K objectives
    depth        moves that a policy looks ahead, 1..5; more than 1 needs one or two agents and no chance during play
    short, long  sides of the patterns: windows of short x long and of long x short cells
    alpha        step size
    td_lambda    decay of the lambda-returns, 0..1
    epsilon      probability of a random move in self-play, 0..1
    opening      games of self-play begin with 0 to `opening` random moves
    search_fraction   share of the budget at its end, 0..1, in which each agent, in half of its games, looks `depth` moves ahead
                 in self-play as the policies do, instead of one, or searches a tree
    simulations  above 0: self-play with search is by tree search (`uct`) with that many playouts, which end with the values of
                 the current tables, and the values that it finds take part in the targets, 0..100,000
    """

    name: ClassVar[str] = "ntuple"
    default_budget: ClassVar[int] = 200_000_000
    divisions: int = 1
    depth: int = 1
    short: int = 2
    long: int = 4
    alpha: float = 2.0
    td_lambda: float = 0.9
    epsilon: float = 0.05
    opening: int = 8
    search_fraction: float = 0.0
    simulations: int = 0

    def __post_init__(self) -> None:
        for option, low, high in (
            ("divisions", 1, 100),
            ("depth", 1, MAX_DEPTH),
            ("short", 1, MAX_WINDOW),
            ("long", 1, MAX_WINDOW),
            ("opening", 0, MAX_OPENING),
            ("simulations", 0, MAX_SIMULATIONS),
        ):
            check_range(f"{self.name}: {option}", getattr(self, option), low, high, whole=True)
        check_range(f"{self.name}: alpha", self.alpha, 0, 10, above=True)
        check_range(f"{self.name}: td_lambda", self.td_lambda, 0, 1)
        check_range(f"{self.name}: epsilon", self.epsilon, 0, 1)
        check_range(f"{self.name}: search_fraction", self.search_fraction, 0, 1)
        if self.simulations and not self.search_fraction:
            raise InvalidParameter(
                f"{self.name}: invalid simulations={self.simulations}: expected 0 without search_fraction: there is no search"
            )

    @property
    def windows(self) -> tuple[tuple[int, int], ...]:
        """The sides of the patterns."""
        return (self.short, self.long), (self.long, self.short)

    def check_train(self, game: Game) -> None:
        check_sequential(self.name, game)
        check_board(game)
        if game.information != "perfect" or game.can_pass:
            raise InvalidParameter(f"{self.name} needs a game of perfect information without passes, unlike {game.id}")
        for option, least in (("depth", 1), ("simulations", 0)):
            if getattr(self, option) > least and (game.chance == "step" or len(game.agents) > 2):
                raise InvalidParameter(
                    f"{self.name}: invalid {option}={getattr(self, option)} for {game.id}: expected {least}, because it has "
                    "draws to come or more than two agents"
                )
        if self.simulations:
            check_size(self.name, game, self.simulations, 1)
        check_lattice_size(self.name, game, self.divisions, MAX_POLICIES)
        make_patterns(game, self.windows)

    def start_self_play(self, game: Game, weights: NDArray[np.float64], seed: int) -> SelfPlay:
        """Return the self-play of a weight vector, float64[K], before its first game."""
        patterns, entries = make_patterns(game, self.windows)
        options = TdOptions(float(self.alpha), float(self.td_lambda), float(self.epsilon), int(self.opening))
        return SelfPlay(game, patterns, entries, weights, seed, options, self.depth, self.simulations)

    def check_setup(self, setup: TrainingSetup) -> None:
        setup.check_one_game(self.name)
        if setup.starts is not None:
            raise InvalidParameter(f"{self.name} trains on new start positions only: expected no given ones")
        self.check_train(setup.game)

    def make_trainer(self, setup: TrainingSetup) -> NtupleTrainer:
        """Return a trainer."""
        self.check_setup(setup)
        game = setup.game
        lattice = list_weights(game, self.divisions, setup.fixed_weights)
        scale = np.ones(len(game.objectives)) if setup.return_scale is None else setup.return_scale
        seeds = np.random.default_rng(setup.seed).integers(2**64, size=len(lattice), dtype=np.uint64).tolist()
        players = [self.start_self_play(game, row / scale, one) for row, one in zip(lattice, seeds, strict=True)]

        def make_tables(tables: Sequence[NDArray[Any]]) -> PatternTables:
            return PatternTables(game, self.windows, self.depth, lattice, scale, [round_tables(one) for one in tables])

        return NtupleTrainer(setup, players, make_tables, scale, self.search_fraction)

    def make_responder(self) -> TrainerMethod:
        raise InvalidParameter(f"{self.name} learns from play against itself alone, not against a given policy")

    def restore_policies(self, game: Game, arrays: Mapping[str, NDArray[Any]]) -> PatternTables:
        self.check_train(game)
        weights, scale = arrays.get("weights", np.zeros(())), arrays.get("return_scale", np.zeros(()))
        count = len(weights) if weights.ndim else 0
        check_array_names(self.name, arrays, ("weights", "return_scale", *(f"tables/{i}" for i in range(count))))
        objectives = len(game.objectives)
        check_array(self.name, "weights", weights, np.float64, (max(count, 1), objectives))
        check_array(self.name, "return_scale", scale, np.float64, (objectives,))
        tables = [arrays[f"tables/{i}"] for i in range(count)]
        for row, one in zip(weights, tables, strict=True):
            self._check_tables(game, self.name, row, one)
        return PatternTables(game, self.windows, self.depth, weights, scale, tables)

    def _check_tables(self, game: Game, label: str, weights: NDArray[np.float64], tables: NDArray[Any]) -> None:
        shape = len(make_heads(game, weights).scales), make_patterns(game, self.windows)[1]
        check_array(label, "tables", tables, np.float16, shape)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> CompiledPolicy:
        self.check_train(game)
        check_array_names(label, arrays, ("tables", "weights"))
        tables, weights = arrays["tables"], arrays["weights"]
        check_array(label, "weights", weights, np.float64, (len(game.objectives),))
        self._check_tables(game, label, weights, tables)
        return make_policy(game, self.windows, self.depth, weights, tables, label)
