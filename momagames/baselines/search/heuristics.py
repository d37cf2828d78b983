"""Estimates for searches: for a position, what can still be won in each objective.

"optimistic"   at least as much as any play can bring
"present"      what the position offers as it stands, were everything taken at once, or a guess of what play will bring

A game without them is searched without. A kernel is (state, out float64[K]) -> None and may spoil the state.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from momagames.contract import Game

KINDS = ("optimistic", "present")
# rules_key -> module with a kernel of each of these names
ESTIMATES: dict[str, str] = {
    "samegame": "momagames.games.samegame.heuristics",
    "tileblast": "momagames.games.tileblast.heuristics",
    "tileblast.strict": "momagames.games.tileblast.heuristics",
}


def estimates(game: Game) -> tuple[Callable[..., Any], ...] | None:
    """The kernels that belong to a game's rules, in the order of KINDS, or None."""
    if game.rules_key not in ESTIMATES:
        return None
    module = import_module(ESTIMATES[game.rules_key])
    return tuple(getattr(module, kind) for kind in KINDS)
