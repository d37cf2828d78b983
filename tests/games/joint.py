"""Games of simultaneous moves, played twice: by our rules and by the oracle of the game (naive.py)."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isclose
from typing import Any

import numpy as np

import momagames
from momagames.kernels.jit import INTERPRETED

SEEDS = (77, 2**63 + 5) if INTERPRETED else (0, 1, 77, 2**63 + 5)  # plain Python takes long
WAYS = {"any": lambda legal: legal, "first": lambda legal: legal[:1], "last": lambda legal: legal[-1:]}


def alike(given, expected):
    """Whether positions are equal; floats up to rounding."""
    if isinstance(expected, dict):
        return given.keys() == expected.keys() and all(alike(given[key], expected[key]) for key in expected)
    if isinstance(expected, (list, tuple)):
        return given == expected or (len(given) == len(expected) and all(map(alike, given, expected)))
    return given == expected or (isinstance(expected, float) and isclose(given, expected, rel_tol=1e-9, abs_tol=1e-12))


def equal(value, dtype, expected):
    """Whether an array has the type and the numbers; float32 up to rounding."""
    numbers = np.array(expected)
    same = value.dtype == dtype and value.shape == numbers.shape
    return same and (
        np.allclose(value, numbers, rtol=1e-6, atol=1e-12) if value.dtype.kind == "f" else (value == numbers).all()
    )


@dataclass
class JointGame:
    """A game and its oracle.

    The oracle has `generate`, `given`, `state`, `over`, `legal(agent)`, `actions` (sizes of the action spaces),
    `observation(agent)` and `step(actions)`, which returns the reward of each agent.

    position    (chance, params, keys) -> a position before the end with these optional keys
    dtypes      of the fields of observations
    ways        name -> legal actions -> those from which agents choose
    """

    id: str
    oracle: Any
    position: Callable
    dtypes: dict[str, Any]
    ways: dict[str, Callable] = field(default_factory=lambda: WAYS)

    def make(self, params, seed=11):
        """Return a parallel environment after a reset."""
        env = momagames.make(self.id, "parallel", **params)
        env.reset(seed=seed)
        return env

    def compare(self, env, oracle, observations):
        """Check the position and the observations of all agents."""
        assert alike(env.get_state(), oracle.state())
        assert list(observations) == env.possible_agents
        assert [env.action_space(name).n for name in env.possible_agents] == oracle.actions
        for agent, (name, seen) in enumerate(observations.items()):
            fields, legal = oracle.observation(agent), set(oracle.legal(agent))
            fields = fields if isinstance(fields, dict) else {"observation": fields}
            assert seen.keys() == {*fields, "action_mask"}
            assert all(equal(seen[key], self.dtypes[key], numbers) for key, numbers in fields.items())
            assert equal(seen["action_mask"], np.int8, [int(action in legal) for action in range(oracle.actions[agent])])
            assert agent >= 20 or env.observation_space(name).contains(seen)

    def play(self, env, oracle, observations, chance, way="any", steps=None):
        """Play to the end or some steps, with random actions of this way; return the returns of the oracle."""
        self.compare(env, oracle, observations)
        returns, count = 0, 0
        while not oracle.over and (steps is None or count < steps):
            assert env.agents == env.possible_agents
            actions = [chance.choice(self.ways[way](oracle.legal(agent))) for agent in range(len(oracle.actions))]
            observations, rewards, terminations, truncations, _ = env.step(dict(zip(env.agents, actions, strict=True)))
            expected = oracle.step(actions)
            self.compare(env, oracle, observations)
            assert list(rewards) == env.possible_agents
            for (name, reward), numbers in zip(rewards.items(), expected, strict=True):
                assert equal(reward, np.float32, numbers)
                assert env.reward_space(name).contains(reward)
            is_terminated, is_truncated = getattr(oracle, "terminated", oracle.over), getattr(oracle, "truncated", False)
            assert terminations == dict.fromkeys(env.possible_agents, is_terminated)
            assert truncations == dict.fromkeys(env.possible_agents, is_truncated)
            returns, count = returns + np.array(expected, float), count + 1
        assert env.agents == ([] if oracle.over else env.possible_agents)
        return returns

    def play_seeds(self, params, seed):
        """Play an episode from a seed, and others that continue its stream."""
        env, chance, word = momagames.make(self.id, "parallel", **params), random.Random(seed), seed
        for way in self.ways:
            observations, _ = env.reset(seed=seed) if way == "any" else env.reset()
            oracle = self.oracle.generate(word, **params)
            self.play(env, oracle, observations, chance, way)
            word = oracle.state()["rng"]

    def play_given(self, env, params, state, chance=None, way="any"):
        """Play from a position, which stays for one episode; return the oracle and the returns."""
        oracle = self.oracle.given(state, env.get_state()["rng"], **params)
        observations, _ = env.reset(options={"state": state})
        return oracle, self.play(env, oracle, observations, chance or random.Random(0), way)

    def play_positions(self, params, keys):
        """Play from random positions, and then from a generated start."""
        env, chance = self.make(params), random.Random(3)
        for way in self.ways:
            oracle, _ = self.play_given(env, params, self.position(chance, params, keys), chance, way)
        observations, _ = env.reset()
        self.play(env, self.oracle.generate(oracle.state()["rng"], **params), observations, chance)

    def play_on(self, params, steps, without=()):
        """Play some steps, and the rest in another environment from the position there, also without these keys of it."""
        env, again = momagames.make(self.id, "parallel", **params), self.make(params)
        observations, _ = env.reset(seed=5)
        self.play(env, self.oracle.generate(5, **params), observations, random.Random(5), steps=steps)
        state = env.get_state()
        for given in (state, {key: value for key, value in state.items() if key not in without}):
            oracle, _ = self.play_given(again, params, given)
        observations, _ = again.reset()
        self.compare(again, self.oracle.generate(oracle.state()["rng"], **params), observations)
