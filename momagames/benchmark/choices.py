"""Games, methods and opponents as suites and results name them: by name, with every option."""

from __future__ import annotations

import functools
import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from momagames import registry
from momagames.baselines import METHODS, find_policy, method
from momagames.baselines.base import Method
from momagames.baselines.checkpoint_policy import CHAMPION
from momagames.baselines.policy_names import check_stored_options, strip_safe
from momagames.baselines.scripted import find_policy_file
from momagames.baselines.trainer import TrainerMethod
from momagames.benchmark.data_models import NamingModel
from momagames.contract import Game
from momagames.engine.policies import BatchPolicy
from momagames.engine.policy_sources import PolicySource, make_batch_policy, optional_options, source_options
from momagames.errors import InvalidFile, InvalidParameter, invalid_value, nearest, one_of
from momagames.files.own_code import hash_code
from momagames.files.reading import is_file
from momagames.plugins import is_python_path

PINNED = "sha256"  # option of methods and opponents, see `Choice`; labels leave it out
QUIET = {"divisions"}  # options that labels leave out: how many weight vectors a method has policies for
DATA_FILES = (".npz", ".json")  # checkpoints and datasets, which may not name code themselves


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
        """Return this with the checksum of the file.

        Raises UnknownId; InvalidFile if it has the checksum of another file, InvalidParameter for a checksum without a file
        """
        path, expected = self.find_file(game), self.options.get(PINNED)
        if path is None and expected:
            raise InvalidParameter(
                f"{self.name}: {invalid_value(PINNED, expected, 'no checksum, because no option names a file')}"
            )
        if path is None:
            return self
        if expected:
            _compare_checksum(path, expected)
            return self
        return self.model_copy(update={"options": {**self.options, PINNED: hash_code(path)}})


def _read_weights(value: Any) -> Any:
    """Return "lattice", weight vectors or None, or raise ValueError."""
    if value is None or value == "lattice":
        return value
    rows = value if isinstance(value, (list, tuple)) else ()
    if not rows or not all(isinstance(row, (list, tuple, Mapping)) for row in rows):
        raise ValueError("expected 'lattice', or a list of weight vectors")
    numbers = [one for row in rows for one in (row.values() if isinstance(row, Mapping) else row)]
    if any(not isinstance(one, (int, float)) or isinstance(one, bool) for one in numbers):
        raise ValueError("expected numbers in weight vectors")
    return tuple(dict(row) if isinstance(row, Mapping) else tuple(map(float, row)) for row in rows)


