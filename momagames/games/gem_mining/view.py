"""Texts and pictures of MO-GemMining: villages above the mines that they reach, the chances of each mine, and its gems."""

from __future__ import annotations

from typing import Any

import numpy as np

from momagames.contract import Line, State
from momagames.games.gem_mining import rules
from momagames.render import canvas, shapes

MARGIN, HEAD = 14, 30  # pixels
HEIGHT = 5.35  # of a row of villages and mines, in widths of a mine
SMALLEST = 16  # width of a mine in pixels from which there are numbers
EARTH, HOUSE, ROOF = canvas.color("#4a4038"), canvas.color("#8d8478"), canvas.color("#6b6258")
ROAD, DARK_ROAD = canvas.color("#dcd8cf"), canvas.color("#3a3d42")
GEMS = [shapes.COLORS[k] for k in (0, 1, 4, 3, 6, 2, 9, 5)]  # the first ones are bright on earth
DIAMOND = ((0.5, 0.0), (1.0, 0.5), (0.5, 1.0), (0.0, 0.5))
WALL = ((0.12, 0.42), (0.88, 0.42), (0.88, 1.0), (0.12, 1.0))


def list_chances(state: State) -> Any:
    """Return the base probabilities of each mine; where workers are, the chances of gems: float64[M, m]."""
    mines, types = int(state["mines"]), int(state["types"])
    arrived = state["arrived"][:mines].astype(np.float64)[:, None]
    raised = state["chance"][:mines, :types] * float(state["bonus"]) ** np.maximum(arrived - int(state["first"]), 0)
    return np.where(arrived > 0, np.minimum(raised, float(state["most"])), state["chance"][:mines, :types])


def count_gems(state: State) -> list[int]:
    """Return the number of gems of each type."""
    return [int((state["gems"] >> kind & 1).sum()) for kind in range(int(state["types"]))]


def describe(state: State) -> str:
    """Return what has happened, in a line."""
    agents = int(state["agents"])
    if state["mine"][0] == rules.UNKNOWN:
        return f"{int(state['workers'][:agents].sum())} workers in {agents} villages, {int(state['mines'])} mines"
    busy = int((state["arrived"] > 0).sum())
    if not state["sampled"]:
        chances = list_chances(state)[state["arrived"][: int(state["mines"])] > 0].sum(axis=0)
        return f"workers in {busy} mines, gems expected: {', '.join(f'{one:.3f}' for one in chances)}"
    return f"workers in {busy} mines, gems by type: {', '.join(map(str, count_gems(state)))}"


def format_text(state: State, last: Any = None, viewer: str | None = None) -> list[Line]:
    """Return a line for each village and one for each mine.

    viewer   sees nothing but its rewards
    """
    if viewer is not None:
        i = int(viewer.removeprefix("agent_"))
        return [[(f"{viewer} reaches the mines {i} to {i + int(state['reach'][i]) - 1}; it sees nothing but its rewards", "")]]
    lines: list[Line] = [[(describe(state), "")]]
    for i, (workers, count) in enumerate(zip(state["workers"].tolist(), state["reach"].tolist(), strict=True)):
        if i < int(state["agents"]):
            chosen = "" if state["mine"][i] == rules.UNKNOWN else f", all to mine {int(state['mine'][i])}"
            lines.append([(f"village {i}: ", "dim"), (f"{workers} workers, mines {i} to {i + count - 1}{chosen}", "")])
    for j, chances in enumerate(list_chances(state).tolist()):
        arrived, bits = int(state["arrived"][j]), int(state["gems"][j])
        inks = [("bold " if bits >> kind & 1 else "") + canvas.to_hex(ink) for kind, ink in enumerate(GEMS)]
        parts = [(f" {one:.3f}", ink) for one, ink in zip(chances, inks, strict=False)]
        found = [str(kind) for kind in range(len(chances)) if bits >> kind & 1]
        gems = f", gems of type {' and '.join(found)}" if found else ""
        lines.append([(f"mine {j}:", "dim"), *parts, (f"  {arrived} workers{gems}" if arrived else "", "")])
    return lines


