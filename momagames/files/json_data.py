"""JSON of files and texts, within limits."""

from __future__ import annotations

import json
from pathlib import Path
from sys import float_info
from typing import Any, NoReturn

from momagames.errors import InvalidFile
from momagames.files.reading import MAX_BYTES, read_text

MAX_DEPTH = 100  # of lists and objects within each other


def read_json(path: str | Path, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Return the JSON object in a file. Raises InvalidFile, with line and column."""
    data = parse_json(read_text(path, max_bytes), str(path))
    if not isinstance(data, dict):
        raise InvalidFile(f"{path}: expected a JSON object, got {type(data).__name__}")
    return data


def parse_json(text: str | bytes, place: str) -> Any:
    """Return the data of a JSON text. Raises InvalidFile, with line and column; `place` names the text.

    Not accepted: NaN and infinite numbers, duplicate keys, integers of more than 4,300 digits, more than 100 levels.
    """
    try:
        data = json.loads(text, object_pairs_hook=_make_dict, parse_float=_parse_float, parse_constant=_reject_constant)
        _check_depth(data, MAX_DEPTH)
    except json.JSONDecodeError as error:
        raise InvalidFile(f"{place}: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise InvalidFile(f"{place}: nested too deeply: expected at most {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise InvalidFile(f"{place}: {error}") from None
    return data


def canonical_json(data: Any) -> str:
    """Return canonical JSON: sorted keys, no spaces, no NaN."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _make_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for name, value in pairs:
        if name in data:
            raise ValueError(f"duplicate key {name!r}")
        data[name] = value
    return data


def _parse_float(text: str) -> float:
    number = float(text)
    return number if abs(number) <= float_info.max else _reject_constant(text[:100])


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"invalid number {name}: expected a finite one")


def _check_depth(data: Any, left: int) -> None:
    if isinstance(data, (dict, list)):
        if not left:
            raise RecursionError
        for part in data.values() if isinstance(data, dict) else data:
            if isinstance(part, (dict, list)):
                _check_depth(part, left - 1)
