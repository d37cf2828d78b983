"""Your own policies as methods of the benchmark: a function or a class of Python, named as "module:name".

A function (observation, mask, generator) -> action is one policy. Of a class an object `cls(game, agent, **options)` is made
for each agent of each environment, and called like a function; its keyword parameters are the options of the method, but for
those whose default a suite cannot state, such as a function. Three names have a meaning:

weights     weights of the objectives, float64[K]. The method has a policy for each weight vector of a lattice of 21 vectors or
            more (`weights: lattice` in a suite), or for each one in a list
train       a static method (setup, **options) -> arrays by name, or the arrays and the number of environment steps that it
            took. It trains within a run (see `TrainingSetup`) and takes those of the options that it names: with `weights` it
            is called for each weight vector, with an equal part of the budget
arrays      what `train` returned; stored with the results, from which replays make the policy again

What a policy gets is what its agent observes, never the record of the game. The file of the module is part of what identifies
a run: after an edit `bench run` runs the method again.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from functools import lru_cache, partial
from inspect import Parameter, getattr_static, signature
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, TrainingResult
from momagames.baselines.training_setup import TrainingSetup
from momagames.baselines.weight_lattice import LATTICE, MAX_POLICIES, format_weights, list_usual_weights, resolve_shares
from momagames.contract import Game
from momagames.engine.policies import BatchPolicy
from momagames.engine.policy_sources import ARRAYS, WEIGHTS, make_batch_policy
from momagames.engine.python_policies import PythonPolicy
from momagames.errors import InvalidParameter, UnknownParameter, invalid_value


@dataclass(frozen=True)
class OwnPolicies(Method):
    """The policies of a function or class of yours. A subclass sets it, and has its options.

    title    its name for tables
    """

    source: ClassVar[Any]
    title: ClassVar[str]

    @classmethod
    def find_file(cls, options: Mapping[str, Any]) -> Path | None:
        """Return the file of its module, whose checksum suites pin: an edited policy is another method."""
        file = getattr(sys.modules.get(cls.name.partition(":")[0]), "__file__", None)
        return Path(file) if file else None

    def list_rows(self, game: Game) -> list[NDArray[np.float64] | None]:
        """Return the weight vectors of its policies; None for a policy without weights. Raises InvalidParameter."""
        given = getattr(self, WEIGHTS, None)
        if given is None:
            if WEIGHTS in list_required_options(self.source):
                raise InvalidParameter(
                    f"{self.name} plays for weights: expected weights: {LATTICE}, or a list of weight vectors"
                )
            return [None]
        if given == LATTICE:
            return [*list_usual_weights(len(game.objectives))]
        if isinstance(given, str) or not len(given) or not all(isinstance(row, (list, tuple, Mapping)) for row in given):
            raise InvalidParameter(f"{self.name}: {invalid_value(WEIGHTS, given, f'{LATTICE!r}, or a list of weight vectors')}")
        if len(given) > MAX_POLICIES:
            raise InvalidParameter(f"{self.name}: {len(given):,} weight vectors: expected at most {MAX_POLICIES:,}")
        return [resolve_shares(self.name, game, row) for row in given]

    def make_policy(self, game: Game, row: NDArray[np.float64] | None, arrays: Mapping[str, NDArray[Any]]) -> PythonPolicy:
        """Return the policy for these weights."""
        options = {name: value for name, value in self.options().items() if name != WEIGHTS}
        made = {WEIGHTS: row} if row is not None else {}
        trained = {ARRAYS: dict(arrays)} if self.trains else {}
        policy = make_batch_policy(self.name, self.source, game, **options, **made, **trained)
        assert isinstance(policy, PythonPolicy)
        stored = dict(arrays) if row is None else {**arrays, WEIGHTS: row}
        label, weights = (self.title, ()) if row is None else (format_weights(row), tuple(row.tolist()))
        return replace(policy, label=label, weights=weights, arrays=stored if self.trains else {})

    def policies(self, game: Game) -> tuple[BatchPolicy, ...]:
        if self.trains:
            return super().policies(game)
        return tuple(self.make_policy(game, row, {}) for row in self.list_rows(game))

    def check_train(self, game: Game) -> None:
        self.list_rows(game)

    def train(self, setup: TrainingSetup) -> TrainingResult:
        if not self.trains:
            return super().train(setup)
        setup.check_basic(self.name)
        rows, known = self.list_rows(setup.game), signature(self.source.train).parameters
        options = {name: value for name, value in self.options().items() if name in known and name != WEIGHTS}
        one_by_one = WEIGHTS in known and rows != [None]
        policies, steps = list[BatchPolicy](), 0
        for number, row in enumerate(rows):
            if one_by_one or not number:
                begin, end = (setup.budget * (number + k) // len(rows) for k in (0, 1)) if one_by_one else (0, setup.budget)
                part = replace(setup, budget=end - begin, seed=setup.seed + number)
                found = self.source.train(part, **options, **({WEIGHTS: row} if one_by_one else {}))
                arrays, used = self._read_result(found, part)
                steps += used
            policies.append(self.make_policy(setup.game, row, arrays))
        return TrainingResult(tuple(policies), steps)

    def _read_result(self, found: Any, setup: TrainingSetup) -> tuple[dict[str, NDArray[Any]], int]:
        """Return the arrays and the number of steps that `train` has returned. Raises InvalidParameter."""
        pair = found if isinstance(found, tuple) and len(found) == 2 else (found, setup.budget)
        arrays, steps = pair
        problem = f"{self.name}: train returned {type(found).__name__}"
        expected = f"{problem}: expected numeric arrays by name, or these and a number of steps"
        if not isinstance(arrays, Mapping) or not isinstance(steps, (int, np.integer)):
            raise InvalidParameter(expected)
        if not 0 <= steps <= setup.budget + setup.game.max_episode_steps:
            allowed = f"0..{setup.budget:,}, the budget, and the rest of an episode"
            raise InvalidParameter(f"{self.name}: train took {steps:,} environment steps: expected {allowed}")
        made = {name: np.asarray(array) for name, array in arrays.items()}
        for name, array in made.items():
            if not isinstance(name, str) or array.dtype.kind not in "biuf":
                raise InvalidParameter(f"{expected}; {name!r} is of the type {array.dtype}")
        if WEIGHTS in made:
            raise InvalidParameter(f"{self.name}: train returned an array named {WEIGHTS!r}: expected other names")
        return read_parameters(made), int(steps)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> BatchPolicy:
        return replace(self.make_policy(game, arrays.get(WEIGHTS), read_parameters(arrays)), label=label)


def read_parameters(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return what objects get of the arrays of a trained policy: copies without the weights, which none of them may change."""
    parameters = {name: np.array(array) for name, array in arrays.items() if name != WEIGHTS}
    for array in parameters.values():
        array.setflags(write=False)
    return parameters


