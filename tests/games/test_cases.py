"""Every built-in game declares what the shared tests need; a message says what is missing."""

from __future__ import annotations

import pytest

from momagames.games import VERSIONS, Entry
from tests import cases
from tests.specifications import GAMES

FOLDERS = sorted(file.parent.name for file in GAMES.glob("*/__init__.py"))


def find_unlisted(folders):
    """Sentences about folders of games that no id names."""
    listed = {cases.folder_of(id) for id in VERSIONS}
    line = '"mo-{0}-v0": Entry("momagames.games.{0}:game"),'
    return [
        f"momagames/games/{folder} has no id: add to VERSIONS in momagames/games/__init__.py, for example {line.format(folder)}"
        for folder in folders
        if folder not in listed
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_game_is_listed(folder):
    assert not (problems := find_unlisted([folder])), problems[0]


def test_a_folder_without_an_id_gets_instructions():
    [problem] = find_unlisted(["samegame", "pebbles"])
    assert problem.startswith("momagames/games/pebbles has no id")
    assert problem.endswith('"mo-pebbles-v0": Entry("momagames.games.pebbles:game"),')


@pytest.mark.parametrize("id", VERSIONS)
def test_the_cases_of_a_game_are_complete(id):
    assert not (problems := cases.find_problems(id)), "\n".join(problems)


def test_a_game_without_cases_gets_instructions(monkeypatch):
    monkeypatch.setitem(VERSIONS, "mo-nothing-v0", Entry("momagames.games.nothing:game"))
    assert cases.find_problems("mo-nothing-v0") == [
        "tests/games/nothing/cases.py is missing: declare ORACLE, SMALL and GOLDEN there, see tests/cases.py"
    ]


def test_an_id_without_entries_gets_instructions(monkeypatch):
    monkeypatch.setitem(VERSIONS, "mo-samegame-v1", Entry("momagames.games.samegame:game"))
    small, golden = cases.find_problems("mo-samegame-v1")
    assert "add SMALL['mo-samegame-v1']" in small
    assert "python -m tests.playthrough mo-samegame-v1" in golden
