"""Levels of MO-TileBlast: what files and data say, what the linter refuses and where, how a level gets into a state."""

import copy
import json
from importlib import resources

import numpy as np
import pytest
import yaml

from momagames.errors import InvalidLevel, InvalidParameter
from momagames.games.tileblast.levels import loader
from momagames.games.tileblast.rules.pieces import CODES, COLORS, UNITS
from momagames.games.tileblast.rules.state import NOWHERE, state_dtype
from tests.games.tileblast import vectors
from tests.games.tileblast.naive import Naive, read_thing

pytestmark = pytest.mark.compiled

TWELVE = range(1, 13)
GOOD = {
    "id": 1,
    "title": "Good",
    "moves": 10,
    "colors": ["red", "blue"],
    "goals": [{"collect": "rock", "amount": 2}],
    "feed": [{"piece": "pot.red:2", "per_mille": 100, "max_on_board": 2, "total": 3}],
    "legend": {"t": "rock:2", "S": "seedbox", "s": "seedbag"},
    "layout": "\n".join(["." * 13] * 7 + ["t....t......."] + ["." * 13]) + "\n",
}


def filled(level):
    state = np.zeros(1, state_dtype)[0]
    loader.write_level(level, state)
    return state


def raw(number):
    return yaml.safe_load(resources.files("momagames.games.tileblast").joinpath(f"levels/data/{number:02}.yaml").read_text())


def rows(*lines):
    """Return a layout with these lines in its lower left corner; the rest is inactive."""
    return vectors.level(*lines)["layout"]


# ------------------------------------------------------------------------------------------------------------- loading


@pytest.mark.parametrize("number", TWELVE)
def test_packaged_levels_equal_their_files(number, tmp_path):
    level, data = loader.load(number), raw(number)
    assert (level.id, level.title, level.moves) == (number, data["title"], data["moves"])
    assert loader.load(np.int64(number)) is level
    assert loader.normalize_parameter(number) == number
    assert loader.load(data) == level
    assert loader.load(level.data) == level
    assert level.data == {**{key: data[key] for key in data if key != "legend"}, **legend_of(data)}
    file = tmp_path / "a.json"
    file.write_text(json.dumps(level.data, indent="\t"))
    assert loader.load(file) == loader.load(str(file)) == level
    assert loader.normalize_parameter(file) == level.data
    assert loader.list_problems(number) == []


def legend_of(data):
    return {"legend": {str(sign): entry for sign, entry in data["legend"].items()}} if "legend" in data else {}


def test_a_level_fills_a_state():
    """As the oracle reads it: cells, pieces, colors, goals and feeds."""
    for number in TWELVE:
        data = raw(number)
        oracle, state = Naive(data, 0), filled(loader.load(number))
        entries = Naive.__new__(Naive)._read(data, True, None)
        assert np.flatnonzero(state["active"]).tolist() == sorted(oracle.active)
        assert state["limit"] == data["moves"]
        anchors = {int(i) for i in np.flatnonzero(state["start_kind"]) if state["start_anchor"][i] == i}
        assert anchors == set(entries)
        for i, entry in entries.items():
            piece = oracle._make(entry)
            chance = entry["kind"] == "basic" and entry["color"] is None
            assert state["start_kind"][i] == CODES[entry["kind"]]
            assert state["start_hp"][i] == piece.hp
            assert state["start_color"][i] == (0 if chance or entry["color"] is None else entry["color"] + 1)
            assert state["start_cover"][i] == ["", "cage", "bubble"].index(entry["cover"] or "")
            crowd = {k: int(state["start_counters"][i]) >> 4 * k & 15 for k in range(6)}
            assert {k: n for k, n in crowd.items() if n} == (entry["crowd"] or {})
            piece.anchor = i
            assert {int(state["start_anchor"][j]) for j in piece.cells()} == {i}
            assert {int(state["start_kind"][j]) for j in piece.cells()} == {CODES[entry["kind"]]}
        assert state["palette"][: state["colors"]].tolist() == [COLORS.index(name) + 1 for name in data["colors"]]
        assert state["weights"][: state["colors"]].tolist() == data.get("weights", [1] * len(data["colors"]))
        assert state["goals"] == len(data["goals"])
        for k, goal in enumerate(data["goals"]):
            name, _, color = goal["collect"].partition(".")
            assert state["goal_units"][k] == UNITS[name]
            assert state["goal_color"][k] == (COLORS.index(color) + 1 if color else 0)
            assert state["goal_amount"][k] == (-1 if goal["amount"] == "all" else goal["amount"])
        assert state["feeds"] == len(data.get("feed", []))
        for k, feed in enumerate(data.get("feed", [])):
            assert state["feed_kind"][k] == CODES[read_thing(feed["piece"])["kind"]]
            assert [state[f"feed_{name}"][k] for name in ("per_mille", "on_board", "total")] == list(feed.values())[1:]
        for i in oracle.active:
            assert state["below"][i] == next((j for j in range(i - 13, -1, -13) if j in oracle.active), NOWHERE)


