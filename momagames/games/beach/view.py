"""Texts and pictures of MO-Beach: the agents of each section by type, beside its capacity and mixture."""

from __future__ import annotations

from typing import Any

import numpy as np

from momagames.contract import Line, State
from momagames.games.beach import rules
from momagames.render import canvas

HEAD, FOOT, MARGIN, LONGEST = 26, 42, 16, 56  # pixels; names of sections are below, numbers of agents above the columns
INKS = tuple(map(canvas.color, ("#1f5fa8", "#e07b00", "#2a9d5c", "#b3307a", "#6b57b8", "#8a6d3b", "#4aa3c7", "#7f8c1f")))
SAND, OTHERS = (240, 233, 218), (176, 172, 162)


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
        agents = [(f" {number:{digits}d}", f"bold {to_hex(INKS[kind])}") for kind, number in enumerate(row)]
        lines.append([(f"{section:2d}:", "dim"), *agents, (f"  capacity {capacity:.3f}, mixture {mixture:.3f}", "")])
    return lines


def to_hex(ink: Any) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in ink)


def draw_picture(state: State, last: Any = None, size: int | None = None, viewer: str | None = None) -> canvas.Sheet:
    """Draw a position as an RGB image, uint8[H, W, 3]: a column for each section, whose height is its number of agents.

    size     pixels of the longer side; None: `canvas.LONG_SIDE`
    viewer   draw the section of this agent alone, in the color of its type and gray
    """
    counts, side = count_types(state), size or canvas.LONG_SIDE
    width, height = side, round(side * 0.6)
    sheet = canvas.blank(height, width)
    bottom, room = height - FOOT, height - FOOT - HEAD - MARGIN
    step = (width - 2 * MARGIN) / len(counts)
    scale = room / max(int(counts.sum(axis=1).max(initial=1)), 2 * int(state["capacity"]))
    canvas.write(sheet, MARGIN, HEAD / 2, describe(state, viewer), 13)
    own = None if viewer is None else int(state["type"][seat(viewer)])
    for section, row, (_, mixture) in list_sections(state, viewer):
        left, right = (round(MARGIN + step * (section + part)) for part in (0.08, 0.92))
        canvas.fill(sheet, bottom - room, left, bottom, right, SAND)
        top = float(bottom)
        for kind, number in enumerate(row):
            ink = INKS[kind] if own in (None, kind) else OTHERS
            canvas.fill(sheet, round(top - number * scale), left, round(top), right, ink)
            top -= number * scale
        middle = (left + right) / 2
        canvas.write(sheet, middle, max(top - 9, HEAD + 8), str(sum(row)), 12, canvas.INK, "center")
        canvas.write(sheet, middle, bottom + 12, str(section), 12, canvas.INK, "center")
        if viewer is None:
            canvas.write(sheet, middle, bottom + 29, f"{mixture:.2f}", 11, canvas.FAINT, "center")
    line = round(bottom - int(state["capacity"]) * scale)
    canvas.draw_line(sheet, (MARGIN, line), (width - MARGIN, line), 2, canvas.INK)
    return sheet
