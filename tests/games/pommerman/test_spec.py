"""SPEC.md says what is declared: ids, objectives with their bounds, fields, planes, codes."""

import re

import numpy as np
import pytest

import momagames
from momagames.errors import InvalidParameter
from momagames.games.pommerman.rules import state as codes
from tests.specifications import evaluate, find_table, ids_in_title, read_spec

FIRST = "mo-pommerman-ffa-v0"
TEXT = read_spec(FIRST)
IDS = ids_in_title(TEXT)


def every_objective(id):
    """The objectives that games of this id can have."""
    known = []
    for name in codes.OBJECTIVES:
        try:
            known.append(momagames.spec(id, objectives=name).objectives[0])
        except InvalidParameter:
            assert name in ("comm", "comm_change", "team_kill", "team_bombs", "mate_survival")
    return known


def test_ids_and_their_defaults():
    rows = {row[0]: row for row in find_table(TEXT, "id")}
    assert list(rows) == IDS == [id for id in momagames.ids() if "pommerman" in id]
    modes = {"FFA": codes.FFA, "team": codes.TEAM, "radio": codes.RADIO, "duel": codes.DUEL}
    originals = []
    for id, (_, names, kind, board, fog, limit, rings) in rows.items():
        game = momagames.spec(id)
        assert int(game.blank_state["mode"]) == modes[kind]
        assert game.params["board_size"] == int(board)
        assert game.params["is_partially_observable"] == (fog == "yes")
        assert game.params["max_blast_strength"] == int(limit)
        assert game.params["first_collapse"] == (None if rings == "no" else int(rings.removeprefix("from ")))
        originals += names.split(", ")
    assert len(set(originals)) == 12


@pytest.mark.parametrize("id", IDS)
def test_objectives_of_section_5(id):
    rows = {row[0]: row for row in find_table(TEXT, "objective")}
    assert tuple(rows) == codes.OBJECTIVES
    game = momagames.spec(id, board_size=9, max_steps=70)
    alike = momagames.spec(id, board_size=9, max_steps=70, objectives=[goal.name for goal in every_objective(id)])
    for goal in alike.objectives:
        _, unit, step, episode = rows[goal.name]
        if "FFA" in episode:
            episode = episode.partition(", else ")[0].removeprefix("FFA ") if "ffa" in id else episode.partition(", else ")[2]
        assert goal.unit == unit
        for cell, low, high in ((step, goal.low, goal.high), (episode, goal.return_low, goal.return_high)):
            assert [evaluate(end, game) for end in cell.split("..")] == pytest.approx([low, high]), goal.name
        assert re.search(rf"\*\*{re.escape(goal.source.removeprefix('§'))}[ .*]", TEXT), goal.source


@pytest.mark.parametrize("id", IDS)
def test_actions_and_fields(id):
    game = momagames.spec(id)
    assert game.actions == ((6, 9, 9) if "radio" in id else (6,))
    rows = {}
    for names, shape, low_high, _ in find_table(TEXT, "field"):
        for k, name in enumerate(names.split(", ")):
            rows[name] = shape, low_high.split(", ")[min(k, low_high.count(", "))]
    if "radio" not in id:
        del rows["message"]
    assert list(rows) == [field.name for field in game.fields]
    n, agents = game.params["board_size"], len(game.agents)
    for field in game.fields:
        shape, bounds = rows[field.name]
        sizes = {"matrix": (n, n), "agents": (agents,), "3, in the duel 1": (1 if "duel" in id else 3,)}
        assert field.shape == (sizes.get(shape) or (int(shape.split()[0]),))
        low, high = bounds.replace("n-1", str(n - 1)).replace("max_steps", str(game.params["max_steps"])).split("..")
        assert (field.low, field.high) == (int(low), int(high)), field.name
        assert field.dtype == ("int32" if field.name == "step_count" else "uint8")


@pytest.mark.parametrize("id", IDS)
def test_planes(id):
    rows = find_table(TEXT, "plane")
    last = max(int(number) for row in rows for number in re.findall(r"\d+", row[0]) if "radio" in id or "radio" not in row[1])
    (field,) = momagames.spec(id, observation="planes").fields
    assert field.shape[0] == last + 1
    assert f"[{last + 1}, n, n]" in TEXT


def test_codes_of_section_1():
    words = ("passage", "rigid wall", "wood", "bomb", "flames", "fog", "extra bomb", "range", "kick", "no agent", "agents")
    for code, word in enumerate(words):
        assert re.search(rf"\*\*1\.1.*\b{code} (?:to \d+ )?{word}", TEXT), word
    assert np.array_equal([codes.PASSAGE, codes.KICK, codes.AGENT], [0, 8, 10])


def test_defaults_keep_their_shares_on_other_boards():
    """§8.3 Any board size works by itself, and ranges are those of the board."""
    for id in IDS:
        for size in range(7, 17):
            game = momagames.spec(id, board_size=size)
            limits = {p.name: p for p in game.parameters}
            assert 0 < game.params["num_items"] <= limits["num_items"].high <= 60
            assert game.params["num_rigid"] <= limits["num_rigid"].high


@pytest.mark.parametrize(
    ("id", "given", "said"),
    [
        (FIRST, {"egocentric": True}, "egocentric=True needs is_partially_observable=True"),
        (FIRST, {"objectives": ["outcome", "comm"]}, "'comm' is for games with radio"),
        ("mo-pommerman-duel-v0", {"objectives": "team_kill"}, "'team_kill' is for games with teams"),
        (FIRST, {"objectives": ["kill"]}, "invalid objectives='kill'.*did you mean 'kills'"),
        (FIRST, {"first_collapse": 797}, "invalid first_collapse=797: expected an integer in 1..796, or None"),
        (FIRST, {"num_rigid": 38}, "invalid num_rigid=38: expected an integer in 0..36"),
        (FIRST, {"num_wood": 10, "num_items": 13}, "invalid num_items=13: expected an integer in 0..12"),
        (FIRST, {"variant": "duel"}, "fixes 'variant'"),
    ],
)
def test_incompatible_parameters_are_rejected(id, given, said):
    with pytest.raises(InvalidParameter, match=said):
        momagames.spec(id, **given)


def test_an_unknown_variant_is_rejected():
    momagames.register("mo-pommerman-odd-v0", "momagames.games.pommerman:game", variant="dual")
    try:
        with pytest.raises(InvalidParameter, match=r"variant='dual'.*did you mean 'duel'"):
            momagames.spec("mo-pommerman-odd-v0")
    finally:
        del momagames.registry._entries["mo-pommerman-odd-v0"]
