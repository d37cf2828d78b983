"""Recorded episodes: a JSON file from which a game can be played again, and its pictures as gif or mp4."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames import plugins, registry
from momagames.adapters.render import Renderer
from momagames.contract import Game
from momagames.errors import (
    IllegalAction,
    InvalidCall,
    InvalidFile,
    InvalidParameter,
    MissingExtra,
    MomagamesError,
    check_choice,
    check_range,
    invalid_value,
    nearest,
    one_of,
)
from momagames.files.json_data import read_json
from momagames.files.writing import add_files, make_folder, temporary_path, write_file
from momagames.plugins import USER, Origin
from momagames.wrappers.introspection import base_env

FORMAT = "momagames-record-1"
FORMATS = ("json", "gif", "mp4")


@dataclass
class Recording:
    """An episode that is recorded.

    number     of the episode, from 0
    log        of the episode, see `Episode.log`
    frames     pictures so far, uint8[H, W, 3], those between positions too
    positions  number of positions with a picture so far
    """

    number: int
    seed: int | None
    log: list[Any]
    frames: list[NDArray[np.uint8]] = field(default_factory=list)
    positions: int = 0


class ReplayRecorder:
    """Records one environment and writes every selected episode: at its end, or when reset() or close() cuts it.

    folder   directory of the files; created if it does not exist
    formats  some of "json", "gif", "mp4"
    name     files are named {name}-{number, six digits}.{format}. The number is that of the episode, or a later one: files that
             exist stay, also those that other processes write at the same time
    when     episode number -> whether to record it; None for all
    fps      positions per second
    between  number of pictures between two positions

    `files` lists the written files, `frames` holds the pictures of the episode. A copy writes, and lists, files of its own.
    """

    def __init__(
        self,
        env: Any,
        folder: str | Path,
        formats: tuple[str, ...],
        name: str,
        when: Callable[[int], bool] | None,
        fps: float,
        between: int,
    ) -> None:
        for kind in formats:
            if not isinstance(kind, str) or kind not in FORMATS:
                raise InvalidParameter(invalid_value("formats", formats, f"some of {one_of(FORMATS)}", nearest(kind, FORMATS)))
        if "mp4" in formats and not (find_spec("imageio") and find_spec("imageio_ffmpeg")):
            raise MissingExtra('mp4 needs imageio: pip install "imageio[ffmpeg]", or record a gif')
        self.env, self.base = env, base_env(env, "RecordReplay")
        self.pictures = [kind for kind in formats if kind != "json"]
        if self.pictures and self.base.render_mode != "rgb_array":
            raise InvalidParameter(f"{one_of(self.pictures)} needs pictures: make the environment with render_mode='rgb_array'")
        if not isinstance(name, str) or not name or Path(name).name != name:
            raise InvalidParameter(invalid_value("name", name, "the name of a file"))
        if not isinstance(folder, (str, os.PathLike)):
            raise InvalidParameter(invalid_value("folder", folder, "the path of a directory"))
        check_range("fps", fps, 0, 100, above=True)
        check_range("frames", between, 0, 60, whole=True)
        self.between, self.renderer = between, Renderer(self.base.game, None, self.base.render_options)
        self.folder, self.formats, self.name, self.when, self.fps = Path(folder), formats, name, when, fps
        self.episode = -1
        self.files: list[Path] = []  # written so far
        self.frames: list[NDArray[np.uint8]] = []
        self._log: list[Any] | None = None  # of the episode, recorded or not
        self._recording: Recording | None = None  # of the running episode
        self._before: Any = None  # the last position with a picture
        self._shift: int | None = None  # numbers of files minus those of episodes

    def reset(self, start: Callable[[], Any], seed: int | None) -> Any:
        """Reset the environment by calling `start`. An episode that this cuts is written if it has steps."""
        episode, cut = self.base.episode, self._recording
        if episode.log is None:
            episode.log = []
        chosen = self.when is None or bool(self.when(self.episode + 1))
        returns = episode.returns.copy()
        result = start()  # a failed reset changes nothing
        self.episode, self._log = self.episode + 1, episode.log
        self._recording = Recording(self.episode, seed, episode.log) if chosen else None
        self.frames = self._recording.frames if self._recording else []
        self.record_step(False)
        if cut and len(cut.log) > 1:
            self._write(cut, returns)
        return result

    def record_step(self, ended: bool) -> None:
        """Record a picture if the environment has stepped, and write the files if the episode has ended.

        Raises InvalidCall if a wrapper inside has started another episode
        """
        episode, recording = self.base.episode, self._recording
        if self._log is not None and episode.log is not self._log:
            raise InvalidCall(
                "another wrapper inside RecordReplay resets the environment: put RecordReplay inside that wrapper"
            )
        if recording is None:
            return
        if self.pictures and recording.positions < len(recording.log):
            recording.positions = len(recording.log)
            self._record_pictures()
        if ended or episode.state["over"]:
            self._recording = None
            self._write(recording, episode.returns)

    def _record_pictures(self) -> None:
        state, last, returns = self.base.episode.state, self.base.last_action, self.base.episode.returns
        if self.between and self.frames:
            self.frames += self.renderer.draw_between(self._before, state, last, returns, self.between)
        self._before = state.copy()
        self.frames.append(np.asarray(self.env.render(), np.uint8))

    def close(self) -> None:
        """Write the running episode if it has steps."""
        recording, self._recording = self._recording, None
        if recording and len(recording.log) > 1:
            self._write(recording, self.base.episode.returns)

    def _write(self, recording: Recording, returns: NDArray[np.float64]) -> None:
        make_folder(self.folder)
        temporary: dict[str, Path] = {}
        with ExitStack() as stack:
            for kind in self.formats:
                expected = self.folder / f"{self.name}-{recording.number:06d}.{kind}"
                temporary[kind] = path = stack.enter_context(temporary_path(expected))
                if kind == "json":
                    text = json.dumps(replay_data(self.base.game, recording.log, returns, recording.seed), indent=1)
                    write_file(path, text + "\n")
                else:
                    write_video(path, recording.frames, kind, self.fps, self.between)
            self.files += self._name_files(temporary, recording.number)

    def _name_files(self, temporary: dict[str, Path], episode: int) -> list[Path]:
        """Name the files of an episode by a number that no other file has. Return their paths."""
        number = episode + (self._find_free_number() if self._shift is None else self._shift)
        while True:
            names = {kind: self.folder / f"{self.name}-{number:06d}.{kind}" for kind in FORMATS}
            try:
                if any(path.exists() for path in names.values()):
                    raise FileExistsError
                add_files({names[kind]: path for kind, path in temporary.items()})
            except FileExistsError:
                number += 1
                continue
            self._shift = number - episode
            return [names[kind] for kind in temporary]

    def _find_free_number(self) -> int:
        """Return the number after those of all files of this name."""
        pattern = re.compile(rf"{re.escape(self.name)}-(\d{{6,}})\.(?:{'|'.join(FORMATS)})")
        matches = [pattern.fullmatch(path.name) for path in self.folder.iterdir()]
        return max((int(match[1]) + 1 for match in matches if match), default=0)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "files": []}

    def copy_without_recording(self) -> ReplayRecorder:
        """Return a recorder that records nothing until the next reset."""
        recorder = copy.copy(self)
        recorder._log = recorder._recording = None
        return recorder


def replay_data(game: Game, log: list[Any], returns: NDArray[np.float64], seed: int | None) -> dict[str, Any]:
    """Return a finished episode as JSON-serializable data, from `Episode.log`."""
    simple = game.actors == 1 and len(game.actions) == 1
    start, *actions = log
    return {
        "format": FORMAT,
        "game": registry.format_id(game.id, game.params),
        "id": game.id,
        "params": dict(game.params),
        "seed": seed,
        "start": start,
        "actions": [one[0][0] if simple and isinstance(one, list) else one for one in actions],
        "agents": list(game.agents),
        "objectives": [objective.name for objective in game.objectives],
        "returns": returns.tolist(),
    }


def write_video(path: Path, frames: list[NDArray[np.uint8]], kind: str, fps: float, between: int = 0) -> None:
    """Write pictures uint8[H, W, 3] as a gif or mp4; `between`: number of pictures between two positions."""
    if kind == "mp4":
        import_module("imageio.v2").mimwrite(path, frames, fps=fps * (between + 1))
        return
    from PIL import Image

    first, *rest = [Image.fromarray(frame) for frame in frames]
    durations = frame_durations(len(frames), 1000 / fps, between)
    first.save(path, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)


def frame_durations(count: int, duration: float, between: int) -> list[int]:
    """Return the milliseconds of pictures: at most 60 of one between two positions, and half of the time for all of these."""
    short = min(60.0, max(20.0, duration / 2 / between)) if between else 0.0
    long = max(20.0, duration - between * short)
    return [round(short if k % (between + 1) else long) for k in range(count)]


def read_replay(path: str | Path) -> dict[str, Any]:
    """Read a replay file. Raises InvalidFile if it is not a replay."""
    file = Path(path)
    data = read_json(file)
    if data.get("format") != FORMAT:
        raise InvalidFile(f"{file}: not a replay: {invalid_value('format', data.get('format'), repr(FORMAT))}")
    kinds = {"id": str, "params": dict, "start": dict, "actions": list, "returns": list}
    for key, kind in kinds.items():
        if not isinstance(data.get(key), kind):
            raise InvalidFile(f"{file}: {key!r} is not there or not a {kind.__name__}")
    return data


def replay(path: str | Path, render_mode: str | None = None, allow_code: bool = False) -> Iterator[Any]:
    """Replay a recorded episode; see `momagames.wrappers.replay`."""
    with plugins.allow_code(allow_code):
        origin = Origin.of_file(path)
    return replay_from_data(read_replay(path), str(path), render_mode, origin)


def replay_from_data(data: dict[str, Any], path: str, render_mode: str | None = None, origin: Origin = USER) -> Iterator[Any]:
    """Replay the result of `replay_data`; `path` is its name in error messages, `origin` that of a file of data."""
    from momagames.adapters.aec import MultiObjectiveAEC

    try:
        chosen = {name: value for name, value in data["params"].items() if name not in registry.find_entry(data["id"]).fixed}
        env = MultiObjectiveAEC(registry.make_stored_game(data["id"], chosen, origin), render_mode=render_mode)
        env.reset(options={"state": data["start"]})
    except (MomagamesError, TypeError) as error:
        raise InvalidFile(f"{path}: {error}") from None
    yield env
    for number, action in enumerate(data["actions"]):
        try:
            _replay_step(env, action)
        except (MomagamesError, TypeError, ValueError, LookupError) as error:
            raise InvalidFile(f"{path}: step {number}: {error}") from None
        yield env
    if env.returns.tolist() != data["returns"]:
        raise InvalidFile(f"{path}: the returns are {env.returns.tolist()}; recorded: {data['returns']}")


def _replay_step(env: Any, action: Any) -> None:
    """Repeat a recorded step: an action, a list of the parts of each actor, or the name of an agent that forfeits.

    None is a forfeit of the agent to move, as it was written first
    """
    if env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
        raise IllegalAction("the game is already over")
    if action is None:
        action = env.agent_selection
    if isinstance(action, str):
        check_choice("agent", action, env.agents)
        env.forfeit(action)
    elif env.game.sequential:
        env.step(action[0] if isinstance(action, list) else action)
    else:
        simple = len(env.game.actions) == 1
        env.step_all({agent: action[env.possible_agents.index(agent)][0 if simple else slice(None)] for agent in env.agents})
        while env.agents and (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
            env.step(None)
