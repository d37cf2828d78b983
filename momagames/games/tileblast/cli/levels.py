"""The commands `momagames level`: check, show and make levels of MO-TileBlast."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from momagames.games.tileblast.levels.loader import Level

WRONG_LEVEL = 1  # exit code
STYLES = ("", "red", "blue", "yellow", "dark_orange", "magenta", "hot_pink")  # by color code
NO_COLOR = "bold"
DIM = "bright_black"

level = typer.Typer(help="Check, show and make levels of MO-TileBlast.", no_args_is_help=True)


@level.command()
def check(files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Level files, YAML or JSON.")]) -> None:
    """Say what is wrong with level files, and where; the exit code is 1 if anything is."""
    from momagames.errors import InvalidLevel
    from momagames.games.tileblast.levels import loader

    wrong = 0
    for file in files:
        try:
            found = [f"{file}: {problem}" for problem in loader.problems(file)]
        except InvalidLevel as error:
            found = [str(error)]
        print("\n".join(found) or f"{file}: fine")
        wrong += bool(found)
    if wrong:
        print(f"momagames: {wrong} of {len(files)} files cannot be played", file=sys.stderr)
        raise typer.Exit(WRONG_LEVEL)


@level.command()
def show(source: Annotated[str, typer.Argument(metavar="FILE|NUMBER", help="A level file, or 1 to 12.")]) -> None:
    """Show a level: its goals, its board in colors, what the characters mean."""
    from rich.console import Console

    from momagames.games.tileblast.levels import loader

    shown = loader.load(int(source) if source.isdecimal() else source)
    console = Console(highlight=False)
    console.print(f"[bold]{shown.title}[/bold]  level {shown.id}, {shown.moves} moves", soft_wrap=True)
    drawn = zip(shown.data["colors"], shown.weights, strict=True)
    even = len(set(shown.weights)) == 1
    console.print("colors: " + ", ".join(name if even else f"{name} ({weight})" for name, weight in drawn), soft_wrap=True)
    console.print(
        "goals:   " + ", ".join(f"{goal['collect']} {goal['amount']}" for goal in shown.data["goals"]), soft_wrap=True
    )
    for feed in shown.data.get("feed", []):
        often = f"{feed['per_mille']} in 1000 new pieces, {feed['max_on_board']} at a time, {feed['total']} in all"
        console.print(f"feed:    {said(feed['piece'])}, {often}", soft_wrap=True)
    console.print(board(shown))
    for sign, thing in shown.data.get("legend", {}).items():
        console.print(f"{sign}  {said(thing)}", markup=False, soft_wrap=True)


@level.command()
def generate(
    seed: Annotated[int, typer.Option(help="The same seed and options give the same level.")],
    mechanics: Annotated[str, typer.Option(help="Kinds and covers, with commas between them.")] = "rock,dandelion",
    difficulty: Annotated[float, typer.Option(help="0 to 1.")] = 0.5,
    width: Annotated[int, typer.Option(help="Columns, 3 to 13.")] = 13,
    height: Annotated[int, typer.Option(help="Rows, 3 to 9.")] = 9,
    colors: Annotated[int, typer.Option(help="Colors that are drawn, 2 to 6.")] = 4,
    moves: Annotated[
        int | None, typer.Option(help="The limit of moves [so that 1 - difficulty of the games of lookahead are won].")
    ] = None,
    played: Annotated[
        bool, typer.Option("--play/--guess", help="Have the level played to choose the limit, or guess it at once.")
    ] = True,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The file [print the level].")] = None,
) -> None:
    """Make a level by chance; without --moves it is played, which shows that it can be won."""
    from momagames.games.tileblast.levels.document import spelled
    from momagames.games.tileblast.levels.generator import calibrate
    from momagames.games.tileblast.levels.generator import generate as make

    names = [name.strip() for name in mechanics.split(",") if name.strip()]
    data = make(seed, width, height, colors, names, difficulty, moves)
    if played and moves is None:
        from momagames.games.tileblast.cli.difficulty import moves_to_win

        data = calibrate(
            data, lambda level, games: moves_to_win(level, "one_step_lookahead", games, cap=level.moves)[0], difficulty
        )
    text = spelled(data)
    if out:
        out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


@level.command()
def rate(
    source: Annotated[str, typer.Argument(metavar="FILE|NUMBER", help="A level file, or 1 to 12.")],
    policy: Annotated[str, typer.Option(help="Who plays: random, contacts or lookahead.")] = "one_step_lookahead",
    runs: Annotated[int, typer.Option(help="Games.", min=1)] = 200,
    seed: Annotated[int, typer.Option(help="Of the first game; game k has this seed + k.")] = 1000,
    cap: Annotated[int, typer.Option(help="Moves after which a game is given up.", min=1)] = 150,
) -> None:
    """Have a level played many times: how often it is won within its moves, and how many moves it takes without that limit."""
    from momagames.games.tileblast.cli.difficulty import rate as rating

    found = rating(int(source) if source.isdecimal() else source, policy, runs, seed, cap)
    late = f"not within {cap}"
    print(f"won within {found.limit} moves: {found.win_rate:.3f} +- {found.error:.3f} of {runs} games of {policy}")
    print(f"moves to win: {found.p5 or late} for the best 5 %, {found.median or late} in the median")
    print(f"games without any tap left: {found.dead}")


def board(shown: Level) -> Any:
    """The layout, each piece in its color."""
    from rich.text import Text

    from momagames.games.tileblast.rules.state import HEIGHT, WIDTH

    styles = {cell: STYLES[thing.color] or NO_COLOR for at, thing in shown.things.items() for cell in thing.cells(at)}
    text = Text()
    for row, line in enumerate(shown.data["layout"].splitlines()):
        for x, sign in enumerate(line):
            text.append(sign, DIM if sign in "#._" else styles[x + WIDTH * (HEIGHT - 1 - row)])
            text.append(" " if x < WIDTH - 1 else "\n" * (row < HEIGHT - 1))
    return text


def said(thing: Any) -> str:
    """A thing of a legend in words."""
    if isinstance(thing, str):
        return thing
    parts = {**thing, "colors": ", ".join(f"{name} {n}" for name, n in thing.get("colors", {}).items())}
    return " ".join(str(part) for part in parts.values() if part)
