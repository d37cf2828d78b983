"""Front files: a Pareto front as plain data, with what it claims and how to check that.

A file is one JSON object. Its `sha256` is that of all the rest in canonical form (keys sorted, no spaces), so that a changed
file is noticed. The policy behind each point is in the file, as data that can be played (see `verify`).
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
from momagames.benchmark.plan import Frozen, GameChoice, Opponent, canonical_json
from momagames.contract import Game
from momagames.errors import InvalidFile, MomagamesError, one_of
from momagames.files import write_file_atomically

SCHEMA = 1
LARGEST = 64 << 20  # bytes of a front file, unpacked

Claim = Literal["returns", "foreseen", "guaranteed", "response"]
PLAYED: tuple[Claim, ...] = ("returns", "foreseen")  # claims whose witnesses are whole games
STATEMENTS: dict[Claim, str] = {
    "returns": "The Pareto front of the returns that {agent} can get from this start.",
    "foreseen": "The Pareto front of the returns that {agent} can get from this start, knowing every draw beforehand.",
    "guaranteed": "The Pareto front of the vectors that {agent} can guarantee from this start: whatever the other plays, the "
    "return of {agent} is at least the vector in every objective.",
    "response": "The returns that {agent} can expect from this start against {opponent}: the corners of the convex hull of the "
    "expected returns of all policies, as far as no other expected return dominates them.",
}
BEST_KNOWN = (
    "The union of archived runs: each point was attained, nothing says that there are no better ones. It is not the true front."
)


class Start(Frozen):
    """Where the game begins.

    seed       that deals it; None: the position was given
    position   in the dict form of the game
    """

    seed: Annotated[int, Field(ge=0, lt=2**63)] | None
    position: dict[str, Any]


class Point(Frozen):
    """A vector and what attains it.

    value      float[K]
    actions    the whole game, for the claims "returns" and "foreseen"
    strategy   what the agent does in each position that can come up, packed (see `strategies`), for the other claims
    run        best known: digest of the run that found it
    """

    value: tuple[float, ...]
    actions: tuple[int, ...] | None = None
    strategy: str | None = None
    run: str | None = None

    @model_validator(mode="after")
    def _one_witness(self) -> Self:
        if (self.actions is None) == (self.strategy is None):
            raise ValueError("a point has either actions or a strategy")
        return self


class Method(Frozen):
    """How a proven front was computed.

    states     positions that were solved
    bytes      of the tables at their largest
    """

    name: str
    options: dict[str, Any]
    states: int
    bytes: int
    seconds: float


class FrontFile(Frozen):
    """The content of a front file.

    kind        "proven": no point is missing and none is wrong; "best known": the union of what was found
    canonical   the game with every parameter, as with every result
    opponent    whom the agent meets, for the claim "response"
    runs        best known: digests of the runs that the union is of
    made        versions, machine, commit, date, and the command
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
    made: dict[str, Any]

    @model_validator(mode="after")
    def _of_one_piece(self) -> Self:
        for number, point in enumerate(self.points):
            if len(point.value) != len(self.objectives):
                raise ValueError(f"point {number} has {len(point.value)} values; there are {len(self.objectives)} objectives")
        if (self.kind == "proven") != (self.method is not None) or (self.kind == "best known") != bool(self.runs):
            raise ValueError("a proven front names its method, a best known one its runs")
        if (self.claim == "response") != (self.opponent is not None):
            raise ValueError("a response, and nothing else, has an opponent")
        return self

    @property
    def values(self) -> NDArray[np.float64]:
        """The points, float64[n, K]."""
        return np.array([point.value for point in self.points], np.float64)

    def content(self) -> dict[str, Any]:
        """As plain data, without what is not said."""
        data = self.model_dump(mode="json", by_alias=True)
        data["points"] = [{key: value for key, value in point.items() if value is not None} for point in data["points"]]
        return data

    @property
    def sha256(self) -> str:
        return hashlib.sha256(canonical_json(self.content()).encode()).hexdigest()

    def board(self) -> Game:
        """The game; InvalidFile if it is not what the file says."""
        try:
            game = self.game.game()
        except MomagamesError as error:
            raise InvalidFile(f"game: {error}") from None
        spelled = registry.format_id(game.id, game.params)
        if spelled != self.canonical:
            raise InvalidFile(f"canonical: {self.canonical!r} is not the game of the file, which is {spelled!r}")
        if self.agent not in game.agents:
            raise InvalidFile(f"agent: {self.agent!r} is not an agent of the game; it has {one_of(game.agents)}")
        names = tuple(goal.name for goal in game.objectives)
        if names != self.objectives:
            raise InvalidFile(f"objectives: {self.objectives} are not those of the game, {names}")
        return game


def write_front(path: str | Path, front: FrontFile) -> None:
    """Write a front file, whole or not at all; gzip if its name ends in .gz."""
    place = Path(path)
    text = _laid_out({**front.content(), "sha256": front.sha256})
    data = gzip.compress(text.encode(), mtime=0) if place.suffix == ".gz" else text.encode()
    try:
        write_file_atomically(place, data)
    except OSError as error:
        raise InvalidFile(f"{place}: {error.strerror or error}") from None


def read_front(path: str | Path) -> FrontFile:
    """Read a front file and check its hash; InvalidFile with the place in the file."""
    place = Path(path)
    try:
        with gzip.open(place) if place.suffix == ".gz" else place.open("rb") as file:
            raw = file.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise InvalidFile(f"{place}: larger than {LARGEST >> 20} MiB, which no front file is")
        data = json.loads(raw)
    except (OSError, EOFError, ValueError, RecursionError) as error:
        if isinstance(error, InvalidFile):
            raise
        raise InvalidFile(f"{place}: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(data, dict) or "sha256" not in data:
        raise InvalidFile(f"{place}: not a front file: 'sha256' is missing")
    claimed = data.pop("sha256")
    if isinstance(data.get("schema"), int) and data["schema"] > SCHEMA:
        raise InvalidFile(
            f"{place}: schema {data['schema']} is of a newer momagames (this one reads {SCHEMA}): update momagames"
        )
    try:
        front = FrontFile.model_validate_json(json.dumps(data))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidFile(f"{place}: {where + ': ' if where else ''}{first['msg']}") from None
    if front.sha256 != claimed:
        raise InvalidFile(f"{place}: sha256: the content has {front.sha256}, the file says {claimed}: it was changed")
    return front


def head_of(path: Path) -> dict[str, Any]:
    """What stands in a front file before its points, unchecked: for those who look for one file among many."""
    found: dict[str, Any] = {}
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for line in file:
            key, colon, value = line.partition(": ")
            if key.strip() == '"points"':
                break
            if colon:
                found[json.loads(key)] = json.loads(value.rstrip().rstrip(","))
    return found


def _laid_out(data: dict[str, Any]) -> str:
    """JSON with a line for each entry and for each point: readable, small, and kind to diffs."""
    lines = []
    for key, value in data.items():
        if key == "points":
            spelled = "[\n  " + ",\n  ".join(json.dumps(point, allow_nan=False) for point in value) + "\n ]"
        else:
            spelled = json.dumps(value, allow_nan=False)
        lines.append(f" {json.dumps(key)}: {spelled}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
