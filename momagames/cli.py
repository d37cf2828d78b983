"""The command `momagames`. What a command needs is imported when it runs, so that --help is fast."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momagames.cli_layout import layout
from momagames.cli_level import level
from momagames.cli_serve import serve

if TYPE_CHECKING:
    from momagames.contract import Game
    from momagames.experiments import Match
    from momagames.experiments.executors import Outcome

WRONG, FAILED, INTERRUPTED = 2, 1, 130  # exit codes: the user's mistake; a run that failed; Ctrl-C

app = typer.Typer(
    help="A benchmark of multi-objective, multi-agent games.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
bench = typer.Typer(help="Run benchmarks and report on them.", no_args_is_help=True)
app.add_typer(bench, name="bench")
app.add_typer(layout, name="layout")
app.add_typer(level, name="level")
app.add_typer(serve, name="serve")

Params = Annotated[list[str] | None, typer.Option("--param", "-p", metavar="NAME=VALUE", help="A parameter of the game.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the results [momagames-results/SUITE].")]
Workers = Annotated[int | None, typer.Option("--workers", "-w", help="Processes [the cores that there are].", min=1)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would run.")]


def main() -> None:
    """The entry point: errors of ours end in one line and an exit code (so does Ctrl-C, by Typer)."""
    from momagames.errors import MomagamesError

    try:
        app()
    except MomagamesError as error:
        print(f"momagames: {error}", file=sys.stderr)
        sys.exit(WRONG)
    except BrokenPipeError:  # the reader of our output has gone, as with `| head`
        sys.stderr.close()
        sys.exit(0)


def parameters(pairs: list[str]) -> dict[str, Any]:
    """["board_width=5"] -> {"board_width": 5}: values are YAML; BadParameter for what has no '='."""
    import yaml

    from momagames.errors import BadParameter

    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise BadParameter(f"--param {pair!r} is not of the form name=value, such as board_width=5")
        try:
            found[name] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise BadParameter(f"--param {pair!r}: {' '.join(str(error).split())}") from None
    return found


# ---------------------------------------------------------------------------------------------------------------- games


@app.command("list")
def list_games() -> None:
    """List the games."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Column, Table

    from momagames import registry

    table = Table(
        Column("id", no_wrap=True, min_width=max(map(len, registry.ids()))),
        "agents",
        "objectives",
        "dynamics",
        "chance",
        "utility",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for id in registry.ids():
        game = registry.spec(id)
        names = ", ".join(goal.name for goal in game.objectives)
        table.add_row(id, str(len(game.agents)), names, game.dynamics, game.chance, game.utility)
    _console().print(table)


@app.command()
def info(id: Annotated[str, typer.Argument(help="Such as mo-samegame-v0.")], param: Params = None) -> None:
    """Say what is declared about a game: objectives, spaces, versions, parameters, source."""
    from momagames import registry

    game = registry.spec(id, **parameters(param or []))
    console = _console()
    console.print(f"[bold]{game.title}[/bold]  {game.id}")
    console.print(registry.spelled(game.id, game.params), style="dim")
    console.print(_facts(game))
    console.print(_objectives(game))
    console.print(_parameters(game))


@app.command()
def play(
    id: Annotated[str, typer.Argument(help="Such as mo-breakthrough-v0.")],
    opponent: Annotated[str, typer.Option(help="The policy that plays the other agents.")] = "random",
    agent: Annotated[str | None, typer.Option(help="The agent that you play [the first].")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the game that is dealt.")] = None,
    window: Annotated[
        bool | None,
        typer.Option("--window/--terminal", help="Where to play [a window where there is a screen and the game suits it]."),
    ] = None,
    rate: Annotated[float, typer.Option(help="Steps per second in a window; 0: a step for each key.")] = 4.0,
    param: Params = None,
) -> None:
    """Play a game, in a window or in the terminal."""
    from momagames import keyboard, registry, terminal
    from momagames.errors import BadCall, MissingExtra

    given = parameters(param or [])
    suits = keyboard.suits(registry.spec(id, **given)) and sys.stdin.isatty()
    if window or (window is None and suits):
        try:
            board = keyboard.sit(id, opponent, seed, agent, rate, **given)
        except (BadCall, MissingExtra) as error:
            if window:
                raise
            print(f"momagames: {error}; you play in the terminal", file=sys.stderr)
        else:
            board.run()
            _console().print(board.summary(), highlight=False, markup=False)
            return
    terminal.play(id, opponent, seed=seed, human=agent, **given)


@app.command()
def match(
    id: Annotated[str, typer.Argument(help="Such as mo-pommerman-team-v0.")],
    players: Annotated[
        list[str], typer.Argument(help="Who meets: names of policies, and Python as module:function or module:class.")
    ],
    games: Annotated[int, typer.Option(help="Bouts. Players change sides from one to the next.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="Of the deals and of everybody's luck.")] = 0,
    reruns: Annotated[
        int, typer.Option(help="Games that follow a tie at most: one more, then with collapsing walls; 0: none.", min=0)
    ] = 10,
    time_limit: Annotated[
        float | None, typer.Option(help="Milliseconds for each move of a Python player; 100 in competitions.")
    ] = None,
    file: Annotated[Path | None, typer.Option("--json", help="Write everything to this file.")] = None,
    param: Params = None,
) -> None:
    """Let policies play against each other; a tie is played again."""
    import json

    from momagames.experiments import match as meet

    given = parameters(param or [])
    sys.path.insert(0, "")  # players may lie in the current folder
    console = _console()
    with _progress(console, games) as moved:
        result = meet(
            id, players, games, seed, max_reruns=reruns, time_limit=time_limit, tell=lambda over: moved("playing"), **given
        )
    console.print(_match_table(result))
    console.print(_match_line(result), highlight=False, style="dim", soft_wrap=True)
    if file is not None:
        file.write_text(json.dumps(result.to_json(), indent=1) + "\n", encoding="utf-8")
        console.print(f"results: {file}", soft_wrap=True)


def _match_table(result: Match) -> Any:
    """A line for each player, and one for ties."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table("player", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    clock = ["late"] if result.time_limit is not None else []
    for name in ("wins", "share", *clock, *(goal.name for goal in result.game.objectives)):
        table.add_column(name, justify="right")
    for p, player in enumerate(result.players):
        late = [str(result.late[p])] if clock else []
        returns = [f"{value:.3g}" for value in result.returns[p]]
        table.add_row(player, str(result.wins[p]), f"{result.wins[p] / len(result.bouts):.1%}", *late, *returns)
    table.add_row("(nobody)", str(result.ties), f"{result.ties / len(result.bouts):.1%}")
    return table


def _match_line(result: Match) -> str:
    """What was played, so that it can be played again."""
    import momagames
    from momagames import registry

    played = f"{len(result.bouts)} bouts, {result.reruns} reruns, seed {result.seed}, {result.seconds:.1f} s"
    limit = "" if result.time_limit is None else f", {result.time_limit:g} ms a move"
    return f"{played}{limit}; momagames {momagames.__version__}; {registry.spelled(result.game.id, result.game.params)}"


def _facts(game: Game) -> Any:
    from rich.table import Table

    from momagames import registry

    name, _, _ = game.id.rpartition("-v")
    size = f"Discrete({game.actions[0]})" if len(game.actions) == 1 else f"MultiDiscrete({list(game.actions)})"
    seen = "; ".join(f"{f.name} {f.dtype}{list(f.shape)} in {f.low:g}..{f.high:g}" for f in game.fields)
    teams = "each its own" if len(set(game.teams)) == len(game.agents) else str(list(game.teams))
    table = Table.grid(padding=(0, 2))
    for left, right in (
        ("agents", f"{', '.join(game.agents)} (teams: {teams})"),
        ("kind", f"{game.dynamics}, chance: {game.chance}, {game.information} information, utility: {game.utility}"),
        ("actions", f"{size}, legal ones in the action mask"),
        ("observation", seen),
        ("longest episode", f"{game.max_plies} plies"),
        ("reference point", "(" + ", ".join(f"{v:g}" for v in game.reference_point) + ")"),
        ("versions", ", ".join(i for i in registry.ids() if i.rpartition("-v")[0] == name)),
        ("source", game.source),
    ):
        table.add_row(f"[dim]{left}[/dim]", right)
    return table


def _objectives(game: Game) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table("objective", "unit", "one step", "an episode", "SPEC", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for goal in game.objectives:
        step, episode = f"{goal.low:g}..{goal.high:g}", f"{goal.return_low:g}..{goal.return_high:g}"
        table.add_row(goal.name, goal.unit, step, episode, goal.source)
    return table


def _parameters(game: Game) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table("parameter", "value", "default", "allowed", "meaning", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for p in game.parameters:
        allowed = "True or False" if isinstance(p.default, bool) else p.allowed
        table.add_row(p.name, repr(game.params.get(p.name, p.default)), repr(p.default), allowed, p.doc)
    return table


# ------------------------------------------------------------------------------------------------------------ benchmarks


@bench.command("list")
def list_suites() -> None:
    """List the suites that come with the package."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from momagames.experiments import load_suite, suites

    table = Table("suite", "runs", "description", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name, path in suites().items():
        suite = load_suite(path)
        table.add_row(name, str(len(suite.runs())), suite.description)
    _console().print(table)


@bench.command()
def quick(out: Out = None, workers: Workers = None, dry_run: DryRun = False) -> None:
    """Run the suite `quick`: about a minute, and a first table and page."""
    _bench("quick", out, workers, dry_run)


@bench.command()
def run(
    suite: Annotated[str, typer.Argument(help="A YAML file, or the name of a suite (see `momagames bench list`).")],
    out: Out = None,
    workers: Workers = None,
    dry_run: DryRun = False,
) -> None:
    """Run a suite. What is finished is skipped; interrupt it as you like and start again."""
    _bench(suite, out, workers, dry_run)


@bench.command("report")
def report_on(
    folder: Annotated[Path, typer.Argument(help="Where `momagames bench run` put its results.")],
    every: Annotated[bool, typer.Option("--every", help="Every comparison, not only the primary ones.")] = False,
) -> None:
    """Print the tables of a folder of results and write its page again."""
    from momagames.experiments import report

    made = report(folder, _command())
    console = _console()
    console.print(made.table(every))
    console.print(f"page: {made.page}", soft_wrap=True)


def _bench(source: str, out: Path | None, workers: int | None, dry_run: bool) -> None:
    from momagames.experiments import load_suite, report, run_suite
    from momagames.experiments.executors import cores
    from momagames.experiments.store import Store

    suite = load_suite(source)
    folder = out or Path("momagames-results") / suite.name
    store, console = Store(folder), _console()
    runs = suite.runs()
    if dry_run:
        for one in runs:
            state = "finished" if store.has(one) else "due"
            console.print(f"{state:8}  {one.method.name:8} seed {one.seed:<4} {one.canonical}", highlight=False, soft_wrap=True)
        console.print(f"{len(runs)} runs, {sum(not store.has(one) for one in runs)} due")
        return
    due = sum(not store.has(one) for one in runs)
    workers = min(workers or cores(), max(1, due))
    console.print(f"suite {suite.name}: {len(runs)} runs, {len(runs) - due} finished before, {workers} workers, into {folder}")
    if due and not store.has_suite():
        console.print("the first runs compile the games; later ones find the code on disk", style="dim")
    try:
        with _progress(console, due) as moved:
            results = run_suite(suite, folder, workers, lambda outcome: moved(_ended(outcome)))
    except KeyboardInterrupt:
        print("momagames: interrupted; the same command goes on where this one stopped", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    made = report(folder, _command())
    console.print(made.table())
    for outcome in results.failed:
        console.print(f"failed: {outcome.run.folder}: {outcome.error}", style="red", markup=False, soft_wrap=True)
    console.print(f"{len(results.finished)} runs in {results.seconds:.0f} s, {len(results.failed)} failed", highlight=False)
    console.print(f"page: {made.page}", soft_wrap=True)
    if results.failed:
        raise typer.Exit(FAILED)


@contextmanager
def _progress(console: Any, due: int) -> Iterator[Any]:
    """A bar with the time that is left; yields what is to be called, with a word on it, whenever one of `due` is over."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("compiling", total=due)

        def moved(said: str) -> None:
            bar.update(task, advance=1, description=said)

        yield moved


def _ended(outcome: Outcome) -> str:
    """A word on a run that is over."""
    return f"{outcome.run.method.name} seed {outcome.run.seed}" + (" failed" if outcome.error else "")


def _console() -> Any:
    from rich.console import Console

    return Console()


def _command() -> str:
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
