"""Answers to requests, as plain data. A request that fails has changed nothing."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from momagames.games.tileblast.serve.protocol import (
    Click,
    Create,
    Destroy,
    Empty,
    Load,
    RequestError,
    SessionClick,
    Status,
    centered_cell,
    format_channels,
    format_valid_positions,
)
from momagames.games.tileblast.serve.sessions import Sessions
from momagames.games.tileblast.serve.simulator import Levels, Position, PositionView

Answer = dict[str, Any]


class Service:
    """Simulator behind the requests of the protocol."""

    def __init__(self, levels: Levels, sessions: Sessions) -> None:
        self.levels, self.sessions = levels, sessions

    def load(self, request: Load) -> Answer:
        """Start a game without a session."""
        position = self.levels.start(request.levelIndex, request.seed)
        return {
            "state": position.text,
            "multichannelArrayState": format_current_board(position),
            "levelName": position.level.name,
        }

    def click(self, request: Click) -> Answer:
        """Tap in a state, without a session."""
        before = self.levels.replay(request.state)
        after = before.level.tap(before, centered_cell(request.x, request.y))
        return {
            "clickSuccessful": after is not None,
            "simulationResult": format_result(after) if after else "",
            "state": (after or before).text,
        }

    def create(self, request: Create) -> Answer:
        """Create a session with a new game, or one that continues a state."""
        if request.state is not None:
            position = self.levels.replay(request.state)
        elif request.levelIndex is None or request.seed is None:
            raise RequestError(400, "missing field: expected levelIndex and seed, or state")
        else:
            position = self.levels.start(request.levelIndex, request.seed)
        level = position.level
        answer = format_position(position, request.returnFullState)
        return {"sessionId": self.sessions.create(position), "levelName": level.name, "levelMoveLimit": level.moves, **answer}

    def session_click(self, request: SessionClick) -> Answer:
        """Tap in a session; a dry run returns the same answer and leaves the session unchanged."""
        before = self.sessions.position(request.sessionId)
        after = before.level.tap(before, centered_cell(request.x, request.y))
        answer = {
            "clickSuccessful": after is not None,
            "simulationResult": format_result(after) if after else "",
            **format_position(after or before, request.returnFullState),
        }
        if after and not request.dryRun:  # last, after everything that can fail
            self.sessions.update(request.sessionId, after)
        return answer

    def status(self, request: Status) -> Answer:
        position = self.sessions.position(request.sessionId)
        return {"state": position.text, "stateSparse": position.text, "multichannelArrayState": format_current_board(position)}

    def destroy(self, request: Destroy) -> Answer:
        return {"destroyed": self.sessions.destroy(request.sessionId)}

    def list(self, request: Empty) -> Answer:
        return {"sessionIds": self.sessions.ids()}

    def clear(self, request: Empty) -> Answer:
        self.sessions.clear()
        return {"sessionIds": []}


def format_position(position: Position, full: bool) -> Answer:
    """Return the fields of a position in the answers of sessions."""
    view = position.level.observe(position)
    return {
        "multichannelArrayState": format_board(position, view),
        "validActionPositions": format_valid_positions(view.mask),
        "fullState": position.text if full else "",
        "remainingGoalsDistance": position.level.distances(position),
    }


def format_current_board(position: Position) -> str:
    return format_board(position, position.level.observe(position))


def format_board(position: Position, view: PositionView) -> str:
    return format_channels(view.board, position.level.names, view.goals, view.rest)


def format_result(position: Position) -> str:
    """Return the results of the last tap, as JSON text."""
    return to_json(position.level.infos(position)).decode()
