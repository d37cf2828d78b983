"""What the infos of the doors say (SPEC §7.4)."""

from __future__ import annotations

from typing import Any

from momagames.contract import State
from momagames.games.robotmail.state import EVENTS


def facts(state: State) -> dict[str, Any]:
    """What the last step was, and the counts that nobody sees."""
    winner = int(state["winner"])
    return {
        "event": EVENTS[int(state["event"])],
        "winner": None if winner < 0 else winner,
        "clock": int(state["clock"]),
        "illegal_actions": int(state["illegal"]),
    }
