"""The methods `uct` and `pareto_uct`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans, check_certain
from momagames.baselines.mcts.planner import search_plans
from momagames.baselines.mcts.policies import AIMS, search_member
from momagames.baselines.mcts.simulation import UctOptions
from momagames.baselines.mcts.tree import check_size
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.contract import Game
from momagames.engine.policies import Member
from momagames.errors import check_range


@dataclass(frozen=True)
class Uct(Method):
    """Tree search with upper confidence bounds (UCT), once for each weight vector of a simplex lattice.

    Before each move it makes `simulations` playouts, on copies of the state: down the tree by UCB1, one new node, then by lot
    to the end of the game or the horizon. It plays the action whose value has the best lower confidence bound, and forgets
    the tree. Everybody is taken to maximize the same weighted sum of his own rewards (max^n). Where all move at once, and
    for actions of several parts, each agent and each part has statistics of its own (decoupled UCT). Weighted returns are
    brought to 0..1 by the least and greatest of the agent in this search.

    It sees the whole state, in games of partial information more than its agent may. It does not know what will be drawn:
    each playout has luck of its own, and nodes are sequences of actions (open loop).

    As a planner: each weight vector has an even share of the budget. It searches, makes the move, and searches on, until the
    game is over and it begins anew; all complete games, playouts included, make the result. Each step of a playout and each
    move is a step of the budget. The first complete game is finished even if the budget is smaller, otherwise a playout
    that the budget breaks off is lost.

    divisions     of the lattice: C(divisions + K - 1, K - 1) weight vectors for K objectives
    simulations   playouts before each move, 1..1,000,000
    exploration   factor of the confidence radius sqrt(ln n / visits), 0..1000
    horizon       steps after which a playout is cut off, 1..1,000,000

    Source: Kocsis and Szepesvari, "Bandit based Monte-Carlo planning", ECML 2006; others in `momagames.baselines.mcts`.
    """

    name: ClassVar[str] = "uct"
    divisions: int
    simulations: int
    exploration: float
    horizon: int

    def __post_init__(self) -> None:
        check_range(f"{self.name}: divisions", self.divisions, 1)
        self._effort.check(self.name)

    @property
    def _effort(self) -> UctOptions:
        return UctOptions(self.simulations, self.exploration, self.horizon)

    def check_plan(self, game: Game) -> None:
        check_certain(self.name, game)
        lattice = simplex_lattice(len(game.objectives), self.divisions)
        check_size(self.name, game, self.simulations, len(AIMS[self.name](lattice[0])[0]))

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        lattice = simplex_lattice(len(game.objectives), self.divisions)
        return search_plans(self.name, game, start, lattice, self._effort, budget, seed)

    def policies(self, game: Game) -> tuple[Member, ...]:
        lattice = simplex_lattice(len(game.objectives), self.divisions)
        return tuple(search_member(self.name, game, row, self._effort) for row in lattice)


@dataclass(frozen=True)
class ParetoUct(Uct):
    """The same with Pareto upper confidence bounds in the tree: an arm has a bound for each objective, and the next one is
    drawn from those that no other dominates. Nobody's weights are guessed in the tree; those of a lattice decide which move
    is played in the end.

    exploration   factor of the confidence radius sqrt((ln n + ln(K) / 4) / visits)

    Source: Drugan and Nowé, "Designing multi-objective multi-armed bandits algorithms: a study", IJCNN 2013; Chen and Liu,
    "Pareto Monte Carlo tree search for multi-objective informative planning", RSS 2019.
    """

    name: ClassVar[str] = "pareto_uct"
