"""Positions as data and as text: round trips at every point of a game, and bad ones refused with a reason."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import momagames
from momagames.engine.episode import Episode, random_legal
from momagames.errors import InvalidState
from tests.cases import GAMES, name_case
from tests.games.walk import legal, moves, start

SAMEGAME, BREAKTHROUGH = "mo-samegame-v0", "mo-breakthrough-v0"


@pytest.mark.parametrize("game", GAMES, ids=name_case)
def test_a_position_continues_equally_from_every_point_of_games(game, interpreted):
    """Given in the forms in turn: the same position, step, end and next game."""
    play, other, rng = Episode(game), Episode(game), np.random.default_rng(3)
    for seed in range(1 if interpreted else 2):
        play.reset(seed)
        while not play.state["over"]:
            saved = game.codec.save(play.state)
            forms = play.state.copy(), saved, json.loads(json.dumps(saved)), game.codec.show(play.state)
            other.load(forms[int(play.state["ply"]) % 4])
            assert game.codec.save(other.state) == saved
            for row, agent in zip(play.pending, [play.mover] if game.sequential else range(len(game.agents)), strict=True):
                mask = play.mask(agent)
                row[:] = random_legal(mask, game.actions, rng) if mask.any() else 0
            actions = int(play.pending[0, 0]) if play.pending.size == 1 else play.pending.copy()
            for one in (play, other):
                one.step(actions)
            assert game.codec.save(other.state) == game.codec.save(play.state)
            for name in ("reward", "observations", "masks"):
                assert np.array_equal(getattr(other, name), getattr(play, name)), name
            for name in ("over", "truncated", *({"gone", "winners"} & {*game.dtype.names})):
                assert np.array_equal(other.states[name], play.states[name]), name
        for one in (play, other):
            one.reset()
        assert game.codec.save(other.state) == game.codec.save(play.state)


def test_the_examples_of_the_specifications_load():
    games = {
        SAMEGAME: {"board_width": 3, "board_height": 3, "num_colors": 3},
        BREAKTHROUGH: {"board_width": 3, "board_height": 5},
    }
    for id, params in games.items():
        folder = Path(momagames.__file__).parent / "games" / id.removeprefix("mo-").removesuffix("-v0")
        found = re.search(r"(?:^    .+\n)+", (folder / "SPEC.md").read_text(encoding="utf-8"), re.MULTILINE)
        text = re.sub("^    ", "", found.group(), flags=re.MULTILINE).strip()
        play = start(id, 0, **params)
        play.load(text)
        assert play.game.codec.show(play.state).startswith(
            text.splitlines()[0] if id == SAMEGAME else "next_agent=player_1 ply=1"
        )
        assert legal(play)


def test_a_board_without_a_group_ends_at_reset():
    env = momagames.make(SAMEGAME, board_width=3, board_height=3, num_agents=2)
    for rows in (["121", "212", "121"], ["...", "...", "..."]):
        env.reset(options={"board": rows})
        assert env.terminations == {"agent_0": True, "agent_1": True}
        assert not any(reward.any() for reward in env.rewards.values())
        env.step(None)
        env.step(None)
        assert env.agents == []


@pytest.mark.parametrize("id", [SAMEGAME, BREAKTHROUGH])
def test_forms_of_a_board(id):
    """Strings, one string, lists of numbers and arrays of any integer type are the same board."""
    env = momagames.make(id, board_width=5, board_height=6)
    env.reset(seed=1)
    rows = env.get_state()["board"]
    numbers = [[".12345".index(symbol) for symbol in row] for row in rows]
    forms = [rows, tuple(rows), "\n".join(rows), numbers]
    forms += [np.array(numbers, kind) for kind in ("i1", "u1", "i8", "u8")]
    for form in forms:
        env.reset(options={"board": form})
        assert env.get_state()["board"] == rows
        assert env.get_state()["ply"] == 0


def test_a_position_continues_the_random_stream_of_the_environment():
    env, other = (momagames.make(SAMEGAME, board_width=4, board_height=4) for _ in range(2))
    env.reset(seed=3)
    position = env.get_state()
    other.reset(options={"state": position})  # brings its own word
    env.reset()
    other.reset()
    assert env.get_state() == other.get_state()
    other.reset(seed=99, options={"board": position["board"]})
    other.reset()
    env.reset(seed=99)
    env.reset()
    env.reset(seed=99, options={"board": position["board"]})
    env.reset()
    assert env.get_state() == other.get_state()


SMALL = {
    SAMEGAME: {"board_width": 3, "board_height": 3, "num_colors": 3, "num_agents": 2},
    BREAKTHROUGH: {"board_width": 3, "board_height": 5},
}
GOOD = {SAMEGAME: ["112", "212", "331"], BREAKTHROUGH: ["111", "1..", "...", "222", ".22"]}


def other_record(id, **params):
    return start(id, 0, **params).state.copy()


def spoiled(id, **fields):
    """A record of the right game with nonsense in it."""
    state = start(id, 1, **SMALL[id]).state.copy()
    for name, value in fields.items():
        state[name] = value
    return state


def changed(rows, y, row):
    return [*rows[:y], row, *rows[y + 1 :]]


BAD_FOR_BOTH = [
    ({"state": {"boart": []}}, "invalid key 'boart' of a position.*did you mean 'board'"),
    ({"next_agent": "ghost"}, "needs 'board'"),
    ({"board": None}, "shape"),
    ({"board": 5}, "shape"),
    ({"board": ""}, "shape"),
    ({"board": []}, "shape"),
    ({"board": {}}, "shape"),
    ({"board": object()}, "shape"),
    ({"board": b"111"}, "shape"),
    ({"board": [[1, 2], [3]]}, "board"),
    ({"board": [["1", "1", "1"]] * 3}, "shape"),
    ({"board": np.zeros((2, 3), int)}, r"shape \(2, 3\); this game needs|\(2, 3\)"),
    ({"board": ["111"]}, "shape"),
    ({"board": ["111", "11", "1"]}, "differ in length"),
    ({"board": ["x11"] * 5}, "row 0, column 0: invalid cell='x'|has shape"),
    ({"state": 3}, "a record, a dict or a text"),
    ({"state": ["a"]}, "a record, a dict or a text"),
    ({"state": ""}, "board"),
    ({"state": "junk"}, "needs 'board'|shape|no key"),
    ({"state": "x=1\n..."}, "shape"),
    ({"state": {}}, "needs 'board'"),
    ({"state": {1: 2}}, "needs 'board'"),
    ({"state": np.zeros(3)}, "a record, a dict or a text"),
    ({"state": np.zeros(1, [("board", "u1", (9,))])[0]}, "a record, a dict or a text"),
]
WITH_A_GOOD_BOARD = [
    ({"next_agent": "ghost"}, "next_agent='ghost'"),
    ({"next_agent": 0}, "next_agent=0"),
    ({"next_agent": None}, "next_agent=None"),
    ({"next_agent": ["agent_0"]}, "next_agent"),
    ({"first_agent": "ghost"}, "next_agent='ghost'"),
    ({"ply": -1}, "ply=-1"),
    ({"ply": 1.5}, "ply=1.5"),
    ({"ply": True}, "ply=True"),
    ({"ply": "many"}, "ply='many'"),
    ({"ply": "-1"}, "ply='-1'"),
    ({"ply": 10**30}, "ply=1000"),
    ({"ply": None}, "ply=None"),
    ({"ply": 8}, "ply=8"),
    ({"rng": -1}, "rng=-1"),
    ({"rng": 2**64}, "rng=18446744073709551616"),
    ({"rng": 0.5}, "rng=0.5"),
    ({"rng": "text"}, "rng='text'"),
    ({"rng": []}, "rng="),
]
GOOD_ROWS = GOOD[SAMEGAME]


def list_bad_samegame():
    return [
        ({"board": changed(GOOD_ROWS, 0, "114")}, "row 0, column 2: invalid cell='4': expected 0 .empty. to 3"),
        ({"board": np.full((3, 3), -1)}, "row 0, column 0: invalid cell=-1"),
        ({"board": np.ones((3, 3))}, "whole numbers"),
        ({"board": np.ones((3, 3), bool)}, "whole numbers"),
        ({"board": np.full((3, 3), 2**70, object)}, "whole numbers"),
        ({"board": changed(GOOD_ROWS, 2, "3.1")}, "hangs above an empty cell"),
        ({"board": ["1.1", "1.1", "1.1"]}, "column 1 is empty but column 2 is not"),
        ({"board": [".11", ".11", ".11"]}, "column 0 is empty"),
        ({"board": np.ones((3, 3, 1), int)}, "shape"),
        ({"state": other_record(SAMEGAME, board_width=4, board_height=3)}, "invalid width=4: expected 3, the parameter"),
        ({"state": other_record(SAMEGAME, board_width=30, board_height=30)}, "got a record of other games or board sizes"),
        ({"state": other_record(SAMEGAME, board_width=16, board_height=16)}, "invalid width=16: expected 3"),
        ({"state": spoiled(SAMEGAME, width=9)}, "invalid width=9: expected 3"),
        ({"state": spoiled(SAMEGAME, width=-3, height=-3)}, "."),
        ({"state": spoiled(SAMEGAME, board=15)}, "."),
        ({"state": spoiled(SAMEGAME, to_move=4)}, "next_agent='number 4'"),
        ({"state": spoiled(SAMEGAME, ply=-3)}, "ply=-3"),
    ]


def list_bad_breakthrough():
    return [
        ({"board": ["...", "1..", "...", "...", "..."]}, "player_1 has 0 pieces"),
        ({"board": ["2..", "...", "...", "...", "..1"]}, "goal row"),
        ({"board": ["...", "...", "1.2", "...", "..1"]}, "row 4, column 2: player_0 stands on its goal row"),
        ({"board": ["2..", "...", "1.2", "...", "..."]}, "row 0, column 0: player_1 stands on its goal row"),
        ({"board": ["111", "111", "1..", "222", "222"]}, "player_0 has 7 pieces"),
        ({"board": ["113", "1..", "...", "222", ".22"]}, "row 0, column 2: invalid cell='3'"),
        ({"board": np.full((5, 3), 3)}, "row 0, column 0: invalid cell=3"),
        ({"board": np.ones((3, 5), int)}, "shape"),
        ({"state": other_record(BREAKTHROUGH)}, "invalid width=8: expected 3"),
        ({"state": other_record(BREAKTHROUGH, board_width=20, board_height=20)}, "invalid width=20: expected 3"),
        ({"state": spoiled(BREAKTHROUGH, height=20)}, "."),
        ({"state": spoiled(BREAKTHROUGH, pieces=2**64 - 1)}, "."),
        ({"state": spoiled(BREAKTHROUGH, to_move=2)}, "."),
        ({"state": spoiled(BREAKTHROUGH, ply=1)}, "ply=1"),
    ]


SLIPS = [("frist_agent", "first_agent"), ("nextagent", "next_agent"), ("boards", "board")]


def list_bad():
    """All bad positions; the records among them are made by games, which takes time."""
    bad = [(id, options, why) for id in SMALL for options, why in BAD_FOR_BOTH]
    bad += [(id, {"state": {"board": GOOD[id], slip: 0}}, f"mean '{key}'") for id in SMALL for slip, key in SLIPS]
    bad += [(id, {"board": GOOD[id], **options}, why) for id in SMALL for options, why in WITH_A_GOOD_BOARD]
    bad += [(SAMEGAME, options, why) for options, why in list_bad_samegame()]
    return bad + [(BREAKTHROUGH, options, why) for options, why in list_bad_breakthrough()]


def everything(env):
    """All that a user can see of an environment."""
    seen = [env.observe(agent) for agent in env.agents]
    books = (env.rewards, env._cumulative_rewards, env.terminations, env.truncations, env.infos)
    return repr((env.get_state(), env.agent_selection, env.agents, books, seen, env.returns.tolist()))


def label(value):
    """A value in the name of a test, the same in every run: without the addresses of objects."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))[:40]


