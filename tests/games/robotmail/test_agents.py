"""MO-RoboticMail's built-in robots: against the original's agent, on every layout, and what they save."""

from functools import partial

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy, method, policy
from momagames.engine.batch import Batch
from momagames.engine.episode import Episode, load_state
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import UNSEATED, SeatedPolicies, play_policies
from momagames.errors import InvalidParameter, UnknownId
from momagames.games.robotmail.layouts import loader
from momagames.games.robotmail.policies import make_energy_saver
from momagames.kernels.rng import random_words
from tests.peers.records import read_records, replay_each
from tests.peers.test_recorded_robotmail import play

pytestmark = pytest.mark.compiled

STAND, FORWARD, BACKWARD, LEFT, RIGHT = range(5)
NAMES = ("nearest", "astar", "energy_saver")
energy_saver = partial(make_energy_saver, momagames.spec("mo-robotmail-v0"))
BY_CHANCE = ({"seed": 1, "width": 14, "height": 10, "density": 0.1}, {"seed": 2, "width": 6, "height": 5})
MANY = 60


def teams(robots, games, seed=3, **params):
    """Whole games of these robots, one kind for each player: Episodes, and the game."""
    game = momagames.spec("mo-robotmail-v0", **{"num_players": len(robots), **params})
    kernels = [batch_policy(robot, game) if isinstance(robot, str) else robot for robot in robots]
    starts = generate_starts(game, random_words(seed, games))
    seats = np.array([game.teams] * games)
    words = random_words(seed + 1, games * len(game.agents)).reshape(games, -1)
    return play_policies(game, starts, kernels, seats, words), game


def choices(name, rows, robots, times=1, **params):
    """Return the actions of the first robot in a position on a layout of these rows, each with its own random word.

    rows      colors, a number for a receiver
    robots    [x, y, mail, battery, stands] each
    """
    cells = [row.split() for row in rows]
    layout = {
        "colors": [["y" if code.isdigit() else code for code in row] for row in cells],
        "targets": [[int(code) if code.isdigit() else 0 for code in row] for row in cells],
    }
    game = momagames.spec("mo-robotmail-v0", layout=layout, num_players=len(robots), **params)
    listed = [[x, y, mail, float(power), int(power), 0, stands] for x, y, mail, power, stands in robots]
    greens = sum(row.count("gr") for row in cells)
    mails = [1] * greens
    batch = Batch(game, times)
    batch.load(load_state(game, {"robots": listed, "mails": mails}).repeat(times))
    robot = batch_policy(name, game) if isinstance(name, str) else name
    return set(SeatedPolicies(batch, [robot], [0] * len(game.agents), seed=1).act()[:, 0, 0].tolist())


# --------------------------------------------------------------------------------------------------- the original's agent


def test_astar_repeats_recorded_actions():
    """Compare every move, except where the robot must not stand and is blocked: there the original moves at random."""
    records = [record for record in read_records("robotmail") if record["policy"].startswith("astar")]
    assert len(records) == 10
    replay_each(records, repeat_actions)


def repeat_actions(record):
    layout = "\n".join(record["colors"]), "\n".join(record["targets"])
    game = momagames.spec("mo-robotmail-v0", layout=layout, **record["config"])
    players = len(game.agents) if record["policy"] == "astar" else record["config"]["num_robots_per_player"]
    steps = [step for step in play(record) if step.robot < players and sum(step.masks[step.robot]) > 1]
    batch = Batch(game, len(steps))
    batch.load(np.concatenate([load_state(game, step.before) for step in steps]))
    acted = SeatedPolicies(batch, [batch_policy("astar", game)], [0] * len(game.agents)).act()[:, 0, 0].tolist()
    others = [step for step, action in zip(steps, acted, strict=True) if action != step.action]
    assert all(step.masks[step.robot][STAND] == 0 for step in others)
    assert len(others) <= 3
    assert len(steps) >= 40


