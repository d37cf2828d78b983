"""Commands `momagames bench`: run suites, show their progress, compare and export results."""

from __future__ import annotations

import functools
import string
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from inspect import Parameter, Signature, signature
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momagames.cli.console import (
    FAILED,
    INTERRUPTED,
    AllowCode,
    AsJson,
    add_working_directory,
    console,
    get_command_line,
    print_facts,
    print_heading,
    print_json,
    print_line,
    progress,
    table,
)
from momagames.wording import count

if TYPE_CHECKING:
    from momagames.benchmark.executors import Executor, Outcome
    from momagames.benchmark.runner import Shard, Work
    from momagames.benchmark.store.costs import Timings
    from momagames.benchmark.store.status import Status
    from momagames.benchmark.suites import Experiment, Suite
    from momagames.reports.data.results_comparison import Comparison
    from momagames.reports.report import Report

RESULTS = Path("momagames-results")  # default results directory
LETTERS = string.ascii_uppercase  # names of compared directories

bench = typer.Typer(help="Run benchmarks and report on them.", no_args_is_help=True, callback=add_working_directory)


class ExecutorName(StrEnum):
    """Executor of runs."""

    here = "here"
    pool = "pool"
    ray = "ray"


SuiteArgument = Annotated[str, typer.Argument(help="YAML file or name of a suite (see `momagames bench list`).")]
Folder = Annotated[Path, typer.Argument(help="Results directory.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Results directory [momagames-results/SUITE].")]
Workers = Annotated[int | None, typer.Option("--workers", "-w", help="Maximum number of workers [all cores].", min=1)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="List runs and estimated costs only.")]
Every = Annotated[bool, typer.Option("--every", help="Print all tables.")]
Open = Annotated[bool, typer.Option("--open", help="Open the page in a browser.")]
Where = Annotated[ExecutorName, typer.Option("--executor", help="Executor: this process, local processes or a Ray cluster.")]
Address = Annotated[
    str | None, typer.Option(help="Address of the Ray cluster: auto, HOST:PORT or ray://HOST:PORT [a new local one].")
]
Part = Annotated[str | None, typer.Option("--shard", metavar="I/N", help="Shard I of N, such as 1/8.")]
SeedsOption = Annotated[list[int] | None, typer.Option("--seed", help="Runs with this seed only; may be repeated.")]
Experiments = Annotated[list[str] | None, typer.Option("--experiment", help="Runs of this experiment only; may be repeated.")]
Games = Annotated[list[str] | None, typer.Option("--game", help="Runs of this id, family or setting only; may be repeated.")]
Methods = Annotated[list[str] | None, typer.Option("--method", help="Runs of this method only; may be repeated.")]
Added = Annotated[
    list[str] | None,
    typer.Option(
        "--add", metavar="METHOD", help="Run this method, too, such as mine:Player(weights=lattice, rate=0.1); may be repeated."
    ),
]
Archived = Annotated[Path | None, typer.Option("--archive", help="Archive whose runs of the suite are not run again.")]


# --------------------------------------------------------------------------------------------------------------- suites


@bench.command("list")
def list_suites() -> None:
    """List the packaged suites, with the first sentence of each description."""
    from momagames.benchmark import list_suites, load_suite

    listing = table("suite", "runs", "description")
    for name, path in list_suites().items():
        suite = load_suite(path)
        listing.add_row(name, str(len(suite.list_runs())), suite.description.partition(". ")[0].rstrip("."))
    listing.caption_justify = "left"
    listing.caption = "momagames bench show SUITE: the whole description, games, methods, budgets"
    console().print(listing)


