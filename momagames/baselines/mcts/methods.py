"""The methods `uct` and `pareto_uct`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans
from momagames.baselines.mcts.planner import search_plans
from momagames.baselines.mcts.policies import CRITERIA, make_search_policy
from momagames.baselines.mcts.simulation import UctOptions
from momagames.baselines.mcts.tree import check_size
from momagames.baselines.ntuple.leaf_values import make_leaf_values
from momagames.baselines.weight_lattice import MAX_POLICIES, simplex_lattice
from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy
from momagames.errors import check_range


@dataclass(frozen=True)
class Uct(Method):
    """Tree search with upper confidence bounds (UCT), once for each weight vector of a simplex lattice.

    Before each move it runs `simulations` playouts on copies of the state: selection by UCB1, expansion of one node, then
    random actions to the end of the game or the horizon. It plays the action with the best lower confidence bound of its
    value, and discards the tree. Every agent is assumed to maximize the same weighted sum of its own rewards (max^n). In
    simultaneous games, and for actions with several components, each agent and each component has its own statistics
    (decoupled UCT). Weighted returns are normalized to 0..1 by the agent's smallest and largest return in this search.

    The search uses the whole state, which exceeds the agent's observation in games of partial information. It does not
    foresee chance outcomes: each playout has its own random seed, and nodes are action sequences (open loop).

    As a planner, each weight vector has an even share of the budget. It alternates searches and moves until the game is over,
    and then restarts. The result holds all complete games, playouts included. Each step of a playout and each move counts as
    one step of the budget. The first game is completed even if the budget is smaller; any other playout that exceeds the
    budget is discarded.

    divisions     lattice divisions: C(divisions + K - 1, K - 1) weight vectors for K objectives
    simulations   playouts before each move, 1..1,000,000
    exploration   factor of the confidence radius sqrt(ln n / visits), 0..1000
    horizon       maximum number of steps of a playout, 1..1,000,000
    value         "champion", or the path of a checkpoint of `ntuple`: instead of a random playout the moves of a new node begin
                  with the values of its tables, for each agent and objective; empty: none
    prior_temperature   with a value, temperature of the softmax of these values, in units of the weighted return, that is the
                  prior P of the moves, 0..1000; then the confidence radius is exploration * P * sqrt(n) / (1 + visits), as in
                  PUCT; 0: no prior

    Source: Kocsis and Szepesvari, "Bandit based Monte-Carlo planning", ECML 2006; PUCT, Silver et al., "A general reinforcement
    learning algorithm that masters chess, shogi, and Go through self-play", Science 362, 2018; others in
    `momagames.baselines.mcts`.
    """

    name: ClassVar[str] = "uct"
    file_option: ClassVar[str] = "value"
    divisions: int
    simulations: int
    exploration: float
    horizon: int
    value: str = ""
    prior_temperature: float = 0.0

    def __post_init__(self) -> None:
        check_range(f"{self.name}: divisions", self.divisions, 1)
        self._options.check(self.name)

    @property
    def _options(self) -> UctOptions:
        return UctOptions(self.simulations, self.exploration, self.horizon, self.value, self.prior_temperature)

    def check_plan(self, game: Game) -> None:
        self.check_one_return(game)
        lattice = simplex_lattice(len(game.objectives), self.divisions)
        criteria, _ = CRITERIA[self.name](lattice[0])
        check_size(self.name, game, self.simulations, len(criteria), self.prior_temperature > 0)
        make_leaf_values(game, self.value, lattice[0])

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        lattice = simplex_lattice(len(game.objectives), self.divisions)
        return search_plans(self.name, game, start, lattice, self._options, budget, seed)

    def policies(self, game: Game) -> tuple[CompiledPolicy, ...]:
        lattice = simplex_lattice(len(game.objectives), self.divisions, MAX_POLICIES)
        return tuple(make_search_policy(self.name, game, row, self._options) for row in lattice)


@dataclass(frozen=True)
class ParetoUct(Uct):
    """Tree search with Pareto upper confidence bounds; otherwise as `Uct`.

    An arm has a bound for each objective. The search selects at random among the arms with non-dominated bounds, so it uses
    no weights in the tree. The weights of the lattice only decide the move that is played.

    exploration   factor of the confidence radius sqrt((ln n + ln(K) / 4) / visits)

    Source: Drugan and Nowé, "Designing multi-objective multi-armed bandits algorithms: a study", IJCNN 2013; Chen and Liu,
    "Pareto Monte Carlo tree search for multi-objective informative planning", RSS 2019.
    """

    name: ClassVar[str] = "pareto_uct"