@pytest.mark.long
def test_astar_is_as_strong_as_the_original():
    """Steps to a win on the original's board, in the mean of 8 of its games each; three times the noise of 8 games apart."""
    for players, team, battery, steps in (
        (2, 1, False, 92),
        (2, 1, True, 230),
        (2, 2, True, 186),
        (4, 2, True, 436),
        (4, 3, True, 405),
        (4, 3, False, 251),
    ):
        sizes = {"num_robots_per_player": team, "with_battery": battery, "max_step": 5000}
        done, _ = teams(["astar"] * players, 150, layout="rbgame", **sizes)
        assert (done.states["winner"] >= 0).all()
        assert abs(done.lengths.mean() - steps) < 3 * done.lengths.std() / 8**0.5


# ------------------------------------------------------------------------------------------------------------ everywhere


@pytest.mark.long
@pytest.mark.parametrize("layout", [*loader.NAMES, *BY_CHANCE], ids=str)
def test_legal_moves_on_every_layout(layout):
    """Random policies for all robots of a game, with each kind of parameters: all actions are legal."""
    for sizes in (
        {"num_players": 2, "num_robots_per_player": 3, "random_num_steps": True, "always_legal": False},
        {"num_players": 3, "num_robots_per_player": 2, "with_battery": False},
    ):
        game = momagames.spec("mo-robotmail-v0", layout=layout, max_step=200, **sizes)
        batch = Batch(game, 6, autoreset="disabled")
        batch.seed(5)
        batch.reset()
        kernels = [policy for name in NAMES for policy in method(name, game)().policies(game)]
        assignment = np.random.default_rng(0).integers(len(kernels), size=(6, len(game.agents)))
        players = SeatedPolicies(batch, kernels, assignment, seed=4)
        while not batch.states["over"].all():
            batch.step(players.act())
        assert (batch.states["illegal"] == 0).all()
        assert (batch.states["delivered"].sum(axis=1) > 0).all()


