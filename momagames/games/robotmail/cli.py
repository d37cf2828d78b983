"""Commands `momagames layout`: check, show and generate layouts of MO-RoboticMail."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momagames.cli.console import print_problems
from momagames.wording import count

if TYPE_CHECKING:
    from momagames.games.robotmail.layouts.layout import Cell, Layout

DIM = "bright_black"
# symbol of a cell, its style and its meaning; the number of a receiver replaces the 5
SYMBOLS = {
    "w": (":", "", "robots start here"),
    "g": (".", DIM, "plain"),
    "gr": ("m", "bold green", "mail"),
    "y": ("=5", "bold yellow", "receiver of mail 5"),
    "b": ("++", "bold blue", "charger"),
    "r": ("###", "red", "wall"),
}
NARROW = "'"

layout = typer.Typer(help="Check, show and make layouts of MO-RoboticMail.", no_args_is_help=True)


@layout.command(epilog="Example: momagames layout check mine")
def check(
    files: Annotated[list[str], typer.Argument(metavar="COLORS TARGETS...", help="Pairs of CSV files, or the stems of pairs.")],
) -> None:
    """Report the problems of layout files and their places; the exit code is 1 if there are any."""
    from momagames.games.robotmail.layouts import loader

    checks = [
        (source if isinstance(source, str) else ", ".join(source), partial(loader.list_problems, source))
        for source in group_sources(files)
    ]
    print_problems(checks, "fine", "layouts cannot be played")


@layout.command(epilog="Example: momagames layout show tiny")
def show(
    source: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME|random|STEM|COLORS TARGETS]", help="Layouts to show [a list of the packaged layouts]."),
    ] = None,
) -> None:
    """Show layouts in colors with a legend; without arguments, list the packaged layouts."""
    from momagames.games.robotmail.layouts import loader

    if not source:
        print_layout_list()
    for each in group_sources(source or []):
        print_layout(loader.load(each), each if isinstance(each, str) else ", ".join(each))


@layout.command(epilog="Example: momagames layout generate --seed 1 --out mine")
def generate(
    seed: Annotated[int, typer.Option(help="Random seed; equal seeds and options give equal layouts.")] = 0,
    width: Annotated[int, typer.Option(help="Columns, 4 to 24.")] = 9,
    height: Annotated[int, typer.Option(help="Rows, 4 to 24.")] = 9,
    density: Annotated[float, typer.Option(help="Share of the cells that are walls, 0 to 0.2.")] = 0.05,
    receivers: Annotated[int | None, typer.Option(help="Receivers, 1 to 63 [in proportion to the edge].")] = None,
    greens: Annotated[int | None, typer.Option(help="Cells with mails, 1 to 64 [in proportion to the size].")] = None,
    chargers: Annotated[int | None, typer.Option(help="Chargers, 0 to 64 [in proportion to the size].")] = None,
    white: Annotated[float, typer.Option(help="Share of the cells in the start room, 0.05 to 0.6.")] = 0.3,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="STEM", help="Write STEM_colors.csv and STEM_targets.csv [show it].")
    ] = None,
) -> None:
    """Generate a random layout on which every robot can reach all cells."""
    from momagames.files.writing import write_file_atomically
    from momagames.games.robotmail.layouts.generator import generate as make
    from momagames.games.robotmail.layouts.loader import ENDINGS

    made = make(seed, width, height, density, receivers, greens, chargers, white)
    if out is None:
        print_layout(made, f"seed {seed}")
        return
    for ending, lines in zip(ENDINGS, made.data.values(), strict=True):
        write_file_atomically(Path(out + ending), "\n".join(lines) + "\n")


def group_sources(files: list[str]) -> list[str | tuple[str, str]]:
    """Group the arguments: two consecutive CSV files form a pair; names and stems stand alone."""
    sources: list[str | tuple[str, str]] = []
    left = list(files)
    while left:
        first = left.pop(0)
        both = bool(left) and first.endswith(".csv") and left[0].endswith(".csv")
        sources.append((first, left.pop(0)) if both else first)
    return sources


# -------------------------------------------------------------------------------------------------------------- showing


def print_layout_list() -> None:
    """Print a line for each packaged layout."""
    from momagames.cli.console import console, table
    from momagames.games.robotmail.layouts import loader

    listing = table("name", numbers=["size", "receivers", "mails", "chargers", "walls", "robots at most"])
    for name in loader.NAMES:
        each = loader.load(name)
        counts = [str(len(each.cells(code))) for code in ("y", "gr", "b", "r")]
        listing.add_row(name, f"{each.width} x {each.height}", *counts, str(max_robots(each)))
    console().print(listing)


def print_layout(found: Layout, name: str) -> None:
    """Print a layout: its counts, its board in colors, and a legend."""
    from momagames.cli.console import console

    screen = console()
    counts = [count(len(found.cells(code)), word) for code, word in (("gr", "mail"), ("b", "charger"), ("r", "wall"))]
    robots = f"at most {count(max_robots(found), 'robot')}"
    screen.print(f"{name}  {found.width} x {found.height} cells, {robots}", soft_wrap=True)
    screen.print(f"{count(len(found.cells('y')), 'receiver')}, {', '.join(counts)}", soft_wrap=True)
    screen.print(format_board(found), soft_wrap=True)
    screen.print(format_legend(found), soft_wrap=True)


def max_robots(found: Layout) -> int:
    """Return the largest number of robots that can start on a layout."""
    from momagames.games.robotmail.rules.state import SEATS

    return min(SEATS, len(found.cells("w")))


def format_board(found: Layout) -> Any:
    """Return the cells as text, four characters each, with the numbers of columns and rows."""
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
    sign, style, _ = SYMBOLS[color]
    if color == "y":
        return f"={target}", style
    if color in ("w", "g") and cell in found.narrow:
        sign = NARROW
    return (f"{sign}{target}" if target and len(sign) == 1 else sign), style


def format_legend(found: Layout) -> Any:
    """Return the legend of the symbols in this layout."""
    from rich.text import Text

    text = Text()
    for code, (sign, style, meaning) in SYMBOLS.items():
        if found.cells(code):
            text.append(sign, style).append(f" {meaning}   ", DIM)
    if any(found.color(cell) in ("w", "g") for cell in found.narrow):
        text.append(NARROW).append(" narrow   ", DIM)
    if has_stray_numbers(found):
        text.append("5", DIM).append(" opens narrow cells beside it to mail 5", DIM)
    text.rstrip()
    return text


def has_stray_numbers(found: Layout) -> bool:
    """Return whether a cell other than a receiver has a number."""
    return any(
        target and color != "y"
        for colors, targets in zip(found.colors, found.targets, strict=True)
        for color, target in zip(colors, targets, strict=True)
    )
