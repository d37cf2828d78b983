"""Invariants of every position of MO-RoboticMail, on packaged and on random boards."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import momagames
from momagames.engine.episode import Episode
from momagames.games.robotmail.layouts import loader
from momagames.games.robotmail.rules.state import cell_number
from tests.conftest import INTERPRETED
from tests.games.robotmail import dense_positions

ID = "mo-robotmail-v0"
# §1.2, §5, copied from the page and not from the code
CORE = ("delivery", "pickup", "dock", "step_cost")
OBJECTIVES = (*CORE, "time", "energy", "charge", "blocked", "blocking", "balance", "rivalry", "outcome")
PRESETS = {
    "v0": CORE,
    "clock": (*CORE[:3], "time"),
    "energy": (*CORE, "energy"),
    "team": (*CORE, "balance", "blocked"),
    "versus": (*CORE, "rivalry", "outcome"),
}
SCALAR = {"delivery": 5.0, "pickup": 1.0, "dock": 1.0, "charge": 0.0, "skip": -0.1, "stand": -0.1, "move": -0.1}
WAYS = {1: (0, -1), 2: (0, 1), 3: (-1, 0), 4: (1, 0)}
EVENT_ON = {"gr": "pickup", "y": "delivery", "b": "dock", "w": "move", "g": "move"}
X, Y, MAIL, INNER, SHOWN, DELIVERED, STANDS = range(7)
STEPS, MIDDLES, FEW = 60, 8, 10  # of a game from the start; games from the middle, and their steps

BOARDS = st.sampled_from(loader.NAMES) | st.builds(
    lambda seed, width, height, density: {"seed": seed, "width": width, "height": height, "density": density},
    st.integers(0, 10**6),
    st.integers(5, 12),
    st.integers(5, 12),
    st.floats(0, 0.15),
)


def params_of(layout, players, team, **more):
    """Parameters with no more robots than the board has room for."""
    room = len(loader.load(layout).cells("w"))
    players = min(players, room)
    return {"layout": layout, "num_players": players, "num_robots_per_player": min(team, room // players), **more}


PARAMS = st.builds(
    params_of,
    BOARDS,
    st.integers(1, 5),
    st.integers(1, 4),
    required_mail=st.integers(1, 4),
    with_battery=st.sampled_from((True, True, False)),
    random_num_steps=st.booleans(),
    max_step=st.sampled_from((1, 7, 40, 400)),
    always_legal=st.booleans(),
)
SEEDS = st.integers(0, 2**64 - 1)


def make_game(params, objectives=OBJECTIVES):
    return momagames.spec(ID, objectives=objectives, **params)


def start_episode(game, seed, middle):
    """A game that has been dealt, or that goes on from a random position in which much can happen."""
    play = Episode(game)
    if middle:
        position = dense_positions.random_position(board(play), play.game.params, seed)
        if play.game.params["with_battery"] and seed % 4 == 0:  # batteries that do not suffice for another move
            position["robots"] = [[*row[:INNER], 0.05, 1, *row[DELIVERED:]] for row in position["robots"]]
        play.load(position, seed)
    else:
        play.reset(seed)
    return play


def games(params, seed, objectives=OBJECTIVES):
    """A game from the start and some from the middle, each with how many steps of it to play."""
    game = make_game(params, objectives)
    yield start_episode(game, seed, False), STEPS
    for k in range(MIDDLES):
        yield start_episode(game, (seed + k) % 2**64, True), FEW


LAYOUTS = {}


def board(play):
    """The layout of a game, which is generated once."""
    source = play.game.params["layout"]
    if repr(source) not in LAYOUTS:
        LAYOUTS[repr(source)] = loader.load(source)
    return LAYOUTS[repr(source)]


def saved(play):
    return play.game.codec.save(play.state)


def reward_dicts(play):
    """The reward vectors of the last step, one for each robot by objective."""
    names = [goal.name for goal in play.game.objectives]
    return [dict(zip(names, row, strict=True)) for row in play.reward.astype(float).tolist()]


def walk(play, seed, count):
    """Play with legal and illegal actions; after each step: the position before, the mask of the acting robot, the action."""
    rng, layout = np.random.default_rng(seed), board(play)
    for _ in range(count):
        if play.state["over"]:
            return
        before, mask = saved(play), play.masks[0].copy()
        x, y, *_ = before["robots"][before["next"]]
        legal = np.flatnonzero(mask).tolist()
        eager = [action for action in legal if action and layout.color(target((x, y), action)) in ("gr", "y", "b")]
        chance = rng.random()
        some = eager if eager and chance < 0.7 else legal if legal and chance < 0.85 else range(5)
        action = int(rng.choice(some))
        play.step(action)
        yield before, mask, action


def target(cell, action):
    return cell[0] + WAYS[action][0], cell[1] + WAYS[action][1]


def spread(position, team):
    """§5.5 Most less fewest deliveries, for each player."""
    counts = [robot[DELIVERED] for robot in position["robots"]]
    return [max(counts[i : i + team]) - min(counts[i : i + team]) for i in range(0, len(counts), team)]


def totals(position, team):
    """Mails that each player has delivered."""
    counts = [robot[DELIVERED] for robot in position["robots"]]
    return [sum(counts[i : i + team]) for i in range(0, len(counts), team)]


@given(PARAMS, SEEDS)
def test_games(params, seed):
    """What holds in every position and step of games from the start and from the middle, whatever is played."""
    for play, count in games(params, seed):
        check_game(play, params, seed, count)


def check_game(play, params, seed, count):
    layout, start, dealt = board(play), saved(play), count == STEPS
    sums = [defaultdict(float) for _ in start["robots"]]
    check_position(play, start, params, dealt)
    for made, (before, mask, action) in enumerate(walk(play, seed, count), 1):
        now = saved(play)
        check_position(play, now, params, dealt)
        assert now["n"] == start["n"] + made
        check_step(play, params, layout, before, now, mask, action)
        check_rewards(play, params, before, now)
        for row, amounts in zip(sums, reward_dicts(play), strict=True):
            for name, amount in amounts.items():
                row[name] += amount
        check_returns(params, start, now, sums, dealt)
    for row in sums:
        assert row["outcome"] == 0 or saved(play)["winner"] is not None


def check_position(play, now, params, dealt):
    """§1.4, §1.6, §2.2"""
    layout, required, state = board(play), params["required_mail"], play.state
    robots = now["robots"]
    cells = [(robot[X], robot[Y]) for robot in robots]
    assert len(set(cells)) == len(cells), "one robot in a cell"
    colors = [layout.color(cell) for cell in cells]
    assert "r" not in colors
    assert len(now["mails"]) == len(layout.cells("gr"))
    assert set(now["mails"]) <= set(layout.indices)
    waiting = dict(zip(layout.cells("gr"), now["mails"], strict=True))
    expected_robots = {cell_number(layout.width, *cell): index for index, cell in enumerate(cells, 1)}
    assert {cell: int(state["robot"][cell]) for cell in np.flatnonzero(state["robot"]).tolist()} == expected_robots
    docked = {index for index in range(64) if int(state["docked"]) >> index & 1}
    assert docked == {index for index, color in enumerate(colors) if color == "b"}
    for robot, cell, color in zip(robots, cells, colors, strict=True):
        assert robot[MAIL] in {0, *layout.indices}
        assert 0 <= robot[INNER] <= 10
        assert robot[SHOWN] == np.ceil(robot[INNER])
        assert params["with_battery"] or robot[INNER] == 10
        assert color != "gr" or robot[MAIL] == waiting[cell]
        assert color != "y" or robot[MAIL] == 0
    assert 1 <= now["left"] <= (5 if params["random_num_steps"] else 1)
    assert 0 <= now["next"] < len(robots)
    assert now["illegal"] + now["clock"] <= now["n"] or not dealt
    mails = totals(now, params["num_robots_per_player"])
    assert [player for player, count in enumerate(mails) if count >= required] == (
        [] if now["winner"] is None else [now["winner"]]
    )
    assert max(mails) <= required
    assert bool(state["over"]) == (now["winner"] is not None or now["n"] == params["max_step"])
    for index in range(len(robots)):
        assert now["winner"] is None or not play.mask(index).any()
        assert now["winner"] is not None or not params["always_legal"] or play.mask(index).any()


def check_step(play, params, layout, before, now, mask, action):
    """§4: what a step may change, and what it must."""
    event, actor = now["event"], before["next"]
    agents, teams = play.game.agents, play.game.teams
    won = [name for name, player in zip(agents, teams, strict=True) if player == now["winner"]]
    assert play.game.infos(play.state) == {
        "event": event,
        "winners": won,
        "clock": now["clock"],
        "illegal_actions": now["illegal"],
    }
    moved = event in ("move", "pickup", "delivery", "dock")
    assert now["n"] == before["n"] + 1
    assert now["clock"] == before["clock"] + moved
    assert now["illegal"] == before["illegal"] + (mask.any() and not mask[action])
    assert moved == bool(action and mask[action])
    # §4.9
    robots = len(now["robots"])
    last = before["left"] == 1
    assert now["next"] == ((actor + 1) % robots if last else actor)
    assert last or now["left"] == before["left"] - 1
    old, new = before["robots"][actor], now["robots"][actor]
    cell = (old[X], old[Y])
    if moved:
        assert (new[X], new[Y]) == target(cell, action)
        assert event == EVENT_ON[layout.color((new[X], new[Y]))]
        assert new[STANDS] == 0
        gone = [k for k, green in enumerate(layout.cells("gr")) if green != cell]
        assert [now["mails"][k] for k in gone] == [before["mails"][k] for k in gone], "only where it has left"
    else:
        assert (new[X], new[Y]) == cell
        assert new[STANDS] == old[STANDS] + (event != "skip")
        assert event == "skip" or event == ("charge" if layout.color(cell) == "b" else "stand")
        assert now["mails"] == before["mails"]
    if event == "skip":
        assert now["robots"] == before["robots"]
        assert last or now["rng"] == before["rng"]
    assert new[DELIVERED] == old[DELIVERED] + (event == "delivery")
    spent = (0.2 if old[INNER] > 2 else 0.1) if moved and params["with_battery"] else 0
    assert new[INNER] == min(max(old[INNER] - spent, 0) + (event == "charge"), 10)
    for index, (was, row) in enumerate(zip(before["robots"], now["robots"], strict=True)):
        if index != actor:
            assert [*row[:INNER], *row[DELIVERED:]] == [*was[:INNER], *was[DELIVERED:]]
            charged = moved and params["with_battery"] and layout.color((row[X], row[Y])) == "b"
            assert row[INNER] == (min(was[INNER] + 1, 10) if charged else was[INNER])


def check_rewards(play, params, before, now):
    """§5: the rewards of a step."""
    team, rows, event, actor = params["num_robots_per_player"], reward_dicts(play), now["event"], before["next"]
    for index, row in enumerate(rows):
        assert np.count_nonzero([row[name] for name in CORE]) == (index == actor and event != "charge")
        assert row["time"] == row["step_cost"] - row["delivery"] - row["pickup"] - row["dock"]
        assert row["outcome"] == (0 if now["winner"] is None else 1 if index // team == now["winner"] else -1)
    assert sum(row["blocked"] for row in rows) == sum(row["blocking"] for row in rows) == rows[actor]["blocked"]


def check_returns(params, start, now, sums, dealt):
    """§5: the sums of the rewards since the start are what has changed since the start."""
    team = params["num_robots_per_player"]
    counts, first = totals(now, team), totals(start, team)
    spreads = np.array(spread(start, team)) - spread(now, team)
    for index, (was, robot, row) in enumerate(zip(start["robots"], now["robots"], sums, strict=True)):
        assert row["pickup"] - row["delivery"] == bool(robot[MAIL]) - bool(was[MAIL])
        assert not dealt or row["pickup"] - row["delivery"] in (0, 1)
        assert row["delivery"] == robot[DELIVERED] - was[DELIVERED]
        assert row["energy"] + row["charge"] == pytest.approx(robot[INNER] - was[INNER], abs=1e-5)
        assert not dealt or was[INNER] == 10
        assert row["balance"] == spreads[index // team]
        own = index // team
        assert row["rivalry"] == -(sum(counts) - counts[own] - sum(first) + first[own])
        assert abs(row["outcome"]) <= 1


@given(params=PARAMS, seed=SEEDS)
@settings(max_examples=2 if INTERPRETED else 6)
def test_presets_and_the_published_scalar(params, seed):
    """§5.7 A preset pays what its objectives pay in the game of all of them; weights give the published reward exactly."""
    skipped = () if params["with_battery"] else ("dock", "energy")
    names = {preset: [name for name in PRESETS[preset] if name not in skipped] for preset in PRESETS}
    columns = {preset: [OBJECTIVES.index(name) for name in names[preset]] for preset in PRESETS}
    for (full, count), *others in zip(games(params, seed), *(games(params, seed, preset) for preset in PRESETS), strict=True):
        some = {preset: play for preset, (play, _) in zip(PRESETS, others, strict=True)}
        assert {preset: [goal.name for goal in play.game.objectives] for preset, play in some.items()} == names
        for before, _, action in walk(full, seed, count):
            now, wanted = saved(full), [0.0] * len(full.reward)
            wanted[before["next"]] = SCALAR[now["event"]]
            for preset, play in some.items():
                play.step(action)
                assert saved(play) == now
                assert play.reward.tolist() == full.reward[:, columns[preset]].tolist()
            for play in (full, *some.values()):
                weights = np.array(play.game.original.published_weights)
                assert weights.shape == (len(play.game.objectives),)
                assert (play.reward.astype(np.float64) @ weights).tolist() == wanted


@given(PARAMS, SEEDS, st.booleans())
def test_chance_depends_on_the_position_only(params, seed, middle):
    """§2 The same seed and actions are the same game; a position continues with its own random word."""
    game = make_game(params)
    play, twin, other = (start_episode(game, start, middle) for start in (seed, seed, seed + 1))
    other.load(saved(play))
    for _, _, action in walk(play, seed, 20):
        for each in (twin, other):
            each.step(action)
            assert each.states.tobytes() == play.states.tobytes()
            assert (each.reward == play.reward).all()
            assert (each.observations == play.observations).all()


def test_random_games_cover_all_events():
    """So that the tests above are about something."""
    seen = Counter()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        layout = str(rng.choice(loader.NAMES))
        flags = {name: bool(rng.integers(2)) for name in ("random_num_steps", "always_legal")}
        params = params_of(layout, int(rng.integers(2, 5)), int(rng.integers(1, 4)), required_mail=2, max_step=30, **flags)
        play = start_episode(make_game(params), seed, bool(seed % 3))
        for _, mask, action in walk(play, seed, STEPS):
            now = saved(play)
            seen.update(
                [now["event"], now["left"], ("illegal", bool(mask.any() and not mask[action])), ("empty", not mask.any())]
            )
            seen.update(name for row in reward_dicts(play) for name, amount in row.items() if amount)
            if play.state["over"]:
                seen[now["winner"] is not None, now["n"] == 30] += 1
    expected = {*SCALAR, *OBJECTIVES, ("illegal", True), ("empty", True), (True, False), (False, True)}
    expected |= set(range(1, 6))
    assert {what for what in expected if seen[what] < 3} == set()
