"""Environments as functions of states: restore a state, apply an action, list all outcomes.

`make_simulator` chooses the way to clone an environment:

- a table of transitions `P` (Gymnasium's toy-text environments), read as it is;
- state attributes: the names of the attributes that hold the state, which are saved and restored (`state_adapters`);
- the methods of the games of this package;
- deep copies, where nothing is known.

An environment with state attributes may draw one number in [0, 1) per step by `np_random.random()`. The simulator replaces the
generator, sets the number, and finds by bisection the threshold at which the outcome changes. The environment itself computes
all outcomes. Other random numbers raise an error.
"""

from __future__ import annotations

import copy
import hashlib
import random
import struct
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Protocol

import gymnasium
import numpy as np

from momagames.adapters.gymnasium import SingleAgentEnv
from momagames.errors import InvalidParameter, invalid_value
from momagames.tabular.model import Vector, to_fraction
from momagames.tabular.state_adapters import StateAdapter, find_adapter

NEUTRAL_WRAPPERS = ("TimeLimit", "OrderEnforcing", "PassiveEnvChecker")  # those of `gymnasium.make`
START_SEEDS = range(5)  # resets that must agree
MAX_REWARD = 1e150

# Attributes that are no part of a state, of any environment.
IGNORED = frozenset(
    ["_np_random", "_np_random_seed", "_action_space", "_observation_space", "action_space", "observation_space",
     "reward_space", "spec", "_cached_spec", "metadata", "render_mode", "window", "screen", "clock", "canvas", "_ezpickle_args",
     "_ezpickle_kwargs"]
)  # fmt: skip

CONSTANTS = frozenset([int, bool, float, str, type(None)])  # immutable, and distinct by their `repr`
DRAWS = "the environment draws random numbers in a step: expected a table P, or state attributes and np_random.random()"

Snapshot = Any
Result = tuple[Fraction, Snapshot, Vector, bool]  # probability, state, reward, whether the episode ends


class Simulator(Protocol):
    """An environment as functions of snapshots of its state."""

    num_actions: int

    def reset(self, seed: int) -> Snapshot:
        """Return the start state of a seed."""

    def legal_actions(self, snapshot: Snapshot) -> Iterable[int]:
        """Return the actions to explore, in ascending order."""

    def outcomes(self, snapshot: Snapshot, action: int) -> list[Result]:
        """Return all outcomes of an action with their probabilities."""

    def key(self, snapshot: Snapshot) -> bytes:
        """Return 16 bytes that are equal for equal states: their BLAKE2 hash."""

    def observe(self, env: Any, observation: Any) -> bytes:
        """Return the key of the present state of another environment of the same kind, and its observation."""

    def random_states(self) -> list[Any]:
        """Return the states of the random generators that a step could use unnoticed; they must never change."""


def make_simulator(env: gymnasium.Env[Any, Any], state_attributes: Sequence[str] | None = None) -> Simulator:
    """Return the simulator of an environment; InvalidParameter for one that cannot be enumerated.

    state_attributes    names of the attributes of `env.unwrapped` that hold the whole state, such as "position" or "cart.speed"
    """
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        raise InvalidParameter(invalid_value("action space", env.action_space, "Discrete: a finite number of actions"))
    inner = env.unwrapped
    if isinstance(getattr(inner, "P", None), dict) and state_attributes is None:
        return TableSimulator(inner)
    if isinstance(inner, SingleAgentEnv) and not _other_wrappers(env):
        return GameSimulator(inner)
    adapter = StateAdapter(state_attributes) if state_attributes else find_adapter(inner)
    if adapter and not _other_wrappers(env):
        return AttributeSimulator(inner, adapter)
    return CopySimulator(strip_wrappers(env))


