"""A page of all proven fronts of the package: figure, start position, cost, certificate and command of each, from its file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from game_pages import table, update_file
from matplotlib.figure import Figure
from page_figures import fold

from momagames import fronts
from momagames.engine.positions import load_state
from momagames.files.writing import atomic_path
from momagames.fronts import EnvironmentFront, GameFront
from momagames.reports.figures.paper_figures import RC_PARAMS

FIGURES = "proven"  # folder of the figures, beside the page
PANELS = 3  # panels side by side
HEAD = (
    "# Gallery of proven fronts",
    "",
    "All proven fronts of the package. `momagames front verify NAME` replays the witnesses and checks the certificates of",
    "coverage sets; `momagames front verify --prove NAME` also derives the front again, see [Pareto fronts](fronts.md). Times",
    "are those of the machine that made the file.",
    "",
)


def load_proven() -> dict[str, GameFront | EnvironmentFront]:
    """Return the proven fronts of the package by name."""
    found = {name: fronts.load_front(name) for name, path in fronts.packaged_fronts().items() if "best-known" not in path.name}
    return {name: front for name, front in found.items() if front.kind == "proven"}


def describe_certificate(front: GameFront | EnvironmentFront) -> str:
    """Return what can be checked without a search."""
    certificates = len(front.certificates) if isinstance(front, EnvironmentFront) else 0
    parts = {
        "sequences of actions": sum(point.actions is not None for point in front.points),
        "policies" if certificates else "strategies": sum(point.strategy is not None for point in front.points),
        "strategies of the opponent": sum(point.opponent_strategy is not None for point in front.points),
        "certificates of optimality": certificates,
    }
    return ", ".join(f"{name}: {count}" for name, count in parts.items() if count)


def list_facts(front: GameFront | EnvironmentFront) -> Iterator[tuple[str, str]]:
    """Yield the facts of a front."""
    assert front.method is not None
    options = ", ".join(f"{name}={json.dumps(value)}" for name, value in front.method.options.items())
    yield "claim", f"`{front.claim}`. {front.statement}"
    yield "objectives", ", ".join(f"`{name}`" for name in front.objectives)
    yield "points", f"{len(front.points)}"
    yield "method", f"{front.method.name} ({options}): {front.method.states:,} positions, {front.method.seconds:.3g} s"
    yield "certificate", describe_certificate(front)
    yield "sha256", f"`{front.sha256}`"


def format_position(front: GameFront | EnvironmentFront) -> list[str]:
    """Return the lines of the start position."""
    if isinstance(front, EnvironmentFront):
        seed = "" if front.environment.seed is None else f" with seed {front.environment.seed}"
        return [f"The start state of `{front.subject}`{seed}."]
    game = front.make_game()
    text = game.codec.show(load_state(game, front.position)[0])
    seed = "a given position" if front.start.seed is None else f"seed {front.start.seed}"
    return [f"`{front.canonical}`, {seed}:", "", "```text", text.rstrip("\n"), "```"]


def draw_front(front: GameFront | EnvironmentFront) -> Figure:
    """Draw the points of a front: a panel for each pair of objectives."""
    values, names = front.values, front.objectives
    pairs = list(combinations(range(len(names)), 2)) or [(0, 0)]
    rows = -(-len(pairs) // PANELS)
    figure = Figure(figsize=(2.6 * min(len(pairs), PANELS) + 0.4, 2.2 * rows), layout="constrained")
    for number, (x, y) in enumerate(pairs):
        axes = figure.add_subplot(rows, min(len(pairs), PANELS), number + 1)
        order = np.argsort(values[:, x])
        axes.plot(values[order, x], values[order, y], "o", ms=3.5, mfc="none", color="#0072b2")
        axes.set_xlabel(names[x])
        axes.set_ylabel(names[y])
    return figure


def format_front(name: str, front: GameFront | EnvironmentFront, figure: str) -> Iterator[str]:
    """Yield the section of a front."""
    yield from (f"## {name}", "", f"![{len(front.points)} points of {name}]({figure})", "")
    yield from table(("", ""), list(list_facts(front)))
    yield from ("```console", f"$ {front.provenance['command']}", f"$ momagames front verify --prove {name}", "```", "")
    yield from (fold("Start position", ["\n".join(format_position(front))]), "")


def summarize(found: dict[str, GameFront | EnvironmentFront]) -> list[str]:
    """Return the table of all fronts."""
    rows: list[tuple[Any, ...]] = []
    for name, front in found.items():
        assert front.method is not None
        row = (f"[{name}](#{name.replace('.', '')})", f"`{front.claim}`", len(front.objectives), len(front.points))
        rows.append((*row, f"{front.method.states:,}", f"{front.method.seconds:.3g}", describe_certificate(front)))
    return table(("front", "claim", "objectives", "points", "positions", "seconds", "certificate"), rows)


def write_gallery(page: Path) -> list[str]:
    """Write the page, and the figures that are not there yet: their names have the hash of the front. Return the file names."""
    found, folder, written = load_proven(), page.parent / FIGURES, []
    folder.mkdir(parents=True, exist_ok=True)
    lines = [*HEAD, *summarize(found)]
    for name, front in found.items():
        file = folder / f"{name}-{front.sha256[:8]}.svg"
        if not file.exists():
            with mpl.rc_context(RC_PARAMS), atomic_path(file) as part:
                draw_front(front).savefig(part, metadata={"Date": None})
            written.append(file.name)
        lines += format_front(name, front, f"{FIGURES}/{file.name}")
    return [*written, page.name] if update_file(page, "\n".join(lines)) else written
