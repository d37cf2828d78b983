"""Suite files: reading and validation. An error names the file, the key, the allowed values and the nearest match."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from momagames.baselines import method
from momagames.baselines.base import Method
from momagames.benchmark.plan import (
    Collection,
    GameChoice,
    Indicator,
    Indicators,
    MethodChoice,
    Opponent,
    PlansExperiment,
    PoliciesExperiment,
    Suite,
)
from momagames.contract import Game
from momagames.errors import InvalidFile, MomagamesError, UnknownId, nearest, one_of

MAX_BYTES = 1_000_000
Kind = TypeVar("Kind", Suite, Collection)


class _Loader(yaml.SafeLoader):
    """Safe YAML loader that rejects duplicate keys and aliases (a small file could expand into a huge one)."""

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
    """Return the packaged suites, by name."""
    packed = Path(str(files("momagames.benchmark"))) / "suites"
    folder = packed if packed.is_dir() else Path(__file__).resolve().parents[2] / "configs" / "suites"  # a checkout
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def load_suite(source: str | Path | Mapping[str, Any]) -> Suite:
    """Load a suite from a YAML file, the name of a packaged suite, or a mapping of the same form.

    Raises InvalidFile, with file, key, allowed values and nearest match; UnknownId if `source` is neither a file nor a name
    """
    return check(*_read(source))


def _read(source: str | Path | Mapping[str, Any]) -> tuple[Suite, str]:
    """Return a suite, or a collection merged into one, and its source."""
    data, place = (source, "suite") if isinstance(source, Mapping) else _data(source)
    if "suites" not in data:
        return _validated(Suite, data, place), place
    whole = _validated(Collection, data, place)
    members = []
    for k, name in enumerate(whole.suites):
        with _located(f"{place}: suites[{k}]"):
            if name in whole.suites[:k]:
                raise InvalidFile(f"{name!r} stands there twice")
            beside = Path(place).parent / name  # relative to the collection
            one, file = _data(beside if beside.is_file() else name)
            if "suites" in one:
                raise InvalidFile(f"{name!r} is a collection itself; a collection takes suites together")
            members.append(_validated(Suite, one, file))
    return whole.united(members), place


def _data(source: str | Path) -> tuple[dict[str, Any], str]:
    """Return the mapping in a file, and the path of the file."""
    path = Path(source)
    if not path.is_file():
        known = suites()
        if str(source) not in known:
            raise UnknownId(f"no file and no suite {str(source)!r}; there are {one_of(known)}{nearest(source, known)}")
        path = known[str(source)]
    if path.stat().st_size > MAX_BYTES:
        raise InvalidFile(f"{path}: {path.stat().st_size:,} bytes; a suite has at most {MAX_BYTES:,}")
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise InvalidFile(f"{path}: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise InvalidFile(f"{path}: a suite is a mapping with the keys {one_of(Suite.model_fields)}")
    return data, str(path)


# ------------------------------------------------------------------------------------------------------------- checking


def check(suite: Suite, source: str) -> Suite:
    """Return the suite if every name, parameter and combination is valid. Raises InvalidFile, with file and key."""
    names = [experiment.name for experiment in suite.experiments]
    for i, experiment in enumerate(suite.experiments):
        at = f"{source}: experiments[{i}]"
        if names.index(experiment.name) != i:
            raise InvalidFile(f"{at}.name: {experiment.name!r} is taken by experiments[{names.index(experiment.name)}]")
        if len(set(experiment.seeds)) != len(experiment.seeds):
            raise InvalidFile(f"{at}.seeds: a seed stands there twice")
        for j, choice in enumerate(experiment.games):
            with _located(f"{at}.games[{j}]"):
                game = choice.game()
            for k, chosen in enumerate(experiment.methods):
                with _located(f"{at}.methods[{k}] on games[{j}]"):
                    _check_method(experiment, chosen.method(game), game)
            if isinstance(experiment, PoliciesExperiment):
                _check_seats(experiment, game, at)
        if isinstance(experiment, PoliciesExperiment):
            _check_budget(experiment, at)
    return suite


def _check_method(experiment: PlansExperiment | PoliciesExperiment, chosen: Method, game: Game) -> None:
    if isinstance(experiment, PlansExperiment):
        chosen.check_plan(game)
    else:
        chosen.check_train(game)


def _check_budget(experiment: PoliciesExperiment, at: str) -> None:
    game = experiment.games[0].game()
    trained = [chosen.name for chosen in experiment.methods if method(chosen.name, game).trains]
    if trained and not experiment.budget:
        raise InvalidFile(f"{at}.budget: 0 steps, and {trained[0]} has to train; allowed: 1 or more")
    if experiment.budget and not trained:
        raise InvalidFile(f"{at}.budget: {experiment.budget} steps, and no method trains; allowed: 0")


def _check_seats(experiment: PoliciesExperiment, game: Game, at: str) -> None:
    for k, seat in enumerate(experiment.seats):
        if seat not in game.agents:
            raise InvalidFile(
                f"{at}.seats[{k}]: {game.id} has no agent {seat!r}; allowed: {one_of(game.agents)}{nearest(seat, game.agents)}"
            )
    if len(game.agents) > 1 and not experiment.opponents:
        raise InvalidFile(f"{at}.opponents: {game.id} has {len(game.agents)} agents; name at least one policy")
    for k, opponent in enumerate(experiment.opponents):
        with _located(f"{at}.opponents[{k}]"):
            opponent.policy(game)


class _located:
    """Context manager that turns errors of momagames into InvalidFile with the location in the suite."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, (MomagamesError, TypeError)):  # TypeError: a parameter of the wrong type
            raise InvalidFile(f"{self.place}: {error}") from error


# ------------------------------------------------------------------------------------------------------------- errors


def _validated(model: type[Kind], data: Mapping[str, Any], source: str) -> Kind:
    try:
        return model.model_validate_json(json.dumps(data, allow_nan=False))
    except (TypeError, ValueError) as error:
        if not isinstance(error, ValidationError):
            raise InvalidFile(f"{source}: {error}") from None
        raise InvalidFile("\n".join(_describe_error(model, source, one) for one in error.errors())) from None


def _describe_error(model: type[BaseModel], source: str, error: Any) -> str:
    """Format an error of pydantic as "file: key: problem; allowed values; nearest match"."""
    tags = ("plans", "policies")
    place = [part for part in error["loc"] if part not in tags]
    at = f"{source}: " + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")
    if error["type"] == "extra_forbidden":
        keys = list(_model_at(model, error["loc"][:-1]).model_fields)
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


def _model_at(model: type[BaseModel], location: tuple[Any, ...]) -> type[BaseModel]:
    """Return the model at a location of a suite or collection."""
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
