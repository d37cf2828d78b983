"""Infos of MO-RoboticMail (SPEC §7.4)."""

from __future__ import annotations

from typing import Any

from momagames.contract import State
from momagames.games.robotmail.rules.state import EVENTS


def build_infos(state: State) -> dict[str, Any]:
    """Return the last event, the names of the winner's robots, and the counts outside of the observations."""
    player, team = int(state["winner"]), int(state["team"])
    winners = range(player * team, (player + 1) * team) if player >= 0 else ()
    return {
        "event": EVENTS[int(state["event"])],
        "winners": [f"robot_{robot}" for robot in winners],
        "clock": int(state["clock"]),
        "illegal_actions": int(state["illegal"]),
    }
