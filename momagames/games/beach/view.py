"""Texts and pictures of MO-Beach: the agents of each section by type, beside its capacity and mixture."""

from __future__ import annotations

from typing import Any

import numpy as np

from momagames.contract import Line, State
from momagames.games.beach import rules
from momagames.render import canvas, shapes

HEAD, FOOT, MARGIN, LABELS, SEA, FOAM = 30, 56, 16, 72, 34, 5  # pixels; names and bars are below the sand
LOWEST = HEAD + SEA + FOOT + 40
LARGEST, SMALLEST = 26, 4  # pixels of a disc
OTHERS = -1  # in place of a type that a viewer does not see
INKS = tuple(map(canvas.color, ("#1f5fa8", "#e07b00", "#2a9d5c", "#b3307a", "#6b57b8", "#8a6d3b", "#4aa3c7", "#7f8c1f")))
GRAY = canvas.color("#a8a498")
SAND, DUNE, WATER, SURF = (243, 232, 205), (225, 210, 175), (120, 184, 216), (214, 236, 244)
BARS = (47, 111, 143), (150, 110, 40)  # capacity and mixture


def count_types(state: State) -> Any:
    """Return the agents of each section by type, int64[S, k]."""
    return state["share"][: int(state["sections"]), : int(state["types"])].astype(np.int64)


def score_sections(state: State) -> list[tuple[float, float]]:
    """Return capacity and mixture of each section."""
    rate = getattr(rules.rate, "py_func", rules.rate)  # kernels are called by compiled code alone
    return [rate(sum(row), min(row), int(state["capacity"])) for row in count_types(state).tolist()]


def list_sections(state: State, viewer: str | None) -> list[tuple[int, list[int], tuple[float, float]]]:
    """Return number, agents by type, and capacity and mixture of each section; with a viewer, of that where it is."""
    found = list(zip(range(int(state["sections"])), count_types(state).tolist(), score_sections(state), strict=True))
    return found if viewer is None else [found[int(state["section"][seat(viewer)])]]


def seat(agent: str) -> int:
    return int(agent.removeprefix("agent_"))


def describe(state: State, viewer: str | None) -> str:
    """Return where the beach, or a viewer, stands, in a line."""
    done = f"step {int(state['ply'])} of {int(state['steps'])}"
    if viewer is not None:
        return f"{done}: {viewer} of type {int(state['type'][seat(viewer)])} sees section {int(state['section'][seat(viewer)])}"
    capacity, mixture = np.sum(score_sections(state), axis=0)
    return f"{done}: capacity {capacity:.2f}, mixture {mixture / int(state['sections']):.3f}"


def format_text(state: State, last: Any = None, viewer: str | None = None) -> list[Line]:
    """Return a line for each section: its number, agents of each type, capacity and mixture.

    viewer   sees the number of agents in its section alone, and the share of its own type
    """
    lines: list[Line] = [[(describe(state, viewer), "")]]
    digits = len(str(count_types(state).max(initial=1)))
    for section, row, (capacity, mixture) in list_sections(state, viewer):
        if viewer is not None:
            share = row[int(state["type"][seat(viewer)])] / sum(row)
            seen = f"{sum(row)} agents, {share:.3f} of them of its type; capacity is largest with {int(state['capacity'])}"
            return [*lines, [(seen, "")]]
        agents = [(f" {number:{digits}d}", f"bold {canvas.to_hex(INKS[kind])}") for kind, number in enumerate(row)]
        lines.append([(f"{section:2d}:", "dim"), *agents, (f"  capacity {capacity:.3f}, mixture {mixture:.3f}", "")])
    return lines


def draw_picture(state: State, last: Any = None, size: int | None = None, viewer: str | None = None) -> canvas.Sheet:
    """Draw a position as an RGB image, uint8[H, W, 3]: agents in the colors of their types on the sand of their sections.

    Below each section are its number of agents, and its capacity and mixture as shares of the best ones. Where the agents do
    not fit, a disc stands for several.

    size     pixels of the longer side; None: `canvas.LONG_SIDE`
    viewer   draw the section of this agent alone, in the color of its type and gray
    """
    counts, width = count_types(state), size or canvas.LONG_SIDE
    sheet = canvas.blank(max(round(width * 0.75), LOWEST), width)
    top, bottom = HEAD + SEA, sheet.shape[0] - FOOT
    canvas.write(sheet, MARGIN, HEAD / 2, describe(state, viewer), 13)
    ends = np.linspace(MARGIN if viewer else LABELS, width - MARGIN, len(counts) + 1).round().astype(int).tolist()
    canvas.fill(sheet, HEAD, ends[0], top, ends[-1], WATER)
    canvas.fill(sheet, top - FOAM, ends[0], top, ends[-1], SURF)
    canvas.fill(sheet, top, ends[0], bottom, ends[-1], SAND)
    for end in ends[1:-1]:
        canvas.fill(sheet, top, end, bottom, end + 1, DUNE)
    narrowest = int(np.diff(ends).min())
    side, agents = fit_discs(int(counts.sum(axis=1).max()), narrowest - 6, bottom - top - 6)
    own = None if viewer is None else int(state["type"][seat(viewer)])
    best = int(state["capacity"]) / np.e, 1 / counts.shape[1]
    for section, row, points in list_sections(state, viewer):
        left, right = ends[section], ends[section + 1]
        seen = row if own is None else [row[own], sum(row) - row[own]]
        place_discs(sheet, [-(-number // agents) for number in seen], own, (bottom, left, right), side)
        middle = (left + right) / 2
        canvas.write(sheet, middle, bottom + 12, f"{sum(row)}", 13, canvas.INK, "center")
        for line, (value, most, ink) in enumerate(zip(points, best, BARS, strict=True)):
            if viewer is None:
                y = bottom + 25 + 14 * line
                length = max(narrowest - 10, 0)
                canvas.fill(sheet, y, left + 5, y + 8, left + 5 + length, SAND)
                canvas.fill(sheet, y, left + 5, y + 8, left + 5 + round(length * value / most), ink)
    if viewer is None:
        for line, name in enumerate(("agents", "capacity", "mixture")):
            canvas.write(sheet, LABELS - 8, bottom + 13 + 15 * line, name, 11, canvas.FAINT, "right")
    return sheet


def fit_discs(most: int, width: int, height: int) -> tuple[int, int]:
    """Return the largest side of a disc in pixels with which so many agents fit into a section, and the agents of a disc."""
    for side in range(LARGEST, SMALLEST - 1, -1):
        places = max(width // side, 1) * (height // side)
        if places >= most:
            return side, 1
    return SMALLEST, -(-most // places)


def place_discs(sheet: canvas.Sheet, row: list[int], own: int | None, sand: tuple[int, int, int], side: int) -> None:
    """Draw the agents of a section from its bottom up, type by type; of a viewer, those of its type `own` first."""
    bottom, left, right = sand
    columns = max((right - left - 6) // side, 1)
    start = left + (right - left - columns * side) // 2
    kinds = range(len(row)) if own is None else (own, OTHERS)
    for place, kind in enumerate(kind for kind, number in zip(kinds, row, strict=True) for _ in range(number)):
        top = bottom - 3 - side * (place // columns + 1)
        canvas.place(sheet, top, start + side * (place % columns), draw_agent(side, kind))


@canvas.cache_drawing(64)
def draw_agent(side: int, kind: int) -> canvas.Sheet:
    """Draw an agent of a type as a disc on sand; OTHERS: one whose type is hidden."""
    return canvas.paint(side, SAND, shapes.disc(0.42, GRAY if kind == OTHERS else INKS[kind]))
