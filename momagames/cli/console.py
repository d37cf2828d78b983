"""Shared parts of commands: exit codes, options, a console, tables, JSON, a progress bar."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from momagames.wording import show_controls

if TYPE_CHECKING:
    from momagames.contract import Game

Params = Annotated[list[str] | None, typer.Option("--param", "-p", metavar="NAME=VALUE", help="Parameter of the game.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def _allow_code(context: typer.Context, allowed: bool) -> bool:
    from momagames.plugins import allow_code

    context.with_resource(allow_code(allowed))  # to the end of the command
    return allowed


AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        callback=_allow_code,
        help="Allow the files to name Python code (module:name), addresses and files elsewhere. Read the code first.",
    ),
]
INVALID_CALL, FAILED, INTERRUPTED = 2, 1, 130  # exit codes: invalid call; failed run; Ctrl-C
MIN_BAR, MAX_BAR, MIN_LABEL, NUMBERS = 5, 40, 15, 40  # characters of a progress bar, its label and the numbers between them


def console(**options: Any) -> Any:
    """Return the console of a command, which prints texts as they are and every cell of a table whole.

    options    of Rich
    """
    from momagames.cli.tables import TableConsole

    return TableConsole(**options)


def add_working_directory() -> None:
    """Allow imports from the current directory, for modules named in commands."""
    if "" not in sys.path:
        sys.path.insert(0, "")


def get_command_line() -> str:
    """Return the command line, for provenance."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def parse_agent(text: str) -> str | int:
    """Return the index of an agent from a text of digits, else its name."""
    return int(text) if text.isdecimal() and len(text) < 10 else text


def parse_parameters(pairs: list[str] | None, option: str = "--param", example: str = "board_width=5") -> dict[str, Any]:
    """Parse ["board_width=5"] into {"board_width": 5}; values are YAML. Raises InvalidParameter.

    option, example    of the command line, for messages
    """
    from momagames.errors import InvalidFile, InvalidParameter
    from momagames.files.yaml_data import parse_yaml

    found: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InvalidParameter(f"{option} {pair!r} is not of the form name=value, such as {example}")
        try:
            found[name] = parse_yaml(value, f"{option} {pair!r}")
        except InvalidFile as error:
            raise InvalidParameter(str(error)) from None
    return found


def format_parameters(params: Mapping[str, Any]) -> str:
    """Return options that `parse_parameters` reads, quoted for a shell, each with a space before it."""
    return "".join(f" -p {shlex.quote(f'{name}={json.dumps(value)}')}" for name, value in params.items())


def parse_weights(text: str, game: Game) -> tuple[float, ...]:
    """Return weights of the objectives from "1,0,0" or "win=1,speed=0.5". Raises InvalidParameter."""
    from momagames.baselines.weight_lattice import resolve_weights
    from momagames.errors import InvalidParameter

    words: list[str] = text.split(",")
    try:
        if "=" in text:
            named = {name.strip(): float(value) for name, _, value in (word.partition("=") for word in words)}
            return tuple(resolve_weights("--weights", game, named).tolist())
        return tuple(resolve_weights("--weights", game, [float(word) for word in words]).tolist())
    except ValueError as error:
        if isinstance(error, InvalidParameter):
            raise
        expected = f"numbers such as 1,0, or by name: {game.objectives[0].name}=1"
        raise InvalidParameter(f"invalid --weights={text!r}: expected {expected}") from None


def show_progress(status: Any, describe: Callable[..., str]) -> Callable[..., None]:
    """Return a callback that shows the text of its arguments as the status, a few times a second."""
    updated = 0.0

    def update(*progress: Any) -> None:
        nonlocal updated
        now = time.monotonic()
        if now - updated > 0.2:
            updated = now
            status.update(describe(*progress))

    return update


def table(*columns: str, numbers: Iterable[str] = ()) -> Any:
    """Return a table in the style of this package, whose last columns are those of numbers, aligned right."""
    from momagames.cli.tables import make_table

    return make_table(*columns, numbers=numbers)


def print_line(text: object, file: TextIO | None = None) -> None:
    """Print a text in one line, or in its lines; to stdout by default. Control characters are shown as escapes."""
    print(show_controls(str(text)), file=file, flush=True)


def print_problems(checks: Sequence[tuple[str, Callable[[], Sequence[str]]]], verdict: str, summary: str) -> None:
    """Print the problems that each check of a file lists or raises, or the verdict on a file without any.

    If there are any, end with an exit code, after the number of files and a summary.
    """
    from momagames.errors import InvalidParameter

    wrong = 0
    for name, list_problems in checks:
        try:
            problems = list_problems()
        except InvalidParameter as error:
            problems = [str(error)]
        print_line("\n".join(problems) or f"{name}: {verdict}")
        wrong += bool(problems)
    if wrong:
        print(f"momagames: {wrong} of {len(checks)} {summary}", file=sys.stderr)
        raise typer.Exit(FAILED)


def print_heading(screen: Any, heading: str, rest: str = "") -> None:
    """Print a heading in bold, and the rest of its line."""
    from rich.text import Text

    screen.print(Text.assemble((show_controls(heading), "bold"), show_controls(rest)), soft_wrap=True)


def print_facts(screen: Any, facts: Sequence[tuple[str, str]]) -> None:
    """Print a line "name: value" for each fact."""
    from momagames.cli.tables import format_facts

    screen.print(format_facts(facts, screen.width), soft_wrap=True)


def print_json(data: Any) -> None:
    """Print plain data as one JSON document."""
    print(json.dumps(data, indent=1))


class Pace:
    """Mean pace since the first progress, which compilation precedes: recent progress would let the estimate jump."""

    def __init__(self, due: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._due, self._clock = due, clock
        self._first: tuple[float, int] | None = None
        self._completed = 0

    def advance(self, completed: int | None = None) -> None:
        """Note the completed number; None: one more."""
        self._completed = self._completed + 1 if completed is None else completed
        if self._first is None:
            self._first = self._clock(), self._completed

    def describe_left(self) -> str:
        """Return the remaining time as text."""
        if self._first is None or self._completed == self._first[1]:
            return "-:--:--"
        started, before = self._first
        seconds = (self._clock() - started) * (self._due - self._completed) / (self._completed - before)
        return str(timedelta(seconds=round(seconds)))


@contextmanager
def progress(
    screen: Any, due: int, share: bool = False, describe_left: Callable[[], str] | None = None, label: str = "compiling"
) -> Iterator[Any]:
    """Show a progress bar with the remaining time.

    Yield a callback (label, completed): without `completed` it advances the bar by one of `due`.

    share            show the completed share of `due` instead of the number
    describe_left    returns the remaining time as text; None: at the mean pace since the first call
    label            of the bar before that
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column
    from rich.text import Text

    pace = Pace(due)

    class TimeLeftColumn(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(f"left: {(describe_left or pace.describe_left)()}")

    count = TextColumn("{task.percentage:>3.0f} %") if share else MofNCompleteColumn()
    width = max(MIN_BAR, min(MAX_BAR, screen.width - NUMBERS - MIN_LABEL))
    rest = Column(no_wrap=True, overflow="ellipsis", max_width=max(MIN_LABEL, screen.width - NUMBERS - width))
    text = TextColumn("{task.description}", markup=False, table_column=rest)
    columns = (BarColumn(width), count, TimeElapsedColumn(), TimeLeftColumn(), text)
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(label, total=due)

        def advance(label: str, completed: int | None = None) -> None:
            pace.advance(completed)
            bar.update(task, advance=1 if completed is None else None, completed=completed, description=label)

        yield advance
