"""Observations (SPEC §7, rules O1 to O10) of positions built as records, against an observer made of lists and dicts."""

import numpy as np
import pytest

import momagames
from momagames.contract import Game
from momagames.games.pommerman.observation_fields import build_fields as build_fields
from momagames.games.pommerman.rules import observation as views
from momagames.games.pommerman.rules import state as codes
from momagames.kernels.jit import compile_entry_point
from tests.games.pommerman import naive_observation

MODES = {"ffa": codes.FFA, "team": codes.TEAM, "radio": codes.RADIO, "duel": codes.DUEL}
GUARD = 64  # bytes around an observation that must not change


def look(states, agent, out):
    views.observe(states[0], agent, out)


look = compile_entry_point(look, "tests.pommerman.look")


def make_agent(row, col, alive=True, ammo=1, strength=2, kick=False, words=(0, 0)):
    return {"alive": alive, "row": row, "col": col, "ammo": ammo, "strength": strength, "kick": kick, "words": words}


def make_position(mode="ffa", n=11, **given):
    """Return an empty board with all agents at their start."""
    corners = [(1, 1), (n - 2, 1), (n - 2, n - 2), (1, n - 2)]
    if mode == "duel":
        corners = [corners[0], corners[2]]
    position = {
        "mode": mode,
        "board": naive_observation.matrix(n, 0),
        "agents": [make_agent(*corner) for corner in corners],
        "bombs": [],
        "flames": [],
        "step_count": 0,
        "max_steps": 800,
    }
    return position | given


def draw(position):
    """§4.9 Write bombs, live agents and flames on the board."""
    board = position["board"]
    for bomb in position["bombs"]:
        board[bomb["row"]][bomb["col"]] = codes.BOMB
    for seat, agent in enumerate(position["agents"]):
        if agent["alive"]:
            board[agent["row"]][agent["col"]] = codes.AGENT + seat
    for flame in position["flames"]:
        board[flame["row"]][flame["col"]] = codes.FLAMES
    return position


def random_position(rng):
    """A crowded board: anything anywhere, bombs under agents, up to three flames on a cell, dead agents."""
    mode, n = str(rng.choice(list(MODES))), int(rng.integers(7, 17))
    cells = [tuple(map(int, divmod(cell, n))) for cell in rng.permutation(n * n)]
    position = make_position(mode, n, board=rng.choice([0, 0, 0, 1, 1, 2, 2, 6, 7, 8], (n, n)).tolist())
    for agent in position["agents"]:
        agent["row"], agent["col"] = cells[rng.integers(n * n)]
        agent["alive"], agent["kick"] = bool(rng.integers(4)), bool(rng.integers(2))
        agent["ammo"], agent["strength"] = int(rng.integers(11)), int(rng.integers(2, 256))
        agent["words"] = tuple(map(int, rng.integers(9, size=2)))
    lying = cells[: rng.integers(7)] + [(agent["row"], agent["col"]) for agent in position["agents"][: rng.integers(3)]]
    for row, col in dict.fromkeys(lying):
        life, strength, direction = int(rng.integers(1, 11)), int(rng.integers(2, 256)), int(rng.integers(5))
        position["bombs"].append({"row": row, "col": col, "life": life, "strength": strength, "direction": direction})
    if rng.integers(2):
        for row, col in cells[5 : 5 + rng.integers(1, n * n)]:
            for life in sorted(rng.choice(3, rng.integers(1, 4), replace=False)):
                position["flames"].append({"row": row, "col": col, "life": int(life)})
    position["max_steps"] = int(rng.integers(1, 3000))
    position["step_count"] = int(rng.integers(position["max_steps"] + 1))
    return draw(position)


