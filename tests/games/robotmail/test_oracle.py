"""The rules against the oracle, step by step: positions, masks, what is seen, rewards in every objective, ends."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momagames
from momagames.engine.batch import Batch
from momagames.engine.episode import load_state
from momagames.games.robotmail.layouts import loader
from momagames.games.robotmail.rules.state import EVENTS, OBJECTIVES
from tests.games.robotmail import dense_positions, naive

WALLED = {  # a number on a cell that is no receiver, high indices, narrow cells
    "colors": ["y,g,gr,r,y", "w,g,w,g,w", "r,w,b,w,b", "y,g,w,g,gr"],
    "targets": ["3,0,0,0,63", "0,0,5,0,0", "0,3,0,0,0", "5,0,0,0,0"],
}
LARGE = {"seed": 1, "width": 24, "height": 24}
RANDOM = {"seed": 4, "width": 13, "height": 7, "density": 0.15}
CASES = {  # layout, players, robots of each, and what else is not as usual
    "documented": ("documented", 2, 1, {}),
    "documented, empty masks": ("documented", 2, 1, {"always_legal": False}),
    "rbgame, many": ("rbgame", 4, 3, {"random_num_steps": True, "max_step": 60}),
    "ring, without battery": ("ring", 3, 2, {"with_battery": False}),
    "ring": ("ring", 2, 3, {"observation": "dict"}),
    "mini6, crowded": ("mini6", 4, 2, {"observation": "dict", "required_mail": 2, "always_legal": False}),
    "mini6, without battery": ("mini6", 3, 3, {"with_battery": False, "random_num_steps": True}),
    "wide12": ("wide12", 6, 4, {"required_mail": 9, "random_num_steps": True, "always_legal": False}),
    "tall": ("tall", 2, 2, {"observation": "dict", "with_battery": False}),
    "tall, alone": ("tall", 1, 1, {"required_mail": 1}),
    "tiny": ("tiny", 2, 1, {}),
    "street": ("street", 2, 2, {"observation": "dict", "required_mail": 3, "random_num_steps": True}),
    "depot": ("depot", 1, 4, {"max_step": 30}),
    "random": ("random", 5, 1, {"max_step": 3, "random_num_steps": True, "observation": "dict"}),
    "random, wide": (RANDOM, 2, 4, {"required_mail": 2, "random_num_steps": True}),
    "random, large": (LARGE, 6, 6, {"observation": "dict", "random_num_steps": True, "always_legal": False}),
    "walled": (WALLED, 2, 2, {"observation": "dict"}),
}


BOARDS = st.sampled_from(loader.NAMES) | st.builds(
    lambda seed, width, height, density: {"seed": seed, "width": width, "height": height, "density": density},
    st.integers(0, 10**6),
    st.integers(5, 12),
    st.integers(5, 12),
    st.floats(0, 0.15),
)


def make_game(layout, players, team, more):
    """Return the game with all objectives."""
    params = {"layout": layout, "num_players": players, "num_robots_per_player": team, **more}
    return momagames.spec("mo-robotmail-v0", objectives=OBJECTIVES, **params)


class Follower:
    """Oracle beside a state of the compiled rules. It takes its random draws from the compiled state."""

    def __init__(self, game, layout, states, i, position=None):
        params = game.params
        self.game, self.states, self.i = game, states, i
        self.places = [tuple(robot[:2]) for robot in self.compiled_position()["robots"]]
        self.mails = list(self.compiled_position()["mails"])
        self.oracle = None
        self.oracle = naive.Game(
            [list(row) for row in layout.colors],
            [list(row) for row in layout.targets],
            self.draw,
            position,
            players=params["num_players"],
            team=params["num_robots_per_player"],
            **{
                name: params[name] for name in ("required_mail", "with_battery", "random_num_steps", "max_step", "always_legal")
            },
        )
        self.check_position()

    def compiled_position(self):
        return self.game.codec.save(self.states[self.i])

    def draw(self, what, choices):
        """Return the choice of the compiled rules, after the start or a step."""
        if what == "turn":
            choice = self.compiled_position()["left"]
        elif what == "place":
            choice = self.places.pop(0)
        elif self.oracle is None:
            choice = self.mails.pop(0)
        else:
            robot = self.oracle.robots[self.oracle.next]
            choice = self.compiled_position()["mails"][self.oracle.green.index(robot.cell)]
        assert choice in choices
        return choice

    def check_position(self):
        position, expected = self.compiled_position(), self.oracle.position()
        del position["rng"]
        assert position == expected


def check_observations(game, batch, i, oracle):
    """Compare the masks of all robots, and the observations of the robot that acts and of every fifth from there.

    In games of up to six robots the first field of all of them is compared.
    """
    robots = len(game.agents)
    assert batch.masks[i].tolist() == [oracle.mask(index) for index in range(robots)]
    for index in range(robots):
        is_fifth = (index - oracle.next) % 5 == 0
        if robots > 6 and not is_fifth:
            continue
        seen = game.observation_views(batch.observations[i, index])
        whole = game.params["observation"] == "dict" and is_fifth
        wanted = oracle.fields(index) if whole else {"observation": oracle.vector(index)}
        assert list(seen)[: len(wanted)] == list(wanted)
        assert [field.name for field in game.fields] == list(seen)
        for field in game.fields[: len(wanted)]:
            assert np.array_equal(seen[field.name], np.array(wanted[field.name], field.dtype)), field.name
            assert field.low <= seen[field.name].min() <= seen[field.name].max() <= field.high, field.name


def check_rewards(game, batch, i, rewards):
    """The reward vectors of the last step, to the last bit of float32 and inside their bounds."""
    for index, row in enumerate(rewards):
        wanted = np.array([row[goal.name] for goal in game.objectives], np.float32)
        assert batch.rewards[i, index].tolist() == wanted.tolist(), game.agents[index]
    assert (game.reward_low - 1e-6 <= batch.rewards[i]).all()
    assert (batch.rewards[i] <= game.reward_high + 1e-6).all()


def choose_action(rng, oracle):
    """Often a move to a cell where something happens, otherwise any legal action, or any at all."""
    robot, options = oracle.robots[oracle.next], oracle.legal_actions(oracle.next)
    eager = [action for action in options if action and oracle.color[oracle.target_cell(robot, action)] in ("gr", "y", "b")]
    chance = rng.random()
    some = eager if eager and chance < 0.6 else options if options and chance < 0.9 else range(5)
    return int(rng.choice(some))


def play(game, batch, followers, steps, seed):
    """Play with legal and illegal actions; returns how often each event was seen, ends among them."""
    rng, seen = np.random.default_rng(seed), Counter()
    for i, follower in enumerate(followers):
        check_observations(game, batch, i, follower.oracle)
    for _ in range(steps):
        over = [follower.oracle.over for follower in followers]
        actions = [choose_action(rng, follower.oracle) for follower in followers]
        batch.step(batch.actions(np.array(actions)))
        for i, follower in enumerate(followers):
            if over[i]:
                continue
            oracle = follower.oracle
            rewards = oracle.step(actions[i])
            follower.check_position()
            check_observations(game, batch, i, oracle)
            check_rewards(game, batch, i, rewards)
            assert batch.terminated[i].tolist() == [oracle.terminated] * len(game.agents)
            assert batch.truncated[i].tolist() == [oracle.truncated] * len(game.agents)
            seen.update([oracle.event, (oracle.terminated, oracle.truncated)])
            seen.update(name for row in rewards for name, amount in row.items() if amount)
    return seen


def play_starts(game, count, steps, seed=5):
    """Play from the start."""
    batch = Batch(game, count, autoreset="disabled", views="all")
    batch.seed(seed)
    batch.reset()
    layout = loader.load(game.params["layout"])
    play(game, batch, [Follower(game, layout, batch.states, i) for i in range(count)], steps, seed=1)


@pytest.mark.parametrize("case", CASES)
def test_games_from_the_start(case, interpreted):
    play_starts(make_game(*CASES[case]), 1 if interpreted else 4, 6 if interpreted else 25)


def play_dense_positions(game, count, first=0):
    """Play from random positions; returns what was seen, see `play`."""
    layout = loader.load(game.params["layout"])
    starts = [dense_positions.random_position(layout, game.params, seed) for seed in range(first, first + count)]
    if game.params["with_battery"]:  # some do not suffice for another move
        starts[0]["robots"] = [[*row[:3], 0.05, 1, *row[5:]] for row in starts[0]["robots"]]
    batch = Batch(game, count, autoreset="disabled", views="all")
    batch.load(np.concatenate([load_state(game, start) for start in starts]))
    batch.seed(7)
    return play(game, batch, [Follower(game, layout, batch.states, i, start) for i, start in enumerate(starts)], 9, seed=2)


@pytest.mark.parametrize("case", CASES)
def test_dense_positions(case, interpreted):
    seen = play_dense_positions(make_game(*CASES[case]), 8 if interpreted else 10 if "large" in case else 25)
    assert interpreted or min(seen[event] for event in ("delivery", "pickup", "skip"))


@given(BOARDS, st.integers(1, 5), st.integers(1, 4), st.integers(0, 10**6), st.data())
def test_any_parameters(layout, players, team, seed, data):
    room = len(loader.load(layout).cells("w"))
    players = min(players, room)
    more = {name: data.draw(st.booleans()) for name in ("with_battery", "random_num_steps", "always_legal")}
    more |= {"required_mail": data.draw(st.integers(1, 4)), "max_step": data.draw(st.sampled_from((1, 7, 40, 400)))}
    game = make_game(layout, players, min(team, room // players), more)
    play_starts(game, 1, 12, seed)
    play_dense_positions(game, 3, seed)


def test_all_events_and_rewards_occur():
    seen = sum((play_dense_positions(make_game(*CASES[case]), 40) for case in ("mini6, crowded", "depot")), Counter())
    expected = {*EVENTS[1:], *OBJECTIVES, *((won, cut) for won in (False, True) for cut in (False, True))}
    assert {what for what in expected if seen[what] < 3} == set()
