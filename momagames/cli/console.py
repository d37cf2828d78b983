"""What several commands need: exit codes, an option, a console, a progress bar."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

Params = Annotated[list[str] | None, typer.Option("--param", "-p", metavar="NAME=VALUE", help="A parameter of the game.")]
WRONG, FAILED, INTERRUPTED = 2, 1, 130  # exit codes: the user's mistake; a run that failed; Ctrl-C


def console() -> Any:
    from rich.console import Console

    return Console()


def see_own_code() -> None:
    """Let Python that commands name as module:name lie in the current folder."""
    if "" not in sys.path:
        sys.path.insert(0, "")


def command() -> str:
    """The command that was given, for those who want to repeat it."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def parameters(pairs: list[str]) -> dict[str, Any]:
    """["board_width=5"] -> {"board_width": 5}: values are YAML; InvalidParameter for what has no '='."""
    import yaml

    from momagames.errors import InvalidParameter

    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InvalidParameter(f"--param {pair!r} is not of the form name=value, such as board_width=5")
        try:
            found[name] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise InvalidParameter(f"--param {pair!r}: {' '.join(str(error).split())}") from None
    return found


def read_text(path: Path) -> str:
    """The text of a file, or InvalidFile."""
    from momagames.errors import InvalidFile

    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidFile(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def table(*columns: Any, **options: Any) -> Any:
    """A table in the style of this package."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(*columns, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), **options)


@contextmanager
def progress(shown: Any, due: int, share: bool = False) -> Iterator[Any]:
    """A bar with the time that is left; yields what is to be called, with a word on it, whenever one of `due` is over, or with
    the number of those that are.

    share    shows which part of `due` is over, instead of how many
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    count = TextColumn("{task.percentage:>3.0f} %") if share else MofNCompleteColumn()
    columns = (
        BarColumn(), count, TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )  # fmt: skip
    with Progress(*columns, console=shown, transient=True) as bar:
        task = bar.add_task("compiling", total=due)

        def moved(said: str, over: int | None = None) -> None:
            bar.update(task, advance=1 if over is None else None, completed=over, description=said)

        yield moved