def test_units_of_feeds():
    state = filled(loader.load(GOOD))
    assert (state["feed_kind"][0], state["feed_hp"][0], state["feed_color"][0]) == (CODES["pot"], 2, 1)


def test_levels_of_the_vectors_load():
    """These include levels that the linter rejects: their goal of 90 pink basics keeps the games running."""
    seen = []

    def start_game(level, *arguments, **more):
        loader.load(level, check=False)
        seen.append(level)
        return Naive(level, *arguments, **more)

    for check in vectors.ALL:
        check(start_game)
    assert len(seen) > 100


def test_data_is_not_shared():
    given = copy.deepcopy(GOOD)
    level = loader.load(given)
    given["goals"][0]["amount"] = 1
    given["legend"]["t"] = "rock"
    assert level.data == GOOD


def test_levels_from_data():
    """Empty optional keys are dropped, required keys are kept."""
    level = loader.load({**GOOD, "id": 0, "title": "", "feed": None, "weights": None})
    assert list(level.data) == ["id", "title", "moves", "colors", "goals", "legend", "layout"]
    assert loader.load(level.data) == level


def test_numbers_as_characters_are_text(tmp_path):
    file = tmp_path / "a.yaml"
    for written in ("1: rock", '"1": rock', "'1': rock", "1: {kind: rock}"):
        data = {**GOOD, "legend": {"1": "rock"}, "layout": GOOD["layout"].replace("t", "1")}
        file.write_text(yaml.safe_dump({**data, "legend": "HERE"}).replace("HERE", f"{{{written}}}"))
        assert loader.load(file).pieces == loader.load(data).pieces


# ---------------------------------------------------------------------------------------------------------- A_k (§5.1)

BOUNDS = {
    "amounts": (["tt..."], {"rock": 2, "basic.red": 7}, {}, (2, 7, 0, 0)),
    "all of what is there": (["tt..."], {"rock": "all"}, {}, (2, 0, 0, 0)),
    "bushes": (["LL.", "LL."], {"bush": "all"}, {}, (10, 0, 0, 0)),
    "gnomes, and one color of them": (["GG.", "GG."], {"gnomes": "all", "gnomes.red": "all"}, {}, (5, 2, 0, 0)),
    "weeds": (["ww.."], {"weed": "all"}, {}, (2 + 50, 0, 0, 0)),
    "bubbles that nothing makes": (["uu.."], {"bubble": "all"}, {}, (2, 0, 0, 0)),
    "bubbles and a sprinkler": (["uuZ.."], {"bubble": "all"}, {}, (2 + 117 * 50, 0, 0, 0)),
    "bubbles and a bucket": (["uug.."], {"bubble": "all"}, {}, (2 + 117 * 50, 0, 0, 0)),
    "bubbles and a bucket that is fed": (["uu.."], {"bubble": "all"}, {"piece": "bucket"}, (2 + 117 * 50, 0, 0, 0)),
    "dandelions": (["dDc.."], {"dandelion": "all", "cage": "all"}, {}, (1 + 117 * 50, 1, 0, 0)),
    "a feed": (["t."], {"rock": "all"}, {"piece": "rock:3"}, (1 + 4, 0, 0, 0)),
    "a feed of another color": (["a."], {"pot.red": "all", "pot": "all"}, {"piece": "pot.blue"}, (1, 1 + 4, 0, 0)),
}
PIECES = {
    "t": "rock",
    "L": "bush",
    "G": {"kind": "gnomes", "colors": {"red": 2, "blue": 3}},
    "w": "weed",
    "d": "dandelion",
    "u": "bubble+basic",
    "c": "cage+basic",
    "Z": "sprinkler",
    "g": "bucket",
    "D": "dispenser",
    "a": "pot.red",
}


