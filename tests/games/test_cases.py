"""Every built-in game declares what the shared tests need; a message says what is missing."""

from __future__ import annotations

import pytest

from momagames.games import VERSIONS, Entry
from tests import cases


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
