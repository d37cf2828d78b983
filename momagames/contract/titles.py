"""Names of games for headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from momagames.contract.game import Game

SELECTIONS = ("objectives", "num_objectives")  # parameters that select the objectives


def list_changed_parameters(game: Game) -> dict[str, Any]:
    """Return the parameters that differ from their defaults."""
    defaults = {parameter.name: parameter.default for parameter in game.parameters}
    return {name: value for name, value in game.params.items() if value != defaults.get(name)}


def describe_variant(game: Game) -> str:
    """Return what tells the game from others of its title: "15x15, 5 colors", "team: outcome and bombs".

    Parameters that `Game.variant` does not name follow if they differ from their defaults.
    """
    named = re.findall(r"{(\w+)}", game.variant)
    others = {name: value for name, value in list_changed_parameters(game).items() if name not in named}
    names = [objective.name for objective in game.objectives]
    if any(name in others for name in SELECTIONS) and names != [one.name for one in game.factory(game.id).objectives]:
        objectives = join_words(names)
    else:
        objectives = ""  # those by default
    parts = [f"{name.replace('_', ' ')} {_format(others[name])}" for name in others if name not in SELECTIONS]
    text = ", ".join(filter(None, [game.variant.format_map({name: _format(game.params[name]) for name in named}), *parts]))
    return ": ".join(filter(None, [text, objectives]))


def describe_game(game: Game) -> str:
    """Return the title with its variant: "MO-SameGame 15x15, 5 colors"."""
    return f"{game.title} {describe_variant(game)}".rstrip()


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping) and "title" in value:  # such as the data of a level
        return f'"{value["title"]}"'
    return join_words([_format(one) for one in value]) if isinstance(value, tuple | list) else str(value)


def join_words(given: Iterable[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    words = list(given)
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
