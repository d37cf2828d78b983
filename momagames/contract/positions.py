"""Positions as data and as text: the codec of a game, and helpers to write one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract.number_lists import Shape, read_number_list
from momagames.errors import InvalidFile, InvalidState, invalid_value, nearest, one_of
from momagames.files.json_data import parse_json

# Largest values of the fields that every record has; None: any. Those of `to_move` depend on the number of agents.
HEADER_LIMITS: dict[str, Any] = {"to_move": None, "ply": None, "over": 1, "truncated": 2, "gone": 1, "rng": None}
MAX_DIGITS = 20  # of a number in a text: those of 2**64 - 1
MAX_KEYS = 1000  # of a position
State = Any  # a NumPy record of the game's state dtype (np.void), or a compiled view of one


@dataclass(frozen=True)
class Codec:
    """Positions as data and as text.

    save            state -> JSON-serializable dict
    load            (state, dict or options) -> None: fill a copy of `Game.blank_state`; raises InvalidState
    position_keys   keys of the dict
    show, read      state -> text, and text -> dict; by default the dict as JSON
    parameters      fields of the record that hold parameters of the game, which no rule changes; by default those that are not
                    zero in the blank state
    transient       fields of the record that `load` does not restore, such as results of the last step
    restore         (state, record) -> None: fill a copy of `Game.blank_state` from a record that may be forged; raises
                    InvalidState. By default `restore_record`
    """

    save: Callable[[State], dict[str, Any]]
    load: Callable[[State, Mapping[str, Any]], None]
    position_keys: tuple[str, ...] = ()
    show: Callable[[State], str] = None  # type: ignore[assignment]  # set below
    read: Callable[[str], dict[str, Any]] = lambda text: parse_field(text, "position")
    parameters: tuple[str, ...] = ()
    transient: tuple[str, ...] = ()
    restore: Callable[[State, State], None] | None = None

    def __post_init__(self) -> None:
        given = vars(self)
        given["show"] = given["show"] or (lambda state: json.dumps(self.save(state)))


def restore_record(codec: Codec, state: State, record: State) -> None:
    """Fill a copy of the blank state from a record of the same dtype that may be forged. Raises InvalidState.

    Parameters must be those of the game. The position is saved and loaded, and must then be that of the record, except for
    transient fields, which are not copied. An episode that ended by forfeit stays over.
    """
    for name in find_parameter_fields(codec, state):
        if not np.array_equal(record[name], state[name]):
            raise InvalidState(_describe_difference(name, record[name], state[name], "the parameter of this game"))
    codec.load(state, codec.save(record))
    if record["over"] == 1 and not state["over"] and record["truncated"] <= HEADER_LIMITS["truncated"]:
        state["over"], state["truncated"] = record["over"], record["truncated"]
    for name in record.dtype.names:
        if not name.startswith("_") and name not in codec.transient and not np.array_equal(record[name], state[name]):
            raise InvalidState(_describe_difference(name, record[name], state[name], "which follows from the other fields"))


def find_parameter_fields(codec: Codec, blank: State) -> tuple[str, ...]:
    """Return the fields of the record that hold parameters of the game, see `Codec.parameters`."""
    own = (name for name in blank.dtype.names if not name.startswith("_") and name not in HEADER_LIMITS)
    return codec.parameters or tuple(name for name in own if np.any(blank[name]))


def _describe_difference(name: str, given: Any, expected: Any, reason: str) -> str:
    """Return the message for a field of a record; of an array it names the first entry that differs."""
    differs = np.atleast_1d(given != expected)
    place = "".join(f"[{k}]" for k in np.argwhere(differs)[0]) if np.ndim(given) else ""
    first = tuple(np.argwhere(differs)[0])
    value, wanted = np.atleast_1d(given)[first], np.atleast_1d(expected)[first]
    return invalid_value(f"{name}{place}", value.item(), f"{wanted.item()!r}, {reason}")


def make_record_codec(blank: State, parameters: Sequence[str] = (), agents: int = 1) -> Codec:
    """Make the default codec of a game: a dict of the fields of the record, checked by name, type and shape.

    A field that is a parameter (by name, or because it is not zero in the blank state) cannot be changed. Fields of the header
    are optional, all others required. Ranges are not checked: a game whose rules index by a field needs its own `load`.
    """
    header = {**HEADER_LIMITS, "to_move": agents - 1}
    names = tuple(name for name in blank.dtype.names if not name.startswith("_"))  # without padding
    fixed = {name for name in names if name not in header and (name in parameters or np.any(blank[name]))}

    def save(state: State) -> dict[str, Any]:
        return {name: state[name].tolist() for name in names}

    def load(state: State, given: Mapping[str, Any]) -> None:
        for name in names:
            if name not in header and name not in fixed:
                check_position(given, names, needed=name)
        for name in names:
            if name in given:
                value = _read_field(name, given[name], blank[name], header.get(name))
                if name in fixed and not np.array_equal(value, blank[name]):
                    raise InvalidState(invalid_value(name, given[name], f"{blank[name].tolist()}, a parameter of the game"))
                state[name] = value

    return Codec(save, load, names)


def _read_field(name: str, given: Any, like: Any, highest: int | None) -> Any:
    """Return a value as an array of the dtype and shape of a field, or raise InvalidState."""
    dtype, shape = np.asarray(like).dtype, np.shape(like)
    expected = f"{dtype} of shape {shape}" if shape else str(dtype)
    try:
        value = np.asarray(given)
        exact = value.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidState(invalid_value(name, given, expected)) from error
    whole = dtype.kind in "iu"
    if (
        value.shape != shape
        or value.dtype.kind not in ("iu" if whole else "iuf")
        or (whole and not np.array_equal(value, exact))
    ):
        raise InvalidState(invalid_value(name, given, expected))
    if highest is not None and not ((value >= 0) & (value <= highest)).all():
        raise InvalidState(invalid_value(name, given, f"an integer in 0..{highest}"))
    return exact


def check_position(given: Mapping[str, Any], keys: Sequence[str], needed: str) -> None:
    """Raise InvalidState if a position lacks the key `needed` or has a misspelled key; ignore other unknown keys."""
    if len(given) > MAX_KEYS:
        raise InvalidState(f"a position of {len(given):,} keys: expected at most {MAX_KEYS:,}")
    for name in given:
        slip = "" if name in keys else nearest(name, keys, alike=0.75)
        if slip:
            raise InvalidState(f"invalid key {name!r} of a position: expected {one_of(keys)}{slip}")
    if needed not in given:
        raise InvalidState(f"a position needs {needed!r}; given: {sorted(str(name) for name in given)}")


def parse_field(value: Any, name: str) -> Any:
    """Return a value of a position; a text is read as JSON. Raises InvalidState."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value, "JSON")
    except InvalidFile as error:
        raise InvalidState(invalid_value(name, value, str(error))) from None


def position_numbers(given: Mapping[str, Any], name: str, low: Any, high: Any, shape: Shape, note: str = "") -> NDArray[Any]:
    """Return a list of numbers of a position, also from text; see `read_number_list`. Raises InvalidState."""
    return read_number_list(parse_field(given[name], name), name, low, high, shape, note)


def position_number(given: Mapping[str, Any], name: str, low: int, high: int) -> int:
    """Return an integer of a position, also from text; `low` if it is missing. Raises InvalidState."""
    value = given.get(name, low)
    if isinstance(value, str) and value.isdecimal() and len(value) <= MAX_DIGITS:
        value = int(value)
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidState(invalid_value(name, value, f"an integer in {low}..{high}"))
    return int(value)


def load_rng(state: State, given: Mapping[str, Any]) -> None:
    """Set the random word of a state, if a position has one. Raises InvalidState."""
    if "rng" in given:
        state["rng"] = np.uint64(position_number(given, "rng", 0, 2**64 - 1))
