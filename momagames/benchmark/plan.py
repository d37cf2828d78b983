"""Suites: what is run, written down without hidden defaults, and expanded into runs that are known by their content."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

import momagames
from momagames import registry
from momagames.baselines import batch_policy, method, policy_options
from momagames.baselines.base import Method
from momagames.contract import Game
from momagames.engine.policies import BatchPolicy
from momagames.errors import InvalidParameter, nearest, one_of

UNLIMITED = 10_000_000.0  # seconds; four months
ROWS_FORMAT = 1  # changes with the meaning of rows, so that old results are not taken for new ones

Indicator = Literal[
    "hypervolume",
    "normalized_hypervolume",
    "hypervolume_ratio",
    "igd_plus",
    "epsilon",
    "expected_utility",
    "sampled_utility",
    "maximum_utility_loss",
    "cardinality",
    "rounded_cardinality",
    "sparsity",
]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, le=UNLIMITED)]
Seeds = Annotated[tuple[Annotated[int, Field(ge=0, lt=2**63)], ...], Field(min_length=1)]


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class GameChoice(Frozen):
    """A game by id, with the parameters that differ from its defaults."""

    id: str
    params: dict[str, Any]

    def game(self) -> Game:
        return registry.spec(self.id, **self.params)


class MethodChoice(Frozen):
    """A method by name, or your own as "module:class", with every option."""

    name: str
    options: dict[str, Any]

    def method(self, game: Game) -> Method:
        """Return the method, or raise UnknownId or InvalidParameter; `game` has policies that are methods as well."""
        kind = method(self.name, game)
        _check_options(self.name, self.options, [one.name for one in fields(kind)])
        try:
            return TypeAdapter(kind).validate_json(json.dumps(self.options), strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            raise InvalidParameter(f"{self.name}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


class Opponent(Frozen):
    """A policy that plays all seats but those of one agent and its team mates, with every option.

    label    stands in rows: the name, and the options that are not empty lists
    """

    name: str
    options: dict[str, Any]

    def policy(self, game: Game) -> BatchPolicy:
        """Return the policy, or raise UnknownId or InvalidParameter."""
        _check_options(self.name, self.options, list(policy_options(self.name, game)))
        return batch_policy(self.name, game, **self.options)

    @property
    def label(self) -> str:
        told = ", ".join(f"{name}={_short(value)}" for name, value in self.options.items() if value != [])
        return f"{self.name}({told})" if told else self.name


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_short, value))})"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _check_options(name: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise InvalidParameter unless all options that there are are given, and no others."""
    for option in given:
        if option not in known:
            allowed = f"it has {one_of(known)}" if known else "it has none"
            raise InvalidParameter(f"{name} has no option {option!r}; {allowed}{nearest(option, known)}")
    missing = [option for option in known if option not in given]
    if missing:
        raise InvalidParameter(f"{name} needs the option {missing[0]!r}: a suite leaves nothing to defaults")


class _Experiment(Frozen):
    """What both kinds have.

    utopia    the best return of each objective, for normalized indicators: "declared", the objectives' upper bounds, or
              "reference", the best of each objective in the reference front
    seconds   of wall time that a run may take, compilation included. It only decides whether there is a result: a run that is
              over its time has failed, and no row of one that is not depends on how fast a machine is
    """

    name: str
    utopia: Literal["declared", "reference"]
    games: Annotated[tuple[GameChoice, ...], Field(min_length=1)]
    methods: Annotated[tuple[MethodChoice, ...], Field(min_length=1)]
    seeds: Seeds
    seconds: Seconds


class PlansExperiment(_Experiment):
    """Search from a dealt position; the seed deals it and drives the search. Nothing more is left to chance, or what is left
    is known to the search (`hindsight_beam`).

    budget    steps of the engine for each run, look-ahead included
    """

    kind: Literal["plans"]
    budget: Count


class PoliciesExperiment(_Experiment):
    """Whole games of each policy against each opponent from each seat; a point is a policy's mean return.

    budget             steps of the engine with which methods train before, look-ahead included; 0 if no method does
    seats              agents that the policies play, in turn; empty: every agent
    select_episodes    games by which the non-dominated policies are chosen, for each policy, opponent and seat
    report_episodes    other games, from which their values are taken
    """

    kind: Literal["policies"]
    budget: Annotated[int, Field(ge=0)]
    opponents: tuple[Opponent, ...]
    seats: tuple[str, ...]
    select_episodes: Count
    report_episodes: Count


Experiment = Annotated[PlansExperiment | PoliciesExperiment, Field(discriminator="kind")]


