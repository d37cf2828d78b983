"""The short result of a suite: the methods of each comparison, from the best to the worst.

A report stores it beside the page as summary.json, with a key of the runs, so that it need not be computed again for the same
runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import momagames
from momagames.benchmark.store.checksums import CHECKSUMS
from momagames.benchmark.store.store import Store
from momagames.errors import InvalidFile
from momagames.files.json_data import canonical_json, read_json
from momagames.files.writing import write_file_atomically
from momagames.reports.data.overview import OverviewRow
from momagames.reports.data.panels import Panel

SUMMARY = "summary.json"


@dataclass(frozen=True)
class SummaryRow:
    """A comparison.

    title      the game and the experiment, for people
    best       the methods with the highest mean, and that mean
    others     the other methods in descending order, and their means
    control    controllability of the methods with policies for weights
    """

    title: str
    best: tuple[tuple[str, float], ...]
    others: tuple[tuple[str, float], ...]
    control: tuple[tuple[str, float], ...]


def summarize(panels: Sequence[Panel], overview: Sequence[OverviewRow]) -> list[SummaryRow]:
    """Return a row for each primary panel."""
    rows = []
    for row in overview:
        panel = panels[row.panel]
        order = sorted(((method, round(score.value, 3)) for method, score in row.scores.items()), key=lambda pair: -pair[1])
        rows.append(
            SummaryRow(
                title=panel.full_heading,
                best=tuple(pair for pair in order if pair[0] in row.best),
                others=tuple(pair for pair in order if pair[0] not in row.best),
                control=tuple((method, round(score.value, 3)) for method, score in row.control.items()),
            )
        )
    return rows


def write_summary(store: Store, rows: Sequence[SummaryRow]) -> None:
    """Store the summary of the finished runs. Raises InvalidFile if it cannot be written."""
    data = {"key": make_key(store), "rows": [asdict(row) for row in rows]}
    write_file_atomically(store.folder / SUMMARY, json.dumps(data, indent=1))


def read_summary(store: Store) -> list[SummaryRow] | None:
    """Return the stored summary if it is that of the finished runs, else None."""
    try:
        data = read_json(store.folder / SUMMARY)
        if data.get("key") != make_key(store):
            return None
        rows = []
        for row in data["rows"]:
            parts = (tuple((str(name), float(value)) for name, value in row[part]) for part in ("best", "others", "control"))
            rows.append(SummaryRow(str(row["title"]), *parts))
    except (InvalidFile, LookupError, TypeError, ValueError):
        return None
    return rows


def make_key(store: Store) -> str:
    """Return a hash of everything that the summary depends on: the suite, the version, and the checksums of the runs."""
    known = hashlib.sha256(f"{momagames.__version__}\n{canonical_json(store.read_suite().model_dump(mode='json'))}".encode())
    for place in store.run_directories():
        path = place / CHECKSUMS
        known.update(f"\n{place.name}\n".encode() + (path.read_bytes() if path.is_file() else b""))
    return known.hexdigest()
