"""Ids, parameters, objectives and environment APIs of MO-RoboticMail (SPEC §5, §8, §10.1), and the words for its actions."""

import re

import numpy as np
import pytest

import momagames
from momagames.benchmark import match
from momagames.engine.episode import Episode
from momagames.errors import InvalidLayout, InvalidParameter
from momagames.games import robotmail
from momagames.games.robotmail.layouts import loader
from momagames.games.robotmail.layouts.generator import generate
from momagames.registry import VERSIONS
from tests.specifications import evaluate, find_table, read_spec

ID = "mo-robotmail-v0"
SIZES = {"mo-robotmail-2-v0": (2, 1, 500), "mo-robotmail-4-v0": (2, 2, 500)}
SIZES |= {"mo-robotmail-6-v0": (3, 2, 800), "mo-robotmail-12-v0": (4, 3, 1500)}
CORE = ("delivery", "pickup", "dock", "step_cost")
MORE = ("time", "energy", "charge", "blocked", "blocking", "balance", "rivalry", "outcome")
ONE_ROW = ("w,w,gr,y\n", "0,0,0,1\n")
ROWS = {"colors": ["w,w,gr,y"], "targets": ["0,0,0,1"]}


# ------------------------------------------------------------------------------------------------------------------ ids


def test_ids():
    """§8.1"""
    assert [id for id in VERSIONS if "robotmail" in id] == [ID, *SIZES]
    rows = {row[0]: row[1:] for row in find_table(read_spec(ID), "id")}
    assert rows == {ID: ["num_players", "num_robots_per_player", "500"]} | {id: list(map(str, n)) for id, n in SIZES.items()}
    for id, (players, team, steps) in {ID: (2, 1, 500), **SIZES}.items():
        game = momagames.spec(id)
        assert game.params == {
            "layout": "documented", "required_mail": 6, "num_players": players, "num_robots_per_player": team,
            "with_battery": True, "random_num_steps": False, "max_step": steps, "always_legal": True,
            "observation": "vector", "objectives": CORE,
        }  # fmt: skip
        assert game.agents == tuple(f"robot_{i}" for i in range(players * team))
        assert game.teams == tuple(player for player in range(players) for _ in range(team))
        assert game.max_episode_steps == steps
        assert game.actions == (5,)
        assert str(players * team) in id or id == ID


@pytest.mark.parametrize("id", SIZES)
def test_numbers_that_an_id_fixes(id):
    players, team, _ = SIZES[id]
    momagames.spec(id, num_players=players, num_robots_per_player=team)  # what it is may be said
    for name, count in (("num_players", players), ("num_robots_per_player", team)):
        for other in (count + 1, 1.5, None):
            why = rf"^{id}: invalid {name}={other}: expected {count} \(mo-robotmail-v0 takes others\)$"
            with pytest.raises(InvalidParameter, match=why):
                momagames.spec(id, **{name: other})


def test_teams():
    for players, team, utility in ((1, 1, "cooperative"), (1, 4, "cooperative"), (3, 1, "individual"), (2, 3, "teams")):
        game = momagames.spec(ID, num_players=players, num_robots_per_player=team)
        assert game.utility == utility
        assert len(set(game.teams)) == players


def test_default_of_required_mail():
    """§8.2 6, and 4 without battery, unless it is said."""
    for id in (ID, *SIZES):
        assert momagames.spec(id).params["required_mail"] == 6
        assert momagames.spec(id, with_battery=False).params["required_mail"] == 4
        assert momagames.spec(id, with_battery=False, required_mail=6).params["required_mail"] == 6
        assert momagames.spec(id, required_mail=4).params["required_mail"] == 4


# ----------------------------------------------------------------------------------------------------------- parameters

WHOLE = {"required_mail": (1, 1000), "num_players": (1, 6), "num_robots_per_player": (1, 6), "max_step": (1, 100_000)}
FLAGS = ("with_battery", "random_num_steps", "always_legal")


