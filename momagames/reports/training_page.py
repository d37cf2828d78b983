"""The report on a training directory: how its policies stand, curves over the steps, and provenance, as an HTML page."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from momagames.benchmark.training import LOG, load_training, read_log
from momagames.benchmark.training_comparison import NamedFront, PlayedSet, format_sets
from momagames.errors import InvalidFile
from momagames.files.writing import write_page
from momagames.fronts.packaged import find_packaged_front
from momagames.reports.figures.drawing import Axis, Drawing, Line, Plot
from momagames.reports.html.document import render_document
from momagames.reports.html.parts import PageParts, render_facts
from momagames.reports.text.table import Column, Table

PAGE = "report.html"
# columns of the log that are axes, or have figures of their own
NO_CURVE = ("steps", "decisions", "seconds", "cpu_seconds", "evaluation")

FACTS = (  # of the head of a checkpoint
    "method", "options", "other_games", "weights", "seed", "instance_seed", "budget", "seats", "opponents", "return_scale",
    "version",
)  # fmt: skip

Curves = Mapping[str, Sequence[float | None]]


def write_training_page(directory: Path, sets: Sequence[PlayedSet | NamedFront], caption: str, command: str) -> Path:
    """Write `report.html` to a training directory, from its checkpoint and its log. Returns the path.

    sets        its policies, policies without training, and a reference front, if there is one
    caption     how these were measured
    command     the command of the training
    Raises      InvalidFile
    """
    training, checkpoint = load_training(directory)
    head = checkpoint.head
    path = directory / PAGE
    try:
        lines = read_log(directory / LOG)
        parts = PageParts()
        head_row, rows = format_sets(training.game, sets)
        columns = [Column(name, is_text=not i) for i, name in enumerate(head_row)]
        facts = [(name, _format_fact(head[name])) for name in FACTS if head.get(name) not in (None, [])]
        facts.append(("command", command))
        body = f"""<main>
<h1>momagames training: {html.escape(training.game.title)}</h1>
<p class="id">{html.escape(head["canonical"])}</p>
<p><strong>{html.escape(_describe_progress(head))}</strong></p>
<section><h2>Comparison</h2>
{parts.add_table(Table("", "", columns, rows))}
<p class="caption">{html.escape(caption)}</p></section>
<section><h2>Training curves</h2>
{_draw_curves(lines, parts)}</section>
<section><h2>Provenance</h2>
{render_facts(facts)}</section>
</main>"""
        write_page(path, render_document(f"training of {head['canonical']}", body, parts.figures))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidFile(f"{path}: the page cannot be written: {error}") from None
    return path


def find_reference(directory: Path) -> NamedFront | None:
    """Return the reference front of the package for a training on one instance; None if there is none."""
    training, _ = load_training(directory)
    if training.instance_seed is None:
        return None
    front = find_packaged_front(training.describe()["canonical"], training.instance_seed)
    if front is None:
        return None
    return NamedFront(f"reference front ({front.kind})", front.values)


def _format_fact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _describe_progress(head: Mapping[str, Any]) -> str:
    rate = head["decisions"] / max(head["seconds"], 1e-9)
    return (
        f"{head['method']}: {head['steps']:,} of {head['budget']:,} environment steps, {head['decisions']:,} decisions in "
        f"{head['seconds']:.0f} s ({rate:,.0f} a second)"
    )


def _draw_curves(lines: Sequence[Mapping[str, Any]], parts: PageParts) -> str:
    """Return the figures of a log in HTML."""
    steps = [line["steps"] for line in lines]
    evaluations = [line["evaluation"] for line in lines]

    def add(title: str, caption: str, curves: Curves) -> str:
        drawing = _draw_figure(title, caption, steps, curves)
        return f"<h3>{html.escape(title)}</h3>{parts.add_figure(drawing, f'{title} over environment steps')}"

    volumes = [one["hypervolume"] for one in evaluations]
    places = [add("Hypervolume", "Of the mean returns of the policies in evaluations.", {"": volumes})]
    if evaluations and "controllability" in evaluations[0]:
        names = evaluations[0]["controllability"]
        curves = {name: [one["controllability"][name] for one in evaluations] for name in names}
        caption = "Rank correlation of weight and mean return in an objective, over the policies."
        places.append(add("Controllability", caption, curves))
    caption = "Of the learning agents, updates included, evaluations not; since the last evaluation."
    places.append(add("Decisions per second", caption, {"": _compute_rates(lines)}))
    for name in lines[-1] if lines else ():
        if name not in NO_CURVE:
            places.append(add(name, "Of the last iteration.", {"": [line.get(name) for line in lines]}))
    return "".join(places)


def _compute_rates(lines: Sequence[Mapping[str, Any]]) -> list[float]:
    seconds = np.diff([line["seconds"] for line in lines], prepend=0.0)
    decisions = np.diff([line["decisions"] for line in lines], prepend=0)
    rates: list[float] = (decisions / np.maximum(seconds, 1e-9)).round(1).tolist()
    return rates


def _draw_figure(title: str, caption: str, steps: Sequence[float], curves: Curves) -> Drawing:
    """Return lines over the steps, one for each name."""
    marks = [
        Line(
            name=name or title,
            style=i,
            corners=np.column_stack([steps, np.array(values, np.float64)]),
            text="{y:.5g} at {x:,} steps",
            has_points=True,
        )
        for i, (name, values) in enumerate(curves.items())
    ]
    axes = Axis("environment steps", start_at_zero=True), Axis(title)
    return Drawing([Plot(axes, marks)], 300, legend="inside" if len(curves) > 1 else "none", caption=caption)