@bench.command()
def show(
    suite: SuiteArgument, as_yaml: Annotated[bool, typer.Option("--yaml", help="Print the file, with every option.")] = False
) -> None:
    """Show a suite: games, methods, budgets, opponents, indicators."""
    from momagames.benchmark import load_suite
    from momagames.benchmark.suite_parts import format_suite

    loaded, screen = load_suite(suite), console()
    if as_yaml:
        print(format_suite(loaded), end="")
        return
    print_heading(screen, loaded.name, f"  {count(len(loaded.list_runs()), 'run')}")
    screen.print(loaded.description)
    for experiment in loaded.experiments:
        print_heading(screen, f"\n{experiment.name}", f"  {count(len(list(experiment.list_runs())), 'run')}")
        print_facts(screen, _describe_experiment(experiment))
    wanted = loaded.indicators
    screen.print(f"\nindicators: {', '.join(wanted.names)}")
    screen.print(
        f"{wanted.confidence:.0%} intervals by {wanted.resamples:,} resamples, reference points moved out by {wanted.margin:g}",
        style="dim",
    )


@bench.command()
def init(
    file: Annotated[Path, typer.Argument(help="YAML file to write.")],
    suite: Annotated[str, typer.Option("--from", metavar="SUITE", help="Suite that it starts from.")],
    add: Added = None,
    seed: SeedsOption = None,
    experiment: Experiments = None,
    game: Games = None,
    method: Methods = None,
) -> None:
    """Write a suite of your own: a suite or a part of it, with every option, and further methods."""
    from momagames.benchmark.suite_parts import format_suite
    from momagames.errors import InvalidFile
    from momagames.files.writing import write_file_atomically

    if file.exists():
        raise InvalidFile(f"{file}: is there already: expected a new file")
    part = _take_part(suite, add, RunOptions(seed=seed, experiment=experiment, game=game, method=method))
    write_file_atomically(file, format_suite(part))
    runs = count(len(part.list_runs()), "run")
    console().print(f"{file}: {runs}; to run them: momagames bench run {quote(str(file))}", soft_wrap=True)


@bench.command()
def estimate(
    suite: SuiteArgument,
    seconds: Annotated[float, typer.Option(help="CPU seconds of the last sample of each method in each game.", min=0.01)] = 2.0,
    shard: Part = None,
    seed: SeedsOption = None,
    experiment: Experiments = None,
    game: Games = None,
    method: Methods = None,
    as_json: AsJson = False,
) -> None:
    """Estimate the CPU time of a suite by short runs of each method in each game. Nothing is stored."""
    from momagames.benchmark import load_suite
    from momagames.benchmark.estimates import Estimate, count_groups, estimate_cost
    from momagames.benchmark.store.costs import format_duration
    from momagames.reports.data.panels import short_name

    chosen = RunOptions(shard=shard, seed=seed, experiment=experiment, game=game, method=method)
    runs = chosen.parse_shard().select(load_suite(suite))
    screen, groups = console(), list[Estimate]()
    with progress(screen, count_groups(runs)) as advance:
        for group in estimate_cost(runs, seconds):
            groups.append(group)
            advance(group.runs[0].method.name)
    total = sum(group.total for group in groups)
    if as_json:
        listed = [
            {
                "game": group.runs[0].canonical, "method": group.runs[0].method.model_dump(), "runs": len(group.runs),
                "cpu_seconds": group.seconds, "share": group.share, "error": group.error,
            }
            for group in groups
        ]  # fmt: skip
        print_json({"runs": len(runs), "cpu_hours": total / 3600, "groups": listed})
        return
    listing = table("game", "method", "runs", "CPU time of one", "of all")
    for group in sorted(groups, key=lambda group: -group.total):
        run = group.runs[0]
        times = ["unknown"] * 2 if group.seconds is None else [format_duration(group.seconds), format_duration(group.total)]
        played = _format_choice(run.method.name, run.method.own_options)
        listing.add_row(short_name(run.game.make_game()), played, str(len(group.runs)), *times)
    screen.print(listing)
    for group in groups:
        if group.error:
            screen.print(f"unknown: {group.runs[0].folder}: {group.error}", style="red", soft_wrap=True)
    screen.print(f"{count(len(runs), 'run')}: about {format_duration(total)} of CPU time, without compilation")


