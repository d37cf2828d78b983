"""Suites without hidden defaults, and the runs that they expand into, identified by a hash of their content."""

from __future__ import annotations

import functools
import hashlib
import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PrivateAttr,
    Tag,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    model_validator,
)

import momagames
from momagames import registry
from momagames.analysis.named_indicators import Indicator, find_indicator
from momagames.baselines import find_policy, method
from momagames.baselines.base import Method
from momagames.baselines.policy_names import check_stored_options, strip_safe
from momagames.baselines.scripted import find_policy_file
from momagames.contract import Game
from momagames.engine.policies import BatchPolicy
from momagames.engine.policy_sources import PolicySource, make_batch_policy, optional_options, source_options
from momagames.errors import InvalidFile, InvalidParameter, UnknownId, invalid_value, nearest, one_of
from momagames.files.reading import hash_content, is_file, read_bytes
from momagames.plugins import USER, Origin, is_python_path

PINNED = "sha256"  # option of methods and opponents, see `Choice`; labels leave it out
DATA_FILES = (".npz", ".json")  # checkpoints and datasets, which may not name code themselves
MAX_RUNS = 100_000  # of a suite
UNLIMITED = 10_000_000.0  # seconds; four months
# Incremented when the meaning of rows changes, and the first version of momagames whose rows have this meaning
ROWS_FORMAT, ROWS_VERSION = 1, "0.1.0"

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=100)]  # also names a folder
Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, le=UNLIMITED)]
Seeds = Annotated[tuple[Annotated[int, Field(ge=0, lt=2**63)], ...], Field(min_length=1)]


class FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class NamingModel(FrozenModel):
    """A model that names methods, policies, environments or files; `origin` says which it may name.

    The origin is the context of the validation, as in `Suite.model_validate_json(text, context=Origin.of_file(path))`.
    """

    _origin: Origin = PrivateAttr(default=USER)

    def model_post_init(self, context: Any) -> None:
        if isinstance(context, Origin):
            self._origin = context

    @property
    def origin(self) -> Origin:
        return self._origin


class GameChoice(NamingModel):
    """A game by id, with the parameters that differ from its defaults."""

    id: str
    params: dict[str, Any]

    def make_game(self) -> Game:
        """Return the game. Raises UnknownId, InvalidParameter; InvalidFile for files that the origin may not name."""
        if self.origin.allows_all:
            return registry.spec(self.id, **self.params)
        return registry.make_stored_game(self.id, self.params, self.origin)

    def embed_files(self) -> Self:
        """Return this with the data of a level or another file that a parameter names, so that no path is stored."""
        named = {name for name, value in self.params.items() if isinstance(value, (str, list, tuple))}
        known = self.make_game().params if named else {}
        data = {name: known[name] for name in named if isinstance(known.get(name), dict)}
        return self.model_copy(update={"params": {**self.params, **data}}) if data else self


@functools.lru_cache(maxsize=1024)
def _make_method(kind: type[Any], options: str) -> Method:
    """Return a method with options from JSON: made once, for the check of a suite and for all runs in this process."""
    method: Method = TypeAdapter(kind).validate_json(options, strict=True)
    return method


class Choice(NamingModel):
    """A method or policy by name, with every option.

    If it is a file, or an option names one, the option `sha256` is the checksum of this file. Suites and recipes get it when
    they are read.
    """

    name: str
    options: dict[str, Any]

    @abstractmethod
    def find_file(self, game: Game) -> Path | None:
        """Return the file; None: there is none. Raises UnknownId."""

    @property
    def own_options(self) -> dict[str, Any]:
        """Return the options without the checksum."""
        return {option: value for option, value in self.options.items() if option != PINNED}

    def check_origin(self, game: Game, path: Path | None) -> None:
        """Raise InvalidFile for options that the origin may not say: names of code and addresses, and of files elsewhere.

        path    the file that they name, which may be elsewhere if it has the checksum
        """
        if self.origin.allows_all:
            return
        check_stored_options(self.name, self.own_options, game, self.origin, path)
        if path is None:
            return
        if path.suffix not in DATA_FILES:
            raise self.origin.reject(self.name, str(path), "a checkpoint or a dataset")
        if not self.options.get(PINNED):
            self.origin.check_file(self.name, path)
        elif not is_file(path):
            raise self.origin.reject(self.name, str(path), f"a file with SHA-256 {self.options[PINNED]}")
        else:
            _compare_checksum(path, self.options[PINNED])

    def pin_file(self, game: Game) -> Self:
        """Return this with the checksum of the file, unless it has one. Raises UnknownId, InvalidFile."""
        path = None if self.options.get(PINNED) else self.find_file(game)
        if path is None:
            return self
        return self.model_copy(update={"options": {**self.options, PINNED: hash_content(read_bytes(path))}})

    def check_file(self, game: Game) -> None:
        """Raise InvalidFile if the file is not the one of the checksum, InvalidParameter for a checksum without a file."""
        expected = self.options.get(PINNED)
        if not expected:
            return
        path = self.find_file(game)
        if path is None:
            raise InvalidParameter(
                f"{self.name}: {invalid_value(PINNED, expected, 'no checksum, because no option names a file')}"
            )
        _compare_checksum(path, expected)


