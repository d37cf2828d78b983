"""Rows of the package's own methods: the archived results of a packaged suite as entries, without submissions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from momagames.baselines.checkpoint_policy import CHAMPION, find_champion
from momagames.benchmark.choices import label_methods
from momagames.benchmark.runs import Run
from momagames.benchmark.store.archive_file import ArchivedStore
from momagames.benchmark.suites import Suite
from momagames.files.reading import hash_content, read_bytes
from momagames.leaderboard.entries import Entry, hash_returns
from momagames.leaderboard.metadata import Metadata, SettingChoice
from momagames.leaderboard.settings import find_setting
from momagames.reports.data.panels import Panel, build_panels
from momagames.wording import count


def read_package_rows(archive: str | Path) -> list[Entry]:
    """Return an entry for each method and setting of the archived results of a packaged suite (`bench archive`).

    Their points are those of the report, from as many seeds as were run. Experiments in which methods meet each other are left
    out. Raises InvalidFile; MissingExtra; MislabeledSubmission for settings that the suite does not have
    """
    path = Path(archive)
    store = ArchivedStore(path)
    suite, sha256 = store.read_suite(), hash_content(read_bytes(path))
    panels = build_panels(store, suite, primary_only=True)
    return [entry for panel in panels for entry in _list_entries(store, suite, panel, path, sha256)]


def _list_entries(store: ArchivedStore, suite: Suite, panel: Panel, path: Path, sha256: str) -> Iterator[Entry]:
    """Yield the entries of a setting."""
    experiment = next(one for one in suite.experiments if one.name == panel.experiment)
    if experiment.responses:
        return
    choice = next(one for one in experiment.games if one.make_game().params == panel.game.params and one.id == panel.game.id)
    setting = SettingChoice(suite=suite.name, experiment=experiment.name, game=choice)
    found, names = find_setting(setting, str(path)), label_methods(experiment.methods)
    runs: dict[str, list[Run]] = {}
    for run in experiment.list_runs(store.read_versions()):
        if run.game == choice and store.has_run(run):
            runs.setdefault(names[run.method.key], []).append(run)
    for method, points in panel.points.items():
        own = runs[method][-1]
        data = store.read_metadata(own)
        machine = data["machine"]
        options = ", ".join(f"{name}={value}" for name, value in own.method.own_options.items())
        metadata = Metadata.model_construct(
            method=method, description=options or None, paper=None, code=None, date=data["started"][:10],
            budget=_find_budget(own), hardware=f"{machine['processor']}, {count(machine['cores'], 'core')}", setting=setting,
            plans="" if experiment.kind == "plans" else None, claims={},
        )  # fmt: skip
        counts = {seed: len(one.labels) for seed, one in points.items()}
        returns = hash_returns({seed: one.values for seed, one in points.items()})
        yield Entry(f"{path.name}: {method}", metadata, found, points, counts, {path.name: sha256}, sha256, returns)


def _find_budget(run: Run) -> int:
    """Return the environment steps of a run, or those that a champion was trained for."""
    if run.method.name == CHAMPION:
        return int(find_champion(run.game.make_game())[1].head["budget"])
    return run.budget or 0
