"""The best-known fronts of the standard boards, and their suite; the boards themselves are not in the package."""

import os
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from momagames import fronts
from momagames.benchmark import load_suite
from momagames.cli.app import app
from momagames.errors import InvalidFile
from momagames.games.samegame import standard_boards

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).resolve().parents[3]
SUITE = ROOT / "benchmarks/fronts/samegame-standard.yaml"
FRONTS = [f"mo-samegame-v0-{name}-best-known" for name in standard_boards.NAMES]
MOVE_FRONTS = [f"mo-samegame-v0-{name}-moves-best-known" for name in standard_boards.NAMES]
needs_boards = pytest.mark.skipif(standard_boards.VARIABLE not in os.environ, reason="needs the standard boards")


@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.long)])
def test_fronts_name_boards_that_they_do_not_hold(stride):
    for name, instance in list(zip(FRONTS, standard_boards.NAMES, strict=True))[::stride]:
        front = fronts.load_front(name)
        assert front.game.params["instance"] == instance
        assert front.start.position is None
        assert len(front.points) > 100
        assert fronts.find_packaged_front(front.canonical, 0) == front


def test_fronts_trade_points_against_moves():
    for name, instance in zip(MOVE_FRONTS, standard_boards.NAMES, strict=True):
        front = fronts.load_front(name)
        assert front.game.params["instance"] == instance
        assert front.objectives == ("points", "move")
        assert front.start.position is None
        assert fronts.find_packaged_front(front.canonical, 0) == front
        assert all(-value == len(point.actions) for point in front.points for value in point.value[1:])
        assert len(front.points) > 5


def test_the_suite_plays_all_boards():
    experiments = yaml.safe_load(SUITE.read_text(encoding="utf-8"))["experiments"]
    for experiment in experiments:
        assert [game["params"]["instance"] for game in experiment["games"]] == list(standard_boards.NAMES)
    assert [("move_rewards" in one["games"][0]["params"]) for one in experiments] == [False, True]


def test_fronts_are_not_verified_without_the_boards(monkeypatch):
    monkeypatch.delenv(standard_boards.VARIABLE, raising=False)
    front = fronts.load_front(FRONTS[0])
    with pytest.raises(InvalidFile, match="the package has no copy of the standard boards"):
        fronts.verify(front)
    monkeypatch.setattr(fronts, "packaged_fronts", lambda: {FRONTS[0]: None, "mo-samegame-v0-5x5x2-0": None})
    done = CliRunner().invoke(app, ["front", "verify", "all"])
    assert done.exit_code == 0
    assert f"skipped {FRONTS[0]}: game: instance='standard-1'" in done.output
    assert "ok    mo-samegame-v0-5x5x2-0" in done.output
    assert CliRunner().invoke(app, ["front", "verify", FRONTS[0]]).exit_code == 1


def test_other_boards_are_not_those_of_the_fronts(boards):
    with pytest.raises(InvalidFile, match="generates a position with another sha256"):
        fronts.verify(fronts.load_front(FRONTS[0]))


@needs_boards
@pytest.mark.parametrize("name", FRONTS + MOVE_FRONTS)
def test_fronts_are_attained(name):
    front = fronts.load_front(name)
    fronts.verify(front)
    assert front.game in [game for experiment in load_suite(SUITE).experiments for game in experiment.games]
