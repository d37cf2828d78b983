"""Episodes of MO-ItemGathering recorded with the original, replayed step by step through the Parallel API.

data/item_gathering.jsonl.gz: one episode a line, with the parameters of the original. `start` and `state` have the cells of the
agents and items; rewards are by agent, and an end holds for all of them. `contested` marks steps in which two agents wanted one
cell, `random_pickup` those with a try whose probability is neither 0 nor 1. Draws may decide these: the result is that of our
rules for some random word. All others are the same for every word.
"""

from itertools import permutations

import numpy as np

import momagames
from tests.peers.records import read_records

EPISODES, STEPS, RANDOM, RANDOM_STARTS = 180, 1487, 270, 60
MOST_WORDS = 5000  # tried for a step that draws decide


def test_replay():
    records = read_records("item_gathering")
    steps = [step for record in records for step in record["steps"]]
    assert len(records) == EPISODES
    assert (len(steps), sum(map(is_random, steps))) == (STEPS, RANDOM)
    for record in records:
        replay(record)


def is_random(step):
    return step.get("contested", False) or step.get("random_pickup", False)


def replay(record):
    env = momagames.make("mo-item-gathering-v0", "parallel", **record["params"])
    before = record["start"]
    for n, step in enumerate(record["steps"]):
        words = range(MOST_WORDS) if is_random(step) else range(2)
        found = [play(env, {**before, "n": n, "rng": word}, step) for word in words[:2]]
        if is_random(step):
            assert any(found) or any(play(env, {**before, "n": n, "rng": word}, step) for word in words)
        else:
            assert all(found)
        before = step["state"]


def play(env, state, step):
    """Return whether a step from this position has the recorded result."""
    env.reset(options={"state": state})
    actions = [action or 0 for action in step["actions"]]  # no action: stay
    _, rewards, terminations, truncations, _ = env.step(dict(zip(env.agents, actions, strict=True)))
    after = env.get_state()
    same = {"agents": after["agents"], "items": after["items"]} == step["state"]
    return (
        same
        and np.array_equal(list(rewards.values()), step["rewards"])
        and set(terminations.values()) == {step["terminations"]}
        and set(truncations.values()) == {step["truncations"]}
    )


def test_random_starts():
    """Recorded starts with `randomise`, and ours, are permutations of the inner rows and columns of the map."""
    records = [record for record in read_records("item_gathering") if record["params"]["randomise"]]
    assert len(records) == RANDOM_STARTS
    for record in records:
        env = momagames.make("mo-item-gathering-v0", "parallel", **record["params"])
        expected = set(permute(np.array(record["params"]["initial_map"]), record["item_values"]))
        starts = [record["start"], *(env.reset(seed=seed) and env.get_state() for seed in range(5))]
        assert all(describe(start["agents"], start["items"]) in expected for start in starts)


def permute(grid, values):
    """Yield the positions that the map can start from."""
    rows, columns = (range(2, size - 2) for size in grid.shape)
    for row_order in permutations(rows):
        for column_order in permutations(columns):
            moved = grid.copy()
            moved[2:-2, 2:-2] = grid[np.ix_(row_order, column_order)]
            cells = [(int(y), int(x), int(moved[y, x])) for y, x in np.argwhere(moved)]
            yield describe(
                [(y, x) for y, x, value in cells if value == 1],
                [(y, x, values.index(value)) for y, x, value in cells if value > 1],
            )


def describe(agents, items):
    return tuple(map(tuple, agents)), tuple(map(tuple, items))
