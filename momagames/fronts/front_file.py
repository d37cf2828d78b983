"""Front files: a Pareto front as plain data, with its claim and a witness for each point.

A file is one JSON object. Its `sha256` is the hash of all other keys in canonical form (sorted, without spaces), which detects
changed files. The witness of a point is a sequence of actions or a strategy that can be replayed (see `verify`).
"""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, model_validator

from momagames import registry
from momagames.benchmark.plan import FrozenModel, GameChoice, Opponent, canonical_json
from momagames.contract import Game
from momagames.errors import InvalidFile, MomagamesError, invalid_value, one_of
from momagames.files.json_data import read_json
from momagames.files.writing import write_file_atomically

SCHEMA = 1

Claim = Literal["returns", "clairvoyant", "guaranteed", "response"]
PLAN_CLAIMS: tuple[Claim, ...] = ("returns", "clairvoyant")  # claims whose witnesses are sequences of actions
STATEMENTS: dict[Claim, str] = {
    "returns": "The Pareto front of the returns that {agent} can attain from this start position.",
    "clairvoyant": "The Pareto front of the returns that {agent} can attain from this start position with all random draws "
    "known in advance.",
    "guaranteed": "The Pareto front of the vectors that {agent} can guarantee from this start position: against every strategy "
    "of the opponent, the return of {agent} is at least the vector in every objective.",
    "response": "The expected returns that {agent} can attain from this start position against {opponent}: the vertices of the "
    "convex hull of the expected returns of all policies that are not dominated.",
}
BEST_KNOWN = (
    "The union of the points of archived runs. Each point was attained. Better points may exist: it is not the true front."
)


def state_claim(kind: Literal["proven", "best known"], claim: Claim, agent: str, opponent: Opponent | None) -> str:
    """Return the claim of a front as a sentence."""
    if kind == "best known":
        return BEST_KNOWN
    return STATEMENTS[claim].format(agent=agent, opponent=opponent.label if opponent else "")


class Start(FrozenModel):
    """The start position.

    seed        the seed that generates the position; None for a given position
    position    the position as a dict of the game
    """

    seed: Annotated[int, Field(ge=0, lt=2**63)] | None
    position: dict[str, Any]


class Point(FrozenModel):
    """A vector and its witness.

    value       float[K]
    actions     the actions of an episode, for the claims "returns" and "clairvoyant"
    strategy    the action of the agent in each reachable position, packed (see `strategies`), for the other claims
    run         digest of the run that found the point, in best-known fronts
    """

    value: tuple[float, ...]
    actions: tuple[int, ...] | None = None
    strategy: str | None = None
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


class FrontFile(FrozenModel):
    """The content of a front file.

    kind          "proven": the points are the Pareto front; "best known": the union of the points found so far
    canonical     the id with every parameter, as in results
    opponent      the opponent of the agent, for the claim "response"
    runs          digests of the runs in the union, in best-known fronts
    provenance    versions, machine, commit, date, and the command
    """

    schema_: Literal[1] = Field(default=1, alias="schema")
    kind: Literal["proven", "best known"]
    claim: Claim
    statement: str
    game: GameChoice
    canonical: str
    start: Start
    agent: str
    opponent: Opponent | None
    objectives: tuple[str, ...]
    points: Annotated[tuple[Point, ...], Field(min_length=1)]
    method: Method | None
    runs: tuple[str, ...]
    provenance: dict[str, Any]

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        for number, point in enumerate(self.points):
            if len(point.value) != len(self.objectives):
                raise ValueError(f"point {number} has {len(point.value)} values: expected {len(self.objectives)}")
        if (self.kind == "proven") != (self.method is not None) or (self.kind == "best known") != bool(self.runs):
            raise ValueError("expected a method in a proven front, and runs in a best-known front")
        if (self.claim == "response") != (self.opponent is not None):
            raise ValueError("expected an opponent for the claim response, and for no other claim")
        expected = state_claim(self.kind, self.claim, self.agent, self.opponent)
        if self.statement != expected:
            raise ValueError(invalid_value("statement", self.statement, f"{expected!r}, which is what the claim says"))
        return self

    @property
    def values(self) -> NDArray[np.float64]:
        """The points, float64[n, K]."""
        return np.array([point.value for point in self.points], np.float64)

    def content(self) -> dict[str, Any]:
        """Return plain data without empty witnesses."""
        data = self.model_dump(mode="json", by_alias=True)
        data["points"] = [{key: value for key, value in point.items() if value is not None} for point in data["points"]]
        return data

    @property
    def sha256(self) -> str:
        return hashlib.sha256(canonical_json(self.content()).encode()).hexdigest()

    def make_game(self) -> Game:
        """Return the game; InvalidFile if it differs from the content of the file."""
        try:
            game = self.game.make_game()
        except MomagamesError as error:
            raise InvalidFile(f"game: {error}") from None
        canonical = registry.format_id(game.id, game.params)
        if canonical != self.canonical:
            raise InvalidFile(f"invalid canonical={self.canonical!r}: expected {canonical!r}, the game of the file")
        if self.agent not in game.agents:
            raise InvalidFile(f"invalid agent={self.agent!r}: expected {one_of(game.agents)}")
        names = tuple(objective.name for objective in game.objectives)
        if names != self.objectives:
            raise InvalidFile(f"invalid objectives={self.objectives}: expected {names}, those of the game")
        return game


def write_front(path: str | Path, front: FrontFile) -> None:
    """Write a front file atomically, compressed by gzip if its name ends in .gz."""
    place = Path(path)
    text = _format_json({**front.content(), "sha256": front.sha256})
    data = gzip.compress(text.encode(), mtime=0) if place.suffix == ".gz" else text.encode()
    try:
        write_file_atomically(place, data)
    except OSError as error:
        raise InvalidFile(f"{place}: {error.strerror or error}") from None


def read_front(path: str | Path) -> FrontFile:
    """Read a front file and check its hash; InvalidFile with the location of an error."""
    place = Path(path)
    data = read_json(place)
    if "sha256" not in data:
        raise InvalidFile(f"{place}: not a front file: 'sha256' is missing")
    claimed = data.pop("sha256")
    if isinstance(data.get("schema"), int) and data["schema"] > SCHEMA:
        raise InvalidFile(
            f"{place}: invalid schema={data['schema']}: expected at most {SCHEMA}; update momagames to read this file"
        )
    try:
        front = FrontFile.model_validate_json(json.dumps(data))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidFile(f"{place}: {where + ': ' if where else ''}{first['msg']}") from None
    if front.sha256 != claimed:
        raise InvalidFile(f"{place}: invalid sha256={claimed!r}: expected {front.sha256!r}; the file was changed")
    return front


def read_header(path: Path) -> dict[str, Any]:
    """Return the keys of a front file before its points, unchecked; faster than `read_front`."""
    found: dict[str, Any] = {}
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for line in file:
            key, colon, value = line.partition(": ")
            if key.strip() == '"points"':
                break
            if colon:
                found[json.loads(key)] = json.loads(value.rstrip().rstrip(","))
    return found


def _format_json(data: dict[str, Any]) -> str:
    """Return JSON with a line for each key and for each point."""
    lines = []
    for key, value in data.items():
        if key == "points":
            text = "[\n  " + ",\n  ".join(json.dumps(point, allow_nan=False) for point in value) + "\n ]"
        else:
            text = json.dumps(value, allow_nan=False)
        lines.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
