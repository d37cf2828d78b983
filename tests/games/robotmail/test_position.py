"""Positions as data and as text (SPEC §9): nothing is lost, and what cannot be is refused with what is wrong and where."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momagames
from momagames.engine.episode import Episode
from momagames.engine.positions import load_state
from momagames.errors import InvalidState
from momagames.games.robotmail.layouts import loader
from tests.games.robotmail import dense_positions

ID = "mo-robotmail-v0"
BOARD = {  # narrow cells, a wall, receivers of 3 and 63
    "colors": ["y,g,gr,r,y", "w,g,w,g,w", "g,w,b,w,b", "y,g,w,g,gr"],
    "targets": ["3,0,0,0,63", "0,0,0,0,0", "0,3,0,0,0", "5,0,0,0,0"],
}
POSITION = {  # something of everything: a robot on white, on green, on blue, on yellow
    "robots": [
        [1, 1, 63, 9.4, 10, 2, 5], [2, 0, 5, 0.05, 1, 0, 0], [4, 2, 0, 4.000000000000001, 5, 1, 70], [0, 3, 0, 10.0, 10, 1, 1]
    ],
    "mails": [5, 3],
    "left": 4,
    "n": 90,
    "clock": 40,
    "next": 2,
    "winner": None,
    "event": "dock",
    "illegal": 7,
    "rng": 12345678901234567890,
}  # fmt: skip
SIZE = {"layout": BOARD, "num_players": 2, "num_robots_per_player": 2, "required_mail": 3, "max_step": 100}
PARTS = ("x", "y", "mail", "inner", "shown", "delivered", "stands")
FORMS = ["data", "json", "text", "record"]


def make_episode(given=POSITION, **params):
    """A game that goes on from a position."""
    play = Episode(momagames.spec(ID, **SIZE | {"random_num_steps": True} | params))
    play.load(given)
    return play


def robot(index, **parts):
    """The robots, one of them changed."""
    robots = [list(row) for row in POSITION["robots"]]
    for part, value in parts.items():
        robots[index][PARTS.index(part)] = value
    return {"robots": robots}


def forms(game, state):
    data = game.codec.save(state)
    return {"data": data, "json": json.loads(json.dumps(data)), "text": game.codec.show(state), "record": state.copy()}


def without(*keys):
    return {key: value for key, value in POSITION.items() if key not in keys}


# ------------------------------------------------------------------------------------------------------- nothing is lost


@pytest.mark.parametrize("form", FORMS)
def test_round_trip_keeps_every_field(form):
    play = make_episode()
    given = forms(play.game, play.state)[form]
    state = load_state(play.game, given)[0]
    assert play.game.codec.save(state) == POSITION
    assert int(state["docked"]) == 0b0100, "who is charged when others move"


def test_text_form_has_a_line_for_each_field():
    play = make_episode()
    lines = play.game.codec.show(play.state).splitlines()
    assert [line.partition("=")[0] for line in lines] == list(play.game.codec.position_keys) == list(POSITION)
    assert lines[0].startswith("robots=[[1,1,63,9.4,10,2,5],[2,0,5,0.05,1,0,0],[4,2,0,4.000000000000001,5,1,70],")
    assert lines[6:8] == ["winner=null", 'event="dock"']
    for text in ("\n".join(lines[::-1]), " ".join(lines), "\n\n".join(lines) + "\n"):
        assert play.game.codec.read(text) == POSITION, "in any order, with any white space"


def test_data_is_plain():
    """Also where a position was given as arrays."""
    given = POSITION | {"robots": np.array(POSITION["robots"], object), "mails": np.array([5, 3]), "n": np.int16(90)}
    play = make_episode(given)
    assert json.loads(json.dumps(play.game.codec.save(play.state))) == POSITION
    tuples = {key: tuple(map(tuple, value)) if key == "robots" else value for key, value in POSITION.items()}
    play.load(tuples)
    assert play.game.codec.save(play.state) == POSITION


@pytest.mark.parametrize("number", [int, np.float64, np.float32, np.int32], ids=lambda kind: kind.__name__)
def test_batteries_of_any_numbers(number):
    full = robot(3, inner=number(10), shown=number(10))["robots"]
    play = make_episode(POSITION | {"robots": full})
    saved = play.game.codec.save(play.state)
    assert saved == POSITION
    assert [type(row[3]) for row in saved["robots"]] == [float] * 4


KINDS = {
    "usual": ("documented", 2, 1, {}),
    "empty masks": ("mini6", 3, 2, {"always_legal": False}),
    "soon won": ("mini6", 3, 2, {"required_mail": 1, "random_num_steps": True, "max_step": 40}),
    "without battery": ("tall", 2, 2, {"with_battery": False, "max_step": 30, "required_mail": 2}),
}


def make_kind(name):
    layout, players, team, more = KINDS[name]
    return momagames.spec(ID, **{"layout": layout, "num_players": players, "num_robots_per_player": team, **more})


@given(st.integers(0, 10**6), st.sampled_from(list(KINDS)))
def test_random_positions(seed, kind):
    """Whatever can be, in whatever form, is taken and given back."""
    game = make_kind(kind)
    wanted = dense_positions.random_position(loader.load(game.params["layout"]), game.params, seed)
    states = load_state(game, wanted)
    saved = game.codec.save(states[0])
    assert {key: saved[key] for key in wanted} == wanted
    for form in forms(game, states[0]).values():
        assert load_state(game, form).tobytes() == states.tobytes()


def test_defaults_of_missing_keys():
    play = make_episode({"robots": POSITION["robots"], "mails": POSITION["mails"]})
    saved = play.game.codec.save(play.state)
    del saved["rng"]
    assert saved == {
        "robots": POSITION["robots"], "mails": POSITION["mails"], "left": 1, "n": 0, "clock": 0, "next": 0, "winner": None,
        "event": "none", "illegal": 0,
    }  # fmt: skip
    play.reset(7)
    stream = int(play.state["rng"])
    play.load(without("rng"))
    assert int(play.state["rng"]) == stream, "the environment's own random word stays"


def test_form_of_recordings_is_accepted():
    """With masks and flags that follow from the rest, and without what they do not tell."""
    recorded = without("event", "illegal", "rng") | {"masks": [3, 4, 1, 0], "term": False, "trunc": False}
    play = make_episode(recorded)
    assert play.game.codec.save(play.state)["robots"] == POSITION["robots"]
    env = momagames.make(ID, **SIZE, random_num_steps=True)
    env.reset(seed=1, options=without("event", "illegal", "rng"))  # its keys may be options too
    assert env.get_state()["clock"] == 40
    assert env.agent_selection == "robot_2"


# ------------------------------------------------------------------------------------------------------------- refusals

ROW = r"\[x, y, mail, inner battery, shown battery, delivered, stands\]"
SEVEN = rf"robots\[1\]=.*: expected 7 numbers {ROW}"
FOUR = f"invalid robots: expected a list of 4 rows {ROW}; given: "
TWO_MAILS = "expected a list of 2 mail indices, one for each green cell, row by row"
KNOWN = "expected 3, 5 or 63, the mail indices of this layout"
BATTERY = r"robots\[0\]: invalid inner battery={}: expected a number in 0\.\.10"
JUNK = [None, "1", 1.5, True, [], {}, -1, 2**70]


def changed_row(row):
    return {"robots": [POSITION["robots"][0], row, *POSITION["robots"][2:]]}


REFUSED = [
    # keys
    ({"robot": []}, "invalid key 'robot' of a position: expected 'robots', 'mails', 'left'.*did you mean 'robots'"),
    ({"mail": []}, "invalid key 'mail' of a position.*did you mean 'mails'"),
    ({"events": "none"}, "invalid key 'events' of a position.*did you mean 'event'"),
    ({"winer": 0}, "invalid key 'winer' of a position.*did you mean 'winner'"),
    ({"ilegal": 0}, "invalid key 'ilegal' of a position.*did you mean 'illegal'"),
    ({"robots": None}, FOUR + "None"),
    # the whole of the robots
    ({"robots": 5}, FOUR + "5"),
    ({"robots": "four"}, FOUR + "'four'"),
    ({"robots": []}, FOUR + "0 of them"),
    ({"robots": POSITION["robots"][:3]}, FOUR + "3 of them"),
    ({"robots": POSITION["robots"] * 2}, FOUR + "8 of them"),
    ({"robots": {"robot_0": [1, 1, 0, 10, 10, 0, 0]}}, FOUR + "1 of them"),
    (changed_row([1, 2]), SEVEN),
    (changed_row([*POSITION["robots"][1], 0]), SEVEN),
    (changed_row(None), SEVEN),
    (changed_row(3), SEVEN),
    (changed_row("1234567"), SEVEN),
    (changed_row({"x": 1}), SEVEN),
    # where they are
    (robot(0, x=5), r"robots\[0\]: invalid x=5: expected an integer in 0\.\.4"),
    (robot(0, y=4), r"robots\[0\]: invalid y=4: expected an integer in 0\.\.3"),
    (robot(0, x=-1), r"robots\[0\]: invalid x=-1: "),
    (robot(0, x=3, y=0), r"robots\[0\]: cell \(3,0\) is red: expected a cell that robots can enter"),
    (robot(1, x=1, y=1), r"robots\[1\]: cell \(1,1\) is occupied by robots\[0\]: expected a free cell"),
    (robot(3, x=4, y=2), r"robots\[3\]: cell \(4,2\) is occupied by robots\[2\]: expected a free cell"),
    # what they carry
    (robot(0, mail=4), rf"robots\[0\]: invalid mail=4: {KNOWN}"),
    *((robot(0, mail=junk), rf"robots\[0\]: invalid mail=.*: {KNOWN}") for junk in (*JUNK, False, 0.0, 256)),
    (robot(1, mail=0), r"robots\[1\]: invalid mail=0: expected 5, picked up on the green cell \(2,0\)"),
    (robot(1, mail=3), r"robots\[1\]: invalid mail=3: expected 5, picked up on the green cell \(2,0\)"),
    (robot(3, mail=5), r"robots\[3\]: invalid mail=5: expected 0, delivered on the yellow cell \(0,3\)"),
    # batteries
    (robot(0, inner=10.1, shown=11), BATTERY.format(r"10\.1")),
    (robot(0, inner=-0.1, shown=0), BATTERY.format(r"-0\.1")),
    (robot(0, inner=float("nan")), BATTERY.format("nan")),
    (robot(0, inner=float("inf")), BATTERY.format("inf")),
    (robot(0, inner="9.4"), BATTERY.format(r"'9\.4'")),
    (robot(0, inner=True, shown=1), BATTERY.format("True")),
    (robot(0, inner=None), BATTERY.format("None")),
    (robot(0, shown=9), r"robots\[0\]: invalid shown battery=9: expected 10, 9\.4 rounded up"),
    (robot(0, shown=9.4), r"robots\[0\]: invalid shown battery=9\.4: expected 10"),
    (robot(1, shown=0), r"robots\[1\]: invalid shown battery=0: expected 1, 0\.05 rounded up"),
    (robot(0, shown="10"), r"robots\[0\]: invalid shown battery='10': expected 10"),
    (robot(0, shown=None), r"robots\[0\]: invalid shown battery=None: expected 10"),
    # counts
    (robot(0, delivered=4), r"robots\[0\]: invalid delivered=4: expected an integer in 0\.\.3"),
    (robot(0, stands=65_536), r"robots\[0\]: invalid stands=65536: expected an integer in 0\.\.65535"),
    *(
        (robot(0, **{part: junk}), rf"robots\[0\]: invalid {part}=.*: expected an integer in 0\.\.")
        for part in ("x", "y", "delivered", "stands") for junk in JUNK
    ),
    # mails
    ({"mails": [5]}, rf"mails=\[5\]: {TWO_MAILS}"),
    ({"mails": [5, 3, 3]}, TWO_MAILS),
    ({"mails": 5}, TWO_MAILS),
    ({"mails": "53"}, TWO_MAILS),
    ({"mails": {5: 3}}, TWO_MAILS),
    ({"mails": None}, "a position needs 'mails', the index of the mail on each of the 2 green cells, row by row"),
    ({"mails": [5, 0]}, rf"invalid mails\[1\]=0: {KNOWN}"),
    ({"mails": [5, 4]}, rf"invalid mails\[1\]=4: {KNOWN}"),
    *(({"mails": [5, junk]}, rf"invalid mails\[1\]=.*: {KNOWN}") for junk in JUNK),
    # counts of the game
    ({"n": 101}, r"invalid n=101: expected an integer in 0\.\.100"),
    ({"clock": 91}, r"invalid clock=91: expected an integer in 0\.\.90"),
    ({"illegal": 91}, r"invalid illegal=91: expected an integer in 0\.\.90"),
    ({"left": 0}, r"invalid left=0: expected an integer in 1\.\.5"),
    ({"left": 6}, r"invalid left=6: expected an integer in 1\.\.5"),
    ({"next": 4}, r"invalid next=4: expected an integer in 0\.\.3"),
    ({"next": "robot_1"}, r"invalid next='robot_1': expected an integer in 0\.\.3"),
    ({"rng": 2**64}, r"invalid rng=18446744073709551616: expected an integer in 0\.\.18446744073709551615"),
    *(
        ({key: junk}, rf"invalid {key}=.*: expected an integer in")
        for key in ("n", "clock", "left", "next", "illegal", "rng") for junk in (None, -1, 1.5, True, "x", [])
    ),
    ({"event": "docked"}, "invalid event='docked': expected 'none', 'skip', 'stand', .*'dock'.*did you mean 'dock'"),
    ({"event": 7}, "invalid event=7: expected 'none'"),
    ({"event": None}, "invalid event=None: expected"),
    ({"event": []}, r"invalid event=\[\]: expected"),
    # the winner
    ({"winner": 2}, r"invalid winner=2: expected None, or the index of a player, 0\.\.1"),
    *(({"winner": junk}, "invalid winner=.*: expected None, or the index of a player") for junk in JUNK[1:]),
    ({"winner": "robot_0"}, "invalid winner='robot_0': expected None"),
    ({"winner": 0}, "winner=0, and player 0 has delivered 2; only the winner has delivered 3"),
    ({"winner": 1}, "winner=1, and player 1 has delivered 2; only the winner has delivered 3"),
    (robot(1, delivered=1), "winner=None, and player 0 has delivered 3; without a winner no player has delivered 3"),
    (robot(1, delivered=2), "winner=None, and player 0 has delivered 4; without a winner no player has delivered 3"),
    (robot(1, delivered=1) | {"winner": 1}, "winner=1, and player 0 has delivered 3"),
    (robot(1, delivered=2) | {"winner": 0}, "winner=0, and player 0 has delivered 4; only the winner has delivered 3"),
]  # fmt: skip


def observable_state(env):
    """All that a user can see of an environment."""
    seen = [env.observe(agent) for agent in env.agents]
    books = (env.rewards, env._cumulative_rewards, env.terminations, env.truncations, env.infos)
    return repr((env.get_state(), env.agent_selection, env.agents, books, seen, env.returns.tolist()))


@pytest.fixture(scope="module")
def env():
    """One that is in the middle of a game."""
    env = momagames.make(ID, **SIZE, random_num_steps=True, observation="dict")
    env.reset(seed=3, options={"state": POSITION})
    env.step(1)
    return env


def test_refused(env):
    before = observable_state(env)
    for change, why in REFUSED:
        for options in ({"state": POSITION | change}, POSITION | change):
            if set(change) <= set(POSITION) or "state" in options:
                with pytest.raises(InvalidState, match=why) as error:
                    env.reset(seed=8, options=options)
                assert ID in str(error.value)
        assert observable_state(env) == before, "and the game that was running goes on"


def test_a_slip_among_options_is_rejected(env):
    before = observable_state(env)
    with pytest.raises(momagames.errors.InvalidParameter, match=r"invalid option 'mail'.*did you mean 'mails'"):
        env.reset(options=POSITION | {"mail": []})
    assert observable_state(env) == before


NEEDED = [
    ({"state": {}}, r"a position needs 'robots'; given: \[\]"),
    ({"state": without("robots")}, r"a position needs 'robots'; given: \['clock', 'event', .*"),
    ({"state": without("mails")}, "a position needs 'mails', the index of the mail on each of the 2 green cells"),
    ({"mails": [5, 3]}, "a position needs 'robots'; given"),
    ({"state": None}, "invalid state=None of .*: leave it out to generate a start position"),
    ({"state": 5}, "invalid state of .*: expected a record, a dict or a text, got int"),
    ({"state": np.zeros(1, [("x", "u1")])[0]}, "invalid state of .*: expected a record, a dict or a text"),
    ({"state": ""}, "a position needs 'robots'"),
    ({"state": "robots=[[1"}, r"robots='\[\[1': expected JSON"),
    ({"state": "robots [[1]]"}, "'robots' cannot be read: expected lines name=value with the names 'robots', 'mails'"),
    ({"state": "robot=[]"}, "invalid key 'robot' of a position.*did you mean 'robots'"),
]


def test_invalid_positions_are_rejected(env):
    before = observable_state(env)
    for options, why in NEEDED:
        with pytest.raises(InvalidState, match=why) as error:
            env.reset(options=options)
        assert ID in str(error.value)
        assert observable_state(env) == before


def test_refused_in_other_games():
    """Positions of games with other parameters are rejected."""
    cases = (
        ({"with_battery": False}, POSITION, r"robots\[0\]: invalid inner battery=9\.4: expected 10 in games without battery"),
        ({"random_num_steps": False}, POSITION, r"invalid left=4: expected an integer in 1\.\.1"),
        ({"num_players": 3}, POSITION, r"invalid robots: expected a list of 6 rows .*; given: 4 of them"),
        ({"num_robots_per_player": 1}, POSITION, r"invalid robots: expected a list of 2 rows .*; given: 4 of them"),
        ({"layout": "tall"}, POSITION, r"mails=\[5, 3\]: expected a list of 4 mail indices"),
        ({"layout": "mini6"}, POSITION, r"robots\[0\]: invalid mail=63: expected 1, 2, 3"),
        ({"layout": "street"}, without("rng"), r"robots\[\d\]"),
        ({"max_step": 89}, POSITION, r"invalid n=90: expected an integer in 0\.\.89"),
        ({"required_mail": 2}, POSITION, "player 0 has delivered 2; without a winner no player has delivered 2"),
    )  # fmt: skip
    for params, position, why in cases:
        with pytest.raises(InvalidState, match=why):
            make_episode(position, **params)


@pytest.mark.parametrize("params", [{"layout": "tall"}, {"num_players": 1}, {"num_robots_per_player": 3}, {"max_step": 3}])
def test_records_of_other_games_are_rejected(params):
    """Records of all games are alike; their contents are not."""
    record = make_episode().state.copy()
    other = Episode(momagames.spec(ID, **SIZE | params))
    other.reset(1)
    before = other.states.tobytes()
    with pytest.raises(InvalidState, match=rf"^(?:invalid state of )?{ID}: "):
        other.load(record)
    assert other.states.tobytes() == before


SPOILED = [
    *(("x", 200), ("y", 200), ("mail", 9), ("delivered", 9), ("battery", -1.0), ("battery", np.nan), ("battery", np.inf)),
    *(("left", 0), ("winner", 1), ("event", 30), ("clock", -1), ("illegal", 99), ("ply", 101), ("ply", -1)),
    *(("to_move", 9), ("to_move", -1), ("waiting", 0), ("players", 250), ("team", 0), ("ground", 255)),
]


def test_spoiled_records_are_rejected():
    for field, value in SPOILED:
        play = make_episode()
        record, before = play.state.copy(), play.states.tobytes()
        record[field] = value
        with pytest.raises(InvalidState, match=rf"^(?:invalid state of )?{ID}: "):
            play.load(record)
        assert play.states.tobytes() == before


def test_parameters_of_a_record_are_those_of_the_game():
    for field in ["width", "height", "target", "robot", "docked", "required", "max_step", "column", "index", "fields"]:
        play = make_episode()
        record, before = play.state.copy(), play.states.tobytes()
        record[field] = 77
        with pytest.raises(InvalidState, match=rf"invalid {field}\S*=77: expected"):
            play.load(record)
        assert play.states.tobytes() == before


# ------------------------------------------------------------------------------------------------- games that are over


def ending(n, winner=None):
    """Robot 0 carries mail 3 beside its receiver (0,0), in the last step or not."""
    robots = [[0, 1, 3, 10.0, 10, 2, 0], [2, 1, 0, 10.0, 10, 0, 0], [3, 1, 0, 10.0, 10, 0, 0], [4, 1, 0, 10.0, 10, 0, 0]]
    return {"robots": robots, "mails": [5, 3], "n": n, "winner": winner}


ENDS = [  # n before the step, action, winner, whether time is up
    (50, 1, 0, False),
    (99, 0, None, True),
    (99, 1, 0, True),
]


@pytest.mark.parametrize(("n", "action", "winner", "cut"), ENDS)
def test_a_finished_game_stays_finished(n, action, winner, cut):
    play = make_episode(ending(n))
    assert not play.state["over"]
    play.step(action)
    saved = play.game.codec.save(play.state)
    assert (saved["winner"], saved["n"]) == (winner, n + 1)
    for form in FORMS:
        other = make_episode()
        other.load(forms(play.game, play.state)[form])
        assert other.game.codec.save(other.state) == saved
        for name in ("over", "truncated", "winner"):
            assert other.states[name] == play.states[name], name
        assert any(other.mask(index).any() for index in range(4)) == (winner is None)  # §7.3
        assert not other.reward.any()


@pytest.mark.parametrize(("n", "action", "winner", "cut"), ENDS)
def test_a_finished_game_is_over_in_every_api(n, action, winner, cut):
    """§9.3 Its end gives no further reward."""
    params = SIZE | {"objectives": "versus"}
    env = momagames.make(ID, **params)
    env.reset(options={"state": ending(n)})
    env.step(action)
    won = winner is not None
    assert env.rewards["robot_1"][-1] == won, "the mate of the winner has won"
    assert env.rewards["robot_2"][-1] == -won
    saved = env.get_state()
    again = momagames.make(ID, **params)
    again.reset(seed=1, options={"state": saved})
    for each in (env, again):
        assert each.terminations == dict.fromkeys(env.possible_agents, won)
        assert each.truncations == dict.fromkeys(env.possible_agents, cut)
        assert all(info["winners"] == ["robot_0", "robot_1"] * won for info in each.infos.values())
        assert any(each.observe(agent)["action_mask"].any() for agent in each.agents) == (not won)
    assert not any(reward.any() for reward in again.rewards.values())
    assert not again.returns.any()
    for _ in again.possible_agents:
        again.step(None)
    assert again.agents == []
    many = momagames.make_vec(ID, 2, autoreset="disabled", **params)
    _, infos = many.reset(options={"state": saved})
    assert infos["action_mask"].any() == (not won)
    _, step_rewards, ended, stopped, _ = many.step(np.zeros(2, int))
    assert not step_rewards.any()
    assert (ended == won).all()
    assert (stopped == cut).all()


def test_a_forfeit_is_an_end_too():
    env = momagames.make(ID, **SIZE)
    env.reset(seed=1)
    env.forfeit("robot_1")
    record = env.record
    env.reset(options={"state": record})
    assert all(env.terminations.values())
    assert not any(env.truncations.values())


def test_a_position_of_the_last_step_is_over():
    """§9.3 Without a winner it was cut off."""
    play = make_episode(POSITION | {"n": 100})
    assert (play.state["over"], play.state["truncated"]) == (1, 1)
    assert play.masks.any()
    won = make_episode(POSITION | robot(1, delivered=1) | {"winner": 0, "n": 100})
    assert (won.state["over"], won.state["truncated"]) == (1, 2)
    early = make_episode(POSITION | robot(1, delivered=1) | {"winner": 0})
    assert (early.state["over"], early.state["truncated"]) == (1, 0)


def test_balance_from_the_middle():
    """§9.3 From a position in which deliveries differ it can sum up to more than 0."""
    given = ending(50)
    given["robots"][0][5], given["robots"][1][5] = 0, 1
    play = make_episode(given, objectives=["balance"])
    play.step(1)
    assert play.reward[:, 0].tolist() == [1, 1, 0, 0]
