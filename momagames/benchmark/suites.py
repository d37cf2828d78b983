"""Suites without hidden defaults: their experiments, the indicators of their report, and the runs that they expand into."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Self

from numpy.typing import ArrayLike
from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from momagames import registry
from momagames.analysis.named_indicators import Indicator, find_indicator, list_columns
from momagames.analysis.statistics import Interval, bootstrap
from momagames.benchmark.choices import GameChoice, MethodChoice, Opponent
from momagames.benchmark.data_models import Count, FrozenModel, Name, NamingModel, Seconds, Seeds
from momagames.benchmark.runs import (
    ROWS_FORMAT,
    ROWS_VERSION,
    HeadToHead,
    HeadToHeadRun,
    PlansRun,
    PoliciesRun,
    Run,
    Versions,
)
from momagames.contract import Game
from momagames.errors import InvalidParameter, UnknownId
from momagames.plugins import USER, Origin, is_python_path

MAX_RUNS = 100_000  # of a suite


class _Experiment(FrozenModel):
    """Fields of both kinds of experiments.

    ideal_point    of normalized indicators: "declared", the objectives' upper bounds; "reference", the best value of each
                   objective in the reference front; or "front": the same, and the reference point, too, is that of the front,
                   0.1 of the range below its worst values, instead of the declared one
    seconds        time limit of a run (wall time, compilation included). A run over its limit fails; the rows of a finished
                   run do not depend on the speed of the machine
    roles          method -> role: the name that stands for the method in comparisons over several games, such as "scripted
                   agent" for the different ones that games have. Methods without a role stand for themselves
    """

    name: Annotated[str, Field(max_length=200)]
    ideal_point: Literal["declared", "reference", "front"]
    games: Annotated[tuple[GameChoice, ...], Field(min_length=1)]
    methods: Annotated[tuple[MethodChoice, ...], Field(min_length=1)]
    seeds: Seeds
    seconds: Seconds
    roles: dict[str, Annotated[str, Field(min_length=1, max_length=100)]] = Field(default_factory=dict)

    @property
    def pools_references(self) -> bool:
        """Whether the best-known reference front is the union over all seeds, not one for each seed.

        Plans have a start position for each seed, and policies start positions of their own unless there is an episode set.
        With the declared ideal point the front does not scale the returns, and one front is easier to compare with.
        """
        return False

    @property
    def responses(self) -> tuple[MethodChoice, ...]:
        """The methods of responses: where there are some, each run has the policies of all methods and responses."""
        return ()

    def list_runs(self, versions: Versions | None = None) -> Iterator[Run]:
        """Yield the runs in the order games x seeds x methods; runs that are compared finish together.

        versions   what computes them; None: the installed momagames
        """
        methods = (*self.methods, *self.responses)
        for choice in self.games:
            game = choice.make_game()
            revisions = versions.revisions if versions else {one.name: one.find_method(game).revision for one in methods}
            common = {
                "game": choice,
                "canonical": registry.format_id(game.id, game.params),
                "version": ROWS_VERSION,
                "rows_format": ROWS_FORMAT,
                "seconds": self.seconds,
            }
            for seed in self.seeds:
                for chosen in self.methods:
                    names = sorted({one.name for one in (methods if self.responses else (chosen,))})
                    raised = {name: revisions[name] for name in names if revisions.get(name, 1) > 1}
                    yield self.make_run(game, common | {"method": chosen, "seed": seed, "revisions": raised or None})

    @abstractmethod
    def make_run(self, game: Game, common: dict[str, Any]) -> Run:
        """Return the run with these fields, which runs of all kinds have, and those of its kind."""


class PlansExperiment(_Experiment):
    """Search from a start position. The run's seed generates the position and seeds the search. The game is deterministic after
    the start, or the search knows the future random draws (`hindsight_beam`).

    budget         environment steps of each run, look-ahead included; with `cpu_seconds` those of the first trial alone
    cpu_seconds    CPU time of the search of each run instead: the number of steps is chosen by trials, see `cpu_budgets`. Rows
                   then depend on the speed of the machine; the steps and the CPU time are stored with them. None: `budget`
    """

    kind: Literal["plans"]
    budget: Count
    cpu_seconds: Seconds | None = None

    def make_run(self, game: Game, common: dict[str, Any]) -> PlansRun:
        no_policies: dict[str, Any] = {"opponents": (), "seats": (), "select_episodes": None, "report_episodes": None}
        return PlansRun(**common, **no_policies, kind="plans", budget=self.budget, cpu_seconds=self.cpu_seconds)


class Generalization(FrozenModel):
    """Training on a finite set of instances, and comparison with the exact front of each instance.

    plays         episodes that a method has in each instance, shared by its policies in turn. A policy plays each instance
                  equally often, so that more policies than plays, or a remainder, mean a few episodes more, which do not count
    max_states, max_bytes    limits of the exact search, see the method `exact`
    """

    plays: Count
    max_states: Count
    max_bytes: Count


class PoliciesExperiment(_Experiment):
    """Full episodes of each policy against each opponent from each seat; a point is the mean return of a policy.

    budget             environment steps of training, look-ahead included; 0 if no method is trained
    budgets            method -> environment steps of its training instead, of methods that are too slow for the common budget
    seats              agents that the policies play, in turn; empty: every agent
    select_episodes    episodes that select the non-dominated policies, for each policy, opponent and seat
    report_episodes    separate episodes that estimate the values of the selected policies
    episode_set        name of the start positions of these episodes, which are then the same for all seeds; None: they
                       depend on the seed of the run. Positions of training are others in both cases
    stored_episodes    number of the first episodes of each set, opponent and seat that are stored one by one. Of all episodes
                       sums are stored, from which the values of policies and their standard errors are computed (see
                       `episode_sums`); what needs returns of single episodes has the stored ones. None: all are stored
    generalization     training uses the start positions of the selection episodes only: these are the training instances, and
                       those of the report episodes are the test instances. For games whose fronts are computed exactly
    reference_set      name of the best-known fronts that reports measure against, see `reference_sets`; None: the union of
                       the policies that were run
    head_to_head       games between the methods; None: episodes of each policy against each opponent
    """

    kind: Literal["policies"]
    budget: Annotated[int, Field(ge=0)]
    budgets: dict[str, Count] = Field(default_factory=dict)
    opponents: tuple[Opponent, ...]
    seats: tuple[str, ...]
    select_episodes: Count
    report_episodes: Count
    episode_set: Name | None = None
    stored_episodes: Count | None = None
    generalization: Generalization | None = None
    reference_set: Name | None = None
    head_to_head: HeadToHead | None = None

    @property
    def pools_references(self) -> bool:
        return self.ideal_point == "declared" or self.episode_set is not None

    @property
    def responses(self) -> tuple[MethodChoice, ...]:
        return self.head_to_head.responses if self.head_to_head else ()

    def make_run(self, game: Game, common: dict[str, Any]) -> PoliciesRun:
        played = {
            **common,
            "kind": "policies",
            "opponents": self.opponents,
            "seats": self.seats or game.agents,
            "select_episodes": self.select_episodes,
            "report_episodes": self.report_episodes,
            "episode_set": self.episode_set,
        }
        if self.head_to_head:
            return HeadToHeadRun(**played, budget=self.budget, players=self.methods, head_to_head=self.head_to_head)
        method = common["method"]
        budget = self.budgets.get(method.name, self.budget) if method.is_trained(game) else None
        plays = self.generalization.plays if self.generalization else None
        return PoliciesRun(**played, budget=budget, plays=plays, stored_episodes=self.stored_episodes)


Experiment = Annotated[PlansExperiment | PoliciesExperiment, Field(discriminator="kind")]


def _check_indicator(name: str, info: ValidationInfo) -> str:
    """Check the name of an indicator. Those of code that a file of data may not name are refused when they are computed."""
    origin = info.context if isinstance(info.context, Origin) else USER
    try:
        if origin.allows_all or not is_python_path(name):
            find_indicator(name, origin)
    except UnknownId as error:
        raise InvalidParameter(str(error)) from None
    return name


IndicatorName = Annotated[str, AfterValidator(_check_indicator)]


class Indicators(NamingModel):
    """Settings of the report.

    names         of indicators of the package, or "module:name"; tables of scores begin with two more, see `list_columns`
    margin        share of the range up to the ideal point by which the reference point is moved outwards; extreme points then
                  contribute volume
    confidence    level of the bootstrap interval over seeds
    resamples     number of bootstrap resamples
    """

    names: Annotated[tuple[IndicatorName, ...], Field(min_length=1)]
    margin: Annotated[float, Field(ge=0, le=1)]
    confidence: Annotated[float, Field(gt=0, lt=1)]
    resamples: Annotated[int, Field(ge=100, le=1_000_000)]

    def list_indicators(self) -> dict[str, Indicator]:
        """Return the indicators by name. Raises InvalidFile for code that a file of data names."""
        return {name: find_indicator(name, self.origin) for name in self.names}

    def list_columns(self) -> dict[str, Indicator]:
        """Return the indicators of tables of scores by name, see `named_indicators.list_columns`; errors as above."""
        return {name: find_indicator(name, self.origin) for name in list_columns(self.names)}

    def bootstrap(self, values: ArrayLike) -> Interval:
        """Return the mean over seeds with its interval."""
        return bootstrap(values, self.confidence, self.resamples)


class Suite(FrozenModel):
    """Experiments, and the indicators of their report."""

    name: Name
    description: str
    experiments: Annotated[tuple[Experiment, ...], Field(min_length=1)]
    indicators: Indicators

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        runs = sum(len(part.games) * len(part.methods) * len(part.seeds) for part in self.experiments)
        if runs > MAX_RUNS:
            raise ValueError(f"{runs:,} runs: expected at most {MAX_RUNS:,}")
        return self

    def list_runs(self, versions: Versions | None = None) -> tuple[Run, ...]:
        """Return the distinct runs, in order. A run that two experiments share has the longer time limit.

        versions   what computes them; None: the installed momagames
        """
        runs: dict[str, Run] = {}
        for experiment in self.experiments:
            for run in experiment.list_runs(versions):
                if run.digest not in runs or runs[run.digest].seconds < run.seconds:
                    runs[run.digest] = run
        return tuple(runs.values())


class Collection(FrozenModel):
    """Several suites merged into one.

    suites    names of packaged suites, or files; none of them a collection
    seeds     seeds of every experiment, instead of its own
    """

    name: Name
    description: str
    suites: Annotated[tuple[str, ...], Field(min_length=1)]
    seeds: Seeds
    indicators: Indicators

    def merge_suites(self, members: Sequence[Suite]) -> Suite:
        """Return one suite with the experiments of these, each named "SUITE: EXPERIMENT"."""
        experiments = tuple(
            experiment.model_copy(update={"name": f"{suite.name}: {experiment.name}", "seeds": self.seeds})
            for suite in members
            for experiment in suite.experiments
        )
        return Suite(name=self.name, description=self.description, experiments=experiments, indicators=self.indicators)
