"""Interface of methods: plans from one position, or policies for whole episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.policy_names import find_checkpoint
from momagames.contract import Game
from momagames.errors import InvalidParameter, MissingExtra, invalid_value

if TYPE_CHECKING:
    from momagames.baselines.training_setup import TrainingSetup
    from momagames.engine.policies import BatchPolicy

PACKAGE_TITLES = {"torch": "PyTorch"}


@dataclass(frozen=True)
class Plan:
    """A sequence of actions from a position without chance, or with known chance outcomes.

    actions    in order, of the agent to move
    value      float64[K], their return
    step       number of environment steps taken when the plan was found
    label      name of the part of the method that found it
    """

    actions: tuple[int, ...]
    value: NDArray[np.float64]
    step: int
    label: str = ""


class DominatedPoint(NamedTuple):
    """The value, float64[K], of a plan that was dominated later; `step` as in `Plan`."""

    step: int
    value: NDArray[np.float64]


@dataclass(frozen=True)
class Plans:
    """Result of a search: non-dominated plans with distinct values.

    steps      environment steps, lookahead included
    complete   whether the values are proven to be the whole Pareto front
    info       counts that are stored with the result, such as episodes or passes
    dominated  values for the anytime performance, see `Archive`
    """

    plans: tuple[Plan, ...]
    steps: int
    complete: bool = False
    info: dict[str, Any] | None = None
    dominated: Sequence[DominatedPoint] = ()

    @property
    def values(self) -> NDArray[np.float64]:
        """float64[n, K]"""
        return np.array([plan.value for plan in self.plans], np.float64)


@dataclass(frozen=True)
class TrainingResult:
    """Result of training.

    policies   policies with distinct labels, with `arrays` for `restore`
    steps      environment steps, lookahead included
    info       counts that are stored with the result
    """

    policies: tuple[BatchPolicy, ...]
    steps: int
    info: dict[str, Any] | None = None


@dataclass(frozen=True)
class Method:
    """Base class of methods. A subclass is a frozen dataclass of its options. It plans, or has policies, or both.

    Raises InvalidParameter for an invalid option.

    trains            whether its policies are trained within a run: it then has `check_setup`, `check_train`, `train` and
                      `restore`, not `policies`
    file_option       option that may name a file of trained policies, or other data if it has its own `find_file`; a suite
                      stores the checksum of this file, so that runs with other content are other runs
    package, extra    package that it needs besides the dependencies of momagames, and the extra that installs it
    former_options    options that files of earlier versions may name, and the value with which they change nothing
    foresees_chance   whether it plans on copies with the random state of the game, so that it knows all chance outcomes
    revision          raised whenever a change of the method changes its results: stored runs of another revision are other
                      runs, so that rows are never taken for what this version computes
    """

    name: ClassVar[str]
    revision: ClassVar[int] = 1
    former_options: ClassVar[Mapping[str, Any]] = {}
    foresees_chance: ClassVar[bool] = False
    trains: ClassVar[bool] = False
    file_option: ClassVar[str] = ""
    package: ClassVar[str] = ""
    extra: ClassVar[str] = ""

    @classmethod
    def drop_former_options(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options without those that are gone. Raises InvalidParameter for values with which they changed results."""
        for name, value in cls.former_options.items():
            if options.get(name, value) != value:
                expected = f"{value!r}, the only value that it still has, as the option is gone"
                raise InvalidParameter(f"{cls.name}: {invalid_value(name, options[name], expected)}")
        return {name: value for name, value in options.items() if name not in cls.former_options}

    @classmethod
    def find_file(cls, options: Mapping[str, Any]) -> Path | None:
        """Return the file that these options name; None: none."""
        return find_checkpoint(options.get(cls.file_option))

    def check_one_return(self, game: Game) -> None:
        """Raise InvalidParameter unless a plan has one return: shared rewards, and no chance during play or a method that
        foresees it."""
        (check_shared_rewards if self.foresees_chance else check_deterministic)(self.name, game)

    def check_plan(self, game: Game) -> None:
        """Raise InvalidParameter if `plan` cannot serve this game."""
        raise InvalidParameter(f"{self.name} makes no plans")

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        """Search from `start`, record[1], with about `budget` environment steps."""
        raise InvalidParameter(f"{self.name} makes no plans")

    def policies(self, game: Game) -> tuple[BatchPolicy, ...]:
        """Return the policies of the method for this game."""
        reason = "before training: call train with a budget" if self.trains else "to play against others"
        raise InvalidParameter(f"{self.name} has no policies {reason}")

    @classmethod
    def check_installed(cls) -> None:
        """Raise MissingExtra if the package that it needs is not there."""
        if not cls.package:
            return
        try:
            import_module(cls.package)
        except ImportError:
            title = PACKAGE_TITLES.get(cls.package, cls.package)
            raise MissingExtra(f'the method "{cls.name}" needs {title}: pip install "momagames[{cls.extra}]"') from None

    def check_train(self, game: Game) -> None:
        """Raise InvalidParameter if its policies cannot be trained for this game."""
        self.policies(game)

    def check_setup(self, setup: TrainingSetup) -> None:
        """Raise InvalidParameter if `train` cannot serve this setup."""
        setup.check_basic(self.name)
        self.check_train(setup.game)

    def train(self, setup: TrainingSetup) -> TrainingResult:
        """Train policies with about the budget of the setup at most. Raises InvalidParameter; MissingExtra."""
        setup.check_basic(self.name)
        return TrainingResult(self.policies(setup.game), 0)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> BatchPolicy:
        """Return a trained policy from its arrays; InvalidParameter if they do not fit the game."""
        raise InvalidParameter(f"{self.name} does not train")

    def options(self) -> dict[str, Any]:
        """Return the options by name, as stored with results."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


def first_agents(game: Game) -> tuple[str, ...]:
    """Return the name of the first agent of each team."""
    return tuple(game.agents[game.teams.index(team)] for team in dict.fromkeys(game.teams))


def list_team(game: Game, seat: int) -> list[int]:
    """Return the indices of the agents in the team of an agent."""
    return [agent for agent, team in enumerate(game.teams) if team == game.teams[seat]]


def assign_seats(game: Game, agent: int, opponent: int) -> list[int]:
    """Return the index of the policy of each agent: 0 in the team of `agent`, and 1 + opponent elsewhere."""
    team = list_team(game, agent)
    return [0 if other in team else 1 + opponent for other in range(len(game.agents))]


def check_array_names(label: str, arrays: Mapping[str, NDArray[Any]], names: Sequence[str]) -> None:
    """Raise InvalidParameter unless a stored policy has exactly these arrays."""
    if set(arrays) != set(names):
        raise InvalidParameter(f"invalid arrays {sorted(arrays)} of {label!r}: expected {' and '.join(names)}")


def check_array(label: str, name: str, array: NDArray[Any], dtype: type, shape: tuple[int, ...]) -> None:
    """Raise InvalidParameter unless an array of a stored policy has this dtype and shape, and is finite."""
    if array.dtype != dtype or array.shape != shape or not np.isfinite(array).all():
        raise InvalidParameter(
            f"invalid array {name} of {label!r}: {array.dtype}{array.shape}, expected finite {np.dtype(dtype)}{shape}"
        )


def check_deterministic(name: str, game: Game) -> None:
    """Raise InvalidParameter unless the agents share all rewards and there is no chance during play."""
    check_shared_rewards(name, game)
    if game.chance == "step":
        raise InvalidParameter(
            f"{name} needs a game without chance during play; {game.id} draws during play (hindsight_beam, hindsight_nrpa "
            "and hindsight_random plan with known chance outcomes)"
        )


def check_shared_rewards(name: str, game: Game) -> None:
    """Raise InvalidParameter unless a plan has one return: one agent, or agents that share all rewards and move in turn."""
    if len({*game.teams}) > 1:
        raise InvalidParameter(
            f"{name} needs one agent, or several that share all rewards, where a game has such a parameter; "
            f"{game.id} has {len(game.agents)} agents with rewards of their own"
        )
    check_sequential(name, game)


def check_sequential(name: str, game: Game) -> None:
    """Raise InvalidParameter unless the game is sequential, with discrete actions."""
    if not game.sequential or len(game.actions) > 1:
        raise InvalidParameter(
            f"{name} needs a sequential game with discrete actions; {game.id} is {game.dynamics} with actions {game.actions}"
        )