def record(position, view, egocentric, planes, rng=None):
    """The position as a state."""
    states = np.zeros(1, codes.state_dtype)
    state, n = states[0], len(position["board"])
    state["mode"], state["size"], state["seats"] = MODES[position["mode"]], n, len(position["agents"])
    state["view"], state["egocentric"], state["planes"] = view, egocentric, planes
    state["ply"], state["max_steps"] = position["step_count"], position["max_steps"]
    state["board"][: n * n] = np.ravel(position["board"])
    state["hidden"][:] = 0 if rng is None else rng.choice([0, 6, 7, 8], codes.CELLS)
    for seat, agent in enumerate(position["agents"]):
        for name in ("alive", "row", "col", "ammo", "strength", "kick"):
            state[name][seat] = agent[name]
        state["message"][seat] = agent["words"]
    state["bombs"] = len(position["bombs"])
    for k, bomb in enumerate(position["bombs"]):
        for name, value in bomb.items():
            state[f"bomb_{name}"][k] = value
    for flame in position["flames"]:
        owners = 0 if rng is None else int(rng.integers(16))
        state["fire"][flame["row"] * n + flame["col"]] |= codes.FLAME_BITS[flame["life"]] | owners << 4 * flame["life"]
    state["burning"] = 3 if position["flames"] else 0
    return states


def fields_of(position, view, egocentric, planes):
    seats, n, most = len(position["agents"]), len(position["board"]), position["max_steps"]
    return build_fields(MODES[position["mode"]], n, seats, view, egocentric, planes, most)


def bytes_of(fields):
    """Bytes of an observation, and where each field is; as the engine has it."""

    class Seen:
        observation_bytes = Game.observation_bytes.func
        observation_views = Game.observation_views

        def __init__(self):
            self.fields = fields

    return Seen().observation_bytes(), Seen().observation_views


def seen(position, agent, view=0, egocentric=False, planes=False, rng=None):
    """The observation by field, from a kernel that is given a buffer of rubbish."""
    fields = fields_of(position, view, egocentric, planes)
    length, split = bytes_of(fields)
    memory = np.full(length + 2 * GUARD, 0xAA, np.uint8)
    look(record(position, view, egocentric, planes, rng), agent, memory[GUARD:-GUARD])
    assert set(memory[:GUARD]) == set(memory[-GUARD:]) == {0xAA}, "written outside"
    found = split(memory[GUARD:-GUARD])
    for field in fields:
        assert found[field.name].min() >= field.low
        assert found[field.name].max() <= field.high
    return {name: values.tolist() for name, values in found.items()}


def sparse(rows):
    return {(r, c): value for r, row in enumerate(rows) for c, value in enumerate(row) if value}


