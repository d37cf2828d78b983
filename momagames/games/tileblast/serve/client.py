"""Client of the HTTP protocol: sends requests and validates answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, TypeVar
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidParameter, RemoteError
from momagames.games.tileblast.rules.state import CELLS, HEIGHT, WIDTH

Value = TypeVar("Value")

SHAPE = (WIDTH, HEIGHT, 24)
CENTER = (WIDTH // 2, HEIGHT // 2)
MAX_ANSWER_BYTES = 1 << 24  # largest answer
MAX_EXCERPT = 200  # characters of an invalid answer in an error
# Errors of parsing an invalid answer
PARSE_ERRORS = (AttributeError, LookupError, TypeError, ValueError, OverflowError, RecursionError)


@dataclass(frozen=True)
class RemotePosition:
    """Position in an answer.

    board   uint8[13, 9, 24]
    mask    int8[117]
    rest    remaining units of each goal, or one number from simulators that send only the sum
    """

    board: NDArray[np.uint8]
    mask: NDArray[np.int8]
    rest: list[int]


class Client:
    """Requests to a simulator, each on its own connection: an idle connection might be closed between two steps.

    Raises   RemoteError if there is no answer, or an invalid one
    """

    def __init__(self, url: str, timeout: float) -> None:
        parts = urlsplit(url if isinstance(url, str) else "")
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
            raise InvalidParameter(f"invalid url={url!r}: expected a URL such as 'http://localhost:8090'")
        self.url, self._path, self._timeout = url, parts.path.rstrip("/"), timeout
        self._host, self._port, self._secure = parts.hostname, port, parts.scheme == "https"

    def create(self, level: int, seed: int) -> tuple[str, int, RemotePosition]:
        """Create a session. Return its id, the limit of moves, the start position."""
        answer = self._post("/session/create", {"levelIndex": level, "seed": seed, "returnFullState": False})
        return self._field(answer, "sessionId", str), self._field(answer, "levelMoveLimit", int), self._parse_position(answer)

    def click(self, session: str, action: int) -> tuple[bool, RemotePosition]:
        """Tap a cell. Return whether the tap was valid, and the position after it."""
        x, y = action % WIDTH - CENTER[0], action // WIDTH - CENTER[1]
        answer = self._post("/session/click", {"sessionId": session, "x": x, "y": y, "returnFullState": False})
        return self._field(answer, "clickSuccessful", bool), self._parse_position(answer)

    def destroy(self, session: str) -> bool:
        """Close a session. Return whether it existed."""
        return self._field(self._post("/session/destroy", {"sessionId": session}), "destroyed", bool)

    def _post(self, path: str, data: dict[str, Any]) -> dict[str, Any]:
        kind = HTTPSConnection if self._secure else HTTPConnection
        connection = kind(self._host, self._port, timeout=self._timeout)
        headers = {"content-type": "application/json", "connection": "close"}
        try:
            connection.request("POST", self._path + path, json.dumps(data).encode(), headers)
            response = connection.getresponse()
            body = response.read(MAX_ANSWER_BYTES + 1)
        except (OSError, HTTPException) as error:
            raise RemoteError(f"{self.url}{path}: no answer: {type(error).__name__}: {error}") from error
        finally:
            connection.close()
        excerpt = body[:MAX_EXCERPT].decode("utf-8", "replace")
        if response.status >= 400:
            raise RemoteError(f"{self.url}{path}: status {response.status}: {excerpt!r}")
        try:
            answer = json.loads(body)
        except PARSE_ERRORS:
            answer = None
        if len(body) > MAX_ANSWER_BYTES or not isinstance(answer, dict):
            raise RemoteError(f"{self.url}{path}: the answer is not a JSON object: {excerpt!r}")
        return answer

    def _field(self, answer: dict[str, Any], name: str, kind: type[Value]) -> Value:
        value = answer.get(name)
        if type(value) is not kind:
            raise RemoteError(f"{self.url}: invalid {name}={str(value)[:MAX_EXCERPT]!r}: expected {kind.__name__}")
        return value

    def _parse_position(self, answer: dict[str, Any]) -> RemotePosition:
        try:
            fields = json.loads(self._field(answer, "multichannelArrayState", str))
            rest = fields.get(
                "collectGoalRemainingList", fields.get("collectGoalRemaininglList", [fields["collectGoalRemaining"]])
            )
            return RemotePosition(parse_board(fields), parse_mask(answer["validActionPositions"]), [int(n) for n in rest])
        except PARSE_ERRORS as error:
            raise RemoteError(f"{self.url}: invalid position: {type(error).__name__}: {error}") from error


def parse_board(fields: dict[str, Any]) -> NDArray[np.uint8]:
    """Return the board of a multichannelArrayState; raise ValueError for an invalid one."""
    if tuple(fields["boardSize"]) != SHAPE:
        raise ValueError(f"invalid boardSize={fields['boardSize']!r}: expected {list(SHAPE)}")
    numbers = np.array(fields["board"], np.float64)
    if not ((numbers >= 0) & (numbers <= 255) & (numbers % 1 == 0)).all():
        raise ValueError("invalid board: expected whole numbers 0..255")
    return numbers.astype(np.uint8).reshape(SHAPE, order="F")


def parse_mask(positions: Any) -> NDArray[np.int8]:
    """Return the mask int8[117] of validActionPositions: pairs of centered numbers, as JSON text or as lists."""
    pairs = json.loads(positions) if isinstance(positions, str) else positions
    out = np.zeros(CELLS, np.int8)
    for x, y in pairs:
        column, row = x + CENTER[0], y + CENTER[1]
        if not (0 <= column < WIDTH and 0 <= row < HEIGHT):
            raise ValueError(f"invalid validActionPositions: [{x}, {y}] is off the board")
        out[column + WIDTH * row] = 1
    return out
