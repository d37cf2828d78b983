"""Infos of MO-TileBlast (SPEC §6.5)."""

from __future__ import annotations

from typing import Any

from momagames.contract import State


def build_infos(state: State) -> dict[str, Any]:
    """Return the results of the last tap and the state of the game, as plain numbers and lists."""
    goals, won, cut = int(state["goals"]), bool(state["won"]), bool(state["truncated"])
    return {
        "valid": bool(state["valid"]),
        "cluster": int(state["cluster"]),
        "created": int(state["created"]),
        "used": int(state["used"]),
        "combo": bool(state["combo"]),
        "hits": int(state["hits"]),
        "collected": state["gained"][:goals].tolist(),
        "goals_remaining": state["rest"][:goals].tolist(),
        "moves_left": max(0, int(state["limit"]) - int(state["moves"])),
        "shuffles": int(state["shuffles"]),
        "score": int(state["score"]),
        "rng_draws": int(state["draws"]),
        "won": won,
        "lost": bool(state["over"]) and not won and not cut,
        "dead": bool(state["dead"]),
    }