def test_numbers():
    for name in WHOLE:
        low, high = WHOLE[name]
        for value in (low, high, np.int64(high)):
            params = momagames.spec(ID, **{name: value}).params
            assert params[name] == value
            assert type(params[name]) is int
        for value in (low - 1, high + 1, -1, 2.0, True, "2", None, [2]):
            why = f"{ID}: invalid {name}={value!r}: expected an integer in {low}..{high}"
            with pytest.raises(InvalidParameter, match=f"^{re.escape(why)}$"):
                momagames.spec(ID, **{name: value})


def test_flags():
    for name in FLAGS:
        for value in (True, False, np.True_):
            assert momagames.spec(ID, **{name: value}).params[name] is bool(value)
        for value in (0, 1, None, "yes", "True"):
            with pytest.raises(InvalidParameter, match=f"^{ID}: invalid {name}={value!r}: expected True or False$"):
                momagames.spec(ID, **{name: value})


ALL = "'delivery', 'pickup', 'dock', 'step_cost', 'time', 'energy', 'charge', 'blocked', 'blocking', 'balance', 'rivalry' or"
REFUSED = [
    ({"observation": "vec"}, "invalid observation='vec': expected 'vector' or 'dict'"),
    (
        {"required_mails": 3},
        "unexpected keyword argument 'required_mails': expected 'layout', 'required_mail'.*did you mean 'required_mail'?",
    ),
    ({"num_player": 3}, "unexpected keyword argument 'num_player'.*did you mean 'num_players'?"),
    ({"max_steps": 9}, "unexpected keyword argument 'max_steps'.*did you mean 'max_step'?"),
    ({"variant": "2"}, "fixes 'variant'; choose another id"),
    ({"objectives": "cloc"}, "invalid objectives='cloc': expected a preset, 'v0', 'clock', 'energy', 'team' or 'versus', "),
    ({"objectives": "cloc"}, f"objectives, {ALL} 'outcome'; did you mean 'clock'?"),
    ({"objectives": "outcom"}, "invalid objectives='outcom'.*did you mean 'outcome'?"),
    ({"objectives": ""}, "invalid objectives=''"),
    ({"objectives": ["delivry"]}, f"invalid objectives='delivry': expected {ALL} 'outcome'; did you mean 'delivery'?"),
    ({"objectives": []}, "expected at least one objective, each once"),
    ({"objectives": ["time", "pickup", "time"]}, "expected at least one objective, each once"),
    ({"objectives": 3}, "invalid objectives=3: expected None, or a selection of 'delivery'"),
    ({"objectives": ["clock"]}, "invalid objectives=['clock']: expected the preset alone, objectives='clock', or"),
    ({"objectives": [["v0"]]}, "invalid objectives=['v0']: expected"),
    ({"objectives": [{}]}, "invalid objectives={}: expected"),
    ({"objectives": ("time", "v0")}, "invalid objectives=('time', 'v0'): expected the preset alone, objectives='v0', or"),
]


def test_refused():
    for given, why in REFUSED:
        pattern = ".*".join(re.escape(part) for part in why.split(".*"))
        with pytest.raises(InvalidParameter, match=f"^{ID}.*{pattern}"):
            momagames.spec(ID, **given)


def test_an_unknown_variant_is_rejected():
    with pytest.raises(InvalidParameter, match=r"invalid variant='21': expected 'any', '2', .*did you mean '2'"):
        robotmail.game("guest-v0", "21")


def test_robots_need_room():
    """§10.2"""
    momagames.spec(ID, layout="tiny", num_players=6)
    for params in ({"num_players": 6, "num_robots_per_player": 2}, {"num_robots_per_player": 4}):
        with pytest.raises(
            InvalidLayout, match=r"\d+ robots do not fit .* white cells, of which it has 6; take at most 6 robots, or"
        ):
            momagames.spec(ID, layout="tiny", **params)
    with pytest.raises(InvalidLayout, match="12 robots do not fit"):
        momagames.make("mo-robotmail-12-v0", layout="mini6")
    with pytest.raises(InvalidLayout, match="of which it has 1; take at most 1 robot, or another layout"):
        momagames.spec(ID, layout=("w,gr,y", "0,0,1"))