@pytest.mark.long
@pytest.mark.parametrize("layout", ["documented", "rbgame", "ring", "depot"])
@pytest.mark.parametrize("robot", [*NAMES, energy_saver(fair=True), energy_saver(3)], ids=[*NAMES, "fair", "patient"])
def test_policies_win(robot, layout, interpreted):
    games = 2 if interpreted else 40
    for sizes in ({"num_robots_per_player": 2}, {"with_battery": False}):
        done, _ = teams([robot, robot], games, layout=layout, max_step=3000, **sizes)
        assert (done.states["winner"] >= 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_policies_ignore_mails_on_green_cells(name):
    game = momagames.spec("mo-robotmail-4-v0")
    acts = []
    for shift in (0, 4):
        batch = Batch(game, MANY)
        batch.load(generate_starts(game, random_words(8, MANY)))
        green = batch.states["waiting"] > 0
        batch.states["waiting"][green] = (batch.states["waiting"][green] + shift) % 9 + 1
        acts.append(SeatedPolicies(batch, [batch_policy(name, game)], [0] * 4, seed=2).act().tolist())
    assert acts[0] == acts[1]


@pytest.mark.parametrize("name", NAMES)
def test_all_apis_play_the_same(name):
    """Play a game with the named policy and compare each action with its kernel in a batch, with the same random word."""
    game = momagames.spec("mo-robotmail-4-v0", random_num_steps=True, max_step=150)
    one, batch, alone = policy(name, game), Batch(game, 1), Episode(game)
    alone.reset(3)
    players = SeatedPolicies(batch, [batch_policy(name, game)], [0] * 4)
    asked = 0
    while not alone.state["over"]:
        batch.load(np.array([alone.state]))
        batch.lengths[:] = asked
        mask = alone.mask(alone.mover)
        action = 0
        if mask.any():
            word = random_words(6, asked + 1)[asked]
            players._words[:] = word
            action = int(one(alone.state, mask, FixedWord(word)))
            assert players.act()[0, 0, 0] == action
            assert alone.is_legal(alone.mover, action)
            asked += 1
        alone.step(action)
    assert asked > 100
    with pytest.raises(UnknownId, match="invalid policy="):
        policy(name, momagames.spec("mo-samegame-v0"))


class FixedWord:
    """A generator that gives one word."""

    def __init__(self, word):
        self._word = word

    def integers(self, *args, **kwargs):
        return self._word


def test_gymnasium_api_accepts_policies_as_others():
    env = momagames.make("mo-robotmail-2-v0", api="gymnasium", others="astar", objectives="versus")
    _, info = env.reset(seed=2)
    rewards = np.zeros(6)
    over = False
    while not over:
        action = int(np.flatnonzero(info["action_mask"])[0]) if info["action_mask"].any() else 0
        _, reward, *ends, info = env.step(action)
        rewards, over = rewards + reward, any(ends[:2])
    assert rewards[4:].tolist() == [-6, -1]


# ------------------------------------------------------------------------------------------------------------- trade-offs


def measured(robot, games=100, **params):
    """Means of the first player's robots against an A* team: mails, energy, balance."""
    done, _ = teams([robot, "astar"], games, **params, num_robots_per_player=2, objectives=["delivery", "energy", "balance"])
    return done.returns[:, :2].mean(axis=(0, 1))


@pytest.mark.long
def test_energy_savers_are_nondominated():
    """Less energy for each mail than A* and the shortest ways; with more patience less energy and fewer mails."""
    for layout in ("documented", "ring"):
        astar, nearest = (measured(name, layout=layout) for name in ("astar", "nearest"))
        family = [measured(energy_saver(patience), layout=layout) for patience in (0, 1, 2, 3, 5)]
        for other in (astar, nearest):
            assert family[0][1] / family[0][0] > 0.85 * other[1] / other[0]
            assert other[0] > family[1][0] + 0.3
            assert other[1] < family[1][1] - 1
        mails, energy, _ = np.array(family).T
        assert (np.diff(mails) < -0.2).all()
        assert (np.diff(energy) > 0.5).all()


@pytest.mark.long
def test_fair_team_balances_deliveries():
    fair, own = (measured(energy_saver(fair=fair), 150) for fair in (True, False))
    assert fair[2] > -0.3
    assert fair[2] > own[2] + 0.15
    assert abs(fair[0] - own[0]) < 0.15


# ----------------------------------------------------------------------------------------------------------- what they do

HALL = ["g g g g g", "g w w w g", "g w w w g", "g w w w g", "b g g g gr", "g g 1 g g"]
ELSEWHERE = [1, 1, 0, 10, 0]


@pytest.mark.parametrize("name", NAMES)
def test_choice_of_target(name):
    assert choices(name, HALL, [[4, 2, 0, 10, 0], ELSEWHERE]) == {BACKWARD}  # to a mail
    assert choices(name, HALL, [[2, 3, 1, 10, 0], ELSEWHERE]) == {BACKWARD}  # to the receiver
    assert choices(name, HALL, [[0, 2, 1, 1, 0], ELSEWHERE], times=MANY) == {BACKWARD}  # to the charger
    assert choices(name, HALL, [[0, 4, 1, 8, 1], ELSEWHERE], times=MANY) <= {FORWARD, BACKWARD, RIGHT}  # and away from it
    no_charger = [row.replace("b", "g") for row in HALL]
    assert choices(name, no_charger, [[2, 3, 1, 3, 0], ELSEWHERE]) == {BACKWARD}


def test_energy_saver_charges_late():
    near = [[2, 3, 1, 4, 0], ELSEWHERE]
    assert choices("energy_saver", HALL, near) == {BACKWARD}
    assert choices("nearest", HALL, near, times=MANY) == {BACKWARD, LEFT}
    assert choices("astar", HALL, near) <= {BACKWARD, LEFT}
    assert choices("energy_saver", HALL, [[0, 4, 1, 8, 1], ELSEWHERE], times=MANY) == {BACKWARD, RIGHT}


def test_nearest_waits_two_cells_from_an_occupied_target():
    at_the_charger = [0, 4, 0, 5, 1]
    assert choices("nearest", HALL, [[0, 1, 0, 3, 0], at_the_charger]) == {BACKWARD}
    assert choices("nearest", HALL, [[0, 2, 0, 3, 0], at_the_charger], times=MANY) == {STAND}
    assert choices("nearest", HALL, [[0, 2, 0, 3, 5], at_the_charger], times=MANY) == {FORWARD, BACKWARD, RIGHT}


def test_astar_chooses_the_nearest_of_several_receivers():
    two = ["1 g g g g", "g w w w g", "g g g g 1", "gr g g g g"]
    assert choices("astar", two, [[3, 2, 1, 10, 0], [1, 3, 0, 10, 0]]) == {RIGHT}
    assert choices("astar", two, [[1, 1, 1, 10, 0], [3, 3, 0, 10, 0]]) <= {LEFT, FORWARD}


def test_astar_becomes_wary_of_a_narrow_cell():
    """On "ring" a robot with mail 1 cannot pass (4, 1): it waits until it must not, and goes round then."""
    game = momagames.spec("mo-robotmail-v0", layout="ring")
    batch, seats = Batch(game, 1), [0, UNSEATED]
    players = SeatedPolicies(batch, [batch_policy("astar", game)], seats)
    robots = [[3, 1, 1, 10.0, 10, 0, 4], [7, 7, 0, 10.0, 10, 0, 0]]
    acts = []
    for turn in range(8):
        batch.load(load_state(game, {"robots": robots, "mails": [2, 2, 2]}))
        batch.lengths[:] = turn
        action = int(players.act()[0, 0, 0])
        acts.append(action)
        x, y, *_ = robots[0]
        robots[0][0], robots[0][1] = x + (action == RIGHT) - (action == LEFT), y + (action == BACKWARD) - (action == FORWARD)
        robots[0][6] = robots[0][6] + 1 if action == STAND else 0
    assert acts[:3] == [STAND, BACKWARD, BACKWARD]
    assert robots[0][1] <= 2
    assert robots[0][0] >= 5


def test_energy_saver_waits_before_a_detour():
    blocked = [[2, 3, 1, 10, 0], [2, 4, 0, 10, 0]]
    assert choices("energy_saver", HALL, blocked, times=MANY) == {STAND}
    blocked[0][4] = 2
    assert choices("energy_saver", HALL, blocked, times=MANY) == {STAND, LEFT, RIGHT}
    assert choices("nearest", HALL, blocked, times=MANY) == {LEFT, RIGHT}


def test_patience():
    for patience in range(6):
        acts = [choices(energy_saver(patience), HALL, [[2, 3, 1, 10, stands], ELSEWHERE]) for stands in range(6)]
        assert acts == [{STAND}] * patience + [{BACKWARD}] * (6 - patience)
    with pytest.raises(InvalidParameter, match=r"invalid patience=6: expected 0\.\.5"):
        energy_saver(6)
    game = momagames.spec("mo-robotmail-2-v0")
    state, mask = generate_starts(game, random_words(0, 1))[0], np.ones(5, np.int8)
    assert policy("energy_saver", game, patience=1)(state, mask, np.random.default_rng(0)) == STAND
    assert policy("energy_saver", game)(state, mask, np.random.default_rng(0)) != STAND
    assert len(method("energy_saver", game)().policies(game)) == 6


def test_energy_saver_rests_if_mates_deliver_the_rest():
    team = {"num_players": 1, "num_robots_per_player": 2, "required_mail": 1}
    game = momagames.spec("mo-robotmail-v0", layout="documented", **team)
    acts = {}
    for mail in (0, 5):
        given = {"robots": [[4, 5, 0, 10.0, 10, 0, 0], [2, 3, mail, 10.0, 10, 0, 0]], "mails": [1, 1, 1]}
        batch = Batch(game, 1)
        batch.load(load_state(game, given))
        acts[mail] = int(SeatedPolicies(batch, [batch_policy("energy_saver", game)], [0, UNSEATED]).act()[0, 0, 0])
    assert acts == {0: BACKWARD, 5: STAND}