def random_views(seed, count):
    """Positions with an agent and a way of seeing: (position, agent, view, egocentric, generator)."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        position = random_position(rng)
        view = int(rng.choice([0, rng.integers(1, 16), 4]))
        egocentric = bool(view and rng.integers(2))
        for agent in range(len(position["agents"])):
            yield position, agent, view, egocentric, rng


@pytest.mark.parametrize("seed", range(4))
def test_O1_to_O10_dict_form_matches_the_oracle(seed, interpreted):
    for position, agent, view, egocentric, rng in random_views(seed, 20 if interpreted else 60):
        assert seen(position, agent, view, egocentric, rng=rng) == naive_observation.observe(position, agent, view, egocentric)


@pytest.mark.parametrize("seed", range(4, 7))
def test_O1_to_O10_planes_match_the_oracle(seed, interpreted):
    for position, agent, view, egocentric, rng in random_views(seed, 20 if interpreted else 60):
        wanted = naive_observation.planes(position, agent, view, egocentric)
        assert seen(position, agent, view, egocentric, True, rng)["observation"] == list(wanted.values())


def test_random_views_have_everything():
    """The two tests above would say little of what never comes up."""
    drawn = [view[:4] for seed in range(7) for view in random_views(seed, 60)]
    sizes = {len(position["board"]) for position, *_ in drawn}
    assert sizes == set(range(7, 17))
    assert {view for _, _, view, _ in drawn} == set(range(16))
    assert {(position["mode"], egocentric) for position, _, _, egocentric in drawn} == {(m, e) for m in MODES for e in (0, 1)}
    cells = [[(flame["row"], flame["col"]) for flame in position["flames"]] for position, *_ in drawn]
    assert {max(map(burning.count, set(burning)), default=0) for burning in cells[::40]} >= {0, 3}
    assert any(not position["agents"][agent]["alive"] for position, agent, *_ in drawn)


@pytest.mark.parametrize(
    ("mode", "agent", "mate", "enemies"),
    [
        ("ffa", 0, 9, [11, 12, 13]),
        ("ffa", 1, 9, [10, 12, 13]),
        ("ffa", 3, 9, [10, 11, 12]),
        ("team", 0, 12, [11, 13, 9]),
        ("team", 3, 11, [10, 12, 9]),
        ("radio", 1, 13, [10, 12, 9]),
        ("duel", 0, 9, [11]),
        ("duel", 1, 9, [10]),
    ],
)
def test_O1_mate_and_enemies(mode, agent, mate, enemies):
    found = seen(draw(make_position(mode, 8)), agent)
    assert (found["teammate"], found["enemies"]) == ([mate], enemies)
    assert found["game_type"] == [MODES[mode]]
    assert ("message" in found) == (mode == "radio")


def test_O1_facts():
    position = make_position("radio", step_count=800)
    position["agents"][1] = make_agent(4, 7, ammo=3, strength=9, kick=True)
    position["agents"][3] = make_agent(9, 9, alive=False, words=(8, 1))
    found = seen(draw(position), 1)
    facts = {name: found[name] for name in ("alive", "position", "ammo", "blast_strength", "can_kick", "step_count", "message")}
    assert facts == {
        "alive": [1, 1, 1, 0],
        "position": [4, 7],
        "ammo": [3],
        "blast_strength": [9],
        "can_kick": [1],
        "step_count": [800],
        "message": [8, 1],
    }


def test_O2_full_view_is_the_board():
    position = random_position(np.random.default_rng(5))
    assert all(seen(position, agent)["board"] == position["board"] for agent in range(len(position["agents"])))


@pytest.mark.parametrize(("row", "col", "window"), [(1, 1, (0, 5, 0, 5)), (5, 5, (1, 9, 1, 9)), (9, 1, (5, 10, 0, 5))])
def test_O3_fog_begins_behind_the_view(row, col, window):
    position = make_position("team")
    position["agents"][0] = make_agent(row, col)
    board = seen(draw(position), 0, view=4)["board"]
    clear = [(r, c) for r in range(11) for c in range(11) if board[r][c] != codes.FOG]
    top, bottom, left, right = window
    assert clear == [(r, c) for r in range(top, bottom + 1) for c in range(left, right + 1)]


def test_O4_unseen_bombs_and_flames_are_zero():
    position = make_position("team")
    for row, col in ((5, 5), (5, 6), (6, 5)):  # the first is the last cell that agent 0 sees
        position["bombs"].append({"row": row, "col": col, "life": 7, "strength": 3, "direction": 2})
    position["flames"] = [{"row": row, "col": col, "life": 2} for row, col in ((0, 5), (0, 6), (5, 0), (6, 0))]
    found = seen(draw(position), 0, view=4)
    assert sparse(found["bomb_blast_strength"]) == {(5, 5): 3}
    assert sparse(found["bomb_life"]) == {(5, 5): 7}
    assert sparse(found["bomb_moving_direction"]) == {(5, 5): 2}
    assert sparse(found["flame_life"]) == {(0, 5): 3, (5, 0): 3}


def test_O5_bombs_under_agents_are_seen():
    position = make_position()
    position["bombs"] = [
        {"row": 1, "col": 1, "life": 9, "strength": 2, "direction": 0},
        {"row": 9, "col": 9, "life": 1, "strength": 10, "direction": 4},
    ]
    found = seen(draw(position), 0)
    assert [found["board"][1][1], found["board"][9][9]] == [10, 12]
    assert sparse(found["bomb_life"]) == {(1, 1): 9, (9, 9): 1}
    assert sparse(found["bomb_blast_strength"]) == {(1, 1): 2, (9, 9): 10}
    assert sparse(found["bomb_moving_direction"]) == {(9, 9): 4}


@pytest.mark.parametrize(
    ("lives", "value"), [([0], 1), ([1], 2), ([2], 3), ([0, 1], 2), ([0, 2], 3), ([1, 2], 3), ([0, 1, 2], 3)]
)
def test_O6_the_youngest_flame_counts(lives, value):
    position = make_position(flames=[{"row": 3, "col": 4, "life": life} for life in lives])
    assert sparse(seen(draw(position), 0)["flame_life"]) == {(3, 4): value}


def test_O7_what_fog_does_not_hide():
    position = make_position("team", step_count=7)
    position["agents"][2]["alive"] = False
    found = seen(draw(position), 0, view=1)
    assert found["alive"] == [1, 1, 0, 1]
    assert found["teammate"] == [12]
    assert found["enemies"] == [11, 13, 9]
    assert found["step_count"] == [7]


def test_O8_dead_agents_see_from_where_they_died():
    position = make_position("team")
    position["agents"][0] = make_agent(5, 5, alive=False)
    position["board"][1][5], position["board"][0][5] = codes.WOOD, codes.WOOD
    found = seen(draw(position), 0, view=4)
    assert found["position"] == [5, 5]
    assert found["board"][5][5] == codes.PASSAGE
    assert [found["board"][row][5] for row in (0, 1)] == [codes.FOG, codes.WOOD]


def test_O9_a_ring_that_is_about_to_fall_is_not_seen():
    position = draw(make_position())
    states = record(position, 0, False, False)
    states[0]["falling"] = 0
    length, split = bytes_of(fields_of(position, 0, False, False))
    out = np.zeros(length, np.uint8)
    look(states, 0, out)
    assert split(out)["board"].tolist() == position["board"]


def test_O10_hidden_items_and_equipment_of_others_are_not_observed():
    """Observations of agent 0 stay the same, byte by byte, whatever is hidden and whatever the others carry."""
    position = make_position("team", bombs=[{"row": 3, "col": 3, "life": 4, "strength": 2, "direction": 0}])
    for planes in (False, True):
        states = record(draw(position), 4, False, planes)
        out = np.zeros((2, bytes_of(fields_of(position, 4, False, planes))[0]), np.uint8)
        look(states, 0, out[0])
        states[0]["hidden"][:] = 7
        states[0]["bomb_owner"][:] = 3
        for name in ("ammo", "strength", "kick"):
            states[0][name][1:] = 1 + states[0][name][1:] // 2
        look(states, 0, out[1])
        assert out[0].tobytes() == out[1].tobytes()


def test_egocentric_window_has_the_agent_in_its_middle_and_walls_around_the_board():
    position = make_position("team", n=7)
    position["board"][0][3] = codes.WOOD
    board = seen(draw(position), 0, view=2, egocentric=True)["board"]
    assert board == [
        [1, 1, 1, 1, 1],
        [1, 0, 0, 0, 2],
        [1, 0, 10, 0, 0],
        [1, 0, 0, 0, 0],
        [1, 0, 0, 0, 0],
    ]


def test_planes_follow_the_table():
    """§7.4 The channel numbers of the table, spelled out."""
    position = make_position("radio", step_count=400)
    position["agents"][0] |= {"ammo": 3, "strength": 4, "kick": True}
    position["agents"][2]["words"] = (6, 8)
    position["bombs"] = [{"row": 4, "col": 5, "life": 8, "strength": 3, "direction": direction} for direction in (3,)]
    position["flames"] = [{"row": 0, "col": 0, "life": 1}]
    planes = np.array(seen(draw(position), 0, planes=True)["observation"])
    assert planes.shape == (25, 11, 11)
    single = {k: dict(sparse(plane.tolist())) for k, plane in enumerate(planes) if 0 < (plane != 0).sum() < 100}
    assert single == {
        3: {(4, 5): 1},
        4: {(0, 0): 1},
        9: {(1, 1): 1},
        10: {(9, 9): 1},
        11: {(9, 1): 1, (1, 9): 1},
        12: {(4, 5): 3},
        13: {(4, 5): 8},
        16: {(4, 5): 1},
        18: {(0, 0): 2},
    }
    assert [sorted(set(plane.ravel().tolist())) for plane in planes[19:]] == [[3], [4], [1], [127], [6], [8]]
    assert planes[0].sum() == 121 - 6


def test_state_is_the_concatenated_observations():
    """No agent sees the equipment of others, fog or not: the state is the planes of all agents."""
    env = momagames.make("mo-pommerman-ffa-v0", board_size=7, observation="planes")
    env.reset(seed=1)
    whole = env.state()
    assert env.state_space.contains(whole)
    assert np.array_equal(whole, np.concatenate([env.observe(agent)["observation"].ravel() for agent in env.agents]))