def test_goal_bounds():
    for lines, goals, feed, expected in BOUNDS.values():
        more = {"feed": [{**feed, "per_mille": 5, "max_on_board": 2, "total": 4}]} if feed else {}
        level = {**vectors.level(*lines, goals=goals, legend=PIECES), **more}
        assert loader.goal_bounds(loader.load(level), 50) == expected


# -------------------------------------------------------------------------------------------------------------- linter


def without(key):
    return {name: value for name, value in GOOD.items() if name != key}


def entry(text):
    return {**GOOD, "legend": {**GOOD["legend"], "x": text}}


def goal(collect, amount, *lines, legend=None, **more):
    return {**vectors.level(*lines, goals={collect: amount}, legend={**PIECES, **(legend or {})}), **more}


def drop(*lines):
    legend = {**PIECES, "S": "seedbox", "s": "seedbag", "C": "cage+seedbag", "Z": "beehive", "e": "stump"}
    return vectors.level(*lines, legend=legend, goals={"basic.red": 3})


# what is wrong -> the level, the path of the problem, words of its text
INVALID = {
    "no mapping": ([1], (), ["[1]", "mapping"]),
    "a key is missing": (without("moves"), (), ["missing key 'moves'"]),
    "unknown key": ({**GOOD, "color": []}, ("color",), ["'color'", "did you mean 'colors'"]),
    "id": ({**GOOD, "id": "one"}, ("id",), ["'one'", "0.."]),
    "title": ({**GOOD, "title": 3}, ("title",), ["3", "text"]),
    "no moves": ({**GOOD, "moves": 0}, ("moves",), ["0", "1..50000"]),
    "moves that are True": ({**GOOD, "moves": True}, ("moves",), ["True"]),
    "one color": ({**GOOD, "colors": ["red"]}, ("colors",), ["1 colors", "2 to 6"]),
    "unknown color": ({**GOOD, "colors": ["red", "blu"]}, ("colors", 1), ["'blu'", "did you mean 'blue'"]),
    "a color twice": ({**GOOD, "colors": ["red", "blue", "red"]}, ("colors", 2), ["duplicate"]),
    "no colors": ({**GOOD, "colors": 3}, ("colors",), ["3", "a list"]),
    "too few weights": ({**GOOD, "weights": [1]}, ("weights",), ["1 weights", "2"]),
    "weight 0": ({**GOOD, "weights": [1, 0]}, ("weights", 1), ["0", "1..1000000"]),
    "no goal": ({**GOOD, "goals": []}, ("goals",), ["0 goals", "1 to 4"]),
    "five goals": ({**GOOD, "goals": GOOD["goals"] * 5}, ("goals",), ["5 goals"]),
    "goal without amount": ({**GOOD, "goals": [{"collect": "rock"}]}, ("goals", 0), ["missing key 'amount'"]),
    "amount": (goal("rock", "some", "t."), ("goals", 0, "amount"), ["'some'", "'all'"]),
    "unknown unit": (goal("rok", 1, "t."), ("goals", 0, "collect"), ["'rok'", "did you mean 'rock'"]),
    "unknown color of a unit": (goal("pot.rad", 1, "a."), ("goals", 0, "collect"), ["'rad'", "did you mean 'red'"]),
    "unit without color": (goal("rock.red", 1, "t."), ("goals", 0, "collect"), ["'rock' has no color", "'pot'"]),
    "sprinklers never go": (goal("sprinkler", 1, "Z."), ("goals", 0, "collect"), ["'sprinkler'"]),
    "beehives never go": (goal("beehive", 1, "Z."), ("goals", 0, "collect"), ["'beehive'", "did you mean 'bee'"]),
    "five feeds": ({**GOOD, "feed": GOOD["feed"] * 5}, ("feed",), ["5 feeds", "0 to 4"]),
    "feed of basics": (
        {**GOOD, "feed": [{**GOOD["feed"][0], "piece": "basic.red"}]},
        ("feed", 0, "piece"),
        ["another kind in a feed"],
    ),
    "feed of size 2": ({**GOOD, "feed": [{**GOOD["feed"][0], "piece": "bush"}]}, ("feed", 0, "piece"), ["'bush'", "size 1"]),
    "feed with a cover": (
        {**GOOD, "feed": [{**GOOD["feed"][0], "piece": "cage+rock"}]},
        ("feed", 0, "piece"),
        ["a cover"],
    ),
    "per mille": ({**GOOD, "feed": [{**GOOD["feed"][0], "per_mille": 1001}]}, ("feed", 0, "per_mille"), ["1001", "1..1000"]),
    "feed without total": ({**GOOD, "feed": [{"piece": "rock"}]}, ("feed", 0), ["missing key 'per_mille'"]),
    "unknown kind": (entry("rok"), ("legend", "x"), ["'rok'", "did you mean 'rock'"]),
    "unknown cover": (entry("cgae+rock"), ("legend", "x"), ["'cgae'", "did you mean 'cage'"]),
    "unknown color of a piece": (entry("pot.rde"), ("legend", "x"), ["'rde'", "did you mean 'red'"]),
    "unknown key of a piece": (entry({"kind": "rock", "hps": 2}), ("legend", "x", "hps"), ["did you mean 'hp'"]),
    "no kind": (entry({"hp": 2}), ("legend", "x"), ["missing key 'kind'"]),
    "no piece": (entry(7), ("legend", "x"), ["7", "mapping"]),
    "rock of 6": (entry("rock:6"), ("legend", "x"), ["6", "1..5", "'rock'"]),
    "bush of 11": (entry({"kind": "bush", "hp": 11}), ("legend", "x"), ["11", "1..10"]),
    "hit points that are none": (entry("rock:two"), ("legend", "x"), ["'two'"]),
    "hit points that are superscript": (entry("rock:²"), ("legend", "x"), ["'²'"]),
    "chestnut of 1": (entry("chestnut:1"), ("legend", "x"), ["1", "'chestnut'"]),
    "gnomes without colors": (entry("gnomes"), ("legend", "x"), ["0", "1..10", "sum of the colors"]),
    "too many gnomes": (
        entry({"kind": "gnomes", "colors": {"red": 6, "blue": 5}}),
        ("legend", "x"),
        ["11", "1..10", "sum of the colors"],
    ),
    "gnomes of another sum": (entry({"kind": "gnomes", "colors": {"red": 6}, "hp": 5}), ("legend", "x"), ["5", "6"]),
    "gnomes in green": (entry({"kind": "gnomes", "colors": {"green": 6}}), ("legend", "x", "green"), ["'green'"]),
    "a rock with colors": (entry({"kind": "rock", "colors": {"red": 6}}), ("legend", "x"), ["'rock' has no 'colors'"]),
    "pot without color": (entry("pot"), ("legend", "x"), ["'pot' needs a color"]),
    "flask without color": (entry("flask"), ("legend", "x"), ["'flask' needs a color"]),
    "butterfly with a color": (entry("butterfly.red"), ("legend", "x"), ["'butterfly' has no 'color'"]),
    "cover of size 2": (entry("bubble+bush"), ("legend", "x"), ["'bush' has size 2"]),
    "legend of two characters": ({**GOOD, "legend": {**GOOD["legend"], "xx": "rock"}}, ("legend", "xx"), ["one character"]),
    "legend changes a character": (
        {**GOOD, "legend": {**GOOD["legend"], "p": "pot.red"}},
        ("legend", "p"),
        ["meaning is fixed"],
    ),
    "legend changes the empty cell": ({**GOOD, "legend": {**GOOD["legend"], "_": "rock"}}, ("legend", "_"), ["'_'"]),
    "unknown character": ({**GOOD, "layout": GOOD["layout"].replace("t...", "?...")}, ("layout", 7, 0), ["'?'", "legend"]),
    "eight lines": ({**GOOD, "layout": GOOD["layout"][14:]}, ("layout",), ["8 lines", "9 lines of 13"]),
    "a short line": ({**GOOD, "layout": GOOD["layout"].replace("t....t", "t....")}, ("layout", 7), ["12 characters", "13"]),
    "no layout": ({**GOOD, "layout": 5}, ("layout",), ["5", "text"]),
    "half a bush": (goal("bush", 1, "LL.", "L.."), ("layout", 8, 0), ["'bush' fills 2 x 2 cells", "'L'"]),
    "two bushes in each other": (goal("bush", 1, "LL.", "LLL", ".LL"), ("layout", 7, 0), ["'bush'"]),
    "a bush on the edge": (goal("bush", 1, "." * 12 + "L", "." * 12 + "L"), ("layout", 8, 12), ["'bush'"]),
    "a bush above the top": (
        {**goal("bush", 1, "."), "layout": "LL" + "." * 11 + "\n" + rows(".").split("\n", 1)[1]},
        ("layout", 0, 0),
        ["'bush'"],
    ),
    "more rocks than there are": (goal("rock", 3, "tt."), ("goals", 0, "amount"), ["3 of 'rock'", "2"]),
    "more rocks than are fed": (
        goal("rock", 5, "tt.", feed=[{"piece": "rock", "per_mille": 1, "max_on_board": 1, "total": 2}]),
        ("goals", 0, "amount"),
        ["5 of 'rock'", "4"],
    ),
    "more weeds than can grow": (goal("weed", 22, "w.", moves=20), ("goals", 0, "amount"), ["22 of 'weed'", "21"]),
    "bubbles of a bucket": (goal("bubble", 11, "ug."), ("goals", 0, "amount"), ["10"]),
    "basics that are not drawn": (goal("basic.purple", 2, "p.."), ("goals", 0, "amount"), ["2 of 'basic.purple'", "1"]),
    "more butterflies in a color": (goal("butterfly.red", 2, "x.", legend={"x": "butterfly"}), ("goals", 0, "amount"), ["1"]),
    "butterflies in a color that never comes": (
        goal("butterfly.purple", 1, "x.", legend={"x": "butterfly"}),
        ("goals", 0, "amount"),
        ["0"],
    ),
    "bees without beehive": (goal("bee", 1, "t."), ("goals", 0, "amount"), ["1 of 'bee'", "0"]),
    "more gnomes in a color": (goal("gnomes.red", 3, "GG.", "GG."), ("goals", 0, "amount"), ["3 of 'gnomes.red'", "2"]),
    "all basics": (goal("basic", "all", "t."), ("goals", 0, "amount"), ["'all'", "'basic'", "unlimited"]),
    "all power": (goal("rocket", "all", "-."), ("goals", 0, "amount"), ["'all'", "'rocket'", "unlimited"]),
    "all bees": (goal("bee", "all", "x.", legend={"x": "beehive"}), ("goals", 0, "amount"), ["'all'", "'bee'", "unlimited"]),
    "all of nothing": (goal("weed", "all", "t."), ("goals", 0, "amount"), ["'all'", "one or more at the start"]),
    "a seedbag on its exit": (drop("s."), ("layout", 8, 0), ["'seedbag' is on an exit"]),
    "a seedbag over inactive cells": (drop("s.", "#."), ("layout", 7, 0), ["'seedbag' is on an exit"]),
    "a seedbox on its exit": (drop("SS.", "SS."), ("layout", 8, 0), ["'seedbox' is on an exit"]),
    "a seedbox over a gap": (drop("SS.", "SS.", ".#.", "..."), ("layout", 6, 0), ["'seedbox' can never leave", "(1,1)"]),
    "a seedbox over a step": (drop("SS.", "SS.", "..", ".#"), ("layout", 6, 0), ["'seedbox' can never leave", "(1,0)"]),
    "a seedbox over a step to the left": (
        drop("SS.", "SS.", "..", "#."),
        ("layout", 6, 0),
        ["'seedbox' can never leave", "(0,0)"],
    ),
    "a seedbox over a beehive": (
        drop("SS", "SS", "..", ".Z"),
        ("layout", 6, 0),
        ["'beehive'", "(1,0)", "never leaves"],
    ),
}