@lru_cache(maxsize=1024)  # a suite asks for the same few again and again
def make_own_method(path: str, source: Any) -> type[OwnPolicies]:
    """Return the method of a function or class that "module:name" names. Raises UnknownParameter, InvalidParameter."""
    if isinstance(source, PythonPolicy):
        raise InvalidParameter(
            f"{path} is a PythonPolicy, which reads the record of the game, with what agents do not see: expected a function "
            "(observation, mask, generator) -> action, or a class of which objects are called like it"
        )
    _check_signatures(path, source)
    columns = []
    for option in _list_parameters(source):
        if hasattr(Method, option.name):
            raise UnknownParameter(f"{path}: invalid parameter {option.name!r}: methods have an attribute of this name")
        default: dict[str, Any] = {"default": None if option.name == WEIGHTS else option.default}
        if default["default"] is Parameter.empty:
            default = {}
        elif isinstance(option.default, (list, dict)):
            default = {"default_factory": partial(copy.deepcopy, option.default)}
        columns.append((option.name, Any, field(kw_only=True, **default)))
    title = str(getattr(source, "name", "") or path)
    namespace = {"name": path, "title": title, "source": staticmethod(source), "trains": _has_training(source)}
    method: type[OwnPolicies] = make_dataclass("Own", columns, bases=(OwnPolicies,), namespace=namespace, frozen=True)
    return method


def _check_signatures(path: str, source: Any) -> None:
    """Raise InvalidParameter unless a function or class can be called as a policy is."""
    if not isinstance(source, type):
        _check_call(path, source, 3, "a function (observation, mask, generator) -> action")
        return
    if not any("__call__" in vars(kind) for kind in source.__mro__):
        raise InvalidParameter(f"{path} has no method __call__(self, observation, mask, generator)")
    _check_call(f"{path}.__call__", source.__call__, 4, "__call__(self, observation, mask, generator)")
    named = signature(source).parameters
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL)
    first = [one.kind for one in named.values()][:2]
    if Parameter.VAR_POSITIONAL not in first and (len(first) < 2 or any(kind not in positional for kind in first)):
        raise InvalidParameter(f"{path}: expected a class with __init__(self, game, agent, ...)")
    if _has_training(source):
        if ARRAYS not in named:
            raise InvalidParameter(f"{path} has train, but no parameter {ARRAYS} for what it returns")
        given = list(signature(source.train).parameters.values())  # type: ignore[attr-defined]
        known = {option.name for option in _list_parameters(source)}
        unknown = [one.name for one in given[1:] if one.default is Parameter.empty and one.name not in known]
        if not given or unknown:
            expected = "a static method train(setup, ...) with options of the class"
            raise InvalidParameter(f"{path}.train: expected {expected}" + (f"; {unknown[0]!r} is none" if unknown else ""))
    elif ARRAYS in named and named[ARRAYS].default is Parameter.empty:
        raise InvalidParameter(f"{path} has a parameter {ARRAYS}, but no static method train that returns them")


def _has_training(source: Any) -> bool:
    """Return whether a class has a static method `train`; that of an object, such as of PyTorch's modules, is another thing."""
    return isinstance(getattr_static(source, "train", None), (staticmethod, classmethod))


def _check_call(path: str, function: Any, arguments: int, expected: str) -> None:
    """Raise InvalidParameter unless a function takes a number of arguments by position."""
    try:
        signature(function).bind(*[None] * arguments)
    except TypeError as error:
        raise InvalidParameter(f"{path}: {error}: expected {expected}") from None
    except ValueError:  # a function in C without a signature
        return


def list_required_options(source: Any) -> list[str]:
    """Return the parameters of a source that have no default."""
    return [option.name for option in _list_parameters(source) if option.default is Parameter.empty]


def _list_parameters(source: Any) -> list[Parameter]:
    """Return the parameters of a class that are options of its method; a function has none."""
    parameters = list(signature(source).parameters.values())[2:] if isinstance(source, type) else []
    named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    return [one for one in parameters if one.kind in named and one.name != ARRAYS and _is_data(one.default)]


def _is_data(default: Any) -> bool:
    """Return whether a suite can state the default of a parameter, so that it is an option; or there is none."""
    try:
        json.dumps(None if default is Parameter.empty else default, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
