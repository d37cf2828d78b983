"""Plans for one instance of a game with chance during play, with all chance outcomes known in advance.

A state contains the state of its random generator, so that a copy continues exactly as the game will. The plans are a bound for
this instance, not a policy: with another seed the same actions give another return.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans
from momagames.baselines.random import Random, sample_plans
from momagames.baselines.search.beam import Beam
from momagames.baselines.search.local_search import LocalSearch
from momagames.baselines.search.nrpa import Nrpa
from momagames.baselines.search.pareto_nrpa import ParetoNrpa
from momagames.contract import Game


@dataclass(frozen=True)
class HindsightBeam(Beam):
    """The search of `Beam` on copies with the random state of the game: plans with known chance outcomes.

    width       greatest number of games that remain after a step
    estimate    see `Beam`

    Source: as `Beam`; searching one instance as if its chance outcomes were known, Ginsberg, "GIB: imperfect information in a
    computationally challenging game", JAIR 14, 2001.
    """

    name: ClassVar[str] = "hindsight_beam"
    foresees_chance: ClassVar[bool] = True


@dataclass(frozen=True)
class HindsightRandom(Method):
    """Random play of one instance with the same chance outcomes: a lower bound for `HindsightBeam`. See `Random`."""

    name: ClassVar[str] = "hindsight_random"
    foresees_chance: ClassVar[bool] = True

    def check_plan(self, game: Game) -> None:
        self.check_one_return(game)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        return sample_plans(game, start, Random().policies(game), budget, seed)


@dataclass(frozen=True)
class HindsightLocalSearch(LocalSearch):
    """The search of `LocalSearch`, on copies with the random state of the game; see there and `HindsightBeam`."""

    name: ClassVar[str] = "hindsight_local_search"
    foresees_chance: ClassVar[bool] = True


@dataclass(frozen=True)
class HindsightNrpa(Nrpa):
    """The search of `Nrpa`, on copies with the random state of the game; see there and `HindsightBeam`."""

    name: ClassVar[str] = "hindsight_nrpa"
    foresees_chance: ClassVar[bool] = True


@dataclass(frozen=True)
class HindsightParetoNrpa(ParetoNrpa):
    """The search of `ParetoNrpa`, on copies with the random state of the game; see there and `HindsightBeam`."""

    name: ClassVar[str] = "hindsight_pareto_nrpa"
    foresees_chance: ClassVar[bool] = True
