"""The commands `momagames layout`: what they print, and their exit codes."""

import re

import pytest
from typer.testing import CliRunner

from momagames.cli.app import app
from momagames.errors import InvalidFile, InvalidLayout, InvalidParameter
from momagames.games.robotmail.cli import group_sources
from momagames.games.robotmail.layouts import loader
from momagames.games.robotmail.layouts.generator import generate

pytestmark = pytest.mark.compiled

COLORS = "b,g,y,r\ng,w,w,g\ngr,g,g,g\n"
TARGETS = "0,0,12,0\n0,0,0,12\n0,0,0,0\n"


def command(*arguments, **more):
    return CliRunner().invoke(app, ["layout", *map(str, arguments)], **more)


@pytest.fixture
def good(tmp_path):
    """The stem of two files."""
    (tmp_path / "good_colors.csv").write_text(COLORS)
    (tmp_path / "good_targets.csv").write_text(TARGETS)
    return tmp_path / "good"


def test_check(good, tmp_path):
    files = f"{good}_colors.csv", f"{good}_targets.csv"
    done = command("check", *files)
    assert (done.exit_code, done.stdout) == (0, f"{', '.join(files)}: fine\n")
    bad = tmp_path / "bad_colors.csv"
    bad.write_text(COLORS.replace("g,w,w,g", "g,w,v,g"))
    done = command("check", bad, files[1], good, tmp_path / "none")
    assert done.exit_code == 1
    said = done.stdout.splitlines()
    assert said[0].startswith(f"{bad}: line 2, column 5, the cell (2,1): invalid color code 'v': expected 'w' (white)")
    assert said[1] == f"{good}: fine"
    assert f"invalid layout='{tmp_path}/none': expected" in said[2]
    assert len(said) == 3
    assert done.stderr == "momagames: 2 of 3 layouts cannot be played\n"


def test_check_reports_all_problems(tmp_path):
    """More than the five problems that an error names."""
    (tmp_path / "a_colors.csv").write_text("q,q,q,q\nq,q,q,q\n")
    (tmp_path / "a_targets.csv").write_text("0,0,0,0\n0,0,0,x\n")
    assert len(command("check", tmp_path / "a").stdout.splitlines()) == 9


def test_check_without_a_file():
    assert command("check").exit_code == 2


def test_grouping_of_arguments():
    assert group_sources(["a.csv", "b.csv", "ring", "c", "d.csv", "e.csv", "f_colors.csv"]) == [
        ("a.csv", "b.csv"),
        "ring",
        "c",
        ("d.csv", "e.csv"),
        "f_colors.csv",
    ]


def test_show(good):
    done = command("show", f"{good}_colors.csv", f"{good}_targets.csv")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        f"{good}_colors.csv, {good}_targets.csv  4 x 3 cells, at most 2 robots",
        "1 receiver, 1 mail, 1 charger, 1 wall",
        "   0   1   2   3",
        " 0 ++  .   =12 ###",
        " 1 .   :   :   .12",
        " 2 m   .   .   .",
        ": robots start here   . plain   m mail   =5 receiver of mail 5   ++ charger   ### wall"
        "   5 opens narrow cells beside it to mail 5",
    ]
    assert command("show", good).stdout.splitlines()[1:] == done.stdout.splitlines()[1:]


def test_show_a_packaged_layout():
    said = command("show", "ring").stdout.splitlines()
    assert said[0] == "ring  9 x 9 cells, at most 19 robots"
    assert said[3] == " 0 ++  .   =3  '   =8  '   =1  .   ++"
    assert said[7] == " 4 .   .   ### m   :   m   ### '   =9"
    assert said[-1].endswith("### wall   ' narrow")


def test_show_a_random_layout():
    said = command("show", "random").stdout.splitlines()
    assert command("generate").stdout.splitlines() == ["seed 0" + said[0].removeprefix("random"), *said[1:]]


def test_show_in_colors(good):
    done = command("show", good, env={"FORCE_COLOR": "1", "TERM": "xterm-256color"}, color=True)
    for sign, code in (("=12", "1;33"), (r"\+\+", "1;34"), ("m", "1;32"), ("###", "31"), (r"\.", "90")):
        assert re.search(rf"\x1b\[{code}m{sign}", done.stdout), sign


def test_show_lists_packaged_layouts():
    done = command("show")
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.stdout.splitlines() if line.split()]
    assert [row[0] for row in rows[2:]] == list(loader.NAMES)
    assert rows[-1] == ["depot", "16", "x", "12", "16", "4", "4", "20", "24"]


def test_show_errors():
    done = command("show", "rng")
    assert isinstance(done.exception, InvalidLayout)
    assert "did you mean 'ring'" in str(done.exception)


def test_generate(tmp_path):
    options = ("--seed", 7, "--width", 12, "--height", 8, "--density", "0.1", "--receivers", 5, "--greens", 2, "--chargers", 1)
    done = command("generate", *options, "--white", "0.2", "-o", tmp_path / "made")
    assert (done.exit_code, done.stdout) == (0, ""), done.output
    assert loader.load(tmp_path / "made") == generate(7, 12, 8, 0.1, 5, 2, 1, 0.2)
    assert command("check", tmp_path / "made_colors.csv", tmp_path / "made_targets.csv").exit_code == 0
    assert (
        command("show", tmp_path / "made").stdout.splitlines()[1:]
        == command("generate", *options, "--white", 0.2).stdout.splitlines()[1:]
    )


def test_generate_errors(tmp_path):
    done = command("generate", "--width", 3)
    assert isinstance(done.exception, InvalidParameter)
    assert "4..24" in str(done.exception)
    done = command("generate", "-o", tmp_path / "no" / "such")
    assert isinstance(done.exception, InvalidFile)
    assert "no/such_colors.csv: cannot be written" in str(done.exception)
