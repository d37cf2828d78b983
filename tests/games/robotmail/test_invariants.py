"""Invariants of every position of MO-RoboticMail, on packaged and on random boards."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import momagames
from momagames.engine.batch import Batch
from momagames.engine.episode import Episode
from momagames.games.robotmail.layouts import loader
from momagames.games.robotmail.rules.state import cell_number
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


def start_episode(params, seed, middle, objectives=OBJECTIVES):
    """A game that has been dealt, or that goes on from a random position in which much can happen."""
    play = Episode(momagames.spec(ID, objectives=objectives, **params))
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
    yield start_episode(params, seed, False, objectives), STEPS
    for k in range(MIDDLES):
        yield start_episode(params, (seed + k) % 2**64, True, objectives), FEW


def board(play):
    return loader.load(play.game.params["layout"])


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
def test_positions(params, seed):
    """§1.4, §1.6, §2.2: what holds in every position, whatever was played."""
    for play, count in games(params, seed):
        check_position(play, params, count == STEPS)
        for _ in walk(play, seed, count):
            check_position(play, params, count == STEPS)


def check_position(play, params, dealt):
    layout, required = board(play), params["required_mail"]
    now, state = saved(play), play.state
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
        assert not state["over"] or not play.mask(index).any()
        assert state["over"] or not params["always_legal"] or play.mask(index).any()


@given(PARAMS, SEEDS)
def test_steps(params, seed):
    """§4: what a step may change, and what it must."""
    for play, count in games(params, seed):
        check_steps(play, params, seed, count)


def check_steps(play, params, seed, count):
    layout, first = board(play), saved(play)
    for made, (before, mask, action) in enumerate(walk(play, seed, count), 1):
        now, said = saved(play), play.game.infos(play.state)
        event, actor = now["event"], before["next"]
        agents, teams = play.game.agents, play.game.teams
        won = [name for name, player in zip(agents, teams, strict=True) if player == now["winner"]]
        assert said == {"event": event, "winners": won, "clock": now["clock"], "illegal_actions": now["illegal"]}
        moved = event in ("move", "pickup", "delivery", "dock")
        assert now["n"] == first["n"] + made == before["n"] + 1
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


@given(PARAMS, SEEDS)
def test_rewards_and_returns(params, seed):
    """§5: what was paid since the start is what has changed since the start."""
    for play, count in games(params, seed):
        check_rewards_and_returns(play, params, seed, count)


def check_rewards_and_returns(play, params, seed, count):
    team, start = params["num_robots_per_player"], saved(play)
    robots = range(len(start["robots"]))
    sums = [defaultdict(float) for _ in robots]
    for before, _, _ in walk(play, seed, count):
        now, rows, event, actor = saved(play), reward_dicts(play), saved(play)["event"], before["next"]
        for index, row in enumerate(rows):
            assert np.count_nonzero([row[name] for name in CORE]) == (index == actor and event != "charge")
            assert row["time"] == row["step_cost"] - row["delivery"] - row["pickup"] - row["dock"]
            assert row["outcome"] == (0 if now["winner"] is None else 1 if index // team == now["winner"] else -1)
            for name, amount in row.items():
                sums[index][name] += amount
        assert sum(row["blocked"] for row in rows) == sum(row["blocking"] for row in rows) == rows[actor]["blocked"]
        counts = totals(now, team)
        spreads = np.array(spread(start, team)) - spread(now, team)
        for index in robots:
            was, robot, row = start["robots"][index], now["robots"][index], sums[index]
            assert row["pickup"] - row["delivery"] == bool(robot[MAIL]) - bool(was[MAIL])
            assert count != STEPS or row["pickup"] - row["delivery"] in (0, 1)
            assert row["delivery"] == robot[DELIVERED] - was[DELIVERED]
            assert row["energy"] + row["charge"] == pytest.approx(robot[INNER] - was[INNER], abs=1e-5)
            assert count != STEPS or was[INNER] == 10
            assert row["balance"] == spreads[index // team]
            others = sum(counts) - counts[index // team] - sum(totals(start, team)) + totals(start, team)[index // team]
            assert row["rivalry"] == -others
            assert abs(row["outcome"]) <= 1
    for row in sums:
        assert row["outcome"] == 0 or saved(play)["winner"] is not None


@pytest.mark.parametrize("preset", PRESETS)
@given(params=PARAMS, seed=SEEDS)
@settings(max_examples=6)
def test_presets_and_the_published_scalar(preset, params, seed):
    """§5.7 A preset pays what its objectives pay in the game of all of them; weights give the published reward exactly."""
    skipped = () if params["with_battery"] else ("dock", "energy")
    names = [name for name in PRESETS[preset] if name not in skipped]
    columns = [OBJECTIVES.index(name) for name in names]
    for (full, count), (some, _) in zip(games(params, seed), games(params, seed, preset), strict=True):
        assert [goal.name for goal in some.game.objectives] == names
        for before, _, action in walk(full, seed, count):
            some.step(action)
            assert saved(some) == saved(full)
            assert some.reward.tolist() == full.reward[:, columns].tolist()
            wanted = [0.0] * len(full.reward)
            wanted[before["next"]] = SCALAR[saved(full)["event"]]
            for play in (full, some):
                weights = np.array(play.game.published_weights)
                assert weights.shape == (len(play.game.objectives),)
                assert (play.reward.astype(np.float64) @ weights).tolist() == wanted


@given(PARAMS, SEEDS, st.booleans())
def test_chance_depends_on_the_position_only(params, seed, middle):
    """§2 The same seed and actions are the same game; a position continues with its own random word."""
    play, twin, other = (
        start_episode(params, seed, middle),
        start_episode(params, seed, middle),
        start_episode(params, seed + 1, middle),
    )
    other.load(saved(play))
    for _, _, action in walk(play, seed, 20):
        for each in (twin, other):
            each.step(action)
            assert each.states.tobytes() == play.states.tobytes()
            assert (each.reward == play.reward).all()
            assert (each.observations == play.observations).all()


@given(PARAMS, st.integers(0, 2**63))
def test_batched_games_equal_single_games(params, seed):
    """Environment i of a batch is the single game of seed + i, with illegal actions, and after its end the next one."""
    game = momagames.spec(ID, objectives=OBJECTIVES, **params, observation="dict")
    many, singles = Batch(game, 3), [Episode(game) for _ in range(3)]
    many.seed(seed)
    many.reset()
    for i, play in enumerate(singles):
        play.reset(seed + i)
    rng = np.random.default_rng(seed)
    for _ in range(15):
        actions = rng.integers(5, size=3)
        many.step(many.actions(actions))
        for i, play in enumerate(singles):
            if play.state["over"]:
                play.reset()
            else:
                play.step(int(actions[i]))
            assert many.states[i].tobytes() == play.state.tobytes()
            assert (many.rewards[i] == play.reward).all()
            assert (many.observations[i] == play.observations).all()
            assert (many.masks[i] == play.masks).all()
            ended = play.state["winner"] >= 0, play.state["ply"] == params["max_step"]
            assert (many.terminated[i].all(), many.truncated[i].all()) == ended == (
                many.terminated[i].any(), many.truncated[i].any()
            )  # fmt: skip


def test_random_games_cover_all_events():
    """So that the tests above are about something."""
    seen = Counter()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        layout = str(rng.choice(loader.NAMES))
        flags = {name: bool(rng.integers(2)) for name in ("random_num_steps", "always_legal")}
        params = params_of(layout, int(rng.integers(2, 5)), int(rng.integers(1, 4)), required_mail=2, max_step=30, **flags)
        play = start_episode(params, seed, bool(seed % 3))
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
