"""Submissions made from a results directory: the plans or policies of a method in the settings of a packaged suite."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from momagames.benchmark.choices import PINNED, label_methods
from momagames.benchmark.replays import load_points
from momagames.benchmark.runs import Run
from momagames.benchmark.store.policy_files import POLICIES
from momagames.benchmark.store.store import RUN, Store
from momagames.benchmark.store.thinning import require_part
from momagames.benchmark.suite_files import list_suites, load_suite
from momagames.benchmark.suites import Suite
from momagames.contract.titles import join_words
from momagames.errors import InvalidFile, InvalidParameter, UnknownId, first_of, invalid_value, nearest, one_of
from momagames.files.json_data import canonical_json
from momagames.files.reading import hash_content, read_bytes, refuse_content
from momagames.files.writing import write_file_atomically
from momagames.leaderboard.code_files import LOCK, copy_code
from momagames.leaderboard.directory import METADATA, seal_submission
from momagames.leaderboard.metadata import is_checkpoint
from momagames.plugins import is_python_path
from momagames.reports.data.panels import short_name
from momagames.wording import count

PLANS = "plans.json"
MAX_NAME = 120  # characters of the name of a folder; those of games with levels or maps as parameters may be longer


def make_submissions(
    results: str | Path,
    suite: str,
    method: str,
    out: str | Path,
    *,
    description: str | None = None,
    paper: str | None = None,
    code: str | None = None,
    hardware: str | None = None,
    budget: int | None = None,
) -> list[Path]:
    """Write a submission for each setting that a method has finished, with every seed; return their directories.

    Plans are all of a run. Policies are those on the fronts of runs, with the parameters of those that a run has trained.

    results     results directory of `bench run`, of the packaged suite or of one with the same settings
    suite       name of the packaged suite
    method      name of the method in the results
    out         directory of the new directories, each named after its game and method
    hardware    None: processor and number of cores of the last run
    budget      environment steps of each run, training included; None: those of the runs
    Raises      UnknownId for another suite; InvalidParameter if no setting is finished; InvalidFile for a directory that exists
    """
    known = list_suites()
    if suite not in known:
        raise UnknownId(invalid_value("suite", suite, one_of(known), nearest(suite, known)))
    stated = {"description": description, "paper": paper, "code": code, "hardware": hardware, "budget": budget}
    store, made = Store(results), []
    missing: list[str] = []
    for runs, setting in _list_settings(load_suite(known[suite]), store, method, missing):
        folder = Path(out) / _name_folder(runs[0], method)
        if folder.exists():
            raise InvalidFile(f"{folder}: exists: choose another directory")
        folder.mkdir(parents=True)
        if runs[0].kind == "plans":
            write_file_atomically(folder / PLANS, _format_plans(store, runs))
            content: dict[str, Any] = {"plans": PLANS}
        else:
            content = {"policies": _collect_policies(store, runs, folder)}
        write_file_atomically(folder / METADATA, _format_metadata(store, runs, setting, method, stated, content))
        seal_submission(folder)
        made.append(folder)
    if not made:
        names = _name_runs(store)
        finished = [(names.get(run.digest, run.method.name), run.game.make_game()) for run in store.finished_runs()]
        known_runs = list(dict.fromkeys(f"{name} in {short_name(game)}" for name, game in finished))
        expected = f"one that finished every seed of a setting of {suite!r}"
        problem = invalid_value(f"{results}: method", method, expected)
        if any(name == method for name, _ in finished) and not missing:
            problem += ". Its runs have other settings, budgets, opponents or episodes than the suite"
        raise InvalidParameter("\n".join([problem, first_of(missing or known_runs)]))
    return made


def _list_settings(suite: Suite, store: Store, method: str, missing: list[str]) -> Iterator[tuple[list[Run], dict[str, Any]]]:
    """Yield the runs of the method in each setting that is finished, and the setting as in metadata.

    missing    gets a line for each setting of which seeds are missing
    """
    names = _name_runs(store)
    finished = list(store.finished_runs())
    own = [run for run in finished if names.get(run.digest, run.method.name) == method]
    own = own or [run for run in finished if run.method.name == method]
    for experiment in suite.experiments if own else ():
        for choice in experiment.games:
            one = experiment.model_copy(update={"games": (choice,), "methods": experiment.methods[:1]})
            wanted = {_list_conditions(run) for run in one.list_runs(store.read_versions())}
            budgets = {None, experiment.budget, *getattr(experiment, "budgets", {}).values()}
            runs = [run for run in own if run.budget in budgets and _list_conditions(run) in wanted]
            if len({run.method.key for run in runs}) > 1:  # such as those of code before a change
                runs = [run for run in runs if run.digest in names]
            if len({run.method.key for run in runs}) > 1:
                raise InvalidParameter(f"{store.folder}: {method!r} has runs with different options in {experiment.name!r}")
            if {run.seed for run in runs} == set(experiment.seeds):
                game = choice.model_dump(mode="json")
                yield runs, {"suite": suite.name, "experiment": experiment.name, "game": game}
            elif runs:
                lacking = sorted(set(experiment.seeds) - {run.seed for run in runs})
                seeds = f"seed{'s' * (len(lacking) > 1)} {join_words([str(seed) for seed in lacking])}"
                missing.append(f"{method} in {short_name(choice.make_game())}: {seeds} of {experiment.name!r} missing")


def _name_runs(store: Store) -> dict[str, str]:
    """Return the name of the method of each run, as reports show it, by the run's digest."""
    found = {}
    for experiment in store.read_suite().experiments:
        names = label_methods(experiment.methods)
        for run in experiment.list_runs(store.read_versions()):
            found[run.digest] = names[run.method.key]
    return found


