"""Suites: what is run, written down without hidden defaults, and expanded into runs that are known by their content."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

import momagames
from momagames import registry
from momagames.baselines import member, method, policy_options
from momagames.baselines.base import Member, Method
from momagames.contract import Game
from momagames.errors import BadFile, BadParameter, MomagamesError, UnknownId, nearest, one_of

MAX_BYTES = 1_000_000
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
    """A method by name, with every option."""

    name: str
    options: dict[str, Any]

    def method(self) -> Method:
        """The method, or UnknownId or BadParameter."""
        kind = method(self.name)
        _check_options(self.name, self.options, [name for name in kind.__dataclass_fields__ if name != "name"])
        try:
            return TypeAdapter(kind).validate_json(json.dumps(self.options), strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            raise BadParameter(f"{self.name}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


class Opponent(Frozen):
    """A policy that plays all seats but those of one agent and its team mates, with every option.

    label    stands in rows: the name, and the options that are not empty lists
    """

    name: str
    options: dict[str, Any]

    def member(self, game: Game) -> Member:
        """The policy in compiled form, or UnknownId or BadParameter."""
        _check_options(self.name, self.options, policy_options(self.name))
        return member(self.name, game, **self.options)

    @property
    def label(self) -> str:
        told = ", ".join(f"{name}={_short(value)}" for name, value in self.options.items() if value != [])
        return f"{self.name}({told})" if told else self.name


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_short, value))})"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _check_options(name: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise BadParameter unless all options that there are are given, and no others."""
    for option in given:
        if option not in known:
            allowed = f"it has {one_of(known)}" if known else "it has none"
            raise BadParameter(f"{name} has no option {option!r}; {allowed}{nearest(option, known)}")
    missing = [option for option in known if option not in given]
    if missing:
        raise BadParameter(f"{name} needs the option {missing[0]!r}: a suite leaves nothing to defaults")


class _Experiment(Frozen):
    """What both kinds have.

    utopia    the best return of each objective, for normalised indicators: "declared", the objectives' upper bounds, or
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
    is known to the search (`dry_run_beam`).

    budget    steps of the engine for each run, look-ahead included
    """

    kind: Literal["plans"]
    budget: Count


class PoliciesExperiment(_Experiment):
    """Whole games of each policy against each opponent from each seat; a point is a policy's mean return.

    seats              agents that the policies play, in turn; empty: every agent
    select_episodes    games by which the non-dominated policies are chosen, for each policy, opponent and seat
    report_episodes    other games, from which their values are taken
    """

    kind: Literal["policies"]
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

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
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


class Run(Frozen):
    """One unit of work, and all that its result depends on; and the seconds that it may take, which are no part of that."""

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
        return f"{self.game.id}.{self.method.name}.seed{self.seed}.{self.digest[:16]}"


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
                    canonical=registry.spelled(game.id, game.params),
                    method=chosen,
                    seed=seed,
                    kind=experiment.kind,
                    budget=plans.budget if plans else None,
                    opponents=policies.opponents if policies else (),
                    seats=(policies.seats or game.agents) if policies else (),
                    select_episodes=policies.select_episodes if policies else None,
                    report_episodes=policies.report_episodes if policies else None,
                    version=version or momagames.__version__,
                    rows_format=ROWS_FORMAT,
                    seconds=experiment.seconds,
                )


# ------------------------------------------------------------------------------------------------------------- checking


def check(suite: Suite, source: str) -> Suite:
    """The suite itself, if every name, parameter and combination in it is possible; else BadFile, with file and key."""
    names = [experiment.name for experiment in suite.experiments]
    for i, experiment in enumerate(suite.experiments):
        at = f"{source}: experiments[{i}]"
        if names.index(experiment.name) != i:
            raise BadFile(f"{at}.name: {experiment.name!r} is taken by experiments[{names.index(experiment.name)}]")
        if len(set(experiment.seeds)) != len(experiment.seeds):
            raise BadFile(f"{at}.seeds: a seed stands there twice")
        for j, choice in enumerate(experiment.games):
            with _located(f"{at}.games[{j}]"):
                game = choice.game()
            for k, chosen in enumerate(experiment.methods):
                with _located(f"{at}.methods[{k}] on games[{j}]"):
                    _check_method(experiment, chosen.method(), game)
            if isinstance(experiment, PoliciesExperiment):
                _check_seats(experiment, game, at)
    return suite


def _check_method(experiment: PlansExperiment | PoliciesExperiment, chosen: Method, game: Game) -> None:
    if isinstance(experiment, PlansExperiment):
        chosen.check_plan(game)
    else:
        chosen.policies(game)