class MethodChoice(Choice):
    """A method by name, or your own as "module:class"."""

    def find_file(self, game: Game) -> Path | None:
        return self.find_method(game).find_file(self.options)

    def find_method(self, game: Game) -> type[Method]:
        """Return the class of the method. Raises UnknownId; InvalidFile for what the origin may not say."""
        kind = method(self.name, game, self.origin)
        self.check_origin(game, None if self.origin.allows_all else kind.find_file(self.options))
        return kind

    def is_trained(self, game: Game) -> bool:
        """Return whether the method trains; of code that a file of data names, as the file says. Raises UnknownId."""
        if not self.origin.allows_all and ":" in strip_safe(self.name):
            return self.name in self.origin.trained
        return method(self.name, game, self.origin).trains

    def load_method(self, game: Game) -> Method:
        """Return the method of this game, after a check of its file. Raises UnknownId, InvalidParameter, InvalidFile."""
        self.check_file(game)
        return self.make_method(game)

    def make_method(self, game: Game) -> Method:
        """Return the method of this game. Raises UnknownId, InvalidParameter."""
        kind: Any = self.find_method(game)  # a type[Method], whose hash mypy takes for that of its instances
        optional = [option.name for option in fields(kind) if option.default is not MISSING]
        _check_options(self.name, self.own_options, [option.name for option in fields(kind)], optional)
        try:
            return _make_method(kind, json.dumps(self.own_options))
        except ValidationError as error:
            first = error.errors()[0]
            raise InvalidParameter(f"{self.name}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


class Opponent(Choice):
    """A policy of all agents except the evaluated agent and its team mates.

    label    text in rows: the name, and the options that are not empty lists
    """

    @classmethod
    def with_default_options(cls, name: str, game: Game) -> Opponent:
        """Return a policy with the default values of the options that a suite must state. Raises UnknownId."""
        source = find_policy(name, game)
        optional = optional_options(source)
        defaults = {option: value for option, value in source_options(source).items() if option not in optional}
        return cls(name=name, options={option: [] if value is None else value for option, value in defaults.items()})

    def find_file(self, game: Game) -> Path | None:
        return find_policy_file(self.name, self.find_source(game), self.options)

    def find_source(self, game: Game) -> PolicySource:
        """Return what the name stands for. Raises UnknownId; InvalidFile for what the origin may not say."""
        source = find_policy(self.name, game, self.origin)
        self.check_origin(game, find_policy_file(self.name, source, self.options))
        return source

    def make_policy(self, game: Game) -> BatchPolicy:
        """Return the policy, after a check of its file. Raises UnknownId, InvalidParameter, InvalidFile."""
        self.check_file(game)
        source = self.find_source(game)
        _check_options(self.name, self.own_options, list(source_options(source)), optional_options(source))
        return make_batch_policy(self.name, source, game, **self.own_options)

    @property
    def label(self) -> str:
        text = ", ".join(f"{name}={_format_value(value)}" for name, value in self.own_options.items() if value != [])
        return f"{self.name}({text})" if text else self.name


def _compare_checksum(path: Path, expected: Any) -> None:
    if expected != (actual := hash_content(read_bytes(path))):
        raise InvalidFile(f"{path}: has changed since the suite was read: SHA-256 {actual}, expected {expected}")


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_format_value, value))})"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _check_options(name: str, given: Mapping[str, Any], known: Sequence[str], optional: Sequence[str]) -> None:
    """Raise InvalidParameter unless the known options are given, with or without the optional ones: newer than suites."""
    for option in given:
        if option not in known:
            expected = one_of(known) if known else "no options"
            raise InvalidParameter(f"{name}: unknown option {option!r}: expected {expected}{nearest(option, known)}")
    missing = [option for option in known if option not in given and option not in optional]
    if missing:
        raise InvalidParameter(f"{name}: missing option {missing[0]!r}: a suite has no defaults")


