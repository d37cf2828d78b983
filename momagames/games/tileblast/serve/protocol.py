"""HTTP protocol: fields of requests and the encoding of positions."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from momagames.games.tileblast.rules.state import CELLS, HEIGHT, WIDTH

CHANNELS = 24
SHAPE = (WIDTH, HEIGHT, CHANNELS)
CENTER = (WIDTH // 2, HEIGHT // 2)  # cell 0, 0 of requests
# Divisors of the channels for clients: none is 0, and each is at least the usual maximum of its channel
NORMS = (1, 3, 3, 3, 3, 3, 3, 1, 10, 10, 1, 1, 1, 1, 1, 4, 1, 2, 1, 2, 1, 10, 10, 1)
MAX_REPORTED = 3  # invalid fields that an answer lists
MAX_DIGIT = 9
NUMBER_TEXTS = np.array([f"{n},".encode() for n in range(256)]).view(np.uint32)  # text in four bytes, padded with 0
CELL_TEXTS = [f"[{i % WIDTH - CENTER[0]}, {i // WIDTH - CENTER[1]}]" for i in range(CELLS)]


class RequestError(Exception):
    """An error that is sent as the answer to a request; the request has changed nothing. headers: of the answer"""

    def __init__(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers


class Request(BaseModel):
    """Base of requests. Types are strict: no text for numbers, no numbers for booleans. Unknown fields are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore")


class Empty(Request):
    """A request without fields."""


class Load(Request):
    """/load"""

    levelIndex: int
    seed: int


class Click(Request):
    """/click"""

    state: str
    x: int
    y: int


class Create(Request):
    """/session/create: a level and a seed, or a state."""

    levelIndex: int | None = None
    seed: int | None = None
    state: str | None = None
    returnFullState: bool = False


class SessionClick(Request):
    """/session/click"""

    sessionId: str
    x: int
    y: int
    returnFullState: bool = False
    dryRun: bool = False


class Status(Request):
    """/session/status"""

    sessionId: str


class Destroy(Request):
    """/session/destroy; clients without a session send null."""

    sessionId: str | None


class Replay(Request):
    """Content of a state text: the valid taps of a game, as cells x + 13 * y."""

    levelIndex: int
    seed: int
    taps: list[Annotated[int, Field(ge=0, lt=CELLS)]]


Kind = TypeVar("Kind", bound=Request)


def parse_request(kind: type[Kind], body: bytes | str) -> Kind:
    """Return a request from its JSON text; raise RequestError 400 if it is invalid."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise RequestError(400, describe_errors(error)) from None


def describe_errors(error: ValidationError) -> str:
    """Return the errors of a request, field by field."""
    errors = error.errors(include_url=False, include_context=False)
    texts = [": ".join(filter(None, (".".join(map(str, one["loc"])), one["msg"]))) for one in errors[:MAX_REPORTED]]
    return "; ".join(texts + [f"and {len(errors) - MAX_REPORTED} more"] * (len(errors) > MAX_REPORTED))


def centered_cell(x: int, y: int) -> int | None:
    """Return the index of a cell in centered coordinates; None off the board."""
    column, row = x + CENTER[0], y + CENTER[1]
    return column + WIDTH * row if 0 <= column < WIDTH and 0 <= row < HEIGHT else None


def format_valid_positions(mask: NDArray[np.int8]) -> str:
    """Return the valid taps as JSON text: centered [x, y], ascending by cell."""
    return f"[{', '.join([CELL_TEXTS[i] for i in np.flatnonzero(mask)])}]"


def format_numbers(board: NDArray[np.uint8]) -> str:
    """Return uint8[n] as text with commas. Usually all are digits, and a fast path takes a third of the time."""
    if board.max() <= MAX_DIGIT:
        text = np.full(2 * board.size - 1, ord(","), np.uint8)
        np.add(board, ord("0"), out=text[::2])
        return text.tobytes().decode("ascii")
    return NUMBER_TEXTS.take(board).tobytes().translate(None, b"\0").decode("ascii")[:-1]


def format_channels(board: NDArray[np.uint8], names: list[str], goals: list[int], rest: list[int]) -> str:
    """Return multichannelArrayState: a JSON object as text.

    board                uint8[2808], cell (x, y) of channel c at c * 117 + y * 13 + x
    names, goals, rest   of each goal: name, total amount, remaining units
    """
    fields: dict[str, Any] = {
        "boardSize": SHAPE,
        "normList": NORMS,
        "collectGoalRemaining": sum(rest),
        "collectGoalGoal": sum(goals),
        "collectGoalIdList": names,
        "collectGoalGoalList": goals,
        "collectGoalRemainingList": rest,
        "collectGoalRemaininglList": rest,  # spelling of the published protocol
    }
    return f'{{"board":[{format_numbers(board)}],{to_json(fields).decode()[1:]}'
