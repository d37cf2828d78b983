"""Games whose positions fit into a few words: other rules, of the same effect, on a smaller record.

A search that solves each position once spends its time on copies, moves, keys and look-ups of positions. Where all of a
position is some words of bits, these cost a fraction. What is found does not depend on it: actions keep their numbers, and
rewards are the same.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from momagames.contract import Game

# By the name of a game's rules: a module with `pack(game, start)`, the game on its smaller record and a start, record[1],
# in that form; or None if a position of this size does not fit.
PACKED: dict[str, str] = {"samegame": "momagames.games.samegame.compact"}


def packed(game: Game, start: NDArray[Any]) -> tuple[Game, NDArray[Any]]:
    """A game and a start, record[1], in the form that is searched: the smaller one where there is one."""
    if game.rules_key not in PACKED:
        return game, start
    found: tuple[Game, NDArray[Any]] | None = import_module(PACKED[game.rules_key]).pack(game, start)
    return found or (game, start)
