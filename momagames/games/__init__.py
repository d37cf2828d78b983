"""The games, and the only list of them. Strings, so that importing momagames imports no game and no compiler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Entry:
    """Where a game is made: "module:function", called with the id and the parameters; `fixed` ones are set by the id."""

    factory: str
    fixed: Mapping[str, Any] = field(default_factory=dict)


VERSIONS: dict[str, Entry] = {
    "mo-samegame-v0": Entry("momagames.games.samegame:game"),
    "mo-breakthrough-v0": Entry("momagames.games.breakthrough:game"),
}

# Ids that existed once: id -> the id that takes its place.
RETIRED: dict[str, str] = {}
