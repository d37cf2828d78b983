"""The compiled rules of MO-Ingenious against the oracle, to the end of whole games."""

import random

import numpy as np
import pytest

import momagames
from tests.games.ingenious.naive import Ingenious

ID = "mo-ingenious-v0"
CASES = {
    "default": {},
    "fixed bag": {"fixed_bag": True, "fully_observable": True},
    "tiny": {"board_size": 3, "num_colors": 2, "rack_size": 2},
    "tiny, many": {"board_size": 3, "num_agents": 6, "rack_size": 3},
    "tiny, five": {"board_size": 3, "num_agents": 5, "num_colors": 5, "fixed_bag": True, "reward_mode": "collaborative"},
    "small, many": {"board_size": 4, "num_agents": 6, "fully_observable": True, "reward_mode": "two_teams"},
    "bonus turns": {"num_colors": 2, "rack_size": 2},
    "bonus turns, fixed bag": {"num_colors": 2, "rack_size": 3, "board_size": 5, "fixed_bag": True},
    "three": {"num_agents": 3, "num_colors": 3, "rack_size": 4, "board_size": 5},
    "two teams": {"num_agents": 4, "num_colors": 4, "rack_size": 2, "board_size": 5, "reward_mode": "two_teams"},
    "one score": {"num_colors": 3, "board_size": 7, "reward_mode": "collaborative", "rack_size": 5},
    "five colors": {"num_agents": 5, "num_colors": 5, "rack_size": 3, "board_size": 6, "fixed_bag": True},
    "twice the bag": {"board_size": 9, "num_colors": 4, "rack_size": 2, "fixed_bag": True},
    "win": {"board_size": 3, "num_colors": 2, "rack_size": 2, "objectives": ("win", "color_2", "color_1")},
    "win of three": {"num_agents": 3, "num_colors": 3, "board_size": 3, "rack_size": 2, "objectives": ("color_3", "win")},
    "win of teams": {"num_agents": 4, "board_size": 4, "rack_size": 2, "reward_mode": "two_teams", "objectives": ("win",)},
    "largest": {"board_size": 10, "num_agents": 6},
}
cases = pytest.mark.parametrize("params", CASES.values(), ids=list(CASES))
DTYPES = {"board": np.int8, "racks": np.int8, "scores": np.int32}


def compare(env, oracle):
    """Check the position and what all agents see."""
    assert env.get_state() == oracle.state()
    assert env.agent_selection == f"agent_{oracle.mover}"
    winners = [f"agent_{agent}" for agent in oracle.winners()]
    for agent, name in enumerate(env.possible_agents):
        seen, expected = env.observe(name), oracle.observation(agent)
        assert seen.keys() == {*expected, "action_mask"}
        for field, numbers in expected.items():
            assert seen[field].dtype == DTYPES[field]
            assert seen[field].shape == np.shape(numbers)
            assert (seen[field] == np.array(numbers)).all(), field
        assert set(np.flatnonzero(seen["action_mask"]).tolist()) == oracle.legal(agent)
        assert len(seen["action_mask"]) == len(oracle.pairs) * oracle.size == env.action_space(name).n
        assert env.observation_space(name).contains(seen)
        assert env.terminations[name] == oracle.over
        assert not env.truncations[name]
        assert env.infos[name]["winners"] == winners


