"""What front files of games and of environments share: points with witnesses, the method, the hash."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, model_validator

from momagames.benchmark.data_models import FrozenModel
from momagames.errors import InvalidFile, invalid_value
from momagames.files.json_data import canonical_json, read_json
from momagames.files.writing import write_file_atomically
from momagames.plugins import Origin

SCHEMA = 2  # 1: fronts of games; 2: fronts of environments
LISTS = ("points", "certificates")


F = TypeVar("F", bound="FrontContent")


class Point(FrozenModel):
    """A vector and its witness.

    value       float[K]
    actions     the actions of an episode, for the claims "returns" and "clairvoyant"
    strategy    the action of the agent in each reachable position, packed (see `strategies`), for the other claims
    opponent_strategy    the same of the second agent, for equilibria
    run         digest of the run that found the point, in best-known fronts
    """

    value: tuple[float, ...]
    actions: tuple[int, ...] | None = None
    strategy: str | None = None
    opponent_strategy: str | None = None
    run: str | None = None

    @model_validator(mode="after")
    def _check_witness(self) -> Self:
        if (self.actions is None) == (self.strategy is None):
            raise ValueError("expected either actions or a strategy")
        return self


class Method(FrozenModel):
    """The algorithm that computed a proven front.

    states     number of solved positions
    bytes      peak size of the tables
    """

    name: str
    options: dict[str, Any]
    states: int
    bytes: int
    seconds: float


class FrontContent(FrozenModel):
    """The common part of front files.

    provenance    versions, machine, commit, date, and the command
    """

    statement: str
    objectives: tuple[str, ...]
    points: Annotated[tuple[Point, ...], Field(min_length=1)]
    provenance: dict[str, Any]

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        for number, point in enumerate(self.points):
            if len(point.value) != len(self.objectives):
                raise ValueError(f"point {number} has {len(point.value)} values: expected {len(self.objectives)}")
        return self

    def check_statement(self, expected: str) -> None:
        """Raise ValueError for another statement than that of the claim."""
        if self.statement != expected:
            raise ValueError(invalid_value("statement", self.statement, f"{expected!r}, which is what the claim says"))

    @property
    def values(self) -> NDArray[np.float64]:
        """The points, float64[n, K]."""
        return np.array([point.value for point in self.points], np.float64)

    def content(self) -> dict[str, Any]:
        """Return plain data without empty witnesses."""
        data = self.model_dump(mode="json", by_alias=True)
        points = [{key: value for key, value in point.items() if value is not None} for point in data.pop("points")]
        return {**data, "points": points}  # at the end, so that `read_header` reads few bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(canonical_json(self.content()).encode()).hexdigest()


def write_front(path: str | Path, front: FrontContent) -> None:
    """Write a front file atomically, compressed by gzip if its name ends in .gz. Raises InvalidFile."""
    place = Path(path)
    text = _format_json({**front.content(), "sha256": front.sha256})
    data = gzip.compress(text.encode(), mtime=0) if place.suffix == ".gz" else text.encode()
    write_file_atomically(place, data)


def read_content(path: str | Path) -> tuple[dict[str, Any], str]:
    """Return the unchecked content of a front file and its hash; InvalidFile with the location of an error."""
    place = Path(path)
    data = read_json(place)
    if "sha256" not in data:
        raise InvalidFile(f"{place}: not a front file: 'sha256' is missing")
    claimed = data.pop("sha256")
    if isinstance(data.get("schema"), int) and data["schema"] > SCHEMA:
        raise InvalidFile(
            f"{place}: invalid schema={data['schema']}: expected at most {SCHEMA}; update momagames to read this file"
        )
    return data, claimed


def parse_content(kind: type[F], data: dict[str, Any], claimed: str, place: str | Path) -> F:
    """Return the checked content of a front file; InvalidFile with the location of an error."""
    try:
        front = kind.model_validate_json(json.dumps(data), context=Origin.of_file(place))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidFile(f"{place}: {where + ': ' if where else ''}{first['msg']}") from None
    try:
        found = front.sha256
    except ValueError as error:  # a number that no float holds
        raise InvalidFile(f"{place}: {error}") from None
    if found != claimed:
        raise InvalidFile(f"{place}: invalid sha256={claimed!r}: expected {found!r}; the file was changed")
    return front


def _format_json(data: dict[str, Any]) -> str:
    """Return JSON with a line for each key, each point and each certificate."""
    lines = []
    for key, value in data.items():
        if key in LISTS and value:
            text = "[\n  " + ",\n  ".join(json.dumps(one, allow_nan=False) for one in value) + "\n ]"
        else:
            text = json.dumps(value, allow_nan=False)
        lines.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
