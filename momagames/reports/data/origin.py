"""Where the numbers of a page come from, and how to get them again."""

from __future__ import annotations

import html
import json
from typing import Any

from momagames.benchmark.plan import Suite
from momagames.benchmark.store.costs import duration
from momagames.benchmark.store.store import Store

COPY = '<button type="button" class="copy" data-copy="{place}">copy</button>'


def origin(store: Store, suite: Suite, command: str) -> str:
    """Versions, machines, seeds, budgets, times, the suite itself, and the commands that repeat it."""
    sealed = _sealed(store, suite)
    lines = facts(store, suite)
    if command:
        lines.append(("command", command))
    table = "".join(f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(value)}</td></tr>' for name, value in lines)
    whole = html.escape(json.dumps(suite.model_dump(mode="json"), indent=1))
    return f"""<div class="wide" tabindex="0"><table class="facts">{table}</table></div>
<h3>To repeat it</h3>
<p>Save the suite below as <code>{html.escape(suite.name)}.yaml</code>, then:</p>
{COPY.format(place="repeat")}<pre id="repeat">{html.escape(repeat(store, suite, sealed))}</pre>
<details><summary>the suite</summary>{COPY.format(place="suite")}<pre id="suite">{whole}</pre></details>"""


def facts(store: Store, suite: Suite) -> list[tuple[str, str]]:
    """Versions, machines, times, seeds and budgets of the finished runs of a suite: what, and which."""
    sealed = _sealed(store, suite)
    return [*_versions(sealed), *_times(sealed), *_settings(suite)]


def _sealed(store: Store, suite: Suite) -> list[dict[str, Any]]:
    return [store.metadata(run) for run in suite.runs(store.version()) if store.has(run)]


def repeat(store: Store, suite: Suite, sealed: list[dict[str, Any]]) -> str:
    """The commands that make a page again, on any machine; in a checkout of the same commit, if all runs are of one."""
    commits = {data["commit"] for data in sealed}
    commit = commits.pop() if len(commits) == 1 else None
    install = [f"pip install momagames=={store.version()}"]
    if commit:
        changed = "  # and the changes that were made to it" if commit.endswith("+changes") else ""
        clean = commit.removesuffix("+changes")
        install = [f"git checkout {clean}{changed}", "pip install ."]
    return "\n".join(
        [*install, f"momagames bench run {suite.name}.yaml --out {suite.name}", f"momagames bench report {suite.name}"]
    )


def _versions(sealed: list[dict[str, Any]]) -> list[tuple[str, str]]:
    facts: dict[str, set[str]] = {}
    for data in sealed:
        machine = data["machine"]
        for name, value in (
            ("momagames", data["momagames"]),
            ("commit", data["commit"] or "unknown"),
            ("Python", data["python"]),
            ("packages", ", ".join(f"{name} {version}" for name, version in data["packages"].items())),
            ("machine", f"{machine['processor']}, {machine['cores']} cores, {machine['system']} {machine['architecture']}"),
        ):
            facts.setdefault(name, set()).add(value)
    return [(name, "; ".join(sorted(values))) for name, values in facts.items()]


def _times(sealed: list[dict[str, Any]]) -> list[tuple[str, str]]:
    if not sealed:
        return []
    wall, cpu = (sum(data[key] for data in sealed) for key in ("wall_s", "cpu_s"))
    return [
        ("runs started", f"{min(d['started'] for d in sealed)} to {max(d['started'] for d in sealed)}"),
        ("time of all runs", f"{duration(wall)}, CPU {duration(cpu)}"),
        ("steps of the engine", f"{sum(data['facts'].get('steps', 0) for data in sealed):,}"),
    ]


def _settings(suite: Suite) -> list[tuple[str, str]]:
    lines = []
    for experiment in suite.experiments:
        if experiment.kind == "plans":
            budget = f"{experiment.budget:,} steps a run"
        else:
            budget = f"{experiment.select_episodes} games to choose by, {experiment.report_episodes} to report, each match"
            if experiment.budget:
                budget = f"{experiment.budget:,} steps of training a run; {budget}"
        lines.append((f"seeds of {experiment.name}", f"{', '.join(map(str, experiment.seeds))}; {budget}"))
    return lines