def choose(oracle, chance, greedy):
    """Return a random legal action, or the one of a few with the largest reward, to reach the caps."""
    actions = chance.choices(sorted(oracle.legal(oracle.mover)), k=8 if greedy else 1)

    def gain(action):
        (x, y), (a, b) = oracle.pairs[action // oracle.size], oracle.racks[oracle.mover][action % oracle.size]
        oracle.board[x], oracle.board[y] = a, b
        total = oracle._gain(x, y) + oracle._gain(y, x)
        oracle.board[x] = oracle.board[y] = 0
        return total

    return max(actions, key=gain)


def play(env, oracle, chance, greedy=False):
    """Play to the end; return what happened on the way."""
    names, events = env.possible_agents, set()
    pending = np.zeros((len(names), len(oracle.names)))  # what last() owes each agent
    compare(env, oracle)
    while not oracle.over:
        assert np.array_equal(env.last()[1], pending[oracle.mover])
        action, mover, first_round = choose(oracle, chance, greedy), oracle.mover, oracle.first_round
        rack, upcoming, bag = list(oracle.racks[mover]), len(oracle.upcoming), sum(oracle.bag.values())
        if first_round and len(oracle.open_pairs()) == len(oracle._empty_pairs()):
            events.add("no corner is left")
        pending[mover] = 0
        rewards = oracle.step(action)
        pending += rewards
        env.step(action)
        for name, numbers in zip(names, rewards, strict=True):
            assert env.rewards[name].dtype == np.float32
            assert env.rewards[name].tolist() == numbers
            assert env.reward_space(name).contains(env.rewards[name])
        compare(env, oracle)
        events |= {"bonus turn"} if oracle.mover == mover and not oracle.over else set()
        events |= {"exchange"} if sum((tile in rack) for tile in oracle.racks[mover]) < oracle.size - 2 else set()
        events |= {"order"} if upcoming else set()
        events |= {"empty bag"} if not bag else set()
    assert np.array_equal(env.last()[1], pending[names.index(env.agent_selection)])
    return events


@cases
def test_generated_games(params, interpreted):
    """A game from a seed, and others that continue its stream."""
    env, chance, word = momagames.make(ID, **params), random.Random(1), 2**63 + 5
    for i in range(2 if interpreted else 3):
        env.reset(seed=word) if i == 0 else env.reset()
        oracle = Ingenious.generate(word, **params)
        play(env, oracle, chance, greedy=i == 1)
        assert oracle.ply <= env.game.max_episode_steps == (len(oracle.cells) - 6) // 2
        word = oracle.word


@pytest.mark.parametrize("seed", [0, 1, 77])
@cases
def test_generated_starts(params, seed):
    env = momagames.make(ID, **params)
    env.reset(seed=seed)
    compare(env, Ingenious.generate(seed, **params))


def position(chance, params, keys):
    """Return any position, in the form of §9, with these of the keys that may be left out."""
    game = Ingenious(**params)
    filled = chance.choice([0, 0.1, 0.3, 0.6])
    for cell in game.cells:
        if cell not in game.corners and chance.random() < filled:
            game.board[cell] = chance.choice(game.colors)
    mover = chance.choice(game.agents)
    for agent, rack in enumerate(game.racks):
        rack += chance.choices(game.kinds, k=chance.choice([game.size, chance.randint(agent == mover, game.size)]))
    highest = chance.choice([3, game.cap, game.cap + 9])
    scores = [[chance.randint(0, highest) for _ in game.colors] for _ in game.scores]
    bag = [chance.randint(0, chance.choice([0, 1, 20])) for _ in game.kinds]
    order = [list(kind) for kind, count in zip(game.kinds, bag, strict=True) for _ in range(count)]
    chance.shuffle(order)
    values = {
        "scores": [scores[team] for team in game.team],
        "bag": bag,
        "next_agent": chance.choice([mover, f"agent_{mover}"]),
        "first_round": chance.random() < 0.5,
        "upcoming": order[: chance.choice([0, 1, 5, len(order)])],
        "rng": chance.getrandbits(64),
    }
    if "bag" not in keys:
        values["upcoming"] = []
    if "next_agent" not in keys:
        game.racks[0] = game.racks[0] or [game.kinds[-1]]
    digits = [game.board[cell] for cell in game.cells]
    text = "".join(map(str, digits))
    board = chance.choice([text, [text[:9], text[9:]], digits])
    slots = chance.choice([game._slots, lambda agent: game.racks[agent]])
    racks = [[list(tile) for tile in slots(agent)] for agent in game.agents]
    return {"board": board, "racks": racks} | {key: values[key] for key in keys}


@pytest.mark.parametrize(
    "keys",
    [
        (),
        ("next_agent",),
        ("scores", "next_agent", "first_round"),
        ("scores", "bag", "next_agent", "upcoming", "rng"),
        ("scores", "bag", "next_agent", "first_round", "upcoming", "rng"),
    ],
    ids=["board and racks", "mover", "without bag", "without first round", "all"],
)
@cases
def test_given_positions(params, keys, interpreted):
    env, chance = momagames.make(ID, **params), random.Random(3)
    env.reset(seed=11)
    small = len(Ingenious(**params).cells) < 100
    for _ in range(1 if interpreted else 6 if small else 2):
        state = position(chance, params, keys)
        given = (
            state if all(isinstance(digit, str) for digit in state["board"]) else state | {"board": map(str, state["board"])}
        )
        oracle = Ingenious.given(given, env.get_state()["rng"], **params)
        env.reset(options={"state": state})
        play(env, oracle, chance, greedy=chance.random() < 0.5)


@cases
def test_a_position_continues(params):
    """What `get_state` gives in the middle of a game is a start."""
    env, again = (momagames.make(ID, **params) for _ in range(2))
    env.reset(seed=5)
    oracle, chance = Ingenious.generate(5, **params), random.Random(5)
    for _ in range(env.game.max_episode_steps // 3):
        action = choose(oracle, chance, greedy=True)
        env.step(action)
        oracle.step(action)
    again.reset(options={"state": env.get_state()})
    play(again, Ingenious.given(oracle.state(), **params), chance)


def test_games_meet_everything():
    """The draws of the tests above lead to every branch of §3 and §4."""
    events = set()
    for name, seed in [("tiny, many", 1), ("bonus turns", 2), ("fixed bag", 3), ("bonus turns, fixed bag", 4)]:
        env = momagames.make(ID, **CASES[name])
        env.reset(seed=seed)
        events |= play(env, Ingenious.generate(seed, **CASES[name]), random.Random(seed), greedy=True)
    assert events == {"no corner is left", "bonus turn", "exchange", "order"}
    state = {"board": Ingenious(board_size=3).state()["board"], "racks": [[[1, 2]], [[3, 3], [1, 4]]], "bag": [0] * 21}
    env = momagames.make(ID, board_size=3)
    env.reset(seed=0, options={"state": state})
    assert play(env, Ingenious.given(state, 0, board_size=3), random.Random(2)) >= {"empty bag"}


def test_a_step_by_hand():
    """A gain along a line with a corner at its end, a cap that is reached, a bonus turn, and an exchange of the rack."""
    params = {"board_size": 3, "num_colors": 3, "rack_size": 2}
    oracle = Ingenious(**params)
    oracle.board |= {(1, 0): 1, (0, -1): 2, (-1, -1): 3}  # corner (2, 0) has color 1, (0, -2) has color 3
    state = {
        "board": oracle.state()["board"],
        "racks": [[[1, 2], [1, 1]], [[2, 3], [1, 3]]],
        "scores": [[17, 3, 2], [0, 0, 0]],
        "bag": [1, 0, 0, 0, 2, 1],
        "first_round": False,
        "upcoming": [[1, 1], [2, 3], [2, 3], [3, 3]],
    }
    env = momagames.make(ID, **params)
    env.reset(seed=0, options={"state": state})
    oracle = Ingenious.given(state, 0, **params)
    action = oracle.pairs.index(((0, 0), (0, 1))) * 2
    assert oracle.step(action) == [[1, 0, 0], [0, 0, 0]]  # (1, 0), (2, 0) for color 1: 17 + 2 is above 18
    env.step(action)
    compare(env, oracle)
    after = oracle.state()
    assert after["racks"][0] == [[2, 3], [2, 3]]
    assert after["upcoming"] == [[3, 3], [1, 1], [1, 1]]
    assert after["bag"] == [2, 0, 0, 0, 0, 1]
    assert after["next_agent"] == "agent_0"
    assert after["scores"] == [[18, 3, 2], [0, 0, 0]]