class _Experiment(FrozenModel):
    """Fields of both kinds of experiments.

    ideal_point    of normalized indicators: "declared", the objectives' upper bounds, or "reference", the best value of each
                   objective in the reference front
    seconds        time limit of a run (wall time, compilation included). A run over its limit fails; the rows of a finished
                   run do not depend on the speed of the machine
    roles          method -> role: the name that stands for the method in comparisons over several games, such as "scripted
                   agent" for the different ones that games have. Methods without a role stand for themselves
    """

    name: Annotated[str, Field(max_length=200)]
    ideal_point: Literal["declared", "reference"]
    games: Annotated[tuple[GameChoice, ...], Field(min_length=1)]
    methods: Annotated[tuple[MethodChoice, ...], Field(min_length=1)]
    seeds: Seeds
    seconds: Seconds
    roles: dict[str, Annotated[str, Field(min_length=1, max_length=100)]] = {}

    @property
    def pools_references(self) -> bool:
        """Whether the best-known reference front is the union over all seeds, not one for each seed.

        Plans have a start position for each seed, and policies start positions of their own unless there is an episode set.
        With the declared ideal point the front does not scale the returns, and one front is easier to compare with.
        """
        return False

    def list_methods(self) -> tuple[MethodChoice, ...]:
        """Return the methods, those of responses included."""
        return self.methods

    def list_players(self, chosen: MethodChoice) -> tuple[MethodChoice, ...]:
        """Return the methods that act in the runs of a method."""
        return (chosen,)

    @abstractmethod
    def make_run(self, game: Game, chosen: MethodChoice, common: dict[str, Any]) -> Run:
        """Return the run of a method, with the fields that runs of all kinds have."""


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

    def make_run(self, game: Game, chosen: MethodChoice, common: dict[str, Any]) -> PlansRun:
        return PlansRun(**common, **NO_POLICIES, kind="plans", budget=self.budget, cpu_seconds=self.cpu_seconds)


class Generalization(FrozenModel):
    """Training on a finite set of instances, and comparison with the exact front of each instance.

    plays         episodes that a method has in each instance, shared by its policies in turn. A policy plays each instance
                  equally often, so that more policies than plays, or a remainder, mean a few episodes more, which do not count
    max_states, max_bytes    limits of the exact search, see the method `exact`
    """

    plays: Count
    max_states: Count
    max_bytes: Count


class HeadToHead(FrozenModel):
    """Games between the methods of an experiment, instead of episodes against its opponents.

    Each method trains against the opponents of the experiment, from its seats, and selects one policy, that with the most wins
    in the selection episodes. In the report episodes this policy plays from each seat of the games against the policy of each
    method, its own included, and responses are played against it (see `head_to_head`).

    seats              agents that the policies play in turn in these games; empty: every agent
    responses          methods whose policies are responses; those with training are trained against the policy
    response_budget    environment steps of the training of each response
    """

    seats: tuple[str, ...]
    responses: Annotated[tuple[MethodChoice, ...], Field(min_length=1)]
    response_budget: Count

    def list_seats(self, game: Game) -> tuple[str, ...]:
        """Return the agents that the policies play in turn."""
        return self.seats or game.agents


