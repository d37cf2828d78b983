"""Rules and oracle of MO-ItemGathering play the same episodes."""

import random

import numpy as np
import pytest

import momagames
from momagames.kernels.jit import INTERPRETED
from tests.games.item_gathering.cases import CROWD, ROOM
from tests.games.item_gathering.naive import ItemGathering
from tests.games.joint import SEEDS, JointGame

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
    {"initial_map": LARGE, "randomise": True, "num_timesteps": 10 if INTERPRETED else 100, "reward_mode": "team"},
]


def name(params):
    return "-".join(str(value)[:30] for value in params.values()) or "default"


def choose(*options):
    """Return a way of single agents to move; one that moves all takes any legal action."""
    return lambda legal: legal if legal != [0, 1, 2, 3, 4] else list(options)


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


WAYS = {"any": choose(0, 1, 2, 3, 4), "left": choose(3, 0), "crosswise": choose(1, 2, 3, 4), "stay": choose(0)}
GAME = JointGame(ID, ItemGathering, position, {"id": np.int8, "map": np.int8, "under": np.int8, "steps_left": np.int32}, WAYS)
cases = pytest.mark.parametrize("params", CASES, ids=name)


@pytest.mark.parametrize("seed", SEEDS)
@cases
def test_drawn_starts(params, seed):
    assert list(momagames.spec(ID, **params).agents) == ItemGathering.generate(0, **params).players
    GAME.play_seeds(params, seed)


@pytest.mark.parametrize("keys", [(), ("n",), ("rng",), ("n", "rng")], ids=str)
@cases
def test_given_positions(params, keys):
    GAME.play_positions(params, keys)


@cases
def test_a_position_continues(params):
    """What `get_state` gives in the middle of an episode is a start."""
    GAME.play_on(params, ItemGathering(**params).last // 3)


@pytest.mark.parametrize("params", CASES[:4], ids=name)
def test_positions_that_are_over(params):
    """After the last step, and without items."""
    env, start = GAME.make(params), ItemGathering.generate(1, **params).state()
    for change in ({"n": ItemGathering(**params).last}, {"items": []}):
        oracle, _ = GAME.play_given(env, params, start | change)
        assert oracle.over


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
        GAME.compare(env, oracle, got[0])
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