# ----------------------------------------------------------------------------------------------------------- objectives


def test_presets():
    """§5.7, with and without battery; by name all are allowed."""
    for name, *_ in (rows := find_table(read_spec(ID), "preset")):
        assert name in robotmail.PRESETS
    said = {name: text.replace("those of v0", ", ".join(CORE)).split(", ") for name, text in rows}
    for name, names in said.items():
        assert [goal.name for goal in momagames.spec(ID, objectives=name).objectives] == names
        left = [each for each in names if each not in ("dock", "energy")]
        assert [goal.name for goal in momagames.spec(ID, objectives=name, with_battery=False).objectives] == left
        assert list(momagames.spec(ID, objectives=name).params["objectives"]) == names
    assert momagames.spec(ID, objectives=None).params == momagames.spec(ID, objectives="v0").params
    assert momagames.spec(ID, objectives=["energy"]).params["objectives"] == ("energy",)
    assert momagames.spec(ID, objectives="charge").params["objectives"] == ("charge",)
    named = ["charge", "dock", "energy"]
    game = momagames.spec(ID, objectives=named, with_battery=False)
    assert [goal.name for goal in game.objectives] == named


def test_rewards_follow_the_order_of_objectives():
    given = {"robots": [[1, 1, 0, 10, 10, 0, 0], [0, 0, 0, 10, 10, 0, 0]], "mails": [4]}
    colors = ["w,g,y", "w,g,gr"], ["0,0,4", "0,0,0"]
    for names in ([*CORE, *MORE], [*MORE[::-1], *CORE]):
        play = Episode(momagames.spec(ID, layout=("\n".join(colors[0]), "\n".join(colors[1])), objectives=names))
        play.load(given)
        play.step(4)
        rewards = dict(zip(names, play.reward[0].tolist(), strict=True))
        assert {name: amount for name, amount in rewards.items() if amount} == pytest.approx(
            {"pickup": 1, "time": -1, "energy": -0.2}
        )


@pytest.mark.parametrize("sizes", [(7, 3, 2, 90), (1, 1, 1, 1), (1000, 6, 1, 100_000)])
def test_bounds(sizes):
    """§5, §6.3 The table, with other numbers than the defaults."""
    names = "required_mail", "num_players", "num_robots_per_player", "max_step"
    game = momagames.spec(ID, objectives=[*CORE, *MORE], **dict(zip(names, sizes, strict=True)))
    rows = {row[0]: row[1:] for row in find_table(read_spec(ID), "objective")}
    assert list(rows) == [goal.name for goal in game.objectives] == [*CORE, *MORE]
    for goal, worst in zip(game.objectives, game.reference_point, strict=True):
        unit, step, episode = rows[goal.name]
        assert goal.unit == unit
        assert worst == goal.return_low
        for text, low, high in ((step, goal.low, goal.high), (episode, goal.return_low, goal.return_high)):
            assert [evaluate(end, game) for end in text.split("..")] == pytest.approx([low, high])


@pytest.mark.parametrize("battery", [True, False])
def test_weights_of_the_published_scalar(battery):
    def weights(names):
        return momagames.spec(ID, objectives=names, with_battery=battery).original.published_weights

    full = (1.0,) * battery  # of `dock`, which presets leave out without battery
    assert weights("v0") == (5, 1, *full, 0.1)
    assert weights("clock") == (5.1, 1.1, *(1.1,) * battery, 0.1)
    assert weights("team") == (5, 1, *full, 0.1, 0, 0)
    assert weights(["outcome", "step_cost", "dock", "pickup", "delivery"]) == (0, 0.1, 1, 1, 5)
    assert weights(["time", "delivery", "dock", "pickup"]) == (0.1, 5.1, 1.1, 1.1)
    assert weights([*CORE, "time"]) == (5, 1, 1, 0.1, 0)
    for names in (["delivery", "pickup", "dock"], ["step_cost", "delivery", "dock"], "outcome"):
        assert weights(names) is None
    assert weights(["delivery", "pickup", "step_cost"]) == (None if battery else (5, 1, 0.1))


