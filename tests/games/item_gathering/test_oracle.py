"""Rules and oracle of MO-ItemGathering play the same episodes."""

import random

import numpy as np
import pytest

import momagames
from tests.games.item_gathering.cases import CROWD, ROOM
from tests.games.item_gathering.naive import ItemGathering

ID = "mo-item-gathering-v0"
LARGE = [[1 if row % 5 == column % 5 == 0 else 2 * (row * column % 4) for column in range(20)] for row in range(20)]
CASES = [
    {},
    {"reward_mode": "team", "num_timesteps": 25},
    {"randomise": True, "num_timesteps": 30, "pickup_probabilities": [0.25, 0.5, 1]},
    {"objectives": ["item_2"], "num_timesteps": 15},
    {"initial_map": "corners", "randomise": True},
    {"initial_map": "orchard", "reward_mode": "team", "num_timesteps": 20},
    {"initial_map": "alone", "randomise": True, "num_timesteps": 30},
    {"initial_map": "crowd", "randomise": True, "pickup_probabilities": [0.5, 0.3, 0.9]},
    {"initial_map": [[1, 2]], "num_timesteps": 3},
    {"initial_map": "1\n2\n.\n1\n3", "num_timesteps": 9, "randomise": True, "pickup_probabilities": [0, 0.5]},
    {"initial_map": "1.2.11.3.1\n", "num_timesteps": 20},
    {"initial_map": CROWD, "num_timesteps": 40, "pickup_probabilities": [0.1, 0.2, 0.9]},
    {"initial_map": CROWD, "num_timesteps": 40, "reward_mode": "team", "objectives": ["item_3", "item_1"]},
    {"initial_map": "\n".join(ROOM), "num_timesteps": 12, "randomise": True},
    {"initial_map": "1,1,1,1\n1,1,1,1\n0,1,1,0\n1,127,44,1\n1,1,1,1", "num_timesteps": 12, "reward_mode": "team"},
    {"initial_map": [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 1, 2, 9], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]], "randomise": True},
    {
        "initial_map": [[9, 2, 3, 4, 5, 6, 7, 8, 11], [0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1, 1], *[[0] * 9] * 3],
        "randomise": True,
        "num_timesteps": 30,
        "pickup_probabilities": [0, 1, 0.5, 0.75, 1, 0.01, 0.99, 0.3, 1],
    },
    {"initial_map": CROWD[:2], "num_timesteps": 15, "control": "central", "pickup_probabilities": [0.5, 1]},
    {"initial_map": "1.2\n.3.\n\n", "num_timesteps": 5, "control": "central", "objectives": ["item_2", "item_1"]},
    {"control": "central", "randomise": True, "num_timesteps": 20},
    {"initial_map": LARGE, "randomise": True, "num_timesteps": 100, "reward_mode": "team"},
]
WAYS = {"any": [0, 1, 2, 3, 4], "left": [3, 0], "crosswise": [1, 2, 3, 4], "stay": [0]}  # of single agents


def name(params):
    return "-".join(str(value)[:30] for value in params.values()) or "default"


def equal(value, dtype, expected):
    return value.dtype == dtype and value.shape == np.shape(expected) and (value == np.array(expected)).all()


def compare(env, oracle, observations):
    """Check the position and what all agents see."""
    assert env.get_state() == oracle.state()
    assert list(observations) == env.possible_agents
    legal = set(oracle.legal())
    mask = [int(action in legal) for action in range(5 ** len(oracle.agents) if oracle.control == "central" else 5)]
    for agent, (agent_name, seen) in enumerate(observations.items()):
        fields = oracle.observation(agent)
        assert seen.keys() == {*fields, "action_mask"}
        for field, numbers in fields.items():
            assert equal(seen[field], np.int32 if field == "steps_left" else np.int8, numbers), field
        assert equal(seen["action_mask"], np.int8, mask)
        assert env.observation_space(agent_name).contains(seen)


def choose(oracle, chance, options):
    """Return an action of each of those that act: one of these, or any legal one of central control."""
    return chance.choices(oracle.legal() if oracle.control == "central" else options, k=len(oracle.players))


def play(env, oracle, observations, chance, way="any"):
    """Play to the end, with random actions of this way; return the sums of rewards by agent."""
    compare(env, oracle, observations)
    returns = np.zeros((len(oracle.players), len(oracle.names)))
    while not oracle.over:
        assert env.agents == env.possible_agents
        actions = choose(oracle, chance, WAYS[way])
        observations, rewards, terminations, truncations, _ = env.step(dict(zip(env.possible_agents, actions, strict=True)))
        expected = oracle.step(actions)
        compare(env, oracle, observations)
        assert list(rewards) == env.possible_agents
        for (name, reward), numbers in zip(rewards.items(), expected, strict=True):
            assert equal(reward, np.float32, numbers)
            assert env.reward_space(name).contains(reward)
        assert terminations == dict.fromkeys(env.possible_agents, oracle.terminated)
        assert truncations == dict.fromkeys(env.possible_agents, oracle.truncated)
        returns += expected
    assert env.agents == []
    return returns


def position(chance, params, keys):
    """Return any position before the end, in the form of §9, with these of the keys that may be left out."""
    game = ItemGathering.generate(0, **params)
    cells = [(row, column) for row in range(game.height) for column in range(game.width)]
    pool = [kind - 1 for kind in game.items.values()]
    kinds = chance.sample(pool, chance.randint(1, len(pool)))
    items = [[*cell, kind] for cell, kind in zip(chance.sample(cells, len(kinds)), kinds, strict=True)]
    state = {"agents": [list(cell) for cell in chance.sample(cells, len(game.agents))], "items": items}
    values = {"n": chance.randrange(game.last), "rng": chance.getrandbits(64)}
    return state | {key: values[key] for key in keys}


