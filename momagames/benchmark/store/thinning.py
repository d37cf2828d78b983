"""Thinning of archived results: what no table, figure or comparison of a report needs is left out (see `store.archive_file`).

Reports of thinned results are those of whole ones, but for replays and the names of plans. The metadata.json of a thinned run
lists the parts that it is without as `thinned`; what needs such a part refuses the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.analysis.anytime import anytime_budgets
from momagames.baselines import METHODS
from momagames.baselines.archive import is_nondominated
from momagames.benchmark.runs import PlansRun, Run
from momagames.benchmark.store.packed_rows import RETURN, import_polars
from momagames.benchmark.store.store import METADATA, Store, check_schema
from momagames.errors import InvalidFile, invalid_value, one_of
from momagames.files.json_data import read_json

THINNED = "thinned"
PARTS = {
    "actions": "the actions of plans, but of the last one of each run",
    "history": "when plans were found, but by which budget of an anytime curve",
    "lengths": "the lengths of episodes",
    "policies": "the parameters of trained policies, but of one run of each method of the package and game",
}
# learners of other libraries, whose networks read whole observations: megabytes that no page replays
LEFT_OUT = {name for name, place in METHODS.items() if place.startswith("momagames.baselines.morl.")}
Texts = dict[str, dict[str, Any]]  # run -> name of a file -> content


def read_thinned(place: Path) -> list[str]:
    """Return those of `PARTS` that the run in this directory is without. Raises InvalidFile."""
    path = place / METADATA
    parts = check_schema(path, read_json(path)).get(THINNED, [])
    if not isinstance(parts, list) or any(part not in list(PARTS) for part in parts):
        raise InvalidFile(f"{path}: {invalid_value(THINNED, parts, f'a list of {one_of(PARTS)}')}")
    return parts


def require_part(place: Path, part: str) -> None:
    """Raise InvalidFile if the run in this directory is without one of `PARTS`."""
    if part in read_thinned(place):
        raise InvalidFile(f"{place}: restored from an archive that leaves out {PARTS[part]}")


def count_thinned(store: Store) -> dict[str, int]:
    """Return the number of finished runs without each part that some are without."""
    return dict(sorted(Counter(part for place in store.run_directories() for part in read_thinned(place)).items()))


def thin_texts(runs: Sequence[Run], texts: Texts, rows: Any, policies: Mapping[str, bytes]) -> Texts:
    """Return the files of each run without history, and with the parts that it is without in its metadata.

    rows        the table of all rows
    policies    content of the files of trained policies that stay, by run
    """
    plans = rows.filter(rows["kind"] == "plans").partition_by("run", as_dict=True)
    smaller = {}
    for run in runs:
        name, files = run.folder, texts[run.folder]
        metadata = {**files[METADATA], "facts": dict(files[METADATA]["facts"])}
        lost = {"lengths"}
        if isinstance(run, PlansRun):
            lost |= {"actions", "history"} if plans[name,].height > 1 else {"history"}
            entries = metadata["facts"].pop("dominated", None)
            if entries and _has_curve(run, metadata):
                metadata["facts"]["dominated"] = _thin_history(run, plans[name,], entries)
        elif "policies" in files["front.json"] and name not in policies:
            lost.add("policies")
        smaller[name] = {**files, METADATA: {**metadata, THINNED: sorted({*metadata.get(THINNED, ()), *lost})}}
    return smaller


def thin_rows(runs: Sequence[Run], texts: Texts, rows: Any) -> Any:
    """Return the table of all rows without lengths, most actions, and steps within the budgets of anytime curves."""
    library = import_polars("archives need polars")
    is_last = library.col("episode") == library.col("episode").max().over("run")
    curves = {
        run.folder: run.budget for run in runs if isinstance(run, PlansRun) and _has_curve(run, texts[run.folder][METADATA])
    }
    steps = rows["step"].fill_null(0).to_numpy().copy()
    budgets = rows["run"].replace_strict(curves, default=0, return_dtype=library.Int64).to_numpy()
    for budget in np.unique(budgets[budgets > 0]):
        steps[budgets == budget] = _round_steps(steps[budgets == budget], int(budget))
    return rows.with_columns(
        library.when(is_last).then("actions").alias("actions"),
        library.lit(None, library.Int64).alias("length"),
        library.when(library.Series(budgets > 0)).then(library.Series("step", steps)).alias("step"),
    )


def choose_policies(runs: Sequence[Run], policies: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the smallest file of trained policies of each method and game; none of learners of other libraries."""
    chosen: dict[tuple[str, str], str] = {}
    for run in sorted(runs, key=lambda run: len(policies.get(run.folder, b""))):
        if run.folder in policies and run.method.name not in LEFT_OUT:
            chosen.setdefault((run.game.id, run.method.name), run.folder)
    return {name: policies[name] for name in sorted(chosen.values())}


def _has_curve(run: PlansRun, metadata: Mapping[str, Any]) -> bool:
    """Return whether reports draw an anytime curve of a run: of a search that a number of environment steps ends."""
    return run.cpu_seconds is None and not metadata["facts"].get("complete")


def _round_steps(steps: NDArray[np.int64], budget: int) -> NDArray[np.int64]:
    """Return steps, rounded up to the next budget of a curve; later ones stay."""
    budgets = anytime_budgets(budget)
    return np.where(steps <= budget, budgets[np.searchsorted(budgets, np.minimum(steps, budget))], steps)


def _thin_history(run: PlansRun, plans: Any, entries: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the points dominated later, [step, *return] each, that count at a budget of the curve; steps are rounded."""
    table = np.array(entries, np.float64)
    returns = plans.select(f"{RETURN}{objective.name}" for objective in run.game.make_game().objectives).to_numpy()
    values = np.concatenate([returns, table[:, 1:]])
    steps = _round_steps(np.concatenate([plans["step"].to_numpy(), table[:, 0].astype(np.int64)]), run.budget)
    stays = np.zeros(len(values), np.bool_)
    for budget in anytime_budgets(run.budget):
        stays[np.flatnonzero(steps <= budget)[is_nondominated(values[steps <= budget])]] = True
    first = len(returns)
    return [[step, *entry[1:]] for step, entry, one in zip(steps[first:].tolist(), entries, stays[first:], strict=True) if one]
