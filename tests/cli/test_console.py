"""Texts of files and paths in the terminal: shown as they are written, in every place of a command."""

import io

import pytest
from rich.text import Text
from typer.testing import CliRunner

from momagames.cli.app import app
from momagames.cli.console import Pace, console, print_facts, print_heading, print_line, progress, table
from tests.cli.test_app import momagames_here

TEXT = "a [/x] [bold]b[/bold] :smile: \x1b[31m\x1b]0;pwn\x07 \r\x9b2J \u202eabc \udcff"
SHOWN = r"a [/x] [bold]b[/bold] :smile: \x1b[31m\x1b]0;pwn\x07 \r\x9b2J \u202eabc \udcff"


def make_console(width=300, **options):
    output = io.StringIO()
    return console(width=width, file=output, **options), output


def print_table(screen):
    listing = table(TEXT, "b")
    listing.add_row(TEXT, "1")
    listing.title = listing.caption = TEXT
    screen.print(listing)


PLACES = {
    "print": (lambda screen: screen.print(TEXT), 1),
    "text": (lambda screen: screen.print(Text(TEXT.replace("\x07", "").replace("\r", ""), "red")), 0),
    "table": (print_table, 4),
    "facts": (lambda screen: print_facts(screen, [("name", TEXT)]), 1),
    "heading": (lambda screen: print_heading(screen, TEXT, TEXT), 2),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("is_terminal", [False, True])
def test_texts_are_shown_as_they_are_written(place, is_terminal):
    write, count = PLACES[place]
    screen, output = make_console(force_terminal=is_terminal, color_system=None)
    write(screen)
    assert output.getvalue().count(SHOWN) == count
    assert not any(control in output.getvalue() for control in "\x1b\x07\r\x9b\u202e\udcff")
    assert r"\x1b[31m" in output.getvalue()


def test_blocks_of_a_narrow_table():
    screen, output = make_console(40)
    print_table(screen)
    assert not any(control in output.getvalue() for control in "\x1b\x07\r\x9b\u202e\udcff")


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_progress_and_status(width):
    """A bar of one line, whose label is no markup."""
    screen, output = make_console(width, force_terminal=True, color_system=None)
    with progress(screen, 165) as advance:
        for _ in range(3):
            advance("[/x] \x1b[31m " + "a long label " * 9)
    with screen.status("[/x]") as status:
        status.update("[/red] :smile:")
        assert isinstance(status.status, Text)
        assert status.status.plain == "[/red] :smile:"
    printed = output.getvalue()
    assert "[/x] \\x1b" in printed
    assert "\x1b[31m" not in printed
    assert "<Bar" not in printed
    assert "3/165" in printed
    assert max(map(len, printed.replace("\r", "\n").split("\n"))) < width + 40  # with the movements of the cursor


def test_the_pace_starts_after_the_compilation():
    now = [0.0]
    pace = Pace(100, lambda: now[0])
    assert pace.describe_left() == "-:--:--"
    now[0] = 50.0
    pace.advance(10)
    assert pace.describe_left() == "-:--:--"
    now[0] = 60.0
    pace.advance(30)
    assert pace.describe_left() == "0:00:35"
    now[0] = 62.0
    pace.advance()
    assert pace.describe_left() == "0:00:39"


def test_lines_without_a_console(capsys):
    print_line(TEXT)
    assert capsys.readouterr().out == f"{SHOWN}\n"


LEVEL = (
    """
id: 3
title: "[/red] x \\e[31m"
moves: 9
colors: [red, blue]
goals: [{collect: basic, amount: 3}]
layout: |
"""
    + "  .............\n" * 9
)


def test_titles_of_levels(tmp_path):
    (tmp_path / "level[b].yaml").write_text(LEVEL)
    level = CliRunner().invoke(app, ["level", "show", str(tmp_path / "level[b].yaml")])
    assert not level.exception
    assert level.output.startswith(r"[/red] x \x1b[31m  level 3, 9 moves")
    info = CliRunner().invoke(app, ["info", "mo-tileblast-v0", "-p", f"level={tmp_path}/level[b].yaml"])
    assert not info.exception
    assert "[/red] x" in info.output
    assert "\x1b" not in info.output


def test_names_of_files(tmp_path):
    name = "f[red]:smile:\x1b[31m.json"
    (tmp_path / name).write_text("{}")
    done = momagames_here("front", "verify", name, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith(r"WRONG f[red]:smile:\x1b[31m.json: ")
    done = momagames_here("bench", "status", name, cwd=tmp_path)
    assert done.returncode == 2
    assert r"f[red]:smile:\x1b[31m.json" in done.stderr
    assert "\x1b" not in done.stderr