def test_invalid_levels():
    for level, path, words in INVALID.values():
        found = [problem for problem in problems_of(level) if problem.path == path]
        assert found, problems_of(level)
        assert all(word in found[0].text for word in words), found[0].text


def problems_of(level):
    if isinstance(level, list):
        from momagames.games.tileblast.levels.level_parser import LevelParser

        parser = LevelParser()
        assert parser.parse_level(level) is None
        return parser.problems
    with pytest.raises(InvalidLevel):
        loader.load(level)
    return loader.list_problems(level)


VALID = {
    "the good one": GOOD,
    "empty feed and legend": {**GOOD, "feed": [], "legend": {"t": "rock"}},
    "a caged seedbag on its exit": drop("C."),
    "a seedbag over nothing": drop("s.", "_."),
    "a seedbox over a stump": drop("SS", "SS", "..", ".e"),
    "a seedbox with a bottom of its own": drop("SS.", "SS.", "...", "##."),
    "bubbles of a bucket": goal("bubble", 10, "ug."),
    "weeds that can grow": goal("weed", 21, "w.", moves=20),
    "many basics": goal("basic.red", 117, ".."),
    "bees": goal("bee", 20, "x.", legend={"x": "beehive"}),
    "a butterfly in a color": goal("butterfly.red", 1, "x.", legend={"x": "butterfly"}),
    "a caged flask": entry("cage+flask.red"),
    "gnomes with their sum": entry({"kind": "gnomes", "colors": {"red": 6}, "hp": 6}),
    "sunflower": entry({"kind": "sunflower", "hp": 4, "cover": "bubble"}),
    "a pot as a dict": entry({"kind": "pot", "color": "red"}),
}