@pytest.mark.parametrize("seed", [0, 1, 77, 2**63 + 5])
@pytest.mark.parametrize("params", CASES, ids=name)
def test_drawn_starts(params, seed):
    """An episode from a seed, and others that continue its stream."""
    env, chance, word = momagames.make(ID, "parallel", **params), random.Random(seed), seed
    assert env.possible_agents == ItemGathering.generate(0, **params).players
    for i, way in enumerate(WAYS):
        observations, _ = env.reset(seed=seed) if i == 0 else env.reset()
        oracle = ItemGathering.generate(word, **params)
        play(env, oracle, observations, chance, way)
        word = oracle.word


@pytest.mark.parametrize("keys", [(), ("n",), ("rng",), ("n", "rng")], ids=str)
@pytest.mark.parametrize("params", CASES, ids=name)
def test_given_positions(params, keys):
    env, chance = momagames.make(ID, "parallel", **params), random.Random(3)
    env.reset(seed=11)
    for way in WAYS:
        state = position(chance, params, keys)
        oracle = ItemGathering.given(state, env.get_state()["rng"], **params)
        observations, _ = env.reset(options={"state": state})
        play(env, oracle, observations, chance, way)


@pytest.mark.parametrize("params", CASES, ids=name)
def test_a_position_continues(params):
    """What `get_state` gives in the middle of an episode is a start."""
    env, again = (momagames.make(ID, "parallel", **params) for _ in range(2))
    env.reset(seed=5)
    oracle, chance = ItemGathering.generate(5, **params), random.Random(5)
    for _ in range(oracle.last // 3):
        if not oracle.over:
            actions = choose(oracle, chance, range(5))
            env.step(dict(zip(env.agents, actions, strict=True)))
            oracle.step(actions)
    observations, _ = again.reset(options={"state": env.get_state()})
    play(again, ItemGathering.given(oracle.state(), **params), observations, chance)


@pytest.mark.parametrize("params", CASES[:4], ids=name)
def test_positions_that_are_over(params):
    """After the last step, and without items."""
    env, start = momagames.make(ID, "parallel", **params), ItemGathering.generate(1, **params).state()
    for change in ({"n": ItemGathering(**params).last}, {"items": []}):
        oracle = ItemGathering.given(start | change, **params)
        observations, _ = env.reset(options={"state": start | change})
        assert env.agents == []
        compare(env, oracle, observations)


def test_steps_that_meet_everything():
    """In one crowded map: agents that exchange cells, that go back before others, fail to take an item, and succeed."""
    params = {"initial_map": CROWD, "num_timesteps": 1000, "pickup_probabilities": [0.01, 0.01, 0.02]}
    env, chance = momagames.make(ID, "parallel", **params), random.Random(2)
    env.reset(seed=9)
    oracle, seen = ItemGathering.generate(9, **params), set()
    while not oracle.over:
        actions = chance.choices(range(5), weights=[1, 2, 2, 2, 2], k=len(oracle.agents))
        before, word, items = oracle.agents, oracle.word, len(oracle.items)
        rewards = oracle.step(actions)
        got = env.step(dict(zip(env.agents, actions, strict=True)))
        compare(env, oracle, got[0])
        assert [reward.tolist() for reward in got[1].values()] == rewards
        pairs = list(zip(before, oracle.agents, strict=True))
        seen |= {"exchange" for a, b in pairs if a != b and (b, a) in pairs}
        seen |= {"back" for (a, b), action in zip(pairs, actions, strict=True) if a == b and action}
        seen |= {"drawn" if oracle.word != word else "not drawn", "taken" if len(oracle.items) < items else "not taken"}
    assert seen == {"exchange", "back", "drawn", "not drawn", "taken", "not taken"}


@pytest.mark.parametrize(
    ("agents", "actions", "expected"),
    [
        ([[0, 0], [0, 2]], [4, 3], {((0, 0), (0, 1)): 1 / 2, ((0, 1), (0, 2)): 1 / 2}),
        ([[0, 0], [0, 1]], [4, 0], {((0, 0), (0, 1)): 1}),
        ([[0, 0], [0, 1]], [4, 3], {((0, 1), (0, 0)): 1}),
        ([[0, 0], [0, 1], [0, 3]], [4, 4, 3], {((0, 0), (0, 1), (0, 2)): 1 / 2, ((0, 1), (0, 2), (0, 3)): 1 / 2}),
        (
            [[0, 1], [1, 0], [1, 2]],
            [2, 4, 3],
            {
                ((0, 1), (1, 0), (1, 1)): 1 / 2,
                ((0, 1), (1, 1), (1, 2)): 1 / 4,
                ((1, 1), (1, 0), (1, 2)): 1 / 4,
            },
        ),
    ],
    ids=["two", "one that stays", "exchange", "chain", "three"],
)
def test_shares_of_contested_cells(agents, actions, expected):
    """§4 Results of wishes that meet, by the oracle, with the frequencies that the specification names."""
    rows = [[1] * len(agents) + [0], [0] * (len(agents) + 1), [0] * (len(agents) + 1), [0] * len(agents) + [2]]
    counts = dict.fromkeys(expected, 0)
    for seed in range(1000):
        game = ItemGathering.given({"agents": agents, "items": [[3, len(agents), 0]], "rng": seed * 7919}, initial_map=rows)
        game.step(actions)
        counts[tuple(game.agents)] += 1
    assert all(abs(count / 1000 - expected[cells]) < 0.05 for cells, count in counts.items())