# -------------------------------------------------------------------------------------------------------------- layouts


@pytest.fixture
def stem(tmp_path):
    """Both files of a small layout."""
    for name, text in zip(("colors", "targets"), ONE_ROW, strict=True):
        (tmp_path / f"mine_{name}.csv").write_text(text, encoding="utf-8")
    return str(tmp_path / "mine")


FORMS = {
    "name": lambda stem: "ring",
    "random": lambda stem: "random",
    "arguments": lambda stem: {"seed": 3, "width": 12, "density": 0.1},
    "stem": lambda stem: stem,
    "one file": lambda stem: f"{stem}_targets.csv",
    "paths": lambda stem: (f"{stem}_colors.csv", f"{stem}_targets.csv"),
    "texts": lambda stem: ONE_ROW,
    "rows": lambda stem: ROWS,
    "cells": lambda stem: {"colors": [["w", "w", "gr", "y"]], "targets": [[0, 0, 0, 1]]},
    "layout": lambda stem: loader.load(ONE_ROW),
    "layout of the package": lambda stem: loader.load("tall"),
}
KEPT = {
    "name": "ring",
    "random": generate().data,
    "arguments": generate(3, 12, density=0.1).data,
    "layout of the package": loader.load("tall").data,
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_a_layout(form, stem, tmp_path):
    """§10.1 A game keeps a name or rows, and with these it can be made again, without the files."""
    params = {"layout": FORMS[form](stem), "observation": "dict", "objectives": "clock"}
    env = momagames.make(ID, **params)
    assert env.game.params["layout"] == KEPT.get(form, ROWS)
    for file in tmp_path.iterdir():
        file.unlink()
    again = momagames.spec(ID, **env.game.params)
    assert again.params == env.game.params
    assert again.blank_state.tobytes() == env.game.blank_state.tobytes()
    assert again.agents == env.game.agents
    spelled = momagames.canonical(ID, **env.game.params)
    assert spelled.startswith(f"{ID}(layout={KEPT.get(form, ROWS)!r},required_mail=6,num_players=2,")
    assert spelled.endswith("observation='dict',objectives=('delivery', 'pickup', 'dock', 'time'))")


# ----------------------------------------------------------------------------------------------------------------- APIs

# Two robots between walls on a board of one row: robot_1 at the wall has no move, and has stood too long
BOXED = {"robots": [[1, 0, 0, 10, 10, 0, 0], [0, 0, 0, 10, 10, 0, 5]], "mails": [1], "next": 1}
STAND = [1, 0, 0, 0, 0]


@pytest.mark.parametrize("always", [False, True])
def test_always_legal(always):
    """§3.6 Standing is shown instead of nothing; it is a skip that is not counted, other actions are counted then."""
    for action in range(5):
        env = momagames.make(ID, layout=ONE_ROW, always_legal=always)
        env.reset(options={"state": BOXED})
        assert env.observe("robot_1")["action_mask"].tolist() == (STAND if always else [0] * 5)
        assert env.observe("robot_0")["action_mask"].tolist() == [1, 0, 0, 0, 1]
        env.step(action)
        expected = {"event": "skip", "winners": [], "clock": 0, "illegal_actions": int(always and action != 0)}
        assert env.infos == dict.fromkeys(env.agents, expected)
        assert env.rewards["robot_1"].tolist() == [0, 0, 0, -1]
        assert env.agent_selection == "robot_0"


def test_a_mask_that_is_not_empty_stays_as_it_is():
    """§3.6 Who has stood too long must go where there is a way."""
    must_go = {"robots": [[1, 0, 0, 10, 10, 0, 5], [0, 0, 0, 10, 10, 0, 0]], "mails": [1]}
    for always in (False, True):
        env = momagames.make(ID, layout=ONE_ROW, always_legal=always)
        env.reset(options={"state": must_go})
        assert env.observe("robot_0")["action_mask"].tolist() == [0, 0, 0, 0, 1]
        env.step(0)
        assert env.infos["robot_0"]["illegal_actions"] == 1


def test_infos():
    """§7.4"""
    for api in ("aec", "gymnasium"):
        env = momagames.make(ID, api=api, layout=ONE_ROW, num_players=1)
        given = env.reset(options={"state": {"robots": [[1, 0, 0, 10, 10, 0, 0]], "mails": [1]}})
        info = env.infos["robot_0"] if api == "aec" else given[1]
        assert {key: info[key] for key in ("event", "winners", "clock", "illegal_actions")} == {
            "event": "none", "winners": [], "clock": 0, "illegal_actions": 0
        }  # fmt: skip
        last = env.step(4)
        info = env.infos["robot_0"] if api == "aec" else last[-1]
        assert (info["event"], info["clock"]) == ("pickup", 1)


def test_winners_are_named():
    """§7.4, so that matches know who has won"""
    result = match("mo-robotmail-4-v0", ["nearest", "random"], games=2, layout="tiny", required_mail=1, with_battery=False)
    assert [bout.winners for bout in result.bouts] == [(0,), (0,)]
    assert [bout.games[-1].winners for bout in result.bouts] == [(0, 1), (2, 3)]  # players change sides


def test_illegal_random():
    """Numbers that are no action become a legal one, the same with the same seed; illegal ones are skips as ever."""
    states = []
    for _ in range(2):
        env = momagames.make(ID, layout=ONE_ROW, illegal="random")
        env.reset(seed=4, options={"state": BOXED | {"next": 0}})
        for _ in range(20):
            if not any(env.terminations.values()):
                env.step(9)
        states.append(env.get_state())
        assert states[-1]["illegal"] == 0
        assert states[-1]["clock"]
        env.reset(seed=4, options={"state": BOXED})
        env.step(9)  # nothing is legal: a pass
        assert (env.get_state()["event"], env.get_state()["illegal"]) == ("skip", 0)
        env.step(1)
        assert (env.get_state()["event"], env.get_state()["illegal"]) == ("skip", 1)
    assert states[0] == states[1]


def test_illegal_forfeit():
    env = momagames.make(ID, illegal="forfeit", objectives=["delivery", "outcome", "time"])
    env.reset(seed=1)
    env.step(2)
    env.step(5)
    assert env.terminations == {"robot_0": True, "robot_1": True}
    assert not env.observe("robot_0")["action_mask"].any()
    worst = [goal.low for goal in env.game.objectives]
    assert env.rewards["robot_1"].tolist() == worst
    env.reset(seed=1)
    for _ in range(20):
        env.step(1)  # sooner or later against the border: a skip, no forfeit
    assert env.get_state()["illegal"]
    assert env.agents == ["robot_0", "robot_1"]


# ---------------------------------------------------------------------------------------------------------------- words

NAMES = ("stand", "forward", "backward", "left", "right")


def test_actions_by_name():
    play = Episode(momagames.spec(ID))
    play.reset(0)
    game, state = play.game, play.state
    for action, name in enumerate(NAMES):
        assert game.human.action_name(state, action) == game.human.action_name(state, np.int64(action)) == name
        for text in (name, name.upper(), name[0], f" {name[:3]} ", str(action)):
            assert game.human.parse_action(state, text) == action
    for text, action in (("up", 1), ("ahead", 1), ("a", 1), ("u", 1), ("down", 2), ("d", 2)):
        assert game.human.parse_action(state, text) == action
    for text in ("", " ", "x", "5", "-1", "up 1", "forwards", "01", "1.0"):
        with pytest.raises(
            ValueError, match=f"^{text!r} is not an action: type 'stand', 'forward', .* or 'right' .or 0 to 4.$"
        ):
            game.human.parse_action(state, text)


def test_legal_hint():
    for always, boxed in ((True, "0 stand"), (False, "none, any action is a skip")):
        play = Episode(momagames.spec(ID, layout=ONE_ROW, always_legal=always))
        play.load(BOXED)
        game, state = play.game, play.state
        assert game.human.legal_hint(state, 7, play.mask(0)) == "actions are 0..4; legal now: 0 stand, 4 right"
        assert game.human.legal_hint(state, 7, play.mask(1)) == f"actions are 0..4; legal now: {boxed}"
