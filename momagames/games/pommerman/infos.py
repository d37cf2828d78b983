"""Infos of MO-Pommerman (SPEC §6.4)."""

from __future__ import annotations

from typing import Any

from momagames.contract import State

RESULTS = ("incomplete", "win", "tie")


def build_infos(state: State) -> dict[str, Any]:
    """Return "result" ("incomplete", "win" or "tie") and "winners" (names of the winning agents)."""
    if not state["result"]:
        return {"result": RESULTS[0], "winners": []}
    winners, seats = int(state["winners"]), int(state["seats"])
    return {
        "result": RESULTS[int(state["result"])],
        "winners": [f"agent_{seat}" for seat in range(seats) if winners >> seat & 1],
    }