@bench.command()
def tradeoffs(suite: SuiteArgument, as_json: AsJson = False) -> None:
    """Show whether the settings of a suite are trade-offs, in which one policy or simple policies are not enough."""
    from momagames.analysis.tradeoffs import MAX_SIMPLE_SHARE, MAX_SINGLE_SHARE, MIN_LOSS, MIN_POINTS
    from momagames.benchmark import load_suite
    from momagames.benchmark.tradeoffs import SettingTradeoffs, list_tradeoff_settings, measure_setting
    from momagames.contract.titles import describe_game

    settings, measured, screen = list_tradeoff_settings(load_suite(suite)), list[SettingTradeoffs](), console()
    with progress(screen, len(settings)) as advance:
        for experiment, choice in settings:
            measured.append(measure_setting(experiment, choice))
            advance(describe_game(measured[-1].game))
    if as_json:
        print_json([one.to_dict() for one in measured])
    else:
        listing = table("setting", "objectives", "points", "one policy", "least loss", "simple", "untrained", "lacking")
        for one in measured:
            found = one.tradeoffs
            numbers = [str(len(found.losses)), str(found.points), f"{found.single_share:.2f}", f"{min(found.losses):.2f}"]
            shares = ["-" if share is None else f"{share:.2f}" for share in (found.simple_share, found.untrained_share)]
            listing.add_row(describe_game(one.game), *numbers, *shares, ", ".join(found.list_failures()))
        screen.print(listing)
        screen.print(
            f"points: in the reference front, at least {MIN_POINTS}; one policy: its largest share of the hypervolume, at most "
            f"{MAX_SINGLE_SHARE[0]:g} (two objectives) or {MAX_SINGLE_SHARE[1]:g}; least loss: what the best policy for an "
            f"objective loses in another one, at least {MIN_LOSS:g} of the range; simple: share of policies that neither train "
            f"nor look ahead, at most {MAX_SIMPLE_SHARE:g}; untrained: with those that look ahead, not judged",
            style="dim",
        )
    passed = sum(not one.tradeoffs.list_failures() for one in measured)
    if passed < len(measured):
        print_line(f"momagames: {passed} of {count(len(measured), 'setting')} are trade-offs", sys.stderr)
        raise typer.Exit(FAILED)


def _describe_experiment(experiment: Experiment) -> list[tuple[str, str]]:
    """Return names and values; a name that repeats is empty."""
    from momagames.benchmark.suites import PlansExperiment

    lines = [("games", _format_choice(game.id, game.params)) for game in experiment.games]
    lines += [("methods", _format_choice(one.name, one.all_options)) for one in experiment.methods]
    if isinstance(experiment, PlansExperiment) and experiment.cpu_seconds:
        lines.append(("budget", f"{experiment.cpu_seconds:g} s of CPU time a run"))
    elif experiment.budget:
        lines.append(("budget", f"{experiment.budget:,} environment steps a run"))
    if not isinstance(experiment, PlansExperiment):
        lines += [("budget", f"{steps:,} of {name}") for name, steps in experiment.budgets.items()]
        lines += [("opponents", opponent.label) for opponent in experiment.opponents] or [("opponents", "none")]
        lines.append(("seats", ", ".join(experiment.seats) or "every agent"))
        episodes = f"{experiment.select_episodes} to select policies, {experiment.report_episodes} to report, each match"
        if experiment.stored_episodes:
            episodes += f", the first {experiment.stored_episodes} of each stored one by one"
        if experiment.episode_set:
            episodes += f", start positions {experiment.episode_set!r} for all seeds"
        lines.append(("episodes", episodes))
        if experiment.generalization:
            plays = f"{count(experiment.generalization.plays, 'episode')} of each method in each of them"
            lines.append(("instances", f"training on those of the selection episodes, {plays}"))
        if experiment.head_to_head:
            responses = experiment.head_to_head.responses
            listed = " and ".join(_format_choice(method.name, method.own_options) for method in responses)
            seats = ", ".join(experiment.head_to_head.seats) or "every agent"
            lines.append(("head to head", f"games between the methods, seats: {seats}"))
            lines.append(
                ("responses", f"{listed}, {experiment.head_to_head.response_budget:,} steps each, against each policy")
            )
    lines.append(("seeds", ", ".join(map(str, experiment.seeds))))
    lines.append(("time", f"at most {experiment.seconds:g} s a run"))
    lines.append(("ideal point", experiment.ideal_point))
    names = ["", *(name for name, _ in lines)]
    return [("" if name == before else name, value) for before, (name, value) in zip(names, lines, strict=False)]