class Indicators(Frozen):
    """What the report computes.

    margin        the reference point is moved outwards by this share of the range up to the utopia, so that extreme points
                  count
    confidence    of the bootstrap interval over seeds
    resamples     of the bootstrap
    """

    names: Annotated[tuple[Indicator, ...], Field(min_length=1)]
    margin: Annotated[float, Field(ge=0, le=1)]
    confidence: Annotated[float, Field(gt=0, lt=1)]
    resamples: Annotated[int, Field(ge=100, le=1_000_000)]


class Suite(Frozen):
    """A benchmark: experiments, and what is reported of them."""

    name: Name
    description: str
    experiments: Annotated[tuple[Experiment, ...], Field(min_length=1)]
    indicators: Indicators

    def runs(self, version: str | None = None) -> tuple[Run, ...]:
        """Every run, in order, each once; where two experiments share one, it has the longer time.

        version    of momagames that carries it out; None: this one
        """
        found: dict[str, Run] = {}
        for experiment in self.experiments:
            for run in expand(experiment, version):
                if run.digest not in found or found[run.digest].seconds < run.seconds:
                    found[run.digest] = run
        return tuple(found.values())


class Collection(Frozen):
    """Several suites taken together as one.

    suites    names of suites that come with the package, or files; none of them a collection
    seeds     of every experiment, in place of its own
    """

    name: Name
    description: str
    suites: Annotated[tuple[str, ...], Field(min_length=1)]
    seeds: Seeds
    indicators: Indicators

    def united(self, members: Sequence[Suite]) -> Suite:
        """One suite of the experiments of these, each under its suite's name and its own."""
        experiments = tuple(
            experiment.model_copy(update={"name": f"{suite.name}: {experiment.name}", "seeds": self.seeds})
            for suite in members
            for experiment in suite.experiments
        )
        return Suite(name=self.name, description=self.description, experiments=experiments, indicators=self.indicators)


class Run(Frozen):
    """One unit of work, and all that its result depends on; and the seconds that it may take, which are no part of that.

    budget    of a search, or of training; None for policies that are not trained
    """

    game: GameChoice
    canonical: str
    method: MethodChoice
    seed: int
    kind: Literal["plans", "policies"]
    budget: int | None
    opponents: tuple[Opponent, ...]
    seats: tuple[str, ...]
    select_episodes: int | None
    report_episodes: int | None
    version: str
    rows_format: int
    seconds: Annotated[Seconds, Field(exclude=True)]

    @staticmethod
    def of(content: Mapping[str, Any], seconds: float = UNLIMITED) -> Run:
        """The run of this content."""
        return Run.model_validate_json(json.dumps({**content, "seconds": seconds}))

    @functools.cached_property
    def digest(self) -> str:
        """sha256 of the canonical JSON of this run."""
        return hashlib.sha256(canonical_json(self.content()).encode()).hexdigest()

    def content(self) -> dict[str, Any]:
        return self.model_dump(mode="json")

    @property
    def folder(self) -> str:
        """Name of the run's folder: readable, and unique by content."""
        return f"{self.game.id}.{self.method.name.replace(':', '-')}.seed{self.seed}.{self.digest[:16]}"


def canonical_json(data: Any) -> str:
    """One text for equal data: sorted keys, no spaces, no NaN."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def expand(experiment: PlansExperiment | PoliciesExperiment, version: str | None = None) -> Iterator[Run]:
    """The runs of an experiment, by this version of momagames or another one: games x seeds x methods, so that what is
    compared is finished together."""
    plans = experiment if isinstance(experiment, PlansExperiment) else None
    policies = experiment if isinstance(experiment, PoliciesExperiment) else None
    for choice in experiment.games:
        game = choice.game()
        for seed in experiment.seeds:
            for chosen in experiment.methods:
                yield Run(
                    game=choice,
                    canonical=registry.format_id(game.id, game.params),
                    method=chosen,
                    seed=seed,
                    kind=experiment.kind,
                    budget=experiment.budget if plans or method(chosen.name, game).trains else None,
                    opponents=policies.opponents if policies else (),
                    seats=(policies.seats or game.agents) if policies else (),
                    select_episodes=policies.select_episodes if policies else None,
                    report_episodes=policies.report_episodes if policies else None,
                    version=version or momagames.__version__,
                    rows_format=ROWS_FORMAT,
                    seconds=experiment.seconds,
                )


def method_names(experiment: PlansExperiment | PoliciesExperiment) -> dict[str, str]:
    """Labels of the methods: their names, with options where one name stands twice."""
    names = [chosen.name for chosen in experiment.methods]
    return {
        chosen.model_dump_json(): chosen.name
        if names.count(chosen.name) == 1
        else f"{chosen.name}({', '.join(f'{k}={v}' for k, v in chosen.options.items())})"
        for chosen in experiment.methods
    }
