"""Served levels, and positions in them. A tap makes a new position and leaves the old one unchanged."""

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
from momagames.files.reading import is_directory
from momagames.games.tileblast.infos import build_infos
from momagames.games.tileblast.levels import loader
from momagames.games.tileblast.rules.state import CELLS
from momagames.games.tileblast.serve.goal_distance import GoalDistances
from momagames.games.tileblast.serve.protocol import Replay, RequestError, parse_request

GAME = "mo-tileblast-v0"
MAX_TAPS = 1_000_000  # bound of the game; the protocol has no limit of moves


@dataclass(frozen=True, slots=True)
class Position:
    """A position and its history.

    taps     the valid ones, a byte for each: invalid taps change nothing
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
class PositionView:
    """Observable part of a position.

    board     uint8[2808]
    mask      int8[117]
    rest      remaining units of each goal
    goals     total units of each goal; for a goal of `all` the sum of collected and remaining units
    """

    board: NDArray[np.uint8]
    mask: NDArray[np.int8]
    rest: list[int]
    goals: list[int]


class ServedLevel:
    """A level with the compiled rules and their buffers; for one thread."""

    def __init__(self, index: int, source: loader.Source) -> None:
        self.index = index
        self.game = registry.spec(GAME, level=source, strict_moves=False, max_taps=MAX_TAPS)
        level = loader.load(source)
        self.name, self.moves = level.title, level.moves
        self.names = [goal.name for goal in level.goals]
        self._distances = GoalDistances(level.goals)
        self._loops = loops.compile_episode_loops(self.game)
        self._states = self.game.make_state()
        self._state, self._bytes = self._states[0], self._states.view(np.uint8)
        self._loaded: Position | None = None  # position in the buffers
        self._action, self._action_counts = np.zeros((1, 1), np.int64), np.array([CELLS], np.int64)
        shape = 1, len(self.game.objectives)
        self._statistics = np.zeros(shape, np.float32), np.zeros(shape, np.float32), np.zeros(shape)
        self._board, self._mask = np.zeros((1, self.game.observation_bytes), np.uint8), np.zeros((1, CELLS), np.int8)

    def start(self, seed: int) -> Position:
        """Start a game."""
        self._states[:] = self.game.make_state(seed)
        self._play(loops.START)
        self._loaded = None
        return Position(self, seed, b"", self._bytes.tobytes())

    def tap(self, before: Position, cell: int | None) -> Position | None:
        """Return the position after a tap; None if the tap is invalid."""
        self._load(before)
        if cell is None or not self._mask[0, cell]:
            return None
        self._action[0, 0] = cell
        self._play(loops.STEP)
        self._loaded = after = Position(self, before.seed, before.taps + bytes([cell]), self._bytes.tobytes())
        return after

    def observe(self, position: Position) -> PositionView:
        """Return the view of a position."""
        self._load(position)
        count = len(self.names)
        rest, collected = self._state["rest"][:count], self._state["collected"][:count]
        return PositionView(self._board[0].copy(), self._mask[0].copy(), rest.tolist(), (rest + collected).tolist())

    def infos(self, position: Position) -> dict[str, Any]:
        """Return the results of the last tap and the state of the game (SPEC §6.5)."""
        self._load(position)
        return build_infos(self._state)

    def distances(self, position: Position) -> list[dict[str, Any]]:
        """Return remainingGoalsDistance: the distance of each goal, 0 if it is reached."""
        self._load(position)
        distances = zip(self.names, self._distances(self._state), self._state["rest"].tolist(), strict=False)
        return [{"id": name, "distance": distance if rest else 0} for name, distance, rest in distances]

    def _load(self, position: Position) -> None:
        """Copy a position into the buffers, unless they hold it."""
        if self._loaded is not position:
            self._bytes[:] = np.frombuffer(position.record, np.uint8)
            self._play(loops.OBSERVE)
            self._loaded = position

    def _play(self, order: int) -> None:
        """Step, start or observe the position in the buffers, see `engine.loops`."""
        buffers = self._action, self._action_counts, *self._statistics, self._board, self._mask
        self._loops.play(order, self._states, *buffers)


class Levels:
    """Served levels: those of the game from 1 on, then level files in the given order."""

    def __init__(self, files: Iterable[str | os.PathLike[str]] = ()) -> None:
        sources: list[loader.Source] = [*range(1, loader.NUM_LEVELS + 1), *expand_folders(files)]
        self._levels = {index: ServedLevel(index, source) for index, source in enumerate(sources, 1)}

    def __len__(self) -> int:
        return len(self._levels)

    @property
    def from_files(self) -> list[ServedLevel]:
        """Levels from files."""
        return list(self._levels.values())[loader.NUM_LEVELS :]

    def warm_up(self) -> None:
        """Compile the rules, or load them from the cache."""
        level = self._levels[1]
        position = level.start(0)
        level.tap(position, int(level.observe(position).mask.argmax()))

    def start(self, index: int, seed: int) -> Position:
        """Start a game; raise RequestError 404 for an unknown level."""
        if index not in self._levels:
            raise RequestError(404, f"invalid levelIndex={index}: expected 1 to {len(self._levels)}")
        return self._levels[index].start(seed)

    def replay(self, text: str) -> Position:
        """Return the position of a state text; raise RequestError for an invalid one."""
        try:
            replay = parse_request(Replay, text)
        except RequestError as error:
            raise RequestError(400, f"state: {error.text}") from None
        position = self.start(replay.levelIndex, replay.seed)
        for number, cell in enumerate(replay.taps):
            after = position.level.tap(position, cell)
            if after is None:
                raise RequestError(400, f"state: taps.{number}: invalid tap of cell {cell}")
            position = after
        return position


def expand_folders(files: Iterable[str | os.PathLike[str]]) -> Iterator[Path]:
    """Yield the files; replace a folder by its level files, by name."""
    for file in map(Path, files):
        if is_directory(file):
            levels = sorted(path for path in file.iterdir() if path.suffix in (".yaml", ".yml", ".json"))
            if not levels:
                raise InvalidLevel(f"{file} holds no level file: expected .yaml, .yml or .json files")
            yield from levels
        else:
            yield file
