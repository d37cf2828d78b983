"""Observations of all agents at once: arrays that a caller keeps never change, the others are reused."""

import copy
import pickle

import numpy as np
import pytest

import momagames
from momagames.engine.observation_pool import BUFFERS

GAMES = ["mo-pommerman-ffa-v0", "mo-pommerman-radio-v0"]


def played(id, steps):
    """An environment, and what it shows step by step; every agent stands still."""
    env = momagames.make(id, api="parallel")
    seen, _ = env.reset(seed=1)
    yield env, seen
    still = [0] * len(env.aec_env.game.actions)
    for _ in range(steps):
        action = np.array(still) if len(still) > 1 else 0
        seen, *_ = env.step(dict.fromkeys(env.agents, action))
        yield env, seen


def addresses(seen):
    """Where the fields are; masks are always made anew."""
    return {
        array.__array_interface__["data"][0]
        for fields in seen.values()
        for name, array in fields.items()
        if name != "action_mask"
    }


@pytest.mark.parametrize("id", GAMES)
def test_kept_observations_stay_as_they_were(id):
    """All of them, copied at once, and once more at the end."""
    stored, copies = [], []
    for env, seen in played(id, 12):
        stored.append(seen)
        copies.append(copy.deepcopy(seen))
        assert all(
            np.array_equal(fields[name], value)
            for agent, fields in seen.items()
            for name, value in env.aec_env.episode.observe(env.possible_agents.index(agent)).items()
        )
    np.testing.assert_equal(stored, copies)
    assert not set.intersection(*(addresses(seen) for seen in stored))


@pytest.mark.parametrize(
    "part",
    [
        lambda seen: seen["agent_2"]["board"],
        lambda seen: seen["agent_0"]["board"][3],
        lambda seen: seen["agent_3"]["bomb_life"].T[1:4],
        lambda seen: memoryview(seen["agent_1"]["board"])[2:],
        lambda seen: np.asarray(seen["agent_1"]["board"]).view(np.matrix)[1],
        lambda seen: seen["agent_2"]["board"].flat,
    ],
    ids=["a field", "a row", "a transposed part", "a buffer", "a subclass", "an iterator"],
)
def test_one_part_is_enough_to_keep_them(part):
    """Of the first observation alone; flames and walls elsewhere go on changing."""
    stored = then = None
    for count, (_, seen) in enumerate(played("mo-pommerman-ffa-v0", 8 * BUFFERS)):
        if not count:
            place = addresses(seen)
            stored = part(seen)
            then = np.array(stored).tolist()
        else:
            assert not addresses(seen) & place
        del seen
    assert np.array(stored).tolist() == then


def test_unreferenced_arrays_are_reused():
    places = set()
    for _, seen in played("mo-pommerman-ffa-v0", 40):
        places |= {seen["agent_0"]["board"].__array_interface__["data"][0]}
        del seen
    assert len(places) == BUFFERS


def test_a_copied_environment_has_arrays_of_its_own():
    env, seen = next(played("mo-pommerman-ffa-v0", 0))
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        other, *_ = twin.step(dict.fromkeys(env.agents, 0))
        assert not addresses(other) & (addresses(seen) | addresses(env.aec_env.observe_agents(env.agents)))