def test_bad_positions_are_refused_and_change_nothing():
    for id, options, why in list_bad():
        env = momagames.make(id, **SMALL[id])
        env.reset(seed=7)
        env.step(legal(env.episode)[0])
        before = everything(env)
        with pytest.raises(InvalidState, match=why) as error:
            env.reset(seed=8, options=options)
        assert id in str(error.value)
        assert everything(env) == before
        env.step(legal(env.episode)[0])


@pytest.mark.parametrize("id", list(SMALL))
def test_misspelled_options_are_rejected(id):
    for slip, key in SLIPS:
        env = momagames.make(id, **SMALL[id])
        env.reset(seed=7)
        before = everything(env)
        with pytest.raises(momagames.errors.InvalidParameter, match=f"did you mean '{key}'"):
            env.reset(options={"board": GOOD[id], slip: 0})
        assert everything(env) == before


def test_state_and_board_together_are_rejected():
    env = momagames.make(SAMEGAME)
    env.reset(seed=7)
    before = everything(env)
    with pytest.raises(momagames.errors.InvalidParameter, match=r"expected either .state. or"):
        env.reset(options={"state": env.get_state(), "board": env.get_state()["board"]})
    assert everything(env) == before


@pytest.mark.parametrize("id", list(SMALL))
def test_good_positions_are_taken(id):
    """So that the refusals above are about what they say."""
    env = momagames.make(id, **SMALL[id])
    env.reset(options={"board": GOOD[id], "first_agent": env.possible_agents[1], "ply": 0, "rng": 5})
    assert env.agent_selection == env.possible_agents[1]
    assert env.get_state()["board"] == GOOD[id]
    env.reset(options={"state": spoiled(id)})
    assert env.get_state()["rng"] == int(spoiled(id)["rng"])