def strip_wrappers(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """Return the environment without the wrappers of `gymnasium.make`; with all of them if there are others."""
    return env if _other_wrappers(env) else env.unwrapped


def _other_wrappers(env: gymnasium.Env[Any, Any]) -> list[str]:
    """Return the names of the wrappers that may change states or rewards."""
    found = []
    while isinstance(env, gymnasium.Wrapper):
        found.append(type(env).__name__)
        env = env.env
    return [name for name in found if name not in NEUTRAL_WRAPPERS]


def read_reward(reward: Any) -> Vector:
    """Return a vector reward as fractions; InvalidParameter for a scalar, and for numbers whose sums no float can hold."""
    values = list(reward) if isinstance(reward, (list, tuple)) else reward
    if not (isinstance(values, list) or (isinstance(values, np.ndarray) and values.ndim == 1)) or len(values) == 0:
        raise InvalidParameter(invalid_value("reward", reward, "a vector: an environment with several objectives"))
    vector = tuple(to_fraction(value, "reward") for value in values)
    if any(abs(value) > MAX_REWARD for value in vector):
        raise InvalidParameter(invalid_value("reward", reward, f"numbers from -{MAX_REWARD:.0e} to {MAX_REWARD:.0e}"))
    return vector


class TableSimulator:
    """An environment with a table `P`: P[state][action] is a list of (probability, next state, reward, terminated)."""

    def __init__(self, env: Any) -> None:
        self._env, self.num_actions = env, int(env.action_space.n)

    def reset(self, seed: int) -> Snapshot:
        return int(self._env.reset(seed=seed)[0])

    def legal_actions(self, snapshot: Snapshot) -> Iterable[int]:
        return sorted(self._env.P[snapshot])

    def outcomes(self, snapshot: Snapshot, action: int) -> list[Result]:
        return [
            (to_fraction(probability, "probability"), int(state), read_reward(reward), bool(is_over))
            for probability, state, reward, is_over in self._env.P[snapshot][action]
            if probability > 0
        ]

    def key(self, snapshot: Snapshot) -> bytes:
        return int(snapshot).to_bytes(16, "little", signed=True)

    def observe(self, env: Any, observation: Any) -> bytes:
        return self.key(observation)

    def random_states(self) -> list[Any]:
        return []


class _ScriptedRandom:
    """A random generator whose numbers are set in advance."""

    def __init__(self) -> None:
        self.value, self.draws = 0.0, 0

    def random(self) -> float:
        self.draws += 1
        return self.value

    def __getattr__(self, name: str) -> Any:
        raise InvalidParameter(f"the environment draws random numbers by np_random.{name}: expected np_random.random()")


class AttributeSimulator:
    """An environment whose state is a list of attributes."""

    def __init__(self, env: Any, adapter: StateAdapter) -> None:
        self._env, self.num_actions = env, int(env.action_space.n)
        self._paths = [name.split(".") for name in adapter.names]
        self.adapter = adapter
        self._first = int(getattr(env.action_space, "start", 0))
        self._random = _ScriptedRandom()

    def reset(self, seed: int) -> Snapshot:
        self._env.reset(seed=seed)
        return self.read()

    def legal_actions(self, snapshot: Snapshot) -> Iterable[int]:
        return range(self.num_actions)

    def outcomes(self, snapshot: Snapshot, action: int) -> list[Result]:
        low = self._step(snapshot, action, 0.0)
        draws = self._random.draws
        if draws == 0:
            return [(Fraction(1), *low)]
        if draws > 1:
            raise InvalidParameter(f"the environment draws {draws} random numbers in a step: expected at most one")
        high = self._step(snapshot, action, float(np.nextafter(1.0, 0.0)))
        if self._is_same(low, high):
            return [(Fraction(1), *low)]
        probability = self._find_threshold(snapshot, action, low, high)
        return [(probability, *low), (1 - probability, *high)]

    def _find_threshold(self, snapshot: Snapshot, action: int, low: tuple[Any, ...], high: tuple[Any, ...]) -> Fraction:
        """Return the smallest number whose outcome is `high`, as a decimal."""
        first, last = 0, struct.unpack("<q", struct.pack("<d", float(np.nextafter(1.0, 0.0))))[0]
        while last - first > 1:  # bit patterns of positive floats are in the order of the floats
            middle = (first + last) // 2
            value = struct.unpack("<d", struct.pack("<q", middle))[0]
            found = self._step(snapshot, action, value)
            if self._is_same(found, low):
                first = middle
            elif self._is_same(found, high):
                last = middle
            else:
                raise InvalidParameter("a step has more than two outcomes: expected one threshold of its random number")
        return to_fraction(struct.unpack("<d", struct.pack("<q", last))[0], "probability")

    def _is_same(self, one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        return one[1:] == other[1:] and self.key(one[0]) == self.key(other[0])

    def _step(self, snapshot: Snapshot, action: int, value: float) -> tuple[Snapshot, Vector, bool]:
        self._restore(snapshot)
        self._random.value, self._random.draws = value, 0
        self._env._np_random = self._random
        _, reward, terminated, truncated, _ = self._env.step(action + self._first)
        return self.read(), read_reward(reward), bool(terminated or truncated)

    def read(self) -> Snapshot:
        """Return the present state of the environment."""
        values = []
        for path in self._paths:
            value = self._env
            for name in path:
                value = getattr(value, name)
            values.append(copy_state(value))
        return self.adapter.merge(self._env, values) if self.adapter.merge else values

    def _restore(self, snapshot: Snapshot) -> None:
        for path, value in zip(self._paths, snapshot, strict=True):
            owner = self._env
            for name in path[:-1]:
                owner = getattr(owner, name)
            setattr(owner, path[-1], copy_state(value))

    def key(self, snapshot: Snapshot) -> bytes:
        return hash_state(snapshot)

    def observe(self, env: Any, observation: Any) -> bytes:
        return self.key(AttributeSimulator(env, self.adapter).read())

    def random_states(self) -> list[Any]:
        others = {name: value for name, value in vars(self._env).items() if name != "_np_random"}
        own = [str(value.bit_generator.state) for value in others.values() if isinstance(value, np.random.Generator)]
        return [own, *_global_random_states()]


class CopySimulator:
    """An environment that is copied before each step. Its state is all its attributes; it must draw no random numbers."""

    def __init__(self, env: Any) -> None:
        self._env, self.num_actions = env, int(env.action_space.n)
        self._first = int(getattr(env.action_space, "start", 0))

    def reset(self, seed: int) -> Snapshot:
        env = copy.deepcopy(self._env)
        _, info = env.reset(seed=seed)
        return env, info.get("action_mask")

    def legal_actions(self, snapshot: Snapshot) -> Iterable[int]:
        mask = snapshot[1]
        return range(self.num_actions) if mask is None else np.flatnonzero(mask).tolist()

    def outcomes(self, snapshot: Snapshot, action: int) -> list[Result]:
        env = copy.deepcopy(snapshot[0])
        before = _own_random_state(env)
        _, reward, terminated, truncated, info = env.step(action + self._first)
        if before != _own_random_state(env):
            raise InvalidParameter(DRAWS)
        return [(Fraction(1), (env, info.get("action_mask")), read_reward(reward), bool(terminated or truncated))]

    def key(self, snapshot: Snapshot) -> bytes:
        return hash_state(snapshot[0])

    def observe(self, env: Any, observation: Any) -> bytes:
        return hash_state(env)

    def random_states(self) -> list[Any]:
        return _global_random_states()


class GameSimulator(CopySimulator):
    """A single-agent game of this package without chance during play, which is cloned by its own methods."""

    def __init__(self, env: SingleAgentEnv) -> None:
        super().__init__(env)
        if len(env.game.agents) > 1 or env.game.chance == "step":
            raise InvalidParameter(
                f"{env.game.id}: expected one agent and no chance during play; use `momagames front make` for this game"
            )

    def reset(self, seed: int) -> Snapshot:
        env = self._env.clone()
        _, info = env.reset(seed=seed)
        return env, info["action_mask"]

    def outcomes(self, snapshot: Snapshot, action: int) -> list[Result]:
        env = snapshot[0].clone()
        _, reward, terminated, truncated, info = env.step(action)
        return [(Fraction(1), (env, info["action_mask"]), read_reward(reward), bool(terminated or truncated))]

    def key(self, snapshot: Snapshot) -> bytes:
        return self.observe(snapshot[0], None)

    def observe(self, env: Any, observation: Any) -> bytes:
        return hash_state(env.get_state())


def _global_random_states() -> list[Any]:
    _, words, *rest = np.random.get_state()  # noqa: NPY002
    return [random.getstate(), np.asarray(words).tobytes(), rest]


def _own_random_state(env: Any) -> Any:
    own = getattr(env.unwrapped, "_np_random", None)
    return None if own is None else str(own.bit_generator.state)


def copy_state(value: Any) -> Any:
    """Return a deep copy of an attribute, or tuples of numbers as they are."""
    return value if _is_constant(value) else copy.deepcopy(value)


def _is_constant(value: Any) -> bool:
    return type(value) in CONSTANTS or (type(value) is tuple and all(map(_is_constant, value)))


def hash_state(value: Any) -> bytes:
    """Return 16 bytes that are equal for equal values; InvalidParameter for an attribute of an unknown type."""
    content = hashlib.blake2b(digest_size=16)
    for part in _encode(value, "state", {}):
        content.update(part)
    return content.digest()


def _encode(value: Any, place: str, seen: dict[int, int]) -> Iterator[bytes]:
    """Yield the bytes of a value, unambiguously; an object that occurs again is a number."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, Enum, Fraction)):
        text = f"{type(value).__name__}{value!r}".encode()
        yield b"%d:" % len(text) + text
    elif isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.dtype.hasobject):
        yield f"{value.dtype.descr}{value.shape}:".encode() + np.ascontiguousarray(value).tobytes()
    elif type(value) is tuple and _is_constant(value):
        yield b"constant:%s" % repr(value).encode()
    elif isinstance(value, (list, tuple)):
        yield b"%s%d[" % (type(value).__name__.encode(), len(value))
        for number, part in enumerate(value):
            yield from _encode(part, f"{place}[{number}]", seen)
    elif isinstance(value, dict):
        yield b"dict%d[" % len(value)
        for name, part in value.items():
            yield from _encode(name, place, seen)
            yield from _encode(part, f"{place}[{name!r}]", seen)
    elif isinstance(value, (set, frozenset)):
        yield b"set%d[" % len(value)
        yield from sorted(b"".join(_encode(part, place, seen)) for part in value)
    elif isinstance(value, (FunctionType, BuiltinFunctionType, MethodType, ModuleType, type)):
        yield f"name:{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)};".encode()
    elif id(value) in seen:
        yield b"again%d;" % seen[id(value)]
    elif isinstance(value, (np.random.Generator, np.random.RandomState, random.Random)):
        raise InvalidParameter(f"{place}: the state holds a random generator: expected a table P, or state attributes")
    elif isinstance(getattr(value, "__dict__", None), dict) and type(value).__module__.partition(".")[0] != "pygame":
        seen[id(value)] = len(seen)
        yield f"{type(value).__module__}.{type(value).__qualname__}{{".encode()
        for name, part in sorted(vars(value).items()):
            if name not in IGNORED:
                yield from _encode(name, place, seen)
                yield from _encode(part, f"{place}.{name}", seen)
    else:
        raise InvalidParameter(
            f"{place}: a {type(value).__name__} cannot be compared: expected plain data; name the attributes of the state"
        )
