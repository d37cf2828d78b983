"""Copies of environments of every API: what shares memory in one shares it in its copy, which plays on by itself."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import momagames
from momagames.wrappers import Centralize, NormalizeReward, RecordEpisodeStatistics, Scalarize
from tests.cases import ONE_OF_EACH, SMALL, pick_pairs

COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}
APIS = ("aec", "parallel", "gymnasium", "text")
KINDS: dict[str, dict[str, Any]] = {
    "next_step": {},
    "same_step": {"autoreset": "same_step", "views": "all"},
    "disabled": {"autoreset": "disabled"},
    "threads": {"threads": 2},
}
WRAPPERS = {
    "none": lambda envs: envs,
    "Scalarize": lambda envs: Scalarize(envs, [1.0] * envs.unwrapped.reward_dim),
    "NormalizeReward": NormalizeReward,
    "RecordEpisodeStatistics": RecordEpisodeStatistics,
}
ENVS = 3


def make_any(id: str, api: str) -> Any:
    return momagames.make(id, api, **SMALL[id][0])


def is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def find_arrays(root: Any, path: tuple[Any, ...] = (), seen: set[int] | None = None) -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays inside an object, with the names that lead to them."""
    seen = set() if seen is None else seen
    if isinstance(root, np.ndarray):
        yield "/".join(map(str, path)), root
        return
    if id(root) in seen:
        return
    seen.add(id(root))
    is_ours = type(root).__module__.startswith("momagames.") and hasattr(root, "__dict__")
    parts = vars(root) if is_ours else root if isinstance(root, dict) else dict(enumerate(root)) if is_list(root) else {}
    for name, part in parts.items():
        if name != "game":  # shared by all
            yield from find_arrays(part, (*path, name), seen)


def find_shared(env: Any) -> set[tuple[str, str]]:
    arrays = [one for one in find_arrays(env) if one[1].size]
    return {(a, b) for (a, first), (b, second) in combinations(arrays, 2) if np.may_share_memory(first, second)}


def are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(are_equal(one[key], other[key]) for key in one)
    if is_list(one):
        return len(one) == len(other) and all(map(are_equal, one, other))
    return np.array_equal(one, other)


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("id", [ONE_OF_EACH[0], *(pytest.param(one, marks=pytest.mark.long) for one in ONE_OF_EACH[1:])])
def test_copies_share_inside_what_their_originals_do(id: str, how: str) -> None:
    for api in APIS:
        env = make_any(id, api)
        env.reset(seed=1)
        assert find_shared(COPIES[how](env)) == find_shared(env), api
    for kind, options in KINDS.items():
        envs = momagames.make_vec(id, ENVS, **options, **SMALL[id][0])
        envs.reset(seed=1)
        shared = find_shared(envs)
        assert len(shared) > 3
        assert find_shared(COPIES[how](envs)) == shared, kind


def compiles_alone(id: str, kind: str) -> bool:
    """Whether loops are compiled for a case of this file alone: those that share the work of threads."""
    return kind == "threads" and id != ONE_OF_EACH[0]


@pytest.mark.parametrize(
    ("id", "kind"),
    [pytest.param(*pair, marks=pytest.mark.long if compiles_alone(*pair) else ()) for pair in pick_pairs(ONE_OF_EACH, KINDS)],
)
def test_copies_of_vectors_play_on_as_their_originals(id: str, kind: str) -> None:
    """What both return is equal, step by step, and neither changes the other."""
    steps = 12
    for wrapper, how in zip(WRAPPERS, [*COPIES] * 2, strict=True):
        envs = WRAPPERS[wrapper](momagames.make_vec(id, ENVS, **KINDS[kind], **SMALL[id][0]))
        envs.reset(seed=1)
        for _ in range(3):
            envs.step(envs.unwrapped.sample_actions())
        twin = COPIES[how](envs)
        results = []
        for one in (twin, envs):
            listed = []
            for _ in range(steps):
                listed.append(copy.deepcopy(one.step(one.unwrapped.sample_actions())))
            results.append(listed)
        assert are_equal(*results), wrapper
        assert kind == "disabled" or len({repr(result[:2]) for result in results[0]}) > 1  # small games end, and stay so
        assert are_equal(copy.deepcopy(twin.reset(seed=5)), envs.reset(seed=5))


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("id", ["mo-samegame-v0", "mo-breakthrough-v0", "mo-pommerman-duel-v0"])
def test_copies_have_the_random_streams_of_an_environment_without_a_seed(id: str, how: str) -> None:
    """Those of policies of other agents, of actions in place of illegal ones and of sampled actions."""
    illegal = 10**6
    for api in ("aec", "parallel", "gymnasium"):
        env = momagames.make(id, api, illegal="random", **SMALL[id][0])
        env.reset()
        states = []
        for one in (COPIES[how](env), env):
            episode = getattr(one, "aec_env", one.unwrapped).episode
            for _ in range(4):
                if not episode.state["over"]:  # as it may be in a small game
                    one.step(dict.fromkeys(one.agents, illegal) if api == "parallel" else illegal)
            states.append(episode.state.tobytes())
        assert states[0] == states[1], api
    envs = momagames.make_vec(id, ENVS, illegal="random", **SMALL[id][0])
    envs.reset()
    sampled, replaced = [], []
    for batch in (COPIES[how](envs), envs):
        sampled.append(batch.sample_actions().tobytes())
        batch.step(np.full(batch.batch.last_actions.shape, illegal))
        replaced.append(batch.batch.last_actions.tobytes())
    assert sampled[0] == sampled[1]
    assert replaced[0] == replaced[1]


def test_copies_of_a_joint_agent_play_on_as_their_original() -> None:
    for reward in ("sum", "mean", "each"):
        env = Centralize(momagames.make("mo-pommerman-ffa-v0", "parallel"), reward=reward)
        env.reset(seed=1)
        action = np.zeros(4, np.int64)
        for how in COPIES.values():
            twin = how(env)
            results = [[copy.deepcopy(one.step(action)) for _ in range(3)] for one in (twin, how(env))]
            assert are_equal(*results)


def test_a_copy_of_text_games_plays_on_as_its_original() -> None:
    batch = momagames.make_text_batch("mo-samegame-v0", 2, board_width=4, board_height=4, num_colors=2)
    batch.reset(seed=1)
    batch.step(["(0,0)", "(1,1)"])
    for how in COPIES.values():
        twin = how(batch)
        answers = [["(0,1)", "(2,0)"], ["(1,0)", "(0,0)"]]
        first = [copy.deepcopy(twin.step(one)) for one in answers]
        again = how(batch)
        assert are_equal([one._asdict() for one in first], [again.step(two)._asdict() for two in answers])
