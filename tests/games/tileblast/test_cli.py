"""Commands `momagames level`: output and exit codes."""

import re

import pytest
from typer.testing import CliRunner

from momagames.cli.app import app
from momagames.errors import InvalidLevel
from momagames.games.tileblast.cli.difficulty import measure_moves_to_win
from momagames.games.tileblast.levels import loader
from momagames.games.tileblast.levels.generator import generate

pytestmark = pytest.mark.compiled

GOOD = (
    """\
id: 7
title: Two rocks
moves: 9
colors: [red, blue]
weights: [1, 3]
goals:
  - {collect: rock, amount: 2}
feed:
  - {piece: dandelion, per_mille: 20, max_on_board: 1, total: 2}
legend: {1: "rock:3", G: {kind: gnomes, colors: {red: 2, blue: 1}}}
layout: |
"""
    + "  #############\n" * 5
    + "  ..r..GG......\n  ..B..GG......\n  1..........1.\n  ............._\n".replace(".............", "............")
)


def command(*arguments, **more):
    return CliRunner().invoke(app, ["level", *map(str, arguments)], **more)


@pytest.fixture
def good(tmp_path):
    file = tmp_path / "good.yaml"
    file.write_text(GOOD)
    return file


def test_check(good, tmp_path):
    done = command("check", good)
    assert (done.exit_code, done.stdout) == (0, f"{good}: valid\n")
    bad, none = tmp_path / "bad.yaml", tmp_path / "none.yaml"
    bad.write_text(GOOD.replace("moves: 9", "moves: 0").replace("..r..", "..?.."))
    done = command("check", bad, good, none)
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"{bad}: line 3, column 1, moves: invalid value 0: expected")
    assert lines[1].startswith(f"{bad}: line 17, column 5, the cell (2,3): unknown character '?'")
    assert lines[2] == f"{good}: valid"
    assert "none.yaml" in lines[3]
    assert "cannot be read" in lines[3]
    assert done.stderr == "momagames: 2 of 3 files are invalid\n"


def test_check_without_a_file():
    assert command("check").exit_code == 2


def test_show(good):
    done = command("show", good)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[:4] == [
        "Two rocks  level 7, 9 moves",
        "colors: red (1), blue (3)",
        "goals:   rock 2",
        "feed:    dandelion, 20 in 1000 new pieces, 1 at a time, 2 in all",
    ]
    assert lines[4:13] == [" ".join(line) for line in loader.load(good).data["layout"].splitlines()]
    assert lines[13:] == ["1  rock:3", "G  gnomes red 2, blue 1"]


def test_show_in_colors(good):
    done = command("show", good, env={"FORCE_COLOR": "1", "TERM": "xterm-256color"}, color=True)
    for sign, code in (("r", "31"), ("B", "34"), ("1", "1"), ("#", "90")):
        assert re.search(rf"\x1b\[{code}m{sign}", done.stdout), sign


def test_show_a_packaged_level():
    done = command("show", "4")
    assert done.exit_code == 0, done.output
    assert "Quarry  level 4, 28 moves" in done.stdout
    assert "goals:   rock 14" in done.stdout


def test_show_invalid_levels():
    for source, message in (("13", "1..12"), ("nowhere.yaml", "cannot be read")):
        done = command("show", source)
        assert isinstance(done.exception, InvalidLevel)
        assert message in str(done.exception)


def test_generate(tmp_path):
    options = ("--seed", 7, "--mechanics", "rock, cage", "--difficulty", "0.3", "--width", 9, "--colors", 3, "--moves", 33)
    file = tmp_path / "made.yaml"
    done = command("generate", *options, "-o", file)
    assert (done.exit_code, done.stdout) == (0, ""), done.output
    assert loader.load(file).data == generate(7, 9, 9, 3, ["rock", "cage"], 0.3, 33)
    assert command("generate", *options).stdout == file.read_text()
    assert command("check", file).exit_code == 0
    assert "made.yaml: valid" in command("check", file).stdout


def test_generate_invalid_arguments():
    assert "'rok'" in str(command("generate", "--seed", 7, "--mechanics", "rok").exception)
    assert command("generate").exit_code == 2


def test_rate():
    done = command("rate", 3, "--policy", "random", "--runs", 50, "--cap", 30)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"won within 20 moves: 0\.\d{3} \+- 0\.\d{3} of 50 games of random", lines[0])
    assert re.fullmatch(r"moves to win: (\d+|more than 30) for the best 5 %, more than 30 in the median", lines[1])
    assert lines[2:] == ["games that ended without a valid tap: 0"]


def test_rate_invalid_arguments():
    assert "'lookahed'" in str(command("rate", 3, "--policy", "lookahed").exception)
    assert "1..12" in str(command("rate", 13).exception)
    assert command("rate", 3, "--runs", 0).exit_code == 2


@pytest.mark.long
def test_generate_measures_the_limit_of_moves(tmp_path):
    """At the measured limit a share of 1 - difficulty of the games is won; an estimate plays no games."""
    options = ("--seed", 7, "--mechanics", "dandelion", "--difficulty", "0.4")
    estimated, measured = tmp_path / "estimated.yaml", tmp_path / "measured.yaml"
    assert command("generate", *options, "--guess", "-o", estimated).exit_code == 0
    done = command("generate", *options, "-o", measured)
    assert done.exit_code == 0, done.output
    assert loader.load(estimated).data == generate(7, mechanics=["dandelion"], difficulty=0.4)
    moves = loader.load(measured).moves
    assert loader.load(measured).data == {**loader.load(estimated).data, "moves": moves}
    moves_to_win, _ = measure_moves_to_win(loader.load(measured), "one_step_lookahead", 200, cap=200)
    assert (moves_to_win <= moves).mean() >= 0.6 > (moves_to_win < moves).mean()
