"""Maps and parameters of MO-ItemGathering: forms, files, and what is wrong with others."""

import numpy as np
import pytest

import momagames
from momagames.errors import InvalidParameter, InvalidState, UnknownParameter
from momagames.games.item_gathering import map_loader

ID = "mo-item-gathering-v0"
ROWS = [[0, 1, 0, 0], [2, 0, 0, 5]]


def make_map(value):
    return momagames.spec(ID, initial_map=value).params["initial_map"]


def test_forms_of_a_map(tmp_path):
    path = tmp_path / "own.txt"
    path.write_text("\n.1..\n2..5\n\n")
    forms = [ROWS, np.array(ROWS), [np.array(row) for row in ROWS], tuple(map(tuple, ROWS)), [".1..", "2..5"]]
    forms += ["0100\n2005", "0,1,0,0\n2, 0, 0, 5", "0 1 0 0\n2 0 0 5\n", [["0", "1", "0", "0"], "2005"], path, str(path)]
    assert all(make_map(form) == [".1..", "2..5"] for form in forms)
    assert momagames.spec(ID, initial_map=ROWS).params == momagames.spec(ID, initial_map=path).params


def test_values_of_two_digits():
    assert make_map([[1, 12], [0, 127]]) == ["1,12", "0,127"]
    assert make_map(make_map([[1, 12], [0, 127]])) == ["1,12", "0,127"]
    assert [one.name for one in momagames.spec(ID, initial_map=[[1, 12], [0, 127]]).objectives] == ["item_1", "item_2"]


def test_packaged_maps():
    assert make_map(None) == "default"
    for name in map_loader.NAMES:
        rows = map_loader.load(name)
        assert make_map(name) == make_map(rows) == make_map("\n".join(map_loader.format_rows(rows))) == name
        assert momagames.spec(ID, initial_map=name).blank_state["agents"] == (rows == 1).sum()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("corner", "did you mean 'corners'"),
        (7, "expected 'default'"),
        ([], "0 rows: expected 1 to 20"),
        ("\n".join(["12"] * 21), "21 rows"),
        ([[1, 2], [0]], "1 cells in row 1: expected 1 to 20, as many as in row 0, which has 2"),
        ([[1, 2] * 11], "22 cells in row 0"),
        ([[0, 2]], "0 agents: expected 1 to 16"),
        ([[1] * 17 + [2]], "17 agents"),
        ([[1, 0]], "0 types of items"),
        ([list(range(1, 12))], "10 types of items: expected 1 to 9"),
        ([[1, 2.5]], "2.5 in row 0, column 1"),
        ([[1, True]], "True in row 0, column 1"),
        ([[1, -1]], "-1 in row 0"),
        ("1x\n02", "'x' in row 0, column 1"),
        ("1,2,\n1,2,3", "'' in row 0, column 2"),
        ([[1, 128]], "128 in row 0, column 1: expected 0 or . (empty), 1 (an agent) or a number of an item, 2..127"),
        ([1, 2], "1 agents"),
    ],
    ids=str,
)
def test_wrong_maps(given, words):
    if given == [1, 2]:
        assert make_map(given) == ["1", "2"]  # a map of one column
        return
    with pytest.raises(InvalidParameter) as raised:
        make_map(given)
    assert words in str(raised.value)


def test_files_that_cannot_be_read(tmp_path):
    path = tmp_path / "map.txt"
    path.write_bytes(b"1\xff2")
    with pytest.raises(InvalidParameter, match="expected a readable text file"):
        make_map(path)
    path.write_text("12\n" * 40_000)
    with pytest.raises(InvalidParameter, match="expected a readable text file"):
        make_map(path)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"pickup_probabilities": [0.5]}, "3 probabilities, one for each type"),
        ({"pickup_probabilities": [0.5, 1, 1.5]}, "pickup_probabilities[2]=1.5: expected a number in 0..1"),
        ({"pickup_probabilities": "half"}, "a list of 1 to 9 numbers in 0..1"),
        ({"control": "central", "initial_map": [[1] * 5 + [2]]}, "the map has 5 agents and one moves at most 4"),
        ({"objectives": ["item_4"]}, "did you mean"),
        ({"num_timesteps": 0}, "1..1000"),
    ],
    ids=str,
)
def test_wrong_parameters(params, words):
    with pytest.raises(InvalidParameter) as raised:
        momagames.spec(ID, **params)
    assert words in str(raised.value)
    with pytest.raises(UnknownParameter):
        momagames.spec(ID, steps=3)


@pytest.mark.parametrize(
    ("position", "words"),
    [
        ({"agents": [[0, 0], [0, 1]]}, "needs 'items'"),
        ({"items": []}, "needs 'agents'"),
        ({"agents": [[0, 0]], "items": []}, "2 rows of 2 integers in 0..7, [row, column] of each agent"),
        ({"agents": [[0, 0], [0, 0]], "items": []}, "on different cells"),
        ({"agents": [[0, 0], [0, 8]], "items": []}, "agents[1][1]=8: expected an integer in 0..7"),
        ({"agents": [[0, 0], [0]], "items": []}, "rows of 2 integers"),
        ({"agents": [[0, 0], [0, 1]], "items": [[1, 1]]}, "rows of 3 integers"),
        ({"agents": [[0, 0], [0, 1]], "items": [[1, 1, 3]]}, "items[0][2]=3: expected an integer in 0..2"),
        ({"agents": [[0, 0], [0, 1]], "items": [[1, 1, 0], [1, 1, 1]]}, "at most one item on a cell"),
        ({"agents": [[0, 0], [0, 1]], "items": [[1, k, 2] for k in range(3)]}, "at most [3, 3, 2] items by type"),
        ({"agents": [[0, 0], [0, 1]], "items": [], "n": 11}, "0..10"),
        ({"agents": [[0, 0], [0, 1.5]], "items": []}, "integers"),
    ],
    ids=str,
)
def test_wrong_positions(position, words):
    with pytest.raises(InvalidState) as raised:
        momagames.check_state(ID, position)
    assert words in str(raised.value)


def test_actions_as_text():
    central = momagames.make(ID, control="central")
    central.reset(seed=0)
    human, record = central.game.human, central.episode.state
    assert human.parse_action(record, "down up") == 2 + 5 * 1
    assert human.parse_action(record, "l, 4") == 3 + 5 * 4
    assert human.action_name(record, 2 + 5 * 1) == "down up"
    for text in ("up", "up up up", "s x"):
        with pytest.raises(ValueError, match="is not an action"):
            human.parse_action(record, text)
    alone = momagames.make(ID)
    alone.reset(seed=0)
    assert alone.game.human.parse_action(alone.episode.state, "R") == 4
    with pytest.raises(ValueError, match="is not an action"):
        alone.game.human.parse_action(alone.episode.state, "")