class MethodChoice(Choice):
    """A method by name, or your own as "module:name".

    weights    of your own policy: "lattice", or weight vectors, each in the order of the objectives or by their names (see
               `momagames.baselines.own`)
    label      its name in tables; "": that of the method, see `label_methods`
    """

    weights: Annotated[Any, AfterValidator(_read_weights)] = None
    label: Annotated[str, Field(max_length=100)] = ""

    @property
    def all_options(self) -> dict[str, Any]:
        """The options without the checksum, and the weights if there are any."""
        return {**self.own_options, **({"weights": self.weights} if self.weights else {})}

    @property
    def key(self) -> str:
        """Text that is equal for equal methods, whatever their labels."""
        return self.model_dump_json(exclude={"label"})

    @property
    def uses_champion(self) -> bool:
        """Whether it is the trained policy of the package, or an option names it."""
        return CHAMPION in (self.name, *self.options.values())

    def complete(self, game: Game) -> Self:
        """Return your own method with all its options, and a label: its name, and the options that differ from the defaults."""
        if not self.origin.allows_all or not is_python_path(self.name):
            return self
        kind = self.find_method(game)
        label = self.label or _format_label(getattr(kind, "title", kind.name), self.list_unusual(kind))
        usual = {name: value for name, value in _list_defaults(kind).items() if name != "weights"}
        return self.model_copy(update={"label": label, "options": {**usual, **self.options}})

    def fill_options(self, game: Game, known: Sequence[MethodChoice]) -> Self:
        """Return a method of the package with the options that it does not state, and your own method as it is.

        They are those of the first of the known methods with its name, or else its defaults, where it has some.
        """
        if is_python_path(self.name):
            return self
        usual = next((one.options for one in known if one.name == self.name), None)
        if usual is None:
            kind = self.find_method(game)
            usual = kind.default_options(game) if issubclass(kind, TrainerMethod) else _list_defaults(kind)
        return self.model_copy(update={"options": {**usual, **self.options}})

    def list_unusual(self, kind: type[Method]) -> dict[str, Any]:
        """Return the options that differ from the defaults of a method, where it has some."""
        usual = _list_defaults(kind)
        named = {name: value for name, value in self.own_options.items() if name in usual and name not in QUIET}
        return {name: value for name, value in named.items() if json.dumps(value) != json.dumps(usual[name])}

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

    def make_method(self, game: Game) -> Method:
        """Return the method of this game; `pin_file` checks its file. Raises UnknownId, InvalidParameter."""
        kind: Any = self.find_method(game)  # a type[Method], whose hash mypy takes for that of its instances
        optional = [option.name for option in fields(kind) if option.default is not MISSING]
        options = kind.drop_former_options(self.all_options)
        _check_options(self.name, options, [option.name for option in fields(kind)], optional)
        try:
            return _make_method(kind, json.dumps(options))
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
        self.pin_file(game)
        source = self.find_source(game)
        _check_options(self.name, self.own_options, list(source_options(source)), optional_options(source))
        return make_batch_policy(self.name, source, game, **self.own_options)

    @property
    def label(self) -> str:
        text = ", ".join(f"{name}={_format_value(value)}" for name, value in self.own_options.items() if value != [])
        return f"{self.name}({text})" if text else self.name


def _compare_checksum(path: Path, expected: Any) -> None:
    if expected != (actual := hash_code(path)):
        raise InvalidFile(f"{path}: has changed since the suite was read: SHA-256 {actual}, expected {expected}")


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_format_value, value))})"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _check_options(name: str, options: Mapping[str, Any], known: Sequence[str], optional: Sequence[str]) -> None:
    """Raise InvalidParameter unless these are the known options, with or without the optional ones: newer than suites."""
    for option in options:
        if option not in known:
            expected = one_of(known) if known else "no options"
            raise InvalidParameter(f"{name}: unknown option {option!r}: expected {expected}{nearest(option, known)}")
    missing = [option for option in known if option not in options and option not in optional]
    if missing:
        raise InvalidParameter(f"{name}: missing option {missing[0]!r}: a suite has no defaults")


def _list_defaults(kind: type[Method]) -> dict[str, Any]:
    """Return the options of a method that have defaults, with these."""
    found = {one.name: one.default_factory() if callable(one.default_factory) else one.default for one in fields(kind)}
    return {name: value for name, value in found.items() if value is not MISSING}


def label_methods(methods: Sequence[MethodChoice]) -> dict[str, str]:
    """Return labels of methods by their keys: their names, and options.

    The options are those that tell methods of one name apart, and those of methods without training that differ from defaults.
    """
    options: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for chosen in methods:
        options.setdefault((chosen.label, chosen.name), []).append(chosen.options)
    common = {
        name: {k for k, v in group[0].items() if all(k in other and other[k] == v for other in group)}
        for name, group in options.items()
    }

    def label(chosen: MethodChoice) -> str:
        name, unusual = chosen.label or chosen.name, dict[str, Any]()
        if not chosen.label and chosen.name in METHODS and not (kind := method(chosen.name)).trains:
            unusual = chosen.list_unusual(kind)
        hidden = common[chosen.label, chosen.name] - set(unusual)
        return _format_label(name, {k: v for k, v in chosen.own_options.items() if k not in hidden})

    labels = {chosen.key: label(chosen) for chosen in methods}
    names = {chosen.key: chosen.name for chosen in methods}
    shared = {text for text in labels.values() if list(labels.values()).count(text) > 1}
    return {key: f"{text} ({names[key]})" if text in shared and text != names[key] else text for key, text in labels.items()}


def _format_label(name: str, options: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{k}={v}' for k, v in options.items())})" if options else name
