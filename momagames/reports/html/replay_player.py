"""Replays on the page: episodes of the policies behind the points of fronts, drawn by the game.

A frame is stored as the tiles that changed (`render.tiles`); templates/player.js assembles them. The number of replays is
limited by the size of the page and the number of frames: the first points of each method in each primary panel have one.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import zip_longest
from typing import Any

import numpy as np

from momagames.benchmark import replays
from momagames.benchmark.store.store import Store
from momagames.contract import Game, has_choice
from momagames.engine.episode import Episode
from momagames.errors import MomagamesError
from momagames.render.canvas import Picture, pixels
from momagames.render.position import draw_position
from momagames.render.tiles import SHEET_COLUMNS, Tiles, find_grid
from momagames.reports.data.overview import rank_methods
from momagames.reports.data.panels import Panel
from momagames.reports.html.document import compress
from momagames.reports.html.panel_section import POSTER
from momagames.wording import show_all_controls, show_controls

MAX_PAGE_BYTES = 4_900_000  # of a page with its replays
MAX_FRAMES = 200  # of a replay; a longer episode is shown in every second step, or every third...
MAX_FIRST_FRAMES = 3000  # on the page, for the first point of every method in every panel
MAX_TOTAL_FRAMES = 600  # above this, no further points get a replay; each frame takes some milliseconds

Key = tuple[str, int]  # a run's directory, and the index of a point on its front


@dataclass
class Replays:
    """The replays on a page.

    replays       point -> its replay, in the format of player.js
    tiles         game and frame size -> tiles, in the order of the sheet numbers in `replays`
    candidates    number of points that could have a replay
    failed        number of points whose stored episode could not be reproduced
    stride        largest number of steps from one frame of a replay to the next
    """

    folder: str
    replays: dict[Key, dict[str, Any]] = field(default_factory=dict)
    tiles: dict[str, Tiles] = field(default_factory=dict)
    candidates: int = 0
    failed: int = 0
    stride: int = 1
    frames: int = 0

    @property
    def size(self) -> int:
        """Upper estimate of the bytes on the page."""
        return sum(len(replay["data"]) for replay in self.replays.values()) + sum(4 * t.size // 3 for t in self.tiles.values())

    def data(self) -> dict[str, Any]:
        """Return the data of player.js."""
        sheets = [{"side": t.grid.side, "columns": SHEET_COLUMNS, "png": t.sheet()} for t in self.tiles.values()]
        replays = {f"{run}/{point}": replay for (run, point), replay in self.replays.items()}
        return {"folder": self.folder, "sheets": sheets, "replays": replays}

    def note(self) -> str:
        """Return how to watch replays, and which points have one."""
        command = f"momagames replay {self.folder}/runs/RUN --point N"
        if not self.replays:
            return f"This page has no replays. Use {command} to replay the policy of a point."
        stride = f" Long episodes are shown in steps of up to {self.stride}." if self.stride > 1 else ""
        failed = f" {self.failed} could not be reproduced and are omitted." if self.failed else ""
        return (
            "Click on a point of a front, or select it below the figure, to watch a replay of its policy. "
            f"{len(self.replays)} of {self.candidates} points of the primary panels have a replay on this page; for others, "
            f"use {command}.{stride}{failed}"
        )


def collect_replays(
    store: Store, panels: Sequence[Panel], max_bytes: int, progress: Callable[[str], None] | None = None
) -> Replays:
    """Replay episodes of points of the primary panels, up to `max_bytes`; `progress` is called with the current step."""
    result = Replays(str(store.folder))
    columns = [list(_sort_points(panel, method)) for panel in panels if panel.primary for method in rank_methods(panel)]
    result.candidates = len({key for column in columns for _, key, _ in column})
    for round_, row in enumerate(zip_longest(*columns)):
        for panel, key, value in filter(None, row):
            if key in result.replays:
                continue
            if result.frames >= (MAX_TOTAL_FRAMES if round_ else MAX_FIRST_FRAMES):
                return result
            if progress:
                done = 10 * max(result.frames / MAX_TOTAL_FRAMES, len(result.replays) / result.candidates)
                bar = f"{'━' * min(10, round(done)):<10}"
                progress(f"replays for the page {bar} {len(result.replays)} (omit them with bench report --no-replays)")
            tile_counts = {size: len(tiles.indices) for size, tiles in result.tiles.items()}
            try:
                _add_replay(result, store, panel.game, key, value, panel.kind == "plans")
            except MomagamesError:
                result.failed += 1
            if result.size > max_bytes:
                result.replays.pop(key, None)
                for size, tiles in result.tiles.items():
                    tiles.truncate(tile_counts.get(size, 0))
                return result
    return result


def _sort_points(panel: Panel, method: str) -> Iterator[tuple[Panel, Key, list[float]]]:
    """Yield the points of a method by seed; in a seed the best mean of normalized returns, then the best in each objective."""
    for seed in sorted(panel.points[method]):
        points = panel.points[method][seed]
        best = []
        if len(points.values):
            best = [int(panel.references[seed].normalize(points.values).mean(axis=1).argmax()), *points.values.argmax(axis=0)]
        for i in dict.fromkeys([*best, *range(len(points.values))]):
            if points.front_indices[i] >= 0:
                yield panel, (points.run, points.front_indices[i]), points.values[i].tolist()


def _add_replay(result: Replays, store: Store, game: Game, key: Key, value: list[float], plan: bool) -> None:
    place = store.runs / key[0]
    chosen = replays.find_typical_episode(place, key[1])
    replayed = replays.replay(place, key[1], **chosen.choice)
    captions, frames, stride = _draw_episode(game, replayed.record)
    size = f"{game.id} {frames[0].shape}"
    if size not in result.tiles:
        result.tiles[size] = Tiles(find_grid([frames[i] for i in (0, len(frames) // 2, -1)]))
    tiles = result.tiles[size]
    changes = tiles.changes(frames)
    height, width = frames[0].shape[:2]
    seat = 0 if plan else game.agents.index(chosen.choice["seat"])
    content = {
        "title": show_controls(replayed.title),
        "agents": list(game.agents),
        "objectives": [objective.name for objective in game.objectives],
        "width": width,
        "height": height,
        "columns": tiles.grid.shape(frames[0])[1],
        "left": -tiles.grid.left % tiles.grid.side,
        "top": -tiles.grid.top % tiles.grid.side,
        "seat": seat,
        "episodes": chosen.episodes,
        "point": value,
        "stride": stride,
        "frames": [{**caption, "tiles": numbers} for caption, numbers in zip(captions, changes, strict=True)],
    }
    data = compress(json.dumps(content, separators=(",", ":")))
    result.replays[key] = {"sheet": list(result.tiles).index(size), "data": data}
    result.frames += len(frames)
    result.stride = max(result.stride, stride)


def _draw_episode(game: Game, record: dict[str, Any]) -> tuple[list[dict[str, Any]], list[Picture], int]:
    """Return a caption for each frame of a recorded episode, the frames, and the number of steps from one to the next."""
    episode = Episode(game)
    episode.load(record["start"])
    steps = len(record["actions"])
    stride = max(1, -(-steps // MAX_FRAMES))
    captions, frames = [_frame_caption(episode, 0, "")], [pixels(draw_position(game, episode.state))]
    for step, action in enumerate(record["actions"], start=1):
        parts = np.array(action, np.int64).reshape(episode.pending.shape)
        last = parts if not game.sequential else parts[0, 0] if parts.size == 1 else parts[0]
        visible = step % stride == 0 or step == steps
        text = _describe_actions(episode, last) if visible else ""
        episode.step(last)
        if visible:
            captions.append(_frame_caption(episode, step, text))
            frames.append(pixels(draw_position(game, episode.state, last)))
    return captions, frames, stride


def _frame_caption(episode: Episode, step: int, text: str) -> dict[str, Any]:
    return {"step": step, "text": text, "returns": episode.returns.tolist()}


def _describe_actions(episode: Episode, action: Any) -> str:
    """Return the actions as text, such as "player_0 plays (1,1)-(1,2)"; agents with a single legal action are omitted."""
    game = episode.game
    if game.sequential:
        return f"{game.agents[episode.mover]} plays {game.human.action_name(episode.state, action)}"
    acting = [i for i in range(len(game.agents)) if has_choice(episode.mask(i), game.actions)]
    named = [f"{game.agents[i]} {game.human.action_name(episode.state, action[i])}" for i in acting]
    return ", ".join(named) or "no agent has a choice"


# ---------------------------------------------------------------------------------------------------------------- the page


def add_player(page: str, store: Store, panels: Sequence[Panel], progress: Callable[[str], None] | None = None) -> str:
    """Add the player to a page, with as many replays as the page has room for."""
    replays = collect_replays(store, panels, MAX_PAGE_BYTES - len(page.encode()), progress)
    templates = files("momagames.reports") / "templates"
    box, script = ((templates / name).read_text(encoding="utf-8") for name in ("player.html", "player.js"))
    lists = [_list_points(panel, replays) for panel in panels]
    for number, content in enumerate(lists):
        page = page.replace(POSTER.format(number), _render_poster(content))
    data = json.dumps(show_all_controls(replays.data() | {"lists": lists, "note": replays.note()}))
    stored = data.replace("</", "<\\/").replace("<!--", "<\\!--")
    start, end, rest = page.rpartition("</body>")
    return (
        f'{start}{box}<script id="replays" type="application/json">{stored}</script>\n<script>\n{script}</script>\n{end}{rest}'
    )


def _list_points(panel: Panel, replays: Replays) -> dict[str, Any]:
    """Return the points of a panel that have a replay, by method from the best, as pairs of a key for player.js and a text."""
    groups: dict[str, list[list[str]]] = {}
    for method in rank_methods(panel):
        seeds = {points.run: seed for seed, points in panel.points[method].items()}
        for _, key, value in _sort_points(panel, method):
            if key in replays.replays:
                text = f"seed {seeds[key[0]]}: {', '.join(f'{number:.6g}' for number in value)}"
                groups.setdefault(method, []).append([f"{key[0]}/{key[1]}", text])
    return {"objectives": ", ".join(objective.name for objective in panel.game.objectives), "groups": groups}


def _render_poster(content: dict[str, Any]) -> str:
    """Return the picture of a position from the first replay of a panel, which starts it; player.js draws it."""
    if not content["groups"]:
        return ""
    method, points = next(iter(content["groups"].items()))
    key, text = points[0]
    label = html.escape(f"{method}, {text}")
    return (
        f'<figure class="poster"><button type="button" data-watch="{html.escape(key)}" aria-label="Watch a replay: {label}">'
        f"<canvas></canvas></button><figcaption>Watch: {label}</figcaption></figure>"
    )