JUNK = [None, -1, 10**6, 2**70, 1.5, float("nan"), float("inf"), "0", "a", [0], [], {}, (1, 2), np.array([0, 1]), object()]


@pytest.mark.parametrize("id", list(SMALL))
def test_junk_actions_are_refused_and_change_nothing(id):
    for action in JUNK:
        env = momagames.make(id, **SMALL[id])
        env.reset(options={"board": GOOD[id]})
        before = everything(env)
        with pytest.raises(
            momagames.errors.IllegalAction,
            match=f"illegal action=.* of {env.agent_selection}: expected one of .* legal actions",
        ):
            env.step(action)
        assert everything(env) == before


def test_an_illegal_action_names_the_nearest_cells():
    env = momagames.make(SAMEGAME, board_width=3, board_height=3, num_colors=3)
    env.reset(options={"board": ["123", "231", "112"]})
    message = r"illegal action=0 of agent_0: expected one of 2 legal actions; nearest .*\(0,2\) = 6"
    with pytest.raises(momagames.errors.IllegalAction, match=message):
        env.step(0)


@pytest.mark.parametrize(("id", "more"), [(SAMEGAME, {}), (BREAKTHROUGH, {}), (BREAKTHROUGH, {"canonical": True})])
def test_actions_by_name(id, more):
    """parse_action reads the names that action_name writes."""
    play = start(id, 3, **SMALL[id] | more)
    game = play.game
    for before, _, action, _ in moves(play, 3):
        assert game.human.parse_action(before, game.human.action_name(before, action)) == action
        assert game.human.parse_action(before, str(action)) == action


@pytest.mark.parametrize("id", list(SMALL))
def test_unreadable_actions(id):
    for text in ["", "x", "1 2 3 4 5", "1 x", "99 0", "99 1 99", "-1 0", "0 99 1", "(0,1)-(0,3)", "(0,1)-(0,0)"]:
        play = start(id, 0, **SMALL[id])
        with pytest.raises(ValueError, match=r"type|expected"):
            play.game.human.parse_action(play.state, text)
