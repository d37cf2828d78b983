"""Games for the player of the page: the policies behind points of fronts play, in pictures by the game's own drawing.

A picture is stored as the tiles that changed (`render.tiles`); player.js puts them together. Not every point of a large suite
can have a game: the first ones of each method in each primary comparison have, as long as pictures and bytes last.
"""

from __future__ import annotations

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
from momagames.render.canvas import Picture
from momagames.render.position import draw_position
from momagames.render.tiles import COLUMNS, Tiles, find_grid
from momagames.reports.data.panels import Panel
from momagames.reports.html.compressed_text import packed

LARGEST = 9_500_000  # bytes of a page with its games
LONGEST = 200  # pictures of a game; of longer ones every second step is shown, or every third...
FIRST = 3000  # pictures on a page, for the first point of every method in every comparison
FURTHER = 600  # no more points than those once there are so many pictures: each takes some milliseconds

Key = tuple[str, int]  # a run's folder, and the number of a point on its front


@dataclass
class Films:
    """The games that are on a page.

    films     point -> its game, written for player.js
    tiles     pictures of one form -> their tiles, in the order of their numbers in films
    wanted    points that might have a game
    failed    points whose stored game does not come out as it was
    every     the largest number of steps from one picture of a game to the next
    """

    folder: str
    films: dict[Key, dict[str, Any]] = field(default_factory=dict)
    tiles: dict[str, Tiles] = field(default_factory=dict)
    settings: int = 0
    failed: int = 0
    every: int = 1
    pictures: int = 0

    @property
    def size(self) -> int:
        """Bytes on the page, about, and rather too many."""
        return sum(len(film["data"]) for film in self.films.values()) + sum(4 * t.size // 3 for t in self.tiles.values())

    def data(self) -> dict[str, Any]:
        """All of it for player.js."""
        sheets = [{"side": t.grid.side, "columns": COLUMNS, "png": t.sheet()} for t in self.tiles.values()]
        films = {f"{run}/{point}": film for (run, point), film in self.films.items()}
        return {"folder": self.folder, "sheets": sheets, "films": films}

    def note(self) -> str:
        """What there is and what is not."""
        command = f"momagames replay {self.folder}/runs/RUN --point N"
        if not self.films:
            return f"No games are on this page; {command} plays those of a point."
        thin = f" Of long games up to every {_nth(self.every)} step is shown." if self.every > 1 else ""
        broken = f" {self.failed} did not come out as stored, and are left out." if self.failed else ""
        return (
            "Click on a point of a front, or choose it from the list below the figure, to watch the policy behind it play. "
            f"{len(self.films)} of {self.wanted} points of the primary comparisons have their game on this page; for the "
            f"others there is {command}.{thin}{broken}"
        )


def films(store: Store, panels: Sequence[Panel], room: int, tell: Callable[[str], None] | None = None) -> Films:
    """Play games of points of the primary comparisons again, as many as `room` bytes hold.

    tell   is told how far we are
    """
    found = Films(str(store.folder))
    columns = [list(_of_method(panel, method)) for panel in panels if panel.primary for method in panel.points]
    found.settings = len({key for column in columns for _, key, _ in column})
    for turn, row in enumerate(zip_longest(*columns)):
        for panel, key, value in filter(None, row):
            if key in found.films:
                continue
            if found.pictures >= (FURTHER if turn else FIRST):
                return found
            if tell:
                tell(f"games for the page: {len(found.films)} (bench report --no-replays leaves them out)")
            known = {form: len(tiles.numbers) for form, tiles in found.tiles.items()}
            try:
                _add(found, store, panel.game, key, value, panel.kind == "plans")
            except MomagamesError:
                found.failed += 1
            if found.size > room:
                found.films.pop(key, None)
                for form, tiles in found.tiles.items():
                    tiles.forget(known.get(form, 0))
                return found
    return found


def _of_method(panel: Panel, method: str) -> Iterator[tuple[Panel, Key, list[float]]]:
    """The points of a method: those of the first seed first, and of a seed the best in each objective."""
    for seed in sorted(panel.points[method]):
        points = panel.points[method][seed]
        best = points.values.argmax(axis=0).tolist() if len(points.values) else []
        for i in dict.fromkeys([*best, *range(len(points.values))]):
            if points.front_indices[i] >= 0:
                yield panel, (points.run, points.front_indices[i]), points.values[i].tolist()


def _add(found: Films, store: Store, game: Game, key: Key, value: list[float], plan: bool) -> None:
    place = store.runs / key[0]
    chosen = replays.typical(place, key[1])
    replayed = replays.replay(place, key[1], **chosen.choice)
    shown, pictures, every = _film(game, replayed.record)
    form = f"{game.id} {pictures[0].shape}"
    if form not in found.tiles:
        found.tiles[form] = Tiles(find_grid([pictures[i] for i in (0, len(pictures) // 2, -1)]))
    tiles = found.tiles[form]
    changes = tiles.changes(pictures)
    height, width = pictures[0].shape[:2]
    seat = 0 if plan else game.agents.index(chosen.choice["seat"])
    film = {
        "title": replayed.title,
        "agents": list(game.agents),
        "objectives": [goal.name for goal in game.objectives],
        "width": width,
        "height": height,
        "columns": tiles.grid.shape(pictures[0])[1],
        "left": -tiles.grid.left % tiles.grid.side,
        "top": -tiles.grid.top % tiles.grid.side,
        "seat": seat,
        "games": chosen.games,
        "point": value,
        "every": every,
        "pictures": [{**one, "tiles": numbers} for one, numbers in zip(shown, changes, strict=True)],
    }
    data = packed(json.dumps(film, separators=(",", ":")))
    found.films[key] = {"sheet": list(found.tiles).index(form), "data": data}
    found.pictures += len(pictures)
    found.every = max(found.every, every)


def _film(game: Game, record: dict[str, Any]) -> tuple[list[dict[str, Any]], list[Picture], int]:
    """A recorded game: what is said of each picture, the pictures, and how many steps lie from one to the next."""
    play = Episode(game)
    play.load(record["start"])
    steps = len(record["actions"])
    every = max(1, -(-steps // LONGEST))
    said, pictures = [_said(play, 0, "")], [draw_position(game, play.state)]
    for step, action in enumerate(record["actions"], start=1):
        parts = np.array(action, np.int64).reshape(play.pending.shape)
        last = parts if not game.sequential else parts[0, 0] if parts.size == 1 else parts[0]
        shown = step % every == 0 or step == steps
        words = _words(play, last) if shown else ""
        play.step(last)
        if shown:
            said.append(_said(play, step, words))
            pictures.append(draw_position(game, play.state, last))
    return said, pictures, every


def _said(play: Episode, step: int, words: str) -> dict[str, Any]:
    return {"step": step, "words": words, "returns": play.returns.tolist()}


def _words(play: Episode, action: Any) -> str:
    """Who does what: "player_0 plays (1,1)-(1,2)"; agents without a choice are not named."""
    game = play.game
    if game.sequential:
        return f"{game.agents[play.mover]} plays {game.human.action_name(play.state, action)}"
    acting = [i for i in range(len(game.agents)) if has_choice(play.mask(i), game.actions)]
    named = [f"{game.agents[i]} {game.human.action_name(play.state, action[i])}" for i in acting]
    return ", ".join(named) or "nobody has a choice"


# ---------------------------------------------------------------------------------------------------------------- the page


def with_player(page: str, store: Store, panels: Sequence[Panel], tell: Callable[[str], None] | None = None) -> str:
    """A page with the player, and as many games as there is room for."""
    found = films(store, panels, LARGEST - len(page.encode()), tell)
    here = files("momagames.reports")
    box, script = ((here / name).read_text(encoding="utf-8") for name in ("player.html", "player.js"))
    data = json.dumps(found.data() | {"lists": [_list(panel, found) for panel in panels], "note": found.note()})
    stored = data.replace("</", "<\\/").replace("<!--", "<\\!--")
    start, end, rest = page.rpartition("</body>")
    return f'{start}{box}<script id="films" type="application/json">{stored}</script>\n<script>\n{script}</script>\n{end}{rest}'


def _list(panel: Panel, found: Films) -> dict[str, Any]:
    """The points of a panel that have a game, by method, as pairs of a key for player.js and a text."""
    groups: dict[str, list[list[str]]] = {}
    for method, by_seed in panel.points.items():
        for seed, points in by_seed.items():
            for number, value in zip(points.front_indices, points.values.tolist(), strict=True):
                if (points.run, number) in found.films:
                    told = f"seed {seed}: {', '.join(f'{one:.6g}' for one in value)}"
                    groups.setdefault(method, []).append([f"{points.run}/{number}", told])
    return {"goals": ", ".join(goal.name for goal in panel.game.objectives), "groups": groups}


def _nth(number: int) -> str:
    return {2: "second", 3: "third"}.get(number, f"{number}th")