def _check_seats(experiment: PoliciesExperiment, game: Game, at: str) -> None:
    for k, seat in enumerate(experiment.seats):
        if seat not in game.agents:
            raise BadFile(
                f"{at}.seats[{k}]: {game.id} has no agent {seat!r}; allowed: {one_of(game.agents)}{nearest(seat, game.agents)}"
            )
    if len(game.agents) > 1 and not experiment.opponents:
        raise BadFile(f"{at}.opponents: {game.id} has {len(game.agents)} agents; name at least one policy")
    for k, opponent in enumerate(experiment.opponents):
        with _located(f"{at}.opponents[{k}]"):
            opponent.member(game)


class _located:
    """Errors of ours inside this block become BadFile with the place in the suite."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, (MomagamesError, TypeError)):  # TypeError: a parameter of the wrong kind altogether
            raise BadFile(f"{self.place}: {error}") from error


# -------------------------------------------------------------------------------------------------------------- loading


class _Loader(yaml.SafeLoader):
    """Safe YAML without its traps: no key twice, no aliases (a small file could unfold into a huge one)."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not allowed")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"the key {key!r} stands twice in one mapping, line {node.start_mark.line + 1}")
        return super().construct_mapping(node, deep)


def suites() -> dict[str, Path]:
    """The suites that come with the package, by name."""
    packed = Path(str(files("momagames.experiments"))) / "suites"
    folder = packed if packed.is_dir() else Path(__file__).resolve().parents[2] / "configs" / "suites"  # a checkout
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def load_suite(source: str | Path | Mapping[str, Any]) -> Suite:
    """A suite from a YAML file, from the name of one that comes with the package, or from a mapping of the same form.

    Raises BadFile, with file, key, what is allowed and what is nearest; UnknownId for a name that is neither
    """
    if isinstance(source, Mapping):
        return check(_validated(source, "suite"), "suite")
    path = Path(source)
    if not path.is_file():
        known = suites()
        if str(source) not in known:
            raise UnknownId(f"no file and no suite {str(source)!r}; there are {one_of(known)}{nearest(source, known)}")
        path = known[str(source)]
    if path.stat().st_size > MAX_BYTES:
        raise BadFile(f"{path}: {path.stat().st_size:,} bytes; a suite has at most {MAX_BYTES:,}")
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise BadFile(f"{path}: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise BadFile(f"{path}: a suite is a mapping with the keys {one_of(Suite.model_fields)}")
    return check(_validated(data, str(path)), str(path))


def _validated(data: Mapping[str, Any], source: str) -> Suite:
    try:
        return Suite.model_validate_json(json.dumps(data, allow_nan=False))
    except (TypeError, ValueError) as error:
        if not isinstance(error, ValidationError):
            raise BadFile(f"{source}: {error}") from None
        raise BadFile("\n".join(_told(source, one) for one in error.errors())) from None


def _told(source: str, error: Any) -> str:
    """One of pydantic's errors as: file: key: what is wrong; allowed; nearest."""
    tags = ("plans", "policies")
    place = [part for part in error["loc"] if part not in tags]
    at = f"{source}: " + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")
    if error["type"] == "extra_forbidden":
        keys = list(_model_at(error["loc"][:-1]).model_fields)
        return f"{at}: no such key; allowed: {one_of(keys)}{nearest(place[-1], keys)}"
    if error["type"] == "missing":
        return f"{at}: this key is missing; a suite leaves nothing to defaults"
    if error["type"] == "literal_error":
        choices = get_args(Indicator) if "names" in place else ("declared", "reference")
        return f"{at}: {error['input']!r} is not possible; allowed: {one_of(choices)}{nearest(error['input'], choices)}"
    if error["type"] == "union_tag_invalid":
        given = error["input"].get("kind")
        return f"{at}.kind: {given!r} is not possible; allowed: {one_of(tags)}{nearest(given, tags)}"
    return f"{at}: {error['msg']}; given: {error['input']!r}"


def _model_at(location: tuple[Any, ...]) -> type[BaseModel]:
    """The model that a place in a suite belongs to."""
    model: type[BaseModel] = Suite
    for part in location:
        if part == "plans":
            model = PlansExperiment
        elif part == "policies":
            model = PoliciesExperiment
        elif isinstance(part, str) and part in model.model_fields:
            inner: dict[str, type[BaseModel]] = {
                "games": GameChoice,
                "methods": MethodChoice,
                "opponents": Opponent,
                "indicators": Indicators,
            }
            model = inner.get(part, model)
    return model
