"""The command `momagames`. What a command needs is imported when it runs, so that --help is fast."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from momagames import registry
from momagames.cli.bench import bench
from momagames.cli.console import (
    INVALID_CALL,
    Params,
    add_working_directory,
    console,
    parse_agent,
    parse_parameters,
    print_line,
    progress,
    table,
)
from momagames.cli.dataset import dataset
from momagames.cli.equilibria import equilibria
from momagames.cli.exact import exact
from momagames.cli.examples import OTHERS, add_examples
from momagames.cli.export_onnx import export_onnx
from momagames.cli.front import front
from momagames.cli.games import info, list_games
from momagames.cli.leaderboard import leaderboard
from momagames.cli.replay import replay
from momagames.cli.train import evaluate, exploit, train
from momagames.cli.warmup import warmup
from momagames.plugins import list_own_frames, load_object, summary_line

if TYPE_CHECKING:
    from momagames.benchmark import Match


class GameCommands(TyperGroup):
    """The commands of the package and, imported when they are called, those that games and other packages register."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *registry.commands()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; for a registered one a stub, which is enough for the list of commands."""
        own = super().get_command(ctx, cmd_name)
        if own is None and (registered := registry.commands().get(cmd_name)) is not None:
            return TyperCommand(cmd_name, help=registered.help, rich_help_panel=OTHERS)
        return own

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and super().get_command(ctx, name) is None:
            command = typer.main.get_group(load_object(registry.commands()[name].app))
            command.name = name
        return name, command, rest


app = typer.Typer(
    cls=GameCommands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # the other one takes [the default] for a tag
)


def _print_version(is_asked: bool) -> None:
    import momagames

    if is_asked:
        print(f"momagames {momagames.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """A benchmark of multi-objective, multi-agent games."""


app.add_typer(bench, name="bench")
app.add_typer(dataset, name="dataset")
app.add_typer(front, name="front")
app.add_typer(leaderboard, name="leaderboard")


def main() -> None:
    """The entry point: errors of ours end in one line and an exit code (so does Ctrl-C, by Typer).

    Errors of the user's own code have the calls of this code, too.
    """
    from momagames.errors import MomagamesError

    try:
        app()
    except MomagamesError as error:
        print_line(f"momagames: {error}", sys.stderr)
        sys.exit(INVALID_CALL)
    except BrokenPipeError:  # the reader of our output has gone, as with `| head`
        sys.stderr.close()
        sys.exit(0)
    except (Exception, SystemExit) as error:
        own = list_own_frames(error)
        if not own:  # a fault of ours, or the end of the command
            raise
        print_line("".join(traceback.format_list(own)).rstrip(), sys.stderr)
        print_line(f"momagames: {summary_line(error)}", sys.stderr)
        sys.exit(INVALID_CALL)


# ---------------------------------------------------------------------------------------------------------------- games


app.command("list")(list_games)
app.command()(info)
app.command()(warmup)
app.command()(exact)
app.command()(equilibria)


@app.command()
def play(
    id: Annotated[str, typer.Argument(help="Id of the environment, see `momagames list`.")],
    opponent: Annotated[
        str,
        typer.Option("--opponent", "--against", help="Policy of the other agents: a name or the path of a checkpoint."),
    ] = "random",
    agent: Annotated[str | None, typer.Option(help="Name or index of the agent that you play [the first].")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed of the start position [a new one].")] = None,
    window: Annotated[
        bool | None,
        typer.Option("--window/--terminal", help="User interface [a window, if there is a screen and the game has one]."),
    ] = None,
    rate: Annotated[float, typer.Option(help="Environment steps per second in a window; 0: one step for each key.")] = 4.0,
    param: Params = None,
) -> None:
    """Play an episode yourself, in a window or in the terminal."""
    add_working_directory()
    from momagames.contract.agents import find_agent_name
    from momagames.errors import InvalidCall, MissingExtra
    from momagames.play import terminal, windowed

    given = parse_parameters(param)
    game = registry.spec(id, **given)
    human = None if agent is None else find_agent_name(game, parse_agent(agent), "--agent")
    suits = windowed.is_playable(game)
    if suits and window is None and not sys.stdin.isatty():
        suits = False
        print_line("momagames: moves are read from stdin, which is no terminal; --window opens a window", sys.stderr)
    if window or (window is None and suits):
        try:
            board = windowed.open_game_window(id, opponent, seed, human, rate, **given)
        except (InvalidCall, MissingExtra) as error:
            if window:
                raise
            print_line(f"momagames: {error}; you play in the terminal", sys.stderr)
        else:
            board.run()
            console().print(board.summary())
            return
    terminal.play(id, opponent, seed=seed, human=human, **given)


@app.command()
def match(
    id: Annotated[str, typer.Argument(help="Id of the environment, see `momagames list`.")],
    players: Annotated[list[str], typer.Argument(help="Policies: names, or your own as module:function or module:class.")],
    games: Annotated[int, typer.Option(help="Number of bouts. Players rotate seats from one to the next.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    reruns: Annotated[
        int,
        typer.Option(
            help="Maximum number of reruns of a tie; the second and later ones follow the tie-break rules of the game.", min=0
        ),
    ] = 10,
    time_limit: Annotated[float | None, typer.Option(help="Milliseconds for each move of a Python policy.")] = None,
    file: Annotated[Path | None, typer.Option("--json", help="File for the results as JSON.")] = None,
    param: Params = None,
) -> None:
    """Play a match between policies. Tied games are replayed."""
    import json

    from momagames.benchmark import match as play_match
    from momagames.files.writing import write_file_atomically

    given = parse_parameters(param)
    add_working_directory()
    screen = console()
    with progress(screen, games) as advance:
        result = play_match(
            id,
            players,
            games,
            seed,
            max_reruns=reruns,
            time_limit=time_limit,
            progress=lambda over: advance("playing"),
            **given,
        )
    screen.print(_make_match_table(result))
    fairness = ", ".join(f"{name} {value:.3f}" for name, value in result.fairness.items())
    screen.print(f"fairness over the agents of a game: {fairness}", style="dim")
    screen.print(_describe_match(result), style="dim")
    screen.print(registry.format_id(result.game.id, result.game.params), style="dim", soft_wrap=True)
    if file is not None:
        write_file_atomically(file, json.dumps(result.to_json(), indent=1) + "\n")
        screen.print(f"results: {file}", soft_wrap=True)


app.command()(replay)
app.command()(train)
app.command("eval")(evaluate)
app.command()(exploit)
app.command("export-onnx")(export_onnx)
add_examples(app)


def _make_match_table(result: Match) -> Any:
    """Return a table with a row for each player, and one for ties."""
    clock = ["late"] if result.time_limit is not None or result.late.any() else []
    listing = table("player", numbers=["wins", "share", *clock, *(objective.name for objective in result.game.objectives)])
    for p, player in enumerate(result.players):
        late = [str(result.late[p])] if clock else []
        returns = [f"{value:.3g}" for value in result.returns[p]]
        listing.add_row(player, str(result.wins[p]), f"{result.wins[p] / len(result.bouts):.1%}", *late, *returns)
    listing.add_row("(tie)", str(result.ties), f"{result.ties / len(result.bouts):.1%}")
    return listing


def _describe_match(result: Match) -> str:
    """Return the settings of a match, with which it can be repeated."""
    import momagames

    played = f"{len(result.bouts)} bouts, {result.reruns} reruns, seed {result.seed}, {result.seconds:.1f} s"
    limit = "" if result.time_limit is None else f", {result.time_limit:g} ms a move"
    return f"{played}{limit}; momagames {momagames.__version__}"
