"""The words of the HTTP protocol: what requests must hold, how positions are written."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from momagames.games.tileblast.rules.state import CELLS, HEIGHT, WIDTH

CHANNELS = 24
SHAPE = (WIDTH, HEIGHT, CHANNELS)
CENTER = (WIDTH // 2, HEIGHT // 2)  # the cell that requests call 0, 0
# What clients divide the channels by: none is 0, and each at least what the channel usually holds
NORMS = (1, 3, 3, 3, 3, 3, 3, 1, 10, 10, 1, 1, 1, 1, 1, 4, 1, 2, 1, 2, 1, 10, 10, 1)
SHOWN = 3  # wrong fields that an answer names
DIGIT = 9
NUMBERS = np.array([f"{n},".encode() for n in range(256)]).view(np.uint32)  # as text of four bytes, some of them 0
CELL_TEXTS = [f"[{i % WIDTH - CENTER[0]}, {i // WIDTH - CENTER[1]}]" for i in range(CELLS)]


class Refusal(Exception):
    """A request that is answered with an error; it has changed nothing. Headers are those of the answer."""

    def __init__(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers


class Request(BaseModel):
    """Fields are read strictly: no text for numbers, no numbers for truth values. Others than these are not looked at."""

    model_config = ConfigDict(strict=True, extra="ignore")


class Empty(Request):
    """A request that needs no fields."""


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
    """/session/destroy; clients that have no session say null."""

    sessionId: str | None


class Replay(Request):
    """What a state is, as text: the valid taps of a game, as cells x + 13 * y."""

    levelIndex: int
    seed: int
    taps: list[Annotated[int, Field(ge=0, lt=CELLS)]]


Kind = TypeVar("Kind", bound=Request)


def read(kind: type[Kind], body: bytes | str) -> Kind:
    """A request from its JSON text; Refusal 400 says what is wrong with it."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise Refusal(400, wrong(error)) from None


def wrong(error: ValidationError) -> str:
    """What is wrong with a request, field by field."""
    found = error.errors(include_url=False, include_context=False)
    said = [": ".join(filter(None, (".".join(map(str, one["loc"])), one["msg"]))) for one in found[:SHOWN]]
    return "; ".join(said + [f"and {len(found) - SHOWN} more"] * (len(found) > SHOWN))


def cell(x: int, y: int) -> int | None:
    """The index of a cell in centered coordinates; None off the board."""
    column, row = x + CENTER[0], y + CENTER[1]
    return column + WIDTH * row if 0 <= column < WIDTH and 0 <= row < HEIGHT else None


def valid_positions(mask: NDArray[np.int8]) -> str:
    """The valid taps as JSON text: centered [x, y], ascending by cell."""
    return f"[{', '.join([CELL_TEXTS[i] for i in np.flatnonzero(mask)])}]"


def numbers(board: NDArray[np.uint8]) -> str:
    """uint8[n] as text with commas; nearly always all are digits, which takes a third of the time."""
    if board.max() <= DIGIT:
        text = np.full(2 * board.size - 1, ord(","), np.uint8)
        np.add(board, ord("0"), out=text[::2])
        return text.tobytes().decode("ascii")
    return NUMBERS.take(board).tobytes().translate(None, b"\0").decode("ascii")[:-1]


def channels(board: NDArray[np.uint8], names: list[str], goals: list[int], rest: list[int]) -> str:
    """multichannelArrayState: a JSON object as text.

    board   uint8[2808], cell (x, y) of channel c at c * 117 + y * 13 + x
    names, goals, rest   of each goal: what is collected, how much in all, how much of it is left
    """
    told: dict[str, Any] = {
        "boardSize": SHAPE,
        "normList": NORMS,
        "collectGoalRemaining": sum(rest),
        "collectGoalGoal": sum(goals),
        "collectGoalIdList": names,
        "collectGoalGoalList": goals,
        "collectGoalRemainingList": rest,
        "collectGoalRemaininglList": rest,  # as the published page spells it
    }
    return f'{{"board":[{numbers(board)}],{to_json(told).decode()[1:]}'
