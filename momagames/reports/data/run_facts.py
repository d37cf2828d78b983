"""Provenance of the finished runs of a suite, and the commands that reproduce them."""

from __future__ import annotations

from typing import Any

from momagames.benchmark.store.costs import format_duration
from momagames.benchmark.store.store import RESULTS, Store
from momagames.benchmark.suites import Suite
from momagames.files.reading import refuse_content
from momagames.wording import count


def collect_run_facts(store: Store, suite: Suite) -> list[tuple[str, str]]:
    """Return pairs of name and value: versions, machines, times, seeds and budgets."""
    with refuse_content(store.folder, RESULTS):
        finished = _read_metadata(store, suite)
        changed = store.describe_changed_methods(suite)
        facts = [("not reproducible with this version", changed)] if changed else []
        return [*facts, *_collect_versions(finished), *_collect_times(finished), *_describe_settings(suite)]


def reproduction_commands(store: Store, suite: Suite) -> str:
    """Return the commands that reproduce a report, in a checkout of the same commit if all runs have one commit."""
    with refuse_content(store.folder, RESULTS):
        commits = {data["commit"] for data in _read_metadata(store, suite)}
    commit = commits.pop() if len(commits) == 1 else None
    install = [f"pip install momagames=={store.read_version()}"]
    if commit:
        changes = "  # with uncommitted changes" if commit.endswith("+changes") else ""
        install = [f"git checkout {commit.removesuffix('+changes')}{changes}", "pip install ."]
    return "\n".join(
        [*install, f"momagames bench run {suite.name}.yaml --out {suite.name}", f"momagames bench report {suite.name}"]
    )


def _read_metadata(store: Store, suite: Suite) -> list[dict[str, Any]]:
    """Return the metadata of every finished run of the suite."""
    return [store.read_metadata(run) for run in suite.list_runs(store.read_versions()) if store.has_run(run)]


def _collect_versions(finished: list[dict[str, Any]]) -> list[tuple[str, str]]:
    facts: dict[str, set[str]] = {}
    for data in finished:
        machine = data["machine"]
        for name, value in (
            ("momagames", data["momagames"]),
            ("commit", data["commit"] or "unknown"),
            ("Python", data["python"]),
            ("packages", ", ".join(f"{name} {version}" for name, version in data["packages"].items())),
            (
                "machine",
                f"{machine['processor']}, {count(machine['cores'], 'core')}, {machine['system']} {machine['architecture']}",
            ),
        ):
            facts.setdefault(name, set()).add(value)
    return [(name, "; ".join(sorted(values))) for name, values in facts.items()]


def _collect_times(finished: list[dict[str, Any]]) -> list[tuple[str, str]]:
    if not finished:
        return []
    wall, cpu = (sum(data[key] for data in finished) for key in ("wall_s", "cpu_s"))
    return [
        ("runs started", f"{min(d['started'] for d in finished)} to {max(d['started'] for d in finished)}"),
        ("total run time", f"{format_duration(wall)}, CPU {format_duration(cpu)}"),
        ("environment steps", f"{sum(data['facts'].get('steps', 0) for data in finished):,}"),
    ]


def _describe_settings(suite: Suite) -> list[tuple[str, str]]:
    lines = []
    for experiment in suite.experiments:
        if experiment.kind == "plans":
            budget = f"{count(experiment.budget, 'step')} per run"
            if experiment.cpu_seconds:
                budget = f"{experiment.cpu_seconds:g} s of CPU time per run"
        else:
            budget = f"{experiment.select_episodes} selection and {experiment.report_episodes} report episodes per match"
            if experiment.episode_set:
                budget += f", start positions {experiment.episode_set!r} for all seeds"
            if experiment.generalization:
                budget += f", {count(experiment.generalization.plays, 'episode')} per instance"
            if experiment.budget:
                own = "".join(f" ({name}: {steps:,})" for name, steps in experiment.budgets.items())
                budget = f"{experiment.budget:,} training steps per run{own}; {budget}"
        lines.append((f"seeds of {experiment.name}", f"{', '.join(map(str, experiment.seeds))}; {budget}"))
    return lines
