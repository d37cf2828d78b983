"""Parameters: the keywords of a game, with their ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from momagames.contract.number_lists import Shape, describe_number_list, read_number_list
from momagames.errors import InvalidParameter, UnknownParameter, invalid_value, nearest, one_of


@dataclass(frozen=True)
class Parameter:
    """A keyword of a game: a number with a range, a choice, or a value with a conversion function.

    optional   whether None is allowed
    shape      of a list of numbers, or of rows of them, in place of one number: see `read_number_list`
    convert    value -> equivalent plain data (raises InvalidParameter); `accepts` describes the allowed values
    omits_default    whether its default is left out of `Game.params`: for parameters newer than stored results of the id, so
                     that the canonical form of the games that existed before does not change
    """

    name: str
    default: Any
    doc: str
    low: float | None = None
    high: float | None = None
    choices: tuple[Any, ...] | None = None
    optional: bool = False
    convert: Callable[[Any], Any] | None = None
    accepts: str = ""
    omits_default: bool = False
    shape: Shape = ()

    @property
    def whole(self) -> bool:
        return isinstance(self.low if self.shape or self.default is None else self.default, int)

    @property
    def allowed(self) -> str:
        """Description of the allowed values."""
        if self.convert is not None:
            return self.accepts
        if isinstance(self.default, bool):
            return "True or False"
        if self.choices is not None:
            return one_of(self.choices)
        if self.optional and self.low is not None and self.high is not None and self.low > self.high:
            return "None"
        if self.shape:
            kind = describe_number_list(self.low, self.high, self.shape)
        else:
            kind = f"{'an integer' if self.whole else 'a number'} in {self.low:g}..{self.high:g}"
        return kind + (", or None" if self.optional else "")

    def check(self, game: str, value: Any) -> Any:
        """Return the value in the type of the parameter, or raise InvalidParameter."""
        is_valid: bool
        if self.optional and value is None:
            return None
        if self.convert is not None:
            return self.convert(value)
        if self.shape:
            numbers = read_number_list(value, f"{game}: {self.name}", self.low, self.high, self.shape, error=InvalidParameter)
            return _make_tuples(numbers.tolist())
        if isinstance(self.default, bool):
            is_valid = isinstance(value, (bool, np.bool_))
        elif self.choices is not None:
            is_valid = value in self.choices
        else:
            types = (int, np.integer) if self.whole else (int, float, np.integer, np.floating)
            is_valid = isinstance(value, types) and not isinstance(value, bool)
            is_valid = is_valid and self.low is not None and self.high is not None and self.low <= value <= self.high
        if not is_valid:
            hint = nearest(value, [choice for choice in self.choices or () if isinstance(choice, str)])
            raise InvalidParameter(invalid_value(f"{game}: {self.name}", value, self.allowed, hint))
        if self.default is None:
            return int(value) if self.whole else value
        return type(self.default)(value)


def _make_tuples(numbers: Any) -> Any:
    return tuple(map(_make_tuples, numbers)) if isinstance(numbers, list) else numbers


def check_parameters(game: str, parameters: Sequence[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return every parameter with its value, in declared order, without those that omit their default.

    Raises UnknownParameter for an unknown name, InvalidParameter for a value out of range
    """
    names = [parameter.name for parameter in parameters]
    for name in given:
        if name not in names:
            expected = f"expected {one_of(names)}" if names else "it has no parameters"
            raise UnknownParameter(f"{game}: unexpected keyword argument {name!r}: {expected}{nearest(name, names)}")
    values = {p.name: p.check(game, given[p.name]) if p.name in given else p.default for p in parameters}
    return {p.name: values[p.name] for p in parameters if not (p.omits_default and values[p.name] == p.default)}