class PoliciesExperiment(_Experiment):
    """Full episodes of each policy against each opponent from each seat; a point is the mean return of a policy.

    budget             environment steps of training, look-ahead included; 0 if no method is trained
    seats              agents that the policies play, in turn; empty: every agent
    select_episodes    episodes that select the non-dominated policies, for each policy, opponent and seat
    report_episodes    separate episodes that estimate the values of the selected policies
    episode_set        name of the start positions of these episodes, which are then the same for all seeds; None: they
                       depend on the seed of the run. Positions of training are others in both cases
    generalization     training uses the start positions of the selection episodes only: these are the training instances, and
                       those of the report episodes are the test instances. For games whose fronts are computed exactly
    reference_set      name of the best-known fronts that reports measure against, see `reference_sets`; None: the union of
                       the policies that were run
    head_to_head       games between the methods; None: episodes of each policy against each opponent
    """

    kind: Literal["policies"]
    budget: Annotated[int, Field(ge=0)]
    opponents: tuple[Opponent, ...]
    seats: tuple[str, ...]
    select_episodes: Count
    report_episodes: Count
    episode_set: Name | None = None
    generalization: Generalization | None = None
    reference_set: Name | None = None
    head_to_head: HeadToHead | None = None

    @property
    def pools_references(self) -> bool:
        return self.ideal_point == "declared" or self.episode_set is not None

    def list_methods(self) -> tuple[MethodChoice, ...]:
        return (*self.methods, *(self.head_to_head.responses if self.head_to_head else ()))

    def list_players(self, chosen: MethodChoice) -> tuple[MethodChoice, ...]:
        return self.list_methods() if self.head_to_head else (chosen,)

    def make_run(self, game: Game, chosen: MethodChoice, common: dict[str, Any]) -> PoliciesRun:
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
        budget = self.budget if chosen.is_trained(game) else None
        return PoliciesRun(**played, budget=budget, plays=self.generalization.plays if self.generalization else None)


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

    names         of indicators of the package, or "module:name"
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

    def find_versions(self) -> Versions:
        """Return the installed momagames with the methods of all experiments."""
        revisions: dict[str, int] = {}
        for experiment in self.experiments:
            for choice in experiment.games:
                revisions |= find_revisions(experiment, choice.make_game())
        return Versions(momagames.__version__, revisions)

    def list_runs(self, versions: Versions | None = None) -> tuple[Run, ...]:
        """Return the distinct runs, in order. A run that two experiments share has the longer time limit.

        versions   what computes them; None: the installed momagames
        """
        runs: dict[str, Run] = {}
        for experiment in self.experiments:
            for run in expand_runs(experiment, versions):
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


class _Run(NamingModel):
    """One unit of work: everything that its result depends on, and its time limit, which the digest excludes.

    A field with a default came later: it is not in the digest where it has this default, so that digests of stored runs stay.

    budget       environment steps of a search or of training; None for policies that are not trained
    revisions    revisions of its methods by name (see `Method`); None: all have the first one
    version, rows_format    what rows mean: their format, and the first version of momagames that has it
    """

    game: GameChoice
    canonical: str
    method: MethodChoice
    seed: int
    budget: int | None
    revisions: dict[str, int] | None = None
    version: str
    rows_format: int
    seconds: Annotated[Seconds, Field(exclude=True)]

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of this run."""
        return hashlib.sha256(canonical_json(self.to_dict()).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_defaults=True)

    @property
    def folder(self) -> str:
        """Name of the run's directory: readable, and unique by content."""
        return f"{self.game.id}.{self.method.name.replace(':', '-')}.seed{self.seed}.{self.digest[:16]}"


class PlansRun(_Run):
    """A search for plans.

    cpu_seconds    CPU time of the search instead, with `budget` for the first trial; None: `budget` alone
    opponents, seats, select_episodes, report_episodes    of policies; a run of plans has none, as its digest says
    """

    kind: Literal["plans"]
    budget: Count
    cpu_seconds: Seconds | None = None
    opponents: tuple[()]
    seats: tuple[()]
    select_episodes: None
    report_episodes: None

    def count_units(self) -> int:
        """Return the units of work."""
        return self.budget

    def take_share(self, share: float) -> PlansRun:
        """Return a run with a share of the work of this one."""
        if self.cpu_seconds:
            return self.model_copy(update={"cpu_seconds": self.cpu_seconds * share})
        return self.model_copy(update={"budget": _reduce(self.budget, share)})


NO_POLICIES: dict[str, Any] = {"opponents": (), "seats": (), "select_episodes": None, "report_episodes": None}


class PoliciesRun(_Run):
    """Episodes of the policies of a method against opponents, see `PoliciesExperiment`.

    plays    episodes of the method in each start position, and training on those of the selection episodes only (see
             `Generalization`); None: one episode of each policy, and new start positions in training
    """

    kind: Literal["policies"]
    opponents: tuple[Opponent, ...]
    seats: tuple[str, ...]
    select_episodes: int
    report_episodes: int
    episode_set: str | None = None
    plays: int | None = None

    @property
    def episodes(self) -> int:
        """Number of selection and report episodes."""
        return self.select_episodes + self.report_episodes

    def count_units(self) -> int:
        """Return the units of work: the budget of training, or without training the number of episodes."""
        return self.budget if self.budget is not None else self.episodes * max(1, len(self.opponents)) * len(self.seats)

    def take_share(self, share: float) -> PoliciesRun:
        """Return a run with a share of the work of this one."""
        names = ("budget", "select_episodes", "report_episodes")
        return self.model_copy(update={name: _reduce(getattr(self, name), share) for name in names})

    def play_alone(self, **changed: Any) -> PoliciesRun:
        """Return a run of a method against the opponents alone: this one with other values, without games between methods."""
        return PoliciesRun(**{name: getattr(self, name) for name in PoliciesRun.model_fields} | changed)


