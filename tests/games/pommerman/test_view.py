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


def test_O9_a_ring_that_is_about_to_fall_is_not_seen():
    position = draw(make_position())
    states = record(position, 0, False, False)
    states[0]["falling"] = 0
    length, split = bytes_of(fields_of(position, 0, False, False))
    out = np.zeros(length, np.uint8)
    look(states, 0, out)
    assert split(out)["board"].tolist() == position["board"]


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
