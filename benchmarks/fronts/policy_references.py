"""Write the best-known fronts of policies that a suite measures against, from finished runs.

python benchmarks/fronts/policy_references.py RESULTS NAME     # directory or archive -> configs/suites/references/NAME.json
python benchmarks/fronts/policy_references.py RESULTS NAME --exact
python benchmarks/fronts/policy_references.py RESULTS NAME [--experiment EXPERIMENT ...] [--method METHOD ...]

The front of a setting is that of all policies that were run there, with any seed, with their returns in the report episodes;
with --experiment and --method those of these alone. Settings without such policies are left out.
With --exact it is the proven front of the start position of seed 0, of teams whose game has a solver; other settings are left
out. A set with a name that exists is not written again: better fronts get a new name.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from momagames.analysis.arrays import Array
from momagames.baselines.archive import is_nondominated
from momagames.benchmark.reference_sets import Setting, find_suite_folder, format_reference_set
from momagames.benchmark.store.archive_file import ArchivedStore
from momagames.benchmark.store.store import Store, format_json
from momagames.benchmark.suites import PoliciesExperiment, Suite
from momagames.files.writing import write_file_atomically
from momagames.fronts import SearchLimits, returns_front
from momagames.reports.data.panels import Panel, build_panels


def unite_panels(suite: Suite, panels: list[Panel], methods: Collection[str]) -> Mapping[Setting, tuple[Array, list[str]]]:
    """Return the front of the policies of these methods, or of all, in each setting, and the methods on it."""
    experiments = {one.name: one for one in suite.experiments if isinstance(one, PoliciesExperiment)}
    fronts = {}
    for panel in panels:
        if panel.experiment in experiments:
            found = [
                (method, points.values)
                for method, runs in panel.points.items()
                if not methods or method in methods
                for points in runs.values()
            ]
            if not found:
                continue
            values = np.concatenate([rows for _, rows in found])
            owners = [method for method, rows in found for _ in rows]
            mask = is_nondominated(values)  # of equal points the first
            order = np.lexsort(values[mask].T[::-1])
            owning = dict.fromkeys(owner for owner, selected in zip(owners, mask, strict=True) if selected)
            fronts[Setting.of(experiments[panel.experiment], panel.game)] = values[mask][order], list(owning)
    return fronts


def prove_fronts(suite: Suite) -> Mapping[Setting, tuple[Array, list[str]]]:
    """Return the proven front of each setting in which a game has a solver for its team."""
    limits = SearchLimits(10**8, 8 << 30)
    return {
        Setting.of(one, game): (returns_front(choice, 0, limits).values, ["exact"])
        for one in suite.experiments
        for choice in one.games
        if isinstance(one, PoliciesExperiment) and "returns" in (game := choice.make_game()).solvers.fronts
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("name")
    parser.add_argument("--exact", action="store_true", help="proven fronts of teams, not the best-known ones")
    parser.add_argument("--experiment", action="append", default=[], help="experiments whose settings it has [all]")
    parser.add_argument(
        "--method", action="append", default=[], help="methods, as tables name them, whose policies it has [all]"
    )
    given = parser.parse_args()
    if given.exact and given.method:
        parser.error("--method: with --exact no policies are in the set")
    out = find_suite_folder() / "references" / f"{given.name}.json"
    if out.exists():
        parser.error(f"{out} exists: a set is never changed; choose a new name")
    store = Store(given.results) if given.results.is_dir() else ArchivedStore(given.results)
    suite = store.read_suite()
    if given.experiment:
        if unknown := set(given.experiment) - {one.name for one in suite.experiments}:
            parser.error(f"no experiment {', '.join(sorted(unknown))} in {given.results}")
        chosen = [one for one in suite.experiments if one.name in given.experiment]
        suite = suite.model_copy(update={"experiments": tuple(chosen)})
    source = f"suite {suite.name}, momagames {store.read_version()}"
    if given.exact:
        fronts, source = prove_fronts(suite), f"{source}, proven fronts"
    else:
        panels = build_panels(store, suite, primary_only=True)
        if unknown := set(given.method).difference(*(panel.points for panel in panels)):
            parser.error(f"no method {', '.join(sorted(unknown))} in {given.results}")
        fronts = unite_panels(suite, panels, given.method)
        seeds = sorted({run.seed for run in suite.list_runs(store.read_versions()) if store.has_run(run)})
        source = f"{source}, seeds {', '.join(map(str, seeds))}"
        source += f", methods {', '.join(given.method)}" if given.method else ""
    out.parent.mkdir(exist_ok=True)
    write_file_atomically(out, format_json(format_reference_set(fronts, source)) + "\n")
    print(f"{out}: {len(fronts)} fronts")


if __name__ == "__main__":
    main()