def fit_rows(agents: int, extra: int, side: int) -> tuple[int, float]:
    """Return how many villages a row of the picture has, and the width of a mine in pixels; `extra` mines end a row."""
    room, per_row = side - 2 * MARGIN, 1
    while per_row < agents:
        width = room / (per_row + extra)
        if -(-agents // per_row) * HEIGHT * width <= room - HEAD:
            break
        per_row += 1
    return per_row, min(room / (per_row + extra), side / 9)


def draw_picture(state: State, last: Any = None, size: int | None = None, viewer: str | None = None) -> canvas.Sheet:
    """Draw a position as an RGB image, uint8[H, W, 3].

    Each mine has a bar for each type of gem; the highest bar has the largest chance of all. A road leads to each mine that a
    village reaches, and is darker to the one that it has chosen. Gems that were found lie below. The chain of villages is drawn
    in rows, whose last mines are the first ones of the next.

    size     pixels of the longer side; None: `canvas.LONG_SIDE`
    viewer   sees nothing but its own roads
    """
    agents, side = int(state["agents"]), size or canvas.LONG_SIDE
    extra = int(state["mines"]) - agents
    per_row, width = fit_rows(agents, extra, side)
    rows = -(-agents // per_row)
    sheet = canvas.blank(round(HEAD + rows * HEIGHT * width + MARGIN), side)
    canvas.write(sheet, MARGIN, HEAD / 2, describe(state) if viewer is None else f"seen by {viewer}", 13)
    own = None if viewer is None else int(viewer.removeprefix("agent_"))
    chances = list_chances(state)
    chances /= max(chances.max(), 1e-9)
    for row in range(rows):
        first, top = row * per_row, HEAD + row * HEIGHT * width
        villages = range(first, min(first + per_row, agents))
        x = {j: MARGIN + (j - first + 0.5) * width for j in range(first, villages[-1] + extra + 1)}
        draw_roads(sheet, state, [i for i in villages if own in (None, i)], x, top + width, width)
        for i in villages:
            if own in (None, i):
                draw_village(sheet, state, i, x[i], top, width, own is None)
        for j, middle in x.items():
            draw_mine(sheet, state, j, middle, top + 2.3 * width, width, None if own is not None else chances[j])
    return sheet


def draw_roads(sheet: canvas.Sheet, state: State, villages: list[int], x: dict[int, float], top: float, width: float) -> None:
    """Draw the roads of villages to the mines that they reach, the chosen ones last."""
    thick = max(1, round(width / 16))
    for is_chosen in (False, True):
        for i in villages:
            for j in range(i, i + int(state["reach"][i])):
                if (j == state["mine"][i]) == is_chosen:
                    ink = canvas.shade(canvas.INK) if is_chosen else canvas.shade(ROAD, DARK_ROAD)
                    end = (x[j], top + 1.3 * width)
                    canvas.draw_line(sheet, (x[i], top - 0.05 * width), end, thick * (1 + is_chosen), ink)


def draw_village(sheet: canvas.Sheet, state: State, i: int, x: float, top: float, width: float, is_full: bool) -> None:
    """Draw a house with the number of its workers."""
    side = max(4, round(0.78 * width))
    roof = ((0.0, 0.45), (0.5, 0.0), (1.0, 0.45))
    tile = canvas.paint(side, canvas.PAPER, shapes.polygon(WALL, HOUSE), shapes.polygon(roof, ROOF))
    canvas.place(sheet, round(top + 0.95 * width) - side, round(x - side / 2), tile)
    if is_full and width >= SMALLEST:
        canvas.write(sheet, x, top + 0.74 * width, str(int(state["workers"][i])), round(0.4 * width), canvas.WHITE, "center")


def draw_mine(sheet: canvas.Sheet, state: State, j: int, x: float, top: float, width: float, chances: Any) -> None:
    """Draw a mine with bars of these heights in 0..1, the number of workers, and below it gems; None: the mine alone."""
    left, right, low = round(x - 0.45 * width), round(x + 0.45 * width), round(top + 2.05 * width)
    canvas.fill(sheet, round(top), left, low, right, EARTH)
    if width >= SMALLEST:
        canvas.write(sheet, x, low + 0.2 * width, str(j), max(8, round(0.3 * width)), canvas.FAINT, "center")
    if chances is None:
        return
    types, arrived = int(state["types"]), int(state["arrived"][j])
    step = 0.74 * width / types
    for kind, chance in enumerate(chances.tolist()):
        begin = x - 0.37 * width + kind * step
        canvas.fill(sheet, round(low - 1.5 * width * chance), round(begin), low, round(begin + 0.85 * step), GEMS[kind])
    if arrived and width >= SMALLEST:
        canvas.write(sheet, x, top + 0.22 * width, str(arrived), round(0.34 * width), canvas.WHITE, "center")
    found = [kind for kind in range(types) if int(state["gems"][j]) >> kind & 1]
    side = max(3, round(min(0.44, 0.9 / max(len(found), 1)) * width))
    for place, kind in enumerate(found):
        gem = canvas.paint(side, canvas.PAPER, shapes.polygon(DIAMOND, GEMS[kind]))
        canvas.place(sheet, round(low + 0.4 * width), round(x + (place - len(found) / 2) * side), gem)
