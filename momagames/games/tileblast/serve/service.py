"""The answer to each request, as plain data. A request that is refused has changed nothing."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from momagames.games.tileblast.serve.protocol import (
    Click,
    Create,
    Destroy,
    Empty,
    Load,
    Refusal,
    SessionClick,
    Status,
    cell,
    channels,
    valid_positions,
)
from momagames.games.tileblast.serve.sessions import Sessions
from momagames.games.tileblast.serve.simulator import Levels, Position, Sight

Answer = dict[str, Any]


class Service:
    """The simulator as its clients see it."""

    def __init__(self, levels: Levels, sessions: Sessions) -> None:
        self.levels, self.sessions = levels, sessions

    def load(self, asked: Load) -> Answer:
        """A new game without a session."""
        position = self.levels.start(asked.levelIndex, asked.seed)
        return {"state": position.text, "multichannelArrayState": shown(position), "levelName": position.level.name}

    def click(self, asked: Click) -> Answer:
        """A tap on a state, without a session."""
        before = self.levels.replay(asked.state)
        after = before.level.tap(before, cell(asked.x, asked.y))
        return {
            "clickSuccessful": after is not None,
            "simulationResult": told(after) if after else "",
            "state": (after or before).text,
        }

    def create(self, asked: Create) -> Answer:
        """A session with a new game, or one that goes on from a state."""
        if asked.state is not None:
            position = self.levels.replay(asked.state)
        elif asked.levelIndex is None or asked.seed is None:
            raise Refusal(400, "a session needs levelIndex and seed, or state")
        else:
            position = self.levels.start(asked.levelIndex, asked.seed)
        level = position.level
        answer = seen(position, asked.returnFullState)
        return {"sessionId": self.sessions.create(position), "levelName": level.name, "levelMoveLimit": level.moves, **answer}

    def session_click(self, asked: SessionClick) -> Answer:
        """A tap in a session; a dry run gives the same answer and leaves the session as it was."""
        before = self.sessions.position(asked.sessionId)
        after = before.level.tap(before, cell(asked.x, asked.y))
        answer = {
            "clickSuccessful": after is not None,
            "simulationResult": told(after) if after else "",
            **seen(after or before, asked.returnFullState),
        }
        if after and not asked.dryRun:  # last of all: nothing can go wrong any more
            self.sessions.move(asked.sessionId, after)
        return answer

    def status(self, asked: Status) -> Answer:
        position = self.sessions.position(asked.sessionId)
        return {"state": position.text, "stateSparse": position.text, "multichannelArrayState": shown(position)}

    def destroy(self, asked: Destroy) -> Answer:
        return {"destroyed": self.sessions.destroy(asked.sessionId)}

    def list(self, asked: Empty) -> Answer:
        return {"sessionIds": self.sessions.ids()}

    def clear(self, asked: Empty) -> Answer:
        self.sessions.clear()
        return {"sessionIds": []}


def seen(position: Position, full: bool) -> Answer:
    """What sessions say of a position."""
    sight = position.level.see(position)
    return {
        "multichannelArrayState": board(position, sight),
        "validActionPositions": valid_positions(sight.mask),
        "fullState": position.text if full else "",
        "remainingGoalsDistance": position.level.distances(position),
    }


def shown(position: Position) -> str:
    return board(position, position.level.see(position))


def board(position: Position, sight: Sight) -> str:
    return channels(sight.board, position.level.names, sight.goals, sight.rest)


def told(position: Position) -> str:
    """What the last tap did, as JSON text."""
    return to_json(position.level.facts(position)).decode()