def _format_choice(name: str, values: dict[str, Any]) -> str:
    return name + (f"({', '.join(f'{key}={value}' for key, value in values.items())})" if values else "")


# -------------------------------------------------------------------------------------------------------------- running


@dataclass(frozen=True)
class RunOptions:
    """Options of the commands that run suites."""

    workers: Workers = None
    dry_run: DryRun = False
    every: Every = False
    open: Open = False
    executor: Where = ExecutorName.pool
    address: Address = None
    shard: Part = None
    seed: SeedsOption = None
    experiment: Experiments = None
    game: Games = None
    method: Methods = None
    archive: Archived = None

    def parse_shard(self) -> Shard:
        """Return the part of the suite to run."""
        from momagames.benchmark.runner import Shard

        chosen = {"seeds": self.seed, "experiments": self.experiment, "games": self.game, "methods": self.method}
        return Shard.parse(self.shard or "1/1", **{name: values or () for name, values in chosen.items()})


def with_run_options(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options of RunOptions, which `function` gets as its argument `options`."""

    @functools.wraps(function)
    def run_command(**values: Any) -> None:
        options = RunOptions(**{name: values.pop(name) for name in RunOptions.__dataclass_fields__})
        function(**values, options=options)

    shared = signature(RunOptions, eval_str=True).parameters
    own = signature(function, eval_str=True).parameters
    parameters = [one for name in own for one in (shared.values() if name == "options" else (own[name],))]
    whole = Signature([one.replace(kind=Parameter.KEYWORD_ONLY) for one in parameters])
    run_command.__dict__["__signature__"] = whole  # Typer reads both
    run_command.__annotations__ = {one.name: one.annotation for one in parameters}
    return run_command


@bench.command()
def quick(out: Out = None, workers: Workers = None, dry_run: DryRun = False, every: Every = False, open: Open = False) -> None:
    """Run the suite `quick`: most families of games in less than two minutes on two cores, with a first table and page."""
    from momagames.benchmark import load_suite

    _run_suite(load_suite("quick"), out, RunOptions(workers, dry_run, every, open))


@bench.command()
@with_run_options
def run(suite: SuiteArgument, out: Out = None, add: Added = None, *, options: RunOptions) -> None:
    """Run a suite. Finished runs are skipped, so an interrupted suite can be started again.

    With --add the chosen part of the suite is run with further methods, and compared by itself, with all tables.
    """
    from momagames.benchmark import load_suite

    if add:
        part = _take_part(suite, add, options)
        _run_suite(part, out, replace(options, seed=None, experiment=None, game=None, method=None, every=True))
    else:
        _run_suite(load_suite(suite), out, options)


def _take_part(suite: str, add: list[str] | None, options: RunOptions) -> Suite:
    """Return the chosen part of a suite with further methods."""
    from momagames.benchmark import load_suite
    from momagames.benchmark.suite_parts import parse_method, take_part

    return take_part(load_suite(suite), replace(options, shard=None).parse_shard(), [parse_method(text) for text in add or ()])


@bench.command()
@with_run_options
def resume(folder: Folder, *, options: RunOptions, allow_code: AllowCode = False) -> None:
    """Resume the suite of a results directory."""
    from momagames.benchmark.store.store import Store
    from momagames.benchmark.suite_files import check_suite

    store = Store(folder)
    suite = check_suite(store.read_suite(), str(folder / "suite.json"))
    if methods := store.describe_changed_methods(suite):
        print_line(
            f"momagames: run again, with the old results left in place, as the methods have changed: {methods}", sys.stderr
        )
    _run_suite(suite, folder, options)


def _print_notes(*folders: Path) -> None:
    """Print which rows of results directories this version does not reproduce, and what they are without."""
    from momagames.benchmark.store.store import Store
    from momagames.benchmark.store.thinning import PARTS, count_thinned

    for store in map(Store, folders):
        if methods := store.describe_changed_methods(store.read_suite()):
            print_line(f"momagames: {store.folder}: not reproducible with this version: {methods}", sys.stderr)
        for part, runs in count_thinned(store).items():
            line = f"momagames: {store.folder}: restored from an archive that leaves out {PARTS[part]}: {count(runs, 'run')}"
            print_line(line, sys.stderr)


def _run_suite(suite: Suite, out: Path | None, options: RunOptions) -> None:
    from momagames.benchmark.runner import ALL_RUNS, execute_work, list_work
    from momagames.reports.report import PAGE

    folder, screen, shard = out or RESULTS / suite.name, console(), options.parse_shard()
    work = list_work(suite, folder, shard, options.archive)
    _print_archive(work)
    if options.dry_run:
        _print_costs(work)
        return
    executor, workers = _make_executor(options, len(work.due))
    where = count(workers, "worker") if workers else "all workers"
    where = f"on the Ray cluster {options.address}" if options.address else where
    header = f"suite {suite.name}: {count(len(work.runs), 'run')}, {len(work.runs) - len(work.due)} finished before, {where}"
    screen.print(f"{header}, into {folder}" + (f", {shard}" if shard != ALL_RUNS else ""), soft_wrap=True)
    if others := len(work.store.run_directories()) - sum(work.store.has_run(run) for run in work.all_runs):
        left = f"{count(others, 'run')} of other methods or suites stay in {folder}, outside the tables"
        screen.print(left, style="dim", soft_wrap=True)
    if work.due and not work.store.has_suite():
        screen.print("the first runs compile the games; later ones use the cache on disk", style="dim")
    try:
        with _show_outcomes(screen, work, workers) as show:
            results = execute_work(work, executor, show)
    except KeyboardInterrupt:
        print("momagames: interrupted; the same command resumes the suite", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    problem = _report(work, options.every)
    for outcome in results.failed:
        screen.print(f"failed: {outcome.run.folder}: {outcome.error}", style="red", soft_wrap=True)
        screen.print(f"  whole traceback: {work.store.failed / outcome.run.folder / 'error.txt'}", soft_wrap=True)
    screen.print(f"{count(len(results.finished), 'run')} in {results.seconds:.0f} s, {len(results.failed)} failed")
    if problem is not None:
        screen.print(f"all tables: momagames bench report {quote(str(folder))} --every", soft_wrap=True)
        screen.print(f"in a browser: momagames bench report {quote(str(folder))} --open", soft_wrap=True)
        _print_page(folder / PAGE, problem, options.open)
    if results.failed:
        raise typer.Exit(FAILED)


def _print_archive(work: Work) -> None:
    """Print how many runs of an archive the results directory gains, and why others do not count."""
    from momagames.benchmark.store.unused_runs import describe_reasons

    if work.archive:
        print_line(f"from {work.archive.folder}: {count(len(work.restored), 'finished run')}")
        if reasons := work.archive.count_unused_runs(work.all_runs):
            unused = count(sum(reasons.values()), "archived run")
            print_line(
                f"momagames: {work.archive.folder}: not of this suite: {unused}: {describe_reasons(reasons)}", sys.stderr
            )


def _make_executor(options: RunOptions, due: int) -> tuple[Executor, int | None]:
    """Return the executor for this number of runs, and the number of its workers; None: all of a Ray cluster."""
    from momagames.benchmark.executors import InProcess, ProcessPool, count_cores
    from momagames.errors import InvalidParameter

    if options.address is not None and options.executor is not ExecutorName.ray:
        given = f"given: --executor {options.executor.value}"
        raise InvalidParameter(f"--address {options.address!r} is for --executor ray; {given}")
    if options.executor is ExecutorName.ray:
        from momagames.benchmark.executors.ray import RayCluster

        return RayCluster(options.address, options.workers), options.workers
    if options.executor is ExecutorName.here:
        return InProcess(), 1
    pool = ProcessPool(min(options.workers or count_cores(), max(1, due)))
    return pool, pool.workers


@contextmanager
def _show_outcomes(screen: Any, work: Work, workers: int | None) -> Iterator[Callable[[Outcome], None]]:
    """Show a progress bar over the due runs; yield a function that takes their outcomes."""
    from momagames.benchmark.store.costs import TimeLeft

    left = TimeLeft(work.due, workers) if workers else None
    if left and work.due:
        left.learn_stored(work.store, work.all_runs)
    with progress(screen, len(work.due), describe_left=left.describe if left else None) as advance:

        def show(outcome: Outcome) -> None:
            if left:
                left.end(outcome.run, outcome.seconds)
                if not outcome.error:
                    left.learn(outcome.run, outcome.seconds)
            advance(_label_outcome(outcome))

        yield show


def _report(work: Work, every: bool) -> str | None:
    """Print the best methods, or all tables, then write the page; return why it could not be written ("" if it was).

    Without new runs the stored summary is printed. Nothing is done, and None returned, if other shards are unfinished.
    """
    from momagames.reports.report import PAGE, report
    from momagames.reports.summary import read_summary, summarize
    from momagames.reports.text.terminal_tables import draw_summary

    store, missing = work.store, sum(not work.store.has_run(run) for run in work.all_runs)
    if missing and len(work.runs) < len(work.all_runs):
        hint = f"`momagames bench report {quote(str(store.folder))}` shows what is"
        print_line(f"{missing} runs of the suite are not finished here; {hint}")
        return None
    if not work.due and not every and (store.folder / PAGE).is_file() and (rows := read_summary(store)):
        console().print(draw_summary(rows))
        return ""
    own = work.suite.experiments[0].games[0].origin.allows_all  # the results are those of the user's suite
    screen = console()

    def show(made: Report) -> None:
        screen.print(made.table(every=True) if every else draw_summary(summarize(made.panels, made.overview)))

    with screen.status("comparing") as status:
        return report(store.folder, get_command_line(), progress=status.update, allow_code=own, on_data=show).page_error


def _print_page(page: Path, problem: str, open: bool) -> None:
    """Print the path of the page, and open it in a browser. Raises InvalidFile if it could not be written."""
    import webbrowser

    from momagames.errors import InvalidFile

    if problem:
        raise InvalidFile(problem)
    console().print(f"page: {page}", soft_wrap=True)
    if open:
        webbrowser.open(page.resolve().as_uri())


def _label_outcome(outcome: Outcome) -> str:
    """Return the label of a run that has ended."""
    return f"{outcome.run.method.name} seed {outcome.run.seed}" + (" failed" if outcome.error else "")


def _print_costs(work: Work) -> None:
    """Print the due runs, with time and steps estimated from finished runs."""
    from momagames.benchmark.store.costs import describe_cost
    from momagames.reports.data.panels import short_name

    timings, screen, due = _load_timings(work.store.folder), console(), {run.digest for run in work.due}
    for run in work.runs:
        name = f"{short_name(run.game.make_game())}  {_format_choice(run.method.name, run.method.own_options)}  seed {run.seed}"
        if run.digest in due:
            cost = describe_cost(timings.estimate([run]), 1)
            screen.print(f"due       {name}  (time: {cost['time']}, steps: {cost['steps']})", soft_wrap=True)
        else:
            screen.print(f"finished  {name}", style="dim", soft_wrap=True)
    screen.print(f"{count(len(work.runs), 'run')}, {len(work.due)} due")
    if work.due:
        cost = describe_cost(timings.estimate(work.due), len(work.due))
        screen.print(f"time on one core: {cost['time']}; environment steps: {cost['steps']}")


def _load_timings(folder: Path) -> Timings:
    """Return timings of this directory, and of its siblings in the default results directory."""
    from momagames.benchmark.store.costs import Timings
    from momagames.benchmark.store.store import Store

    beside = sorted(folder.parent.glob("*/suite.json")) if folder.parent == RESULTS else []
    return Timings(Store(one) for one in dict.fromkeys([folder, *(path.parent for path in beside)]))


# -------------------------------------------------------------------------------------------------------------- results


@bench.command("status")
def status(folder: Folder, as_json: AsJson = False, allow_code: AllowCode = False) -> None:
    """Show the progress of a suite, its failures, and the remaining time."""
    from momagames.benchmark.store.status import read_status

    found, screen = read_status(folder), console()
    _print_notes(folder)
    if as_json:
        print_json(_describe_status(found))
        return
    screen.print(f"suite {found.suite.name}, momagames {found.version}")
    screen.print(_make_status_table(found))
    for run, error in found.errors:
        screen.print(f"failed: {run.folder}: {error}", style="red", soft_wrap=True)
    if found.running:
        screen.print(f"in progress: {found.running}")


def _describe_status(found: Status) -> dict[str, Any]:
    """Return the progress of a suite as plain data."""
    return {
        "suite": found.suite.name,
        "version": found.version,
        "methods": [asdict(line) for line in found.lines],
        "failed": [{"run": run.folder, "error": error} for run, error in found.errors],
        "running": found.running,
    }


def _make_status_table(found: Status) -> Any:
    from momagames.benchmark.store.costs import describe_cost, format_duration

    listing = table("experiment", "method", numbers=["finished", "failed", "due", "time used", "left, on one core"])
    for line in found.lines:
        runs = line.failed + line.pending
        left = describe_cost(line.remaining, runs)["time"] if runs else ""
        counts = (str(line.finished), str(line.failed or ""), str(line.pending or ""))
        listing.add_row(line.experiment, line.method, *counts, format_duration(line.seconds), left)
    return listing


@bench.command("check")
def check_results(
    folder: Folder,
    discard: Annotated[
        bool, typer.Option("--discard", help="Move damaged runs to the folder `failed`; `bench resume` runs them again.")
    ] = False,
) -> None:
    """Check the stored files of every finished run against their checksums."""
    from momagames.benchmark.store.check import check_store
    from momagames.benchmark.store.store import Store

    store, screen = Store(folder), console()
    store.read_suite()
    with progress(screen, len(store.run_directories())) as advance:
        found = check_store(store, discard, advance)
    for problem in found.problems:
        screen.print(problem, style="red", soft_wrap=True)
    screen.print(f"{count(found.runs, 'run')} checked, {len(found.damaged)} damaged")
    if found.damaged and not discard:
        name = quote(str(folder))
        line = f"to run them again: momagames bench check {name} --discard, then momagames bench resume {name}"
        screen.print(line, soft_wrap=True)
    if found.problems:
        raise typer.Exit(FAILED)


@bench.command("report")
def report_results(
    folder: Folder,
    every: Every = False,
    open: Open = False,
    figures: Annotated[
        Path | None, typer.Option(help="Directory for figures for papers, as SVG and PNG (extra `figures`).")
    ] = None,
    latex: Annotated[Path | None, typer.Option(help="File for the tables in LaTeX (booktabs).", metavar="FILE")] = None,
    objective: Annotated[
        list[str] | None, typer.Option(help="Figures of fronts of this objective and others that are named [all]; repeat it.")
    ] = None,
    indicator: Annotated[list[str] | None, typer.Option(help="Indicator of tables in LaTeX [all]; may be repeated.")] = None,
    replays: Annotated[bool, typer.Option("--replays/--no-replays", help="Replays on the page.")] = True,
    allow_code: AllowCode = False,
) -> None:
    """Print the tables of a results directory and write its page again."""
    from momagames.reports import report

    if figures:
        from momagames.reports.figures.paper_figures import check_matplotlib, take_objectives, write_figures

        check_matplotlib()  # before the work
    screen = console()

    def print_tables(found: Any) -> None:
        if figures and objective:
            take_objectives(found, objective)  # raises for objectives that there are not
        screen.print(found.table(every))

    _print_notes(folder)
    with screen.status("comparing") as status:
        made = report(folder, get_command_line(), replays, status.update, on_data=print_tables)
    _print_page(made.page, made.page_error, open)
    if figures:
        files = write_figures(made, figures, objectives=objective or ())
        screen.print(f"figures: {count(len(files), 'file')} in {figures}", soft_wrap=True)
    if latex:
        from momagames.reports.text.latex_tables import write_latex

        write_latex(made, latex, every, indicator or ())
        screen.print(f"LaTeX tables: {latex}", soft_wrap=True)


@bench.command("compare")
def compare(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER FOLDER...", help="Results of the same games and methods.")],
    allow_code: AllowCode = False,
) -> None:
    """Compare results directories: the same games and methods with other code or on other machines."""
    from momagames.benchmark.store.store import Store
    from momagames.reports.data.results_comparison import compare_results

    comparisons, screen = compare_results(folders), console()
    _print_notes(*folders)
    for letter, folder in zip(LETTERS, folders, strict=False):
        screen.print(f"{letter}: {folder} (momagames {Store(folder).read_version()})", soft_wrap=True)
    for comparison in comparisons:
        seeds = len(comparison.seeds)
        print_heading(screen, f"\n{comparison.title}: {comparison.method}")
        screen.print(_make_comparison_table(comparison))
        line = f"{count(seeds, 'seed')} in common; reference front: {comparison.reference}"
        screen.print(line, style="dim", soft_wrap=True)
    screen.print("best known: the points of all these directories, or those of the reference set in brackets", style="dim")


def _make_comparison_table(found: Comparison) -> Any:
    letters = LETTERS[: len(found.scores)]
    listing = table("indicator", numbers=[*letters, *(f"{letter} - A" for letter in letters[1:])])
    for name, indicator in found.indicators.items():
        scores = [_format_interval(one[name].interval) for one in found.scores]
        listing.add_row(indicator.heading, *scores, *(_format_interval(one[name], "+.3g") for one in found.differences))
    return listing


def _format_interval(interval: Any, form: str = ".4g") -> str:
    from momagames.reports.text.labels import format_bounds

    return f"{interval.value:{form}}\n{format_bounds(interval, form)}".rstrip()


@bench.command("merge")
def merge(
    folders: Annotated[list[Path], typer.Argument(help="Results of one suite, such as its shards.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Results directory to merge into.")],
) -> None:
    """Merge results directories of one suite."""
    from momagames.benchmark.store.merge import merge_results
    from momagames.benchmark.store.store import Store

    with progress(console(), sum(len(Store(folder).run_directories()) for folder in folders)) as advance:
        done = merge_results(folders, out, advance)
    print_line(f"{count(done.copied, 'run')} copied, {done.equal} already there, {done.failed} failed; into {out}")


@bench.command("export")
def export(
    folder: Folder,
    file: Annotated[Path, typer.Option("--out", "-o", help="Output file.")],
    csv: Annotated[bool, typer.Option("--csv", help="CSV.")] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="Parquet (extra `analysis`).")] = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="JSON Lines.")] = False,
    allow_code: AllowCode = False,
) -> None:
    """Write all rows as one flat table: a line for each plan or episode, a column for each objective."""
    from momagames.benchmark.store.export import export
    from momagames.errors import InvalidParameter

    chosen = [name for name, given in (("csv", csv), ("parquet", parquet), ("jsonl", jsonl)) if given]
    if len(chosen) != 1:
        raise InvalidParameter("choose one of --csv, --parquet and --jsonl")
    _print_notes(folder)
    print_line(f"{count(export(folder, file, chosen[0]), 'row')}: {file}")


@bench.command("pack")
def pack(folder: Folder, allow_code: AllowCode = False) -> None:
    """Pack the rows of all finished runs into one Parquet file (extra `analysis`); every command reads them there."""
    from momagames.benchmark.store.packing import pack

    done = pack(folder)
    print(f"{count(done.runs, 'run')} packed; all rows take {done.after:,} bytes, {done.before:,} before")


@bench.command("archive")
def archive(
    folder: Folder,
    file: Annotated[Path, typer.Option("--out", "-o", help="Archive; runs that it has already and the directory lacks stay.")],
    thinned: Annotated[bool, typer.Option("--thinned", help="Leave out what reports do not need.")] = False,
    new_suite: Annotated[bool, typer.Option("--new-suite", help="Drop archived runs that the suite no longer has.")] = False,
    allow_code: AllowCode = False,
) -> None:
    """Archive the finished runs of a results directory as one small file (extra `analysis`)."""
    from momagames.benchmark.store.archive_file import pack_archive

    for line in pack_archive(folder, file, thinned, new_suite).describe():
        print_line(line)
    print_line(f"{file}: {file.stat().st_size:,} bytes")
