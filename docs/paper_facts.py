"""What the paper takes from the package, its pages and its archives when it is built (see make_paper.py)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any

from make_results import ARCHIVES, PAGES
from readme_table import README, games_table
from result_pages import COLLECTION
from sections import table

import momagames
from momagames.analysis import tradeoffs
from momagames.benchmark.choices import label_methods
from momagames.benchmark.runs import Run
from momagames.benchmark.store.archive_file import ArchivedStore
from momagames.benchmark.store.costs import format_duration
from momagames.benchmark.store.store import Store
from momagames.benchmark.suites import Suite
from momagames.contract.titles import join_words
from momagames.fronts import packaged_fronts
from momagames.games import BENCHMARK
from momagames.reports.text.labels import NO_SCORE

ROOT = PAGES.parents[1]
TRACK = "policies"  # the main track
LINKS = re.compile(r"\[([^\]]*)\]\((?!http)[^)]*\)")  # to other pages
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

Rows = list[dict[str, str]]


# --------------------------------------------------------------------------------------------------------------- pages


@cache
def read_page(name: str) -> str:
    """Return a page of results, its links to other pages as plain text."""
    return LINKS.sub(r"\1", (PAGES / f"{name}.md").read_text(encoding="utf-8"))


def read_headline(name: str) -> str:
    """Return the first paragraph of a page of results in one line."""
    return " ".join(read_page(name).split("\n\n")[1].split())


def read_table(text: str, heading: str = "") -> str:
    """Return the first table below a heading, in Markdown; "": of the text."""
    below = text.partition(f"## {heading}\n")[2] if heading else text
    return next(block for block in below.split("\n\n") if block.startswith("| "))


def read_rows(text: str, heading: str = "") -> Rows:
    """Return the rows of the first table below a heading, each a cell by the head of its column."""
    head, _, *rows = (
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in read_table(text, heading).splitlines()
    )
    return [dict(zip(head, row, strict=True)) for row in rows]


def write_table(rows: Rows, columns: Mapping[str, str]) -> str:
    """Return some columns of rows as a table, with new heads."""
    return table([*columns.values()], [[row[name] for name in columns] for row in rows])


@cache
def read_standings() -> Rows:
    return read_rows(read_page(TRACK), "MOPPO beside the strongest baseline")


def count_standings(result: str) -> str:
    return str(sum(row["result"] == result for row in read_standings()))


@cache
def read_tradeoffs() -> Rows:
    return read_rows(read_page(TRACK), "What each setting shows")


def find_largest(rows: Rows, column: str) -> str:
    return max((row[column] for row in rows if row[column] != NO_SCORE), key=float)


def standings_table() -> str:
    columns = ("setting", "moppo", "controllability", "strongest baseline", "its ratio", "difference", "result")
    return write_table(read_standings(), {name: name for name in columns})


def tradeoffs_table() -> str:
    return write_table(read_tradeoffs(), {name: name for name in read_tradeoffs()[0]})


def describe_changes() -> str:
    """Return a sentence on archived methods of which this version does not reproduce the rows."""
    pages = {
        name: re.search(r"methods that have changed: (.+)\.\n", read_page(name)) for name in ARCHIVES if name != COLLECTION
    }
    found = [f"{match[1]} in the suite `{name}`" for name, match in pages.items() if match]
    return (
        f"This version does not reproduce the rows of {join_words(found)}."
        if found
        else "All rows are of this version's methods."
    )


# ------------------------------------------------------------------------------------------------------------ archives


@dataclass(frozen=True)
class Cost:
    """What finished runs cost.

    settings    number of games with parameters, in their experiments
    seeds       fewest and most seeds of a method in a setting
    listed      number of runs that the suite has
    cpu_s       of the processes of the runs, in seconds
    """

    settings: int
    seeds: tuple[int, int]
    finished: int
    listed: int
    steps: int
    cpu_s: float
    wall_s: float

    def describe(self) -> tuple[str, ...]:
        """Return the cells of a row."""
        fewest, most = self.seeds
        seeds = str(most) if fewest == most else f"{fewest} to {most}"
        runs = f"{self.finished:,}" if self.finished == self.listed else f"{self.finished:,} of {self.listed:,}"
        return str(self.settings), seeds, runs, f"{self.steps / 1e6:,.0f}", *map(format_duration, (self.cpu_s, self.wall_s))


COST_HEADS = ("settings", "seeds", "runs", "steps (millions)", "CPU time", "wall time")


def measure_cost(store: Store, runs: Sequence[Run]) -> Cost:
    """Return what the finished ones of these runs cost."""
    finished = [run for run in runs if store.has_run(run)]
    found = [store.read_metadata(run) for run in finished]
    seeds: dict[Any, set[int]] = {}
    for run in finished:
        seeds.setdefault((run.canonical, run.method.key), set()).add(run.seed)
    numbers = [len(one) for one in seeds.values()] or [0]
    return Cost(
        len({run.canonical for run in runs}),
        (min(numbers), max(numbers)),
        len(finished),
        len(runs),
        sum(data["facts"].get("steps", 0) for data in found),
        sum(data["cpu_s"] for data in found),
        sum(data["wall_s"] for data in found),
    )


@cache
def open_archive(name: str) -> tuple[Store, Suite]:
    store = ArchivedStore(ARCHIVES[name])
    return store, store.read_suite()


def list_experiments(store: Store, suite: Suite) -> Iterator[tuple[str, Cost]]:
    """Yield the cost of each experiment of a suite."""
    for experiment in suite.experiments:
        yield experiment.name, measure_cost(store, [*experiment.list_runs(store.read_versions())])


@cache
def list_suites() -> dict[str, list[tuple[str, Cost]]]:
    """Return the costs of the experiments of each archive by its name."""
    return {name: [*list_experiments(*open_archive(name))] for name in ARCHIVES}


def add_costs(costs: Sequence[Cost]) -> Cost:
    """Return the cost of all."""
    sums = (sum(getattr(one, name) for one in costs) for name in ("finished", "listed", "steps", "cpu_s", "wall_s"))
    seeds = min(one.seeds[0] for one in costs), max(one.seeds[1] for one in costs)
    return Cost(sum(one.settings for one in costs), seeds, *sums)


def total_cost() -> Cost:
    return add_costs([cost for experiments in list_suites().values() for _, cost in experiments])


def suites_table() -> str:
    rows = [(f"`{name}`", *add_costs([cost for _, cost in found]).describe()) for name, found in list_suites().items()]
    return table(["suite", *COST_HEADS], [*rows, ("all", *total_cost().describe())])


def experiments_table() -> str:
    listed = [(f"{suite}: {name}", cost) for suite, found in list_suites().items() for name, cost in found]
    return table(["suite and experiment", *COST_HEADS], [(name, *cost.describe()) for name, cost in listed])


def methods_table() -> str:
    """Return medians over the runs of each method of the main track."""
    store, suite = open_archive(TRACK)
    found: dict[str, list[Mapping[str, Any]]] = {}
    for experiment in suite.experiments:
        names = label_methods(experiment.methods)
        for run in experiment.list_runs(store.read_versions()):
            if store.has_run(run):
                found.setdefault(names[run.method.key], []).append(store.read_metadata(run))
    rows = [
        (
            name,
            f"{len(runs)}",
            describe_millions(median(run["facts"].get("training_steps", 0) for run in runs)),
            describe_millions(median(run["facts"].get("steps", 0) for run in runs)),
            f"{median(run['cpu_s'] for run in runs):,.0f}",
        )
        for name, runs in sorted(found.items())
    ]
    return table(["method", "runs", "training steps (millions)", "all steps (millions)", "CPU time (s)"], rows)


def describe_millions(number: float) -> str:
    return f"{number / 1e6:,.2f}" if number else NO_SCORE


def list_machines() -> str:
    stores = (open_archive(name) for name in ARCHIVES)
    runs = (
        store.read_metadata(run)
        for store, suite in stores
        for run in suite.list_runs(store.read_versions())
        if store.has_run(run)
    )
    machines = {(data["machine"]["processor"].partition(" @")[0].replace("(R)", ""), data["machine"]["cores"]) for data in runs}
    return join_words(f"{name} with {cores} cores" for name, cores in sorted(machines))


# --------------------------------------------------------------------------------------------------------- the package


def count_proven_fronts() -> str:
    return str(sum("best-known" not in path.name for path in packaged_fronts().values()))


def count_agents() -> str:
    numbers = {len(momagames.spec(id).agents) for id in BENCHMARK}
    return f"{min(numbers)} to {max(numbers)}"


def read_speeds() -> Rows:
    return read_rows(README.read_text(encoding="utf-8").partition("## Speed")[2])


def find_card_speeds() -> str:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").partition("## CUDA")[2]
    speeds = [int(row["M/s"]) for row in read_rows(text)]
    return f"{min(speeds)} to {max(speeds)}"


def read_python() -> str:
    found = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert found
    return found[1]


FACTS: Mapping[str, Callable[[], str]] = {
    "version": lambda: momagames.__version__,
    "python": read_python,
    "environments": lambda: str(len(BENCHMARK)),
    "families": lambda: WORDS[len(read_rows(games_table()))],
    "agents": count_agents,
    "games.table": lambda: LINKS.sub(r"\1", games_table()),
    "fronts.proven": count_proven_fronts,
    "speed.table": lambda: write_table(read_speeds(), {name: name for name in read_speeds()[0]}),
    "speed.card": find_card_speeds,
    "limits.one_policy_of_two": lambda: str(tradeoffs.MAX_SINGLE_SHARE[0]),
    "limits.one_policy_of_more": lambda: str(tradeoffs.MAX_SINGLE_SHARE[1]),
    "limits.points": lambda: str(tradeoffs.MIN_POINTS),
    "limits.grid": lambda: str(tradeoffs.GRID),
    "limits.loss": lambda: str(tradeoffs.MIN_LOSS),
    "limits.simple": lambda: str(tradeoffs.MAX_SIMPLE_SHARE),
    "leaders.table": lambda: read_table(read_page("index")),
    "policies.settings": lambda: str(len(read_tradeoffs())),
    "policies.confirmed": lambda: str(sum(row["verdict"] == "a trade-off" for row in read_tradeoffs())),
    "policies.largest_single": lambda: find_largest(read_tradeoffs(), "one policy"),
    "policies.largest_simple": lambda: find_largest(read_tradeoffs(), "simple"),
    "policies.largest_untrained": lambda: find_largest(read_tradeoffs(), "untrained"),
    "policies.compared": lambda: str(len(read_standings())),
    "policies.moppo.wins": lambda: count_standings("win"),
    "policies.moppo.level": lambda: count_standings("level"),
    "policies.moppo.losses": lambda: count_standings("loss"),
    "policies.standings": standings_table,
    "policies.tradeoffs": tradeoffs_table,
    **{f"{name}.headline": lambda name=name: read_headline(name) for name in ARCHIVES if name != COLLECTION},
    "changes": describe_changes,
    "compute.runs": lambda: f"{total_cost().finished:,}",
    "compute.cpu": lambda: format_duration(total_cost().cpu_s),
    "compute.machines": list_machines,
    "compute.suites": suites_table,
    "compute.experiments": experiments_table,
    "compute.methods": methods_table,
}
