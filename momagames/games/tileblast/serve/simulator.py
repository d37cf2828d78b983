"""Levels that are served, and positions in them. A tap makes a new position and leaves the old one as it was."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.engine import loops
from momagames.errors import InvalidLevel
from momagames.games.tileblast.infos import facts
from momagames.games.tileblast.levels import loader
from momagames.games.tileblast.rules.state import CELLS
from momagames.games.tileblast.serve.goal_distance import Distances
from momagames.games.tileblast.serve.protocol import Refusal, Replay, read

GAME = "mo-tileblast-v0"
MOST_TAPS = 1_000_000  # the game's own bound; the moves of a level are no limit here


@dataclass(frozen=True, slots=True)
class Position:
    """A position, and how it came about.

    taps     the valid ones, a byte for each: invalid taps leave no trace
    record   the state record
    """

    level: ServedLevel
    seed: int
    taps: bytes
    record: bytes

    @property
    def text(self) -> str:
        """The position as text that `Levels.replay` reads."""
        return json.dumps({"levelIndex": self.level.index, "seed": self.seed, "taps": list(self.taps)}, separators=(",", ":"))


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """What can be seen of a position.

    board     uint8[2808]
    mask      int8[117]
    rest      what is left of each goal
    goals     what there is to collect in all; of a goal of `all` that is what was collected and what is left now
    """

    board: NDArray[np.uint8]
    mask: NDArray[np.int8]
    rest: list[int]
    goals: list[int]


class ServedLevel:
    """A level with the compiled rules and the buffers that they write; for one thread."""

    def __init__(self, index: int, source: loader.Source) -> None:
        self.index = index
        self.game = registry.spec(GAME, level=source, strict_moves=False, max_taps=MOST_TAPS)
        level = loader.load(source)
        self.name, self.moves = level.title, level.moves
        self.names = [goal.name for goal in level.goals]
        self._distances = Distances(level.goals)
        self._loops = loops.compile_episode_loops(self.game)
        self._states = self.game.start()
        self._state, self._bytes = self._states[0], self._states.view(np.uint8)
        self._shown: Position | None = None  # what the buffers hold
        self._action, self._parts = np.zeros((1, 1), np.int64), np.array([CELLS], np.int64)
        books = 1, len(self.game.objectives)
        self._books = np.zeros(books, np.float32), np.zeros(books, np.float32), np.zeros(books)
        self._board, self._mask = np.zeros((1, self.game.observation_bytes), np.uint8), np.zeros((1, CELLS), np.int8)

    def start(self, seed: int) -> Position:
        """A new game."""
        self._states[:] = self.game.start(seed)
        self._loops.generate(self._states)
        self._shown = None
        return Position(self, seed, b"", self._bytes.tobytes())

    def tap(self, before: Position, cell: int | None) -> Position | None:
        """The position after a tap; None if it is not valid."""
        self._show(before)
        if cell is None or not self._mask[0, cell]:
            return None
        self._action[0, 0] = cell
        self._loops.step(self._states, self._action, self._parts, *self._books, self._board, self._mask)
        self._shown = after = Position(self, before.seed, before.taps + bytes([cell]), self._bytes.tobytes())
        return after

    def see(self, position: Position) -> Sight:
        """What is on the board now."""
        self._show(position)
        count = len(self.names)
        rest, collected = self._state["rest"][:count], self._state["collected"][:count]
        return Sight(self._board[0].copy(), self._mask[0].copy(), rest.tolist(), (rest + collected).tolist())

    def facts(self, position: Position) -> dict[str, Any]:
        """What the last tap did, and how the game stands (SPEC §6.5)."""
        self._show(position)
        return facts(self._state)

    def distances(self, position: Position) -> list[dict[str, Any]]:
        """remainingGoalsDistance: of each goal, how far it is off; 0 if it is reached."""
        self._show(position)
        measured = zip(self.names, self._distances(self._state), self._state["rest"].tolist(), strict=False)
        return [{"id": name, "distance": distance if rest else 0} for name, distance, rest in measured]

    def _show(self, position: Position) -> None:
        """Put a position into the buffers, if it is not there."""
        if self._shown is not position:
            self._bytes[:] = np.frombuffer(position.record, np.uint8)
            self._loops.observe_all(self._states, self._board, self._mask)
            self._shown = position


class Levels:
    """The levels that can be asked for: those of the game from 1 on, then level files in the order given."""

    def __init__(self, files: Iterable[str | os.PathLike[str]] = ()) -> None:
        sources: list[loader.Source] = [*range(1, loader.COUNT + 1), *spread(files)]
        self._levels = {index: ServedLevel(index, source) for index, source in enumerate(sources, 1)}

    def __len__(self) -> int:
        return len(self._levels)

    @property
    def added(self) -> list[ServedLevel]:
        """Those from files."""
        return list(self._levels.values())[loader.COUNT :]

    def warm(self) -> None:
        """Compile the rules, or load them from the disk."""
        level = self._levels[1]
        position = level.start(0)
        level.tap(position, int(level.see(position).mask.argmax()))

    def start(self, index: int, seed: int) -> Position:
        """A new game; Refusal 404 for a level that there is not."""
        if index not in self._levels:
            raise Refusal(404, f"no level {index}; there are 1 to {len(self._levels)}")
        return self._levels[index].start(seed)

    def replay(self, text: str) -> Position:
        """The position that a state tells of; Refusal if it is not one."""
        try:
            told = read(Replay, text)
        except Refusal as error:
            raise Refusal(400, f"state: {error.text}") from None
        position = self.start(told.levelIndex, told.seed)
        for number, cell in enumerate(told.taps):
            after = position.level.tap(position, cell)
            if after is None:
                raise Refusal(400, f"state: taps.{number}: the tap of cell {cell} is not valid there")
            position = after
        return position


def spread(files: Iterable[str | os.PathLike[str]]) -> Iterator[Path]:
    """The files, and in place of a folder the level files in it, by name."""
    for file in map(Path, files):
        if file.is_dir():
            found = sorted(one for one in file.iterdir() if one.suffix in (".yaml", ".yml", ".json"))
            if not found:
                raise InvalidLevel(f"{file} holds no level file (.yaml, .yml or .json)")
            yield from found
        else:
            yield file
