"""Every id does today what its golden playthroughs say, to the bit."""

from itertools import zip_longest

import pytest

import momagames
from momagames.errors import IllegalAction
from momagames.games import VERSIONS
from tests import playthrough

FILES = sorted(playthrough.FOLDER.glob("*/*.txt"))


def difference(was: list[str], now: list[str]) -> str:
    """The first line that differs, as recorded and as it is now, with what to do; or the empty string."""
    for number, (old, new) in enumerate(zip_longest(was, now), 1):
        if old != new:
            return (
                f"line {number} differs:\n  recorded  {old!r}\n  now       {new!r}\n"
                "If the id is released, this is new behavior: restore the old one, or write a new version of the id. "
                "If not, delete the file and record it again: python -m tests.playthrough ID"
            )
    return ""


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_playthrough(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    changed = difference(lines, list(playthrough.replay(lines)))
    assert not changed, f"tests/golden/{file.parent.name}/{file.name}, {changed}"


def shapes(id):
    """(width, height) of the boards that the playthroughs of an id have; nothing for a game without a board."""
    for play in playthrough.plays(id).values():
        params = momagames.spec(id, **{name: value for name, value in play.items() if name not in ("seed", "by")}).params
        if {"board_width", "board_height"} <= set(params):
            yield params["board_width"], params["board_height"]


def missing(id):
    """Golden files that should be there, and how to get them; a game with a board needs a square one and one that is not."""
    absent = [
        f"{file} is missing: run python -m tests.playthrough {id}"
        for file in playthrough.files(id).values()
        if not file.exists()
    ]
    square = [width == height for width, height in shapes(id)]
    if len(set(square)) == 1:
        absent.append(f"{id}: add a board that is {'not ' if square[0] else ''}square to GOLDEN in cases.py")
    return absent


@pytest.mark.parametrize("id", VERSIONS)
def test_every_id_has_its_playthroughs(id):
    assert not (absent := missing(id)), "\n".join(absent)


def test_an_id_without_a_playthrough_is_noticed(monkeypatch, tmp_path):
    monkeypatch.setattr(playthrough, "FOLDER", tmp_path)
    assert "run python -m tests.playthrough mo-samegame-v0" in missing("mo-samegame-v0")[0]


def test_every_file_belongs_to_an_id():
    assert {file.parent.name for file in FILES} <= set(momagames.ids())


@pytest.mark.parametrize("word", ["action", "reward", "legal", "observation", "return", "  "])
def test_a_changed_line_is_noticed(word):
    file = playthrough.files("mo-samegame-v0")["clear-bonus"]
    lines = file.read_text(encoding="utf-8").splitlines()
    last = max(i for i, line in enumerate(lines) if line.startswith(word))
    if word == "action":
        lines[last] = "action agent_0: 0"
        with pytest.raises(IllegalAction, match=r"illegal action=.* of agent_0"):
            list(playthrough.replay(lines))
    else:
        right, lines[last] = lines[last], lines[last] + "1"
        message = difference(lines, list(playthrough.replay(lines)))
        assert f"line {last + 1} differs:\n  recorded  {lines[last]!r}\n  now       {right!r}\n" in message
        assert "record it again: python -m tests.playthrough" in message