def _list_conditions(run: Run) -> str:
    """Return everything that a run depends on but its method and budget."""
    own = ("method", "budget", "revisions")
    return canonical_json({name: value for name, value in run.to_dict().items() if name not in own})


def _collect_policies(store: Store, runs: list[Run], folder: Path) -> list[dict[str, Any]]:
    """Return the policies of the runs' fronts as in metadata, and write the files of their parameters and code."""
    found = []
    for run in sorted(runs, key=lambda one: one.seed):
        place, name = store.run_directory(run), f"policies-{run.seed}.npz"
        is_own = is_python_path(run.method.name)
        options = run.method.options
        if is_own:
            options = run.method.own_options
            copy_code(run.method.name, options, folder, run.method.options.get(PINNED))
        options = {name: _copy_checkpoint(value, folder) for name, value in options.items()}
        method: dict[str, Any] = {"code" if is_own else "method": run.method.name, "options": options}
        if run.method.is_trained(run.game.make_game()):
            require_part(place, "policies")
            write_file_atomically(folder / name, read_bytes(place / POLICIES))
            method["arrays"] = name
        weights = store.read_metadata(run)["facts"].get("weights", {})
        for point in load_points(place):
            number = {"point": point["point"]} if "arrays" in method else {}
            if is_own:
                row = {"weights": weights[point["policy"]]} if point["policy"] in weights else {}
                found.append({**method, "options": {**options, **row}, **number, "seed": run.seed})
            else:
                found.append({**method, "label": point["policy"], **number, "seed": run.seed})
    return found


def _copy_checkpoint(value: Any, folder: Path) -> Any:
    """Return the value of an option; of the path of a checkpoint the name of a copy in the folder."""
    if not is_checkpoint(value):
        return value
    content = read_bytes(value)
    name = f"checkpoint-{hash_content(content)[:8]}.npz"
    write_file_atomically(folder / name, content)
    return name


def _name_folder(run: Run, method: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", f"{short_name(run.game.make_game())} {method}".lower()).strip("-")
    if len(name) <= MAX_NAME:
        return name
    return f"{name[: MAX_NAME - 9]}-{hash_content(name.encode())[:8]}"


def _format_plans(store: Store, runs: list[Run]) -> str:
    """Return the content of a file of plans, with a line for each plan."""
    parts = []
    for run in sorted(runs, key=lambda one: one.seed):
        with refuse_content(store.run_directory(run), RUN):
            require_part(store.run_directory(run), "actions")
            plans = [json.dumps({"actions": row["actions"], "return": row["return"]}) for row in store.read_rows(run)]
        parts.append(f' "{run.seed}": [\n  ' + ",\n  ".join(plans) + "\n ]")
    return '{"schema": 1, "runs": {\n' + ",\n".join(parts) + "\n}}\n"


def _format_metadata(
    store: Store, runs: list[Run], setting: dict[str, Any], method: str, stated: dict[str, Any], content: dict[str, Any]
) -> str:
    """Return the content of a metadata file with plans or policies.

    A search that ended by itself states its largest number of steps as the budget.
    """
    found = [store.read_metadata(run) for run in runs]
    is_complete = all(one["facts"].get("complete") for one in found)
    machine = found[-1]["machine"]
    budget = max(one["facts"]["steps"] for one in found) if is_complete else runs[0].budget or 0
    if stated["budget"] is not None:
        budget = stated["budget"]
    options = ", ".join(f"{name}={value}" for name, value in runs[0].method.own_options.items())
    lock = {"lock": LOCK} if is_python_path(runs[0].method.name) else {}
    data = {
        "schema": 1,
        "method": method,
        "description": stated["description"] or options or None,
        "paper": stated["paper"],
        "code": stated["code"],
        "date": max(one["started"] for one in found)[:10],
        "budget": budget,
        "hardware": stated["hardware"] or f"{machine['processor']}, {count(machine['cores'], 'core')}",
        "setting": setting,
        **content,
        **lock,
    }
    lines = {name: json.dumps(value) for name, value in data.items()}
    if policies := content.get("policies"):
        lines["policies"] = "".join(f"\n  - {json.dumps(one)}" for one in policies)
    return "".join(f"{name}: {line}\n" for name, line in lines.items()).replace(": \n", ":\n")
