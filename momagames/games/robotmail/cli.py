"""The commands `momagames layout`: check, show and make layouts of MO-RoboticMail."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from momagames.games.robotmail.layouts.layout import Cell, Layout

WRONG_LAYOUT = 1  # exit code
DIM = "bright_black"
# what stands for a cell, its style, and what it is; a receiver's number takes the place of the 5
SIGNS = {
    "w": (":", "", "robots start here"),
    "g": (".", DIM, "plain"),
    "gr": ("m", "bold green", "mail"),
    "y": ("=5", "bold yellow", "receiver of mail 5"),
    "b": ("++", "bold blue", "charger"),
    "r": ("###", "red", "wall"),
}
NARROW = "'"

layout = typer.Typer(help="Check, show and make layouts of MO-RoboticMail.", no_args_is_help=True)


@layout.command()
def check(
    files: Annotated[list[str], typer.Argument(metavar="COLORS TARGETS...", help="Pairs of CSV files, or the stems of pairs.")],
) -> None:
    """Report the problems of layout files and their places; the exit code is 1 if there are any."""
    from momagames.errors import InvalidLayout
    from momagames.games.robotmail.layouts import loader

    sources, wrong = paired(files), 0
    for source in sources:
        try:
            found = loader.problems(source)
        except InvalidLayout as error:
            found = [str(error)]
        print("\n".join(found) or f"{source if isinstance(source, str) else ', '.join(source)}: fine")
        wrong += bool(found)
    if wrong:
        print(f"momagames: {wrong} of {len(sources)} layouts cannot be played", file=sys.stderr)
        raise typer.Exit(WRONG_LAYOUT)


@layout.command()
def show(
    source: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME|random|STEM|COLORS TARGETS]", help="What to show [a list of the package's layouts]."),
    ] = None,
) -> None:
    """Show layouts in colors with a legend; without arguments, list the packaged layouts."""
    from momagames.games.robotmail.layouts import loader

    if not source:
        listed()
    for each in paired(source or []):
        print_layout(loader.load(each), each if isinstance(each, str) else ", ".join(each))


@layout.command()
def generate(
    seed: Annotated[int, typer.Option(help="The same seed and options give the same layout.")] = 0,
    width: Annotated[int, typer.Option(help="Columns, 4 to 24.")] = 9,
    height: Annotated[int, typer.Option(help="Rows, 4 to 24.")] = 9,
    density: Annotated[float, typer.Option(help="Share of the cells that are walls, 0 to 0.2.")] = 0.05,
    receivers: Annotated[int | None, typer.Option(help="Receivers, 1 to 63 [as suits the length of the edge].")] = None,
    greens: Annotated[int | None, typer.Option(help="Cells with mails, 1 to 64 [as suits the size].")] = None,
    chargers: Annotated[int | None, typer.Option(help="Chargers, 0 to 64 [as suits the size].")] = None,
    white: Annotated[float, typer.Option(help="Share of the cells that the start room takes, 0.05 to 0.6.")] = 0.3,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="STEM", help="Write STEM_colors.csv and STEM_targets.csv [show it].")
    ] = None,
) -> None:
    """Generate a random layout on which every robot can reach all cells."""
    from momagames.errors import InvalidFile
    from momagames.games.robotmail.layouts.generator import generate as make
    from momagames.games.robotmail.layouts.loader import ENDINGS

    made = make(seed, width, height, density, receivers, greens, chargers, white)
    if out is None:
        print_layout(made, f"seed {seed}")
        return
    for ending, lines in zip(ENDINGS, made.data.values(), strict=True):
        try:
            Path(out + ending).write_text("\n".join(lines) + "\n", encoding="utf-8")
        except OSError as error:
            raise InvalidFile(f"{out + ending} cannot be written ({error.strerror})") from error


def paired(files: list[str]) -> list[str | tuple[str, str]]:
    """Group the arguments: two consecutive CSV files form a pair; names and stems stand alone."""
    sources: list[str | tuple[str, str]] = []
    left = list(files)
    while left:
        first = left.pop(0)
        both = bool(left) and first.endswith(".csv") and left[0].endswith(".csv")
        sources.append((first, left.pop(0)) if both else first)
    return sources


# -------------------------------------------------------------------------------------------------------------- showing


def listed() -> None:
    """Print a line for each packaged layout."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from momagames.games.robotmail.layouts import loader

    table = Table("name", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("size", "receivers", "mails", "chargers", "walls", "robots at most"):
        table.add_column(column, justify="right")
    for name in loader.NAMES:
        each = loader.load(name)
        counts = [str(len(each.cells(code))) for code in ("y", "gr", "b", "r")]
        table.add_row(name, f"{each.width} x {each.height}", *counts, str(most_robots(each)))
    Console(highlight=False).print(table)


def print_layout(found: Layout, name: str) -> None:
    """Print a layout: its counts, its board in colors, and a legend."""
    from rich.console import Console

    console = Console(highlight=False)
    counts = [many(len(found.cells(code)), word) for code, word in (("gr", "mail"), ("b", "charger"), ("r", "wall"))]
    console.print(
        f"{name}  {found.width} x {found.height} cells, at most {many(most_robots(found), 'robot')}",
        markup=False,
        soft_wrap=True,
    )
    console.print(f"{many(len(found.cells('y')), 'receiver')}, {', '.join(counts)}", soft_wrap=True)
    console.print(board(found), soft_wrap=True)
    console.print(legend(found), soft_wrap=True)


def many(count: int, word: str) -> str:
    return f"{count} {word}" + "s" * (count != 1)


def most_robots(found: Layout) -> int:
    from momagames.games.robotmail.rules.state import SEATS

    return min(SEATS, len(found.cells("w")))


def board(found: Layout) -> Any:
    """The cells, four characters each, with the numbers of columns and rows."""
    from rich.text import Text

    text = Text("   " + "".join(f"{x:<4}" for x in range(found.width)).rstrip(), DIM)
    for y in range(found.height):
        text.append(f"\n{y:>2} ", DIM)
        for x in range(found.width):
            sign, style = symbol(found, (x, y))
            text.append(sign, style)
            text.append(" " * (4 - len(sign)) if x < found.width - 1 else "")
    return text


def symbol(found: Layout, cell: Cell) -> tuple[str, str]:
    """Return the symbol of a cell, and its style."""
    color, target = found.color(cell), found.target(cell)
    sign, style, _ = SIGNS[color]
    if color == "y":
        return f"={target}", style
    if color in ("w", "g") and cell in found.narrow:
        sign = NARROW
    return (f"{sign}{target}" if target and len(sign) == 1 else sign), style


def legend(found: Layout) -> Any:
    """Return the legend of the symbols in this layout."""
    from rich.text import Text

    text = Text()
    for code, (sign, style, meaning) in SIGNS.items():
        if found.cells(code):
            text.append(sign, style).append(f" {meaning}   ", DIM)
    if any(found.color(cell) in ("w", "g") for cell in found.narrow):
        text.append(NARROW).append(" narrow   ", DIM)
    if stray(found):
        text.append("5", DIM).append(" opens narrow cells beside it to mail 5", DIM)
    text.rstrip()
    return text


def stray(found: Layout) -> bool:
    """Return whether a cell other than a receiver has a number."""
    return any(
        target and color != "y"
        for colors, targets in zip(found.colors, found.targets, strict=True)
        for color, target in zip(colors, targets, strict=True)
    )
