"""Commands `momagames level`: check, show, generate and rate levels of MO-TileBlast."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momagames.cli.console import print_problems
from momagames.wording import count

if TYPE_CHECKING:
    from momagames.games.tileblast.levels.loader import Level

MAX_DIGITS = 9  # of the number of a level
STYLES = ("", "red", "blue", "yellow", "dark_orange", "magenta", "hot_pink")  # by color code
NO_COLOR = "bold"
DIM = "bright_black"

level = typer.Typer(help="Check, show, generate and rate levels of MO-TileBlast.", no_args_is_help=True)


@level.command(epilog="Example: momagames level check mine.yaml")
def check(files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Level files, YAML or JSON.")]) -> None:
    """Check level files and list their errors; exit code 1 if there are any."""
    from momagames.games.tileblast.levels import loader

    def list_problems(file: Path) -> list[str]:
        return [f"{file}: {problem}" for problem in loader.list_problems(file)]

    print_problems([(str(file), partial(list_problems, file)) for file in files], "valid", "files are invalid")


@level.command(epilog="Example: momagames level show 4")
def show(
    source: Annotated[str, typer.Argument(metavar="FILE|NUMBER", help="Level file, or number 1 to 12.")],
) -> None:
    """Show a level: its goals, its board in colors, its legend."""
    from momagames.cli.console import console, print_heading
    from momagames.games.tileblast.levels import loader

    level, screen = loader.load(read_source(source)), console()
    print_heading(screen, level.title, f"  level {level.id}, {count(level.moves, 'move')}")
    colors = zip(level.data["colors"], level.weights, strict=True)
    is_uniform = len(set(level.weights)) == 1
    screen.print(
        "colors: " + ", ".join(name if is_uniform else f"{name} ({weight})" for name, weight in colors), soft_wrap=True
    )
    screen.print("goals:   " + ", ".join(f"{goal['collect']} {goal['amount']}" for goal in level.data["goals"]), soft_wrap=True)
    for feed in level.data.get("feed", []):
        rates = f"{feed['per_mille']} in 1000 new pieces, {feed['max_on_board']} at a time, {feed['total']} in all"
        screen.print(f"feed:    {format_piece(feed['piece'])}, {rates}", soft_wrap=True)
    screen.print(format_board(level))
    for sign, piece in level.data.get("legend", {}).items():
        screen.print(f"{sign}  {format_piece(piece)}", soft_wrap=True)


@level.command(epilog="Example: momagames level generate --seed 1 --out mine.yaml")
def generate(
    seed: Annotated[int, typer.Option(help="Random seed.")],
    mechanics: Annotated[str, typer.Option(help="Kinds and covers, separated by commas.")] = "rock,dandelion",
    difficulty: Annotated[float, typer.Option(help="Difficulty, 0 to 1.")] = 0.5,
    width: Annotated[int, typer.Option(help="Number of columns, 3 to 13.")] = 13,
    height: Annotated[int, typer.Option(help="Number of rows, 3 to 9.")] = 9,
    colors: Annotated[int, typer.Option(help="Number of colors, 2 to 6.")] = 4,
    moves: Annotated[
        int | None,
        typer.Option(help="Limit of moves [measured: a share of 1 - difficulty of the games is won]."),
    ] = None,
    played: Annotated[
        bool, typer.Option("--play/--guess", help="Measure the limit of moves with played games, or estimate it.")
    ] = True,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Output file [standard output].")] = None,
) -> None:
    """Generate a random level. Without --moves its limit of moves is measured with played games, some of which are won."""
    from momagames.files.writing import write_file_atomically
    from momagames.games.tileblast.levels.document import format_level
    from momagames.games.tileblast.levels.generator import calibrate
    from momagames.games.tileblast.levels.generator import generate as make

    names = [name.strip() for name in mechanics.split(",") if name.strip()]
    data = make(seed, width, height, colors, names, difficulty, moves)
    if played and moves is None:
        from momagames.games.tileblast.cli.difficulty import measure_moves_to_win

        data = calibrate(
            data, lambda level, games: measure_moves_to_win(level, "one_step_lookahead", games, cap=level.moves)[0], difficulty
        )
    text = format_level(data)
    if out:
        write_file_atomically(out, text)
    else:
        print(text, end="")


@level.command(epilog="Example: momagames level rate 4")
def rate(
    source: Annotated[str, typer.Argument(metavar="FILE|NUMBER", help="Level file, or number 1 to 12.")],
    policy: Annotated[str, typer.Option(help="Policy: random, greedy_contact or one_step_lookahead.")] = "one_step_lookahead",
    runs: Annotated[int, typer.Option(help="Number of games.", min=1)] = 200,
    seed: Annotated[int, typer.Option(help="Random seed of the first game; game k has seed + k.")] = 1000,
    cap: Annotated[int, typer.Option(help="Largest number of moves of a game.", min=1)] = 150,
) -> None:
    """Rate the difficulty of a level: its win rate within the limit of moves, and the moves to win without a limit."""
    from momagames.games.tileblast.cli.difficulty import rate_level

    rating = rate_level(read_source(source), policy, runs, seed, cap)
    never = f"more than {cap}"
    print(f"won within {rating.limit} moves: {rating.win_rate:.3f} +- {rating.error:.3f} of {runs} games of {policy}")
    print(f"moves to win: {rating.p5 or never} for the best 5 %, {rating.median or never} in the median")
    print(f"games that ended without a valid tap: {rating.dead}")


def read_source(source: str) -> int | str:
    """Return the number of a level, or the path of its file."""
    return int(source) if source.isdecimal() and len(source) <= MAX_DIGITS else source


def format_board(level: Level) -> Any:
    """Return the layout, each piece in its color."""
    from rich.text import Text

    from momagames.games.tileblast.rules.state import HEIGHT, WIDTH

    styles = {cell: STYLES[piece.color] or NO_COLOR for at, piece in level.pieces.items() for cell in piece.cells(at)}
    text = Text()
    for row, line in enumerate(level.data["layout"].splitlines()):
        for x, sign in enumerate(line):
            text.append(sign, DIM if sign in "#._" else styles[x + WIDTH * (HEIGHT - 1 - row)])
            text.append(" " if x < WIDTH - 1 else "\n" * (row < HEIGHT - 1))
    return text


def format_piece(piece: Any) -> str:
    """Return a legend entry as text."""
    if isinstance(piece, str):
        return piece
    parts = {**piece, "colors": ", ".join(f"{name} {n}" for name, n in piece.get("colors", {}).items())}
    return " ".join(str(part) for part in parts.values() if part)