class HeadToHeadRun(PoliciesRun):
    """Games between the policy of a method and those of the others, see `HeadToHead`.

    players    methods that meet, the own one included
    """

    players: tuple[MethodChoice, ...]
    head_to_head: HeadToHead

    def take_share(self, share: float) -> PoliciesRun:
        budget = _reduce(self.head_to_head.response_budget, share)
        meeting = self.head_to_head.model_copy(update={"response_budget": budget})
        return super().take_share(share).model_copy(update={"head_to_head": meeting})


def _reduce(count: int | None, share: float) -> int | None:
    return count and max(1, round(count * share))


Run = PlansRun | PoliciesRun


def _name_kind(content: Mapping[str, Any]) -> Any:
    """Return the tag of the content of a run."""
    return "head_to_head" if "players" in content else content.get("kind")


_ANY_RUN: TypeAdapter[Run] = TypeAdapter(
    Annotated[
        Annotated[PlansRun, Tag("plans")]
        | Annotated[PoliciesRun, Tag("policies")]
        | Annotated[HeadToHeadRun, Tag("head_to_head")],
        Discriminator(_name_kind),
    ]
)


def parse_run(content: Mapping[str, Any], seconds: float = UNLIMITED, origin: Origin = USER) -> Run:
    """Return the run with this content."""
    return _ANY_RUN.validate_json(json.dumps({**content, "seconds": seconds}), context=origin)


def canonical_json(data: Any) -> str:
    """Return canonical JSON: sorted keys, no spaces, no NaN."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


class Versions(NamedTuple):
    """What computed results: the version of momagames, and the revisions of its methods by name where they are above 1."""

    version: str
    revisions: Mapping[str, int]

    def __str__(self) -> str:
        return ", ".join([self.version, *(f"{name} of revision {value}" for name, value in self.revisions.items())])


def find_revisions(experiment: Experiment, game: Game) -> dict[str, int]:
    """Return the revisions of the methods of an experiment for one of its games, by name where they are above 1."""
    revisions = {choice.name: choice.find_method(game).revision for choice in experiment.list_methods()}
    return {name: revision for name, revision in sorted(revisions.items()) if revision > 1}


def expand_runs(experiment: Experiment, versions: Versions | None = None) -> Iterator[Run]:
    """Yield the runs of an experiment in the order games x seeds x methods; runs that are compared finish together.

    versions   what computes them; None: the installed momagames
    """
    for choice in experiment.games:
        game = choice.make_game()
        revisions = versions.revisions if versions else find_revisions(experiment, game)
        common = {
            "game": choice,
            "canonical": registry.format_id(game.id, game.params),
            "version": ROWS_VERSION,
            "rows_format": ROWS_FORMAT,
            "seconds": experiment.seconds,
        }
        for seed in experiment.seeds:
            for chosen in experiment.methods:
                names = sorted({player.name for player in experiment.list_players(chosen)} & revisions.keys())
                own = {"method": chosen, "seed": seed, "revisions": {name: revisions[name] for name in names} or None}
                yield experiment.make_run(game, chosen, common | own)


def method_names(experiment: Experiment) -> dict[str, str]:
    """Return labels of the methods: their names, with the options that tell them from others of the same name."""
    return label_methods(experiment.methods)


def label_methods(methods: Sequence[MethodChoice]) -> dict[str, str]:
    """Return labels of methods by their JSON: their names, with the options that tell them from others of the same name."""
    options: dict[str, list[dict[str, Any]]] = {}
    for chosen in methods:
        options.setdefault(chosen.name, []).append(chosen.options)
    common = {
        name: {k for k, v in group[0].items() if all(k in other and other[k] == v for other in group)}
        for name, group in options.items()
    }

    def label(chosen: MethodChoice) -> str:
        differing = {k: v for k, v in chosen.own_options.items() if k not in common[chosen.name]}
        return f"{chosen.name}({', '.join(f'{k}={v}' for k, v in differing.items())})" if differing else chosen.name

    return {chosen.model_dump_json(): label(chosen) for chosen in methods}