def test_valid_levels():
    for name in VALID:
        assert loader.list_problems(VALID[name]) == []


BROKEN = """\
id: 1
title: Broken
moves: 0
colors: [red, blu]
goals:
  - {collect: rock, amount: 14}
  - {collect: rok, amount: 1}
legend:
  1: "rock:9"
layout: |
  #############
  ##.........##
  ##..?......##
  ##.........##
  ##....?....##
  ##.........##
  ##.........##
  ##.........##
  #############
"""


def test_problems_have_places(tmp_path):
    """Line and column in the file, the cell on the board; in the order of the file."""
    file = tmp_path / "broken.yaml"
    file.write_text(BROKEN)
    problems = loader.list_problems(file)
    assert [problem.place for problem in problems] == [(3, 1), (4, 15), (7, 6), (9, 3), (15, 9)]
    assert [problem.cell for problem in problems] == [None] * 4 + [(6, 4)]
    with pytest.raises(InvalidLevel) as raised:
        loader.load(file)
    lines = str(raised.value).split("\n")
    assert len(lines) == 5
    assert all(line.startswith(f"{file}: line ") for line in lines)
    assert "line 15, column 9, the cell (6,4): unknown character '?'" in lines[4]
    assert "goals[1].collect: invalid unit 'rok'" in lines[2]


