"""The stored scores on the standard boards, and the script that finds them."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import momagames
from momagames.games.samegame import standard_boards

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def standard(import_script):
    return import_script("benchmarks.fronts.samegame_standard")


def test_stored_games_of_the_standard_boards_are_well_formed(standard):
    for result in standard.read_results().values():
        assert result["score"] is not None
        assert result["curve"][-1][1] == result["score"]
        assert [score for _, score in result["curve"]] == sorted({score for _, score in result["curve"]})
        assert result["cpu_seconds"] >= result["curve"][-1][0] > 0
        assert 20 < len(result["actions"]) <= 112
        assert all(0 <= action < 225 for action in result["actions"])


def test_the_page_shows_what_is_stored(standard):
    page = (ROOT / "docs" / "samegame-standard.md").read_text(encoding="utf-8")
    results = standard.read_results()
    assert standard.format_scores(results) in page
    assert standard.format_curve(results) in page
    assert standard.format_move_fronts() in page


@pytest.mark.skipif(
    standard_boards.VARIABLE not in os.environ, reason="needs the standard boards, which are not in the package"
)
def test_stored_games_of_the_standard_boards_have_their_scores(standard):
    for number, result in standard.read_results().items():
        env = momagames.make("mo-samegame-v0", instance=f"standard-{number}", scoring="classic")
        env.reset(seed=0)
        score = 0.0
        for action in result["actions"]:
            env.step(action)
            score += env.rewards["agent_0"].sum()
        assert env.terminations["agent_0"]
        assert score == result["score"]


@pytest.mark.long
@pytest.mark.compiled
def test_the_search_of_the_standard_boards_goes_on_from_its_file(boards, standard, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(standard, "FILE", tmp_path / "results.json")
    monkeypatch.setattr(standard, "ProcessPoolExecutor", ThreadPoolExecutor)  # new processes have the boards of the user
    monkeypatch.setattr(standard, "NUM_BOARDS", 2)
    standard.search_boards(0.01, 1, 20_000)
    first = standard.read_results()
    standard.search_boards(0.01, 2, 20_000)
    second = standard.read_results()
    assert first["1"]["score"] is not None
    assert sum(result["runs"] for result in second.values()) > sum(result["runs"] for result in first.values())
    assert second["1"]["score"] >= first["1"]["score"]
    standard.report()
    assert "| all 2 | " in capsys.readouterr().out
    damaged = {**second, "1": {**second["1"], "score": second["1"]["score"] + 1}}
    standard.write_results(damaged)
    with pytest.raises(ValueError, match="standard-1: stored"):
        standard.report()
    monkeypatch.setattr(standard, "COMPARED", {"nrpa": ("nrpa", {**standard.NRPA, "levels": 1})})
    standard.compare([1], 0.001, ["nrpa"])
    assert "| nrpa | " in capsys.readouterr().out
