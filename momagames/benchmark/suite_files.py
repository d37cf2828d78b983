"""Suite files: reading and validation. An error names the file, the key, the allowed values and the nearest match."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from momagames.baselines.exact.depth_first import unsupported_reasons
from momagames.benchmark.choices import Choice, GameChoice, label_methods
from momagames.benchmark.head_to_head import DECIDERS, find_deciding_objective
from momagames.benchmark.reference_sets import find_reference, find_suite_folder
from momagames.benchmark.runs import HeadToHead
from momagames.benchmark.suites import Collection, PlansExperiment, PoliciesExperiment, Suite
from momagames.contract import Game
from momagames.errors import InvalidFile, MomagamesError, UnknownId, first_of, invalid_value, nearest, one_of
from momagames.files.reading import is_file, read_text
from momagames.files.yaml_data import MAX_BYTES, parse_yaml
from momagames.plugins import USER, Origin

QUOTED = re.compile(r"'([^']*)'")
PYDANTIC_EXPECTED = re.compile(r"^(?:Input should be|\w+ should (?:have|match)|expected) (.*?)(?: after validation, not \d+)?$")
Kind = TypeVar("Kind", bound=BaseModel)
Named = TypeVar("Named", bound=Choice)
Item = TypeVar("Item")
Result = TypeVar("Result")


def list_suites() -> dict[str, Path]:
    """Return the packaged suites, by name."""
    return {path.stem: path for path in sorted(find_suite_folder().glob("*.yaml"))}


def load_suite(source: str | Path | Mapping[str, Any]) -> Suite:
    """Load a suite from a YAML file, the name of a packaged suite, or a mapping of the same form.

    Raises InvalidFile, with file, key, allowed values and nearest match; UnknownId if `source` is neither a file nor a name
    """
    data, place = (source, "suite") if isinstance(source, Mapping) else load_packaged_yaml(source, list_suites(), Suite)
    suite = _merge_collection(data, place) if "suites" in data else validate_model(Suite, data, place)
    return check_suite(suite, place)


def _merge_collection(data: Mapping[str, Any], place: str) -> Suite:
    """Return the suites of a collection merged into one."""
    whole = validate_model(Collection, data, place)
    members = []
    for k, name in enumerate(whole.suites):
        with locate_errors(f"{place}: suites[{k}]"):
            if name in whole.suites[:k]:
                raise InvalidFile(f"duplicate suite {name!r}")
            beside = Path(place).parent / name  # relative to the collection
            member, file = load_packaged_yaml(beside if is_file(beside) else name, list_suites(), Suite)
            if "suites" in member:
                raise InvalidFile(f"{name!r} is a collection: expected a suite")
            members.append(validate_model(Suite, member, file))
    return whole.merge_suites(members)


def load_packaged_yaml(
    source: str | Path, known: Mapping[str, Path], model: type[BaseModel], noun: str = "suite"
) -> tuple[dict[str, Any], str]:
    """Return the mapping in a YAML file, or in a packaged file by its name, and the path of the file.

    known     the packaged files by name
    model     whose keys are expected
    noun      name of such a file in messages
    Raises    UnknownId if it is neither; InvalidFile
    """
    path = Path(source)
    if not is_file(path):
        if str(source) not in known:
            expected = f"a file, or one of the packaged {noun}s {one_of(known)}"
            raise UnknownId(invalid_value(noun, str(source), expected, nearest(source, known)))
        path = known[str(source)]
    data = parse_yaml(read_text(path, MAX_BYTES), str(path))
    if not isinstance(data, dict):
        raise InvalidFile(f"{path}: expected a mapping with the keys {one_of(model.model_fields)}")
    return data, str(path)


# ------------------------------------------------------------------------------------------------------------- checking


def check_suite(suite: Suite, source: str) -> Suite:
    """Return the suite with the data of levels and layouts, and the checksums of other files that it names.

    With another file, a run is another run.

    Raises InvalidFile, with file and key, unless every name, parameter, file and combination is valid
    """
    names = [experiment.name for experiment in suite.experiments]
    experiments = []
    for i, experiment in enumerate(suite.experiments):
        at = f"{source}: experiments[{i}]"
        if names.index(experiment.name) != i:
            other = f"a name other than that of experiments[{names.index(experiment.name)}]"
            raise InvalidFile(invalid_value(f"{at}.name", experiment.name, other))
        if len(set(experiment.seeds)) != len(experiment.seeds):
            raise InvalidFile(invalid_value(f"{at}.seeds", list(experiment.seeds), "distinct seeds"))
        experiments.append(_check_experiment(experiment, at))
        _check_roles(experiment, at)
    return suite.model_copy(update={"experiments": tuple(experiments)})


def _check_experiment(experiment: PlansExperiment | PoliciesExperiment, at: str) -> PlansExperiment | PoliciesExperiment:
    """Return the experiment with the data and the checksums of files, after a check of each game with each method."""
    choices = _convert(experiment.games, GameChoice.embed_files, f"{at}.games")
    games = _convert(choices, GameChoice.make_game, f"{at}.games")

    def pin_files(named: Sequence[Named], key: str) -> tuple[Named, ...]:
        return _convert(named, lambda choice: choice.pin_file(games[0]), f"{at}.{key}")

    named = _convert(experiment.methods, lambda choice: choice.complete(games[0]), f"{at}.methods")
    update: dict[str, Any] = {"games": choices, "methods": pin_files(named, "methods")}
    if isinstance(experiment, PoliciesExperiment):
        update["opponents"] = pin_files(experiment.opponents, "opponents")
        if meeting := experiment.head_to_head:
            responses = pin_files(meeting.responses, "head_to_head.responses")
            update["head_to_head"] = meeting.model_copy(update={"responses": responses})
    pinned = experiment.model_copy(update=update)
    for j, game in enumerate(games):
        for k, chosen in enumerate(pinned.methods):
            with locate_errors(f"{at}.methods[{k}] on games[{j}]"):
                made = chosen.make_method(game)
                (made.check_plan if isinstance(pinned, PlansExperiment) else made.check_train)(game)
        if isinstance(pinned, PoliciesExperiment):
            _check_policies(pinned, game, at, j)
    return pinned


def _convert(items: Sequence[Item], convert: Callable[[Item], Result], at: str) -> tuple[Result, ...]:
    """Return what each item becomes. An error names the place of its item."""
    found = []
    for k, item in enumerate(items):
        with locate_errors(f"{at}[{k}]"):
            found.append(convert(item))
    return tuple(found)


def _check_policies(experiment: PoliciesExperiment, game: Game, at: str, number: int) -> None:
    """Check what experiments with policies have beyond games and methods, on the game of this number."""
    meeting = experiment.head_to_head
    for place, seats in ((at, experiment.seats), (f"{at}.head_to_head", meeting.seats if meeting else ())):
        for k, seat in enumerate(seats):
            if seat not in game.agents:
                raise InvalidFile(invalid_value(f"{place}.seats[{k}]", seat, one_of(game.agents), nearest(seat, game.agents)))
    if (teams := len({*game.teams})) > 1 and not experiment.opponents:  # policies play their whole team
        expected = f"at least one policy, because {game.id} has {teams} teams"
        raise InvalidFile(invalid_value(f"{at}.opponents", [], expected))
    _convert(experiment.opponents, lambda opponent: opponent.make_policy(game), f"{at}.opponents")
    if experiment.reference_set:
        with locate_errors(f"{at}.reference_set"):
            find_reference(experiment.reference_set, experiment, game)
    if experiment.stored_episodes and (meeting or experiment.generalization):
        raise InvalidFile(f"{at}.stored_episodes: expected none with head_to_head or generalization, which need every episode")
    if experiment.generalization and (reasons := unsupported_reasons(game)):
        expected = "a game whose exact front can be computed"
        raise InvalidFile(f"{at}.generalization on games[{number}]: {game.id} has {' and '.join(reasons)}: expected {expected}")
    if meeting:
        _check_head_to_head(experiment, meeting, game, f"{at}.head_to_head")
    trained = [chosen.name for chosen in experiment.methods if chosen.is_trained(game)]
    if trained and not experiment.budget:
        raise InvalidFile(invalid_value(f"{at}.budget", 0, f"1 or more, because {trained[0]} trains"))
    for name in experiment.budgets:
        if name not in trained or meeting:
            raise InvalidFile(f"{at}.budgets: " + _describe_budget(name, trained, meeting))


def _describe_budget(name: str, trained: Sequence[str], meeting: HeadToHead | None) -> str:
    """Return what is wrong with a budget of one method."""
    if meeting:
        return "expected none with head_to_head, where all methods have one budget"
    return invalid_value("method", name, one_of(trained), nearest(name, trained))


def _check_head_to_head(experiment: PoliciesExperiment, meeting: HeadToHead, game: Game, at: str) -> None:
    if len(set(game.teams)) < 2 or find_deciding_objective(game) < 0:
        expected = f"two teams or more, and a zero-sum objective, {one_of(DECIDERS)}"
        raise InvalidFile(f"{at}: {game.id} has no winner: expected {expected}")
    if len(experiment.methods) < 2 or experiment.generalization or experiment.reference_set:
        raise InvalidFile(f"{at}: expected two methods or more, and neither generalization nor reference_set")
    for k, chosen in enumerate(meeting.responses):
        with locate_errors(f"{at}.responses[{k}] on {game.id}"):
            chosen.make_method(game).check_train(game)


def _check_roles(experiment: PlansExperiment | PoliciesExperiment, at: str) -> None:
    names = list(label_methods(experiment.methods).values())
    for name in experiment.roles:
        if name not in names:
            raise InvalidFile(invalid_value(f"{at}.roles", name, one_of(names), nearest(name, names)))
    roles = [experiment.roles.get(name, name) for name in names]
    for role in experiment.roles.values():
        if roles.count(role) > 1:
            raise InvalidFile(invalid_value(f"{at}.roles", role, "one method for each role, not named like another method"))


@contextmanager
def locate_errors(place: str) -> Iterator[None]:
    """Turn errors of momagames into InvalidFile with the location in the file."""
    try:
        yield
    except (MomagamesError, TypeError) as error:  # TypeError: a parameter of the wrong type
        raise InvalidFile(f"{place}: {error}") from error


# ------------------------------------------------------------------------------------------------------------- errors


def validate_model(model: type[Kind], data: Mapping[str, Any], source: str, noun: str = "suite", origin: Origin = USER) -> Kind:
    """Return the model of the data of a file. Raises InvalidFile, with file, key, allowed values and nearest match.

    noun      name of such a file in messages
    origin    of the names in it
    """
    try:
        return model.model_validate_json(json.dumps(data, allow_nan=False), context=origin)
    except (TypeError, ValueError) as error:
        if not isinstance(error, ValidationError):
            raise InvalidFile(f"{source}: {error}") from None
        raise InvalidFile(first_of([_describe_error(model, source, noun, one) for one in _list_causes(error)])) from None


def _list_causes(error: ValidationError) -> list[Any]:
    """Return the errors without those that follow from others: a list whose items are invalid counts as too short."""
    found = error.errors()
    places = [one["loc"] for one in found]
    return [one for one in found if not any(at != one["loc"] and at[: len(one["loc"])] == one["loc"] for at in places)]


def _describe_error(model: type[BaseModel], source: str, noun: str, error: Any) -> str:
    """Return the message of an error of pydantic: file, key, expected values and the nearest match."""
    tags = ("plans", "policies")
    place = [part for part in error["loc"] if part not in tags]
    at = f"{source}: " + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")
    if error["type"] == "extra_forbidden":
        keys = list_keys(_find_model(model, error["loc"][:-1]))
        return f"{at}: unknown key: expected {one_of(keys)}{nearest(place[-1], keys)}"
    if error["type"] == "missing":
        return f"{at}: missing key: a {noun} has no defaults"
    context = error.get("ctx", {})
    if error["type"] == "literal_error":
        expected = context["expected"]
        return invalid_value(at, error["input"], expected, nearest(error["input"], QUOTED.findall(expected)))
    reason = context.get("error")
    if isinstance(reason, MomagamesError) or (reason and isinstance(error["input"], dict)):
        return f"{at}: {reason}"
    if error["type"] == "union_tag_not_found":
        return f"{at}.kind: missing key: expected {one_of(tags)}"
    if error["type"] == "union_tag_invalid":
        given = error["input"].get("kind")
        return invalid_value(f"{at}.kind", given, one_of(tags), nearest(given, tags))
    return invalid_value(at, error["input"], PYDANTIC_EXPECTED.sub(r"\1", error["msg"].removeprefix("Value error, ")))


def list_keys(model: type[BaseModel]) -> list[str]:
    """Return the keys of a model in files."""
    return [one.alias or name for name, one in model.model_fields.items()]


def _find_model(model: type[BaseModel], location: tuple[Any, ...]) -> type[BaseModel]:
    """Return the model at a location of another one, such as a suite."""
    for part in location:
        if part == "plans":
            model = PlansExperiment
        elif part == "policies":
            model = PoliciesExperiment
        elif isinstance(part, str) and part in model.model_fields:
            model = next(_list_models(model.model_fields[part].annotation), model)
    return model


def _list_models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that the type of a field contains."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _list_models(part)