def test_many_problems_are_counted():
    with pytest.raises(InvalidLevel, match=r"the level: missing key 'id'(.*\n){5}\.\.\. and 1 more$"):
        loader.load({})


def test_linter_problems_have_places(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(
        BROKEN.replace("0\n", "9\n", 1).replace("blu]", "blue]").replace("rok", "rock").replace(":9", ":2").replace("?", ".")
    )
    assert [problem.place for problem in loader.list_problems(file)] == [(6, 21), (7, 21)]
    assert loader.load(file, check=False).moves == 9


TEXTS = {
    "id: [1\ntitle: a\n": "line 2, column 6: invalid YAML",
    "id: 1\nid: 2\n": "line 2, column 1, id: duplicate key 'id'",
    "\x00": "invalid YAML",
    "": "invalid value None: expected a mapping",
    "!!python/object:os.system {}": "line 1, column 1: invalid YAML: tags",
    "title: !!int x": "invalid YAML",
}


def test_invalid_texts(tmp_path):
    for text in TEXTS:
        file = tmp_path / "a.yaml"
        file.write_text(text)
        with pytest.raises(InvalidLevel, match=TEXTS[text]):
            loader.load(file)


def test_invalid_sources():
    for given in [0, 13, -1, True, 2.5, None, [1], b"x"]:
        with pytest.raises(InvalidParameter, match=r"expected 1\.\.12, the path of a level file, or a level as a dict"):
            loader.load(given)


def test_unreadable_files(tmp_path):
    with pytest.raises(InvalidLevel, match=r"none\.yaml.*cannot be read"):
        loader.load(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"title: \xe9")
    with pytest.raises(InvalidLevel, match="cannot be read"):
        loader.load(tmp_path / "latin.yaml")
