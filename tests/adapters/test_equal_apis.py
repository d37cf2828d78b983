"""What every API does alike: masks at a truncation, numbers that are actions, and simultaneous games of PettingZoo."""

from __future__ import annotations

from array import array
from collections import UserList, deque
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils.conversions import aec_to_parallel

import momagames
from momagames.adapters.options import find_next_legal
from momagames.contract import first_legal_action
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import play_policies
from momagames.engine.python_policies import PythonPolicy
from momagames.errors import IllegalAction, InvalidParameter
from momagames.wrappers import Centralize
from tests.cases import SMALL, pick_pairs

LIMITS = {  # parameters of games that a limit of their own cuts off after four steps
    "mo-robotmail-2-v0": {"max_step": 4},
    "mo-pommerman-ffa-v0": {"max_steps": 4},
    "mo-pommerman-radio-v0": {"max_steps": 4, "board_size": 8},
    "mo-tileblast-v0": {"max_taps": 4, "strict_moves": False, "num_agents": 2},
}
STEPS = 4
SIMULTANEOUS = [id for id in SMALL if not momagames.spec(id).sequential]


def flatten(mask: Any) -> list[int]:
    return np.hstack(mask).tolist()


def first_legal(env: Any, mask: Any) -> Any:
    parts = [int(np.argmax(part)) for part in (mask if isinstance(mask, tuple) else (mask,))]
    return parts[0] if len(parts) == 1 else np.array(parts)


def end_aec(id: str, max_cycles: int | None = None, **params: Any) -> list[Any]:
    """The masks of the agents at the end of an episode, by agent, and whether each is truncated."""
    env = momagames.make(id, max_cycles=max_cycles, **params)
    env.reset(seed=1)
    found = []
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            found.append((agent, flatten(observation["action_mask"]), terminated, truncated))
        env.step(None if terminated or truncated else first_legal(env, observation["action_mask"]))
    return sorted(found)


def end_parallel(id: str, max_cycles: int | None = None, **params: Any) -> list[Any]:
    env = momagames.make(id, "parallel", max_cycles=max_cycles, **params)
    observations, _ = env.reset(seed=1)
    while env.agents:
        actions = {agent: first_legal(env, seen["action_mask"]) for agent, seen in observations.items()}
        observations, _, terminations, truncations, _ = env.step(actions)
    return sorted((a, flatten(seen["action_mask"]), terminations[a], truncations[a]) for a, seen in observations.items())


def end_vector(id: str, autoreset: str, **params: Any) -> Any:
    envs = momagames.make_vec(id, 2, autoreset=autoreset, views="all", **params)
    envs.reset(seed=1)
    for _ in range(STEPS):
        masks = envs.batch.masks
        rows = masks[np.arange(2), envs.batch.to_move][:, None] if envs.game.sequential else masks
        starts = np.cumsum([0, *envs.game.actions])
        parts = [rows[..., a:b].argmax(axis=-1) for a, b in pairwise(starts)]
        _, _, terminated, truncated, infos = envs.step(np.stack(parts, axis=-1))
    assert truncated.all()
    assert not terminated.any()
    masks = infos["final_action_mask" if autoreset == "same_step" else "action_mask"][0]
    return [row.tolist() for row in masks]


@pytest.mark.parametrize("id", LIMITS)
def test_masks_at_a_truncation_are_those_of_the_position(id: str) -> None:
    """Whether the limit of the game or `max_cycles` cuts the episode off, in every API."""
    own, free = LIMITS[id], {**LIMITS[id], next(iter(LIMITS[id])): 60}
    sequential = momagames.spec(id).sequential
    agents = len(momagames.spec(id, **own).agents)
    at_limit = end_parallel(id, **own)
    assert [row[2:] for row in at_limit] == [(False, True)] * agents
    assert any(any(mask) for _, mask, *_ in at_limit)
    assert at_limit == end_parallel(id, max_cycles=STEPS, **free)
    assert at_limit == end_aec(id, **own) == end_aec(id, max_cycles=STEPS // agents if sequential else STEPS, **free)
    for mode in ("next_step", "same_step", "disabled"):
        assert end_vector(id, mode, **own) == [mask for _, mask, *_ in at_limit]
        assert end_vector(id, mode, max_cycles=STEPS, **free) == end_vector(id, mode, **own)
    for kind in ({"max_cycles": STEPS, **free}, own):
        env = momagames.make(id, "gymnasium", others=lambda state, mask, rng: 0, **kind) if not sequential else None
        if env is not None and len(env.game.actions) == 1:
            _, info = env.reset(seed=1)
            for _ in range(STEPS):
                _, _, _, truncated, info = env.step(first_legal(env, info["action_mask"]))
            assert truncated
            assert info["action_mask"].all()
    start = momagames.make(id, **own)
    start.reset(seed=1)
    while not start.record["over"]:
        start.step(first_legal(start, start.last()[0]["action_mask"]))
    again = momagames.make(id, **own)
    again.reset(options={"state": start.get_state()})  # where it was truncated
    assert all(again.truncations.values())
    assert any(flatten(again.last()[0]["action_mask"]))


SEQUENTIAL = [id for id in SMALL if momagames.spec(id).sequential]


@pytest.mark.parametrize("id", SEQUENTIAL)
def test_masks_of_waiting_agents(id: str) -> None:
    """They are equal in every API, and zeros, except in the game whose rules define them (its SPEC, 7.3)."""
    params = {"num_agents": 3} if "num_agents" in momagames.spec(id).params else {}
    aec, parallel = momagames.make(id, **params), momagames.make(id, "parallel", **params)
    vectors = momagames.make_vec(id, 1, views="all", **params)
    aec.reset(seed=2)
    observations, infos = parallel.reset(seed=2)
    vectors.reset(seed=2)
    waiting = 0
    for _ in range(5):
        for i, agent in enumerate(aec.possible_agents):
            mask = flatten(aec.observe(agent)["action_mask"])
            assert mask == flatten(observations[agent]["action_mask"]) == vectors.batch.masks[0, i].tolist()
            assert infos[agent]["active_agent"] == aec.agent_selection
            waiting += any(mask) and agent != aec.agent_selection
        action = first_legal(aec, aec.last()[0]["action_mask"])
        aec.step(action)
        vectors.step([action])
        observations, *_, infos = parallel.step({parallel.aec_env.agent_selection: action})
    assert bool(waiting) == id.startswith("mo-robotmail")


# ------------------------------------------------------------------------------------------------------------- actions

ACTIONS = (4, np.int64(4), np.uint8(4), np.array(4), np.array([4]))
NOT_ACTIONS = (
    4.0, np.float32(4), np.array(4.0), np.array([4.0]), True, np.bool_(1), np.array([True]), "4", None, b"4", {4}, {4: 4},
    [4, 4], np.array([4, 4]), 4 + 0j, 2**63, 2**70, -1, float("nan"), object(), np.timedelta64(4, "s"),
)  # fmt: skip


def is_played(make: Any, action: Any) -> bool:
    env, step = make()
    env.reset(seed=0)
    try:
        step(env, action)
    except IllegalAction:
        return False
    return True


MAKERS: dict[str, Any] = {
    "aec": lambda id: (momagames.make(id), lambda env, action: env.step(action)),
    "parallel": lambda id: (momagames.make(id, "parallel"), lambda env, action: env.step(dict.fromkeys(env.agents, action))),
    "gymnasium": lambda id: (momagames.make(id, "gymnasium"), lambda env, action: env.step(action)),
    "vector": lambda id: (
        momagames.make_vec(id, 2),
        lambda env, action: env.step([[action] * env.batch.last_actions.shape[1]] * 2),
    ),
}


@pytest.mark.parametrize("id", ["mo-pommerman-ffa-v0", "mo-robotmail-2-v0"])
@pytest.mark.parametrize("api", MAKERS)
def test_the_same_numbers_are_actions(api: str, id: str) -> None:
    number = 0 if id == "mo-robotmail-2-v0" else 4

    def use(value: Any) -> Any:
        return value * 0 if number == 0 and isinstance(value, (int, np.generic, np.ndarray)) else [0] if number == 0 else value

    for action in ACTIONS:
        assert is_played(lambda: MAKERS[api](id), use(action)), repr(action)
    for action in NOT_ACTIONS:
        assert not is_played(lambda: MAKERS[api](id), action), repr(action)


VECTOR = momagames.make_vec("mo-samegame-v0", 2, board_width=5, board_height=5, num_colors=2)
VECTOR.reset(seed=0)
JOINT = Centralize(momagames.make("mo-samegame-v0", "parallel", num_agents=2, board_width=5, board_height=5, num_colors=2))
JOINT.reset(seed=0)


def test_parts_of_actions_in_every_form() -> None:
    for api in MAKERS:
        for action in ([4, 1, 2], (4, 1, 2), np.array([4, 1, 2], np.int8), np.array([[4, 1, 2]])):
            assert is_played(lambda: MAKERS[api]("mo-pommerman-radio-v0"), action), (api, repr(action))  # noqa: B023
        for action in ([4.0, 1, 2], np.array([4, 1, 2.0]), [4, 1], 4, [True] * 3, np.array([True] * 3), {4, 1, 2}, [[4], 1, 2]):
            assert not is_played(lambda: MAKERS[api]("mo-pommerman-radio-v0"), action), (api, repr(action))  # noqa: B023


def test_ranges_and_buffers_are_no_batches_of_actions() -> None:
    env = momagames.make_vec("mo-samegame-v0", 2)
    env.reset(seed=0)
    for actions in (range(2), bytearray(2), memoryview(b"\0\0"), b"\0\0", {0, 1}, {0: 0, 1: 0}):
        with pytest.raises(IllegalAction, match=f"invalid actions of type {type(actions).__name__}: expected integers"):
            env.step(actions)


FOREIGN = (
    range(1), bytearray(1), memoryview(b"\0"), array("b", [0]), b"\0", {0}, {0: 0}, {0: 0}.keys(), {0: 0}.values(), deque([0]),
    UserList([0]), iter([0]), "0", None, True, np.ma.masked_array([0]), np.array([True]), 0.0,
)  # fmt: skip


@pytest.mark.parametrize("foreign", FOREIGN, ids=lambda value: type(value).__name__)
def test_lists_hold_numbers_alone(foreign: Any) -> None:
    """NumPy reads most of these inside lists, in some only beside integers."""
    for form in (
        lambda value: [value],
        lambda value: [[value], (0,)],
        lambda value: ([0], [value]),
        lambda value: [[[value]], [[0]]],
    ):
        with pytest.raises(IllegalAction, match="invalid actions"):
            VECTOR.step(form(foreign))
        assert find_next_legal(form(foreign), np.array([0, 1, 1], np.int8), (3,)) == 1
    with pytest.raises(IllegalAction, match="invalid actions"):
        VECTOR.step([foreign, 0])
    for api, maker in MAKERS.items():
        if api != "vector":
            assert not is_played(lambda: maker("mo-pommerman-radio-v0"), [foreign, 0, 0]), api  # noqa: B023
            assert not is_played(lambda: maker("mo-pommerman-radio-v0"), [[foreign, 0, 0]]), api  # noqa: B023
    for action in ([foreign, 0], (0, foreign), foreign, [[foreign], [0]]):
        with pytest.raises(InvalidParameter, match="invalid joint action"):
            JOINT.step(action)


@pytest.mark.parametrize("id", ["mo-samegame-v0", "mo-pommerman-radio-v0"])
def test_python_policies_in_batches_return_actions(id: str) -> None:
    """Floats and other values are refused, and not cut off to integers, also where a suite or a match plays the policy."""
    game = momagames.spec(id)
    parts, states = len(game.actions), generate_starts(game, np.array([1], np.uint64))
    seats, words = np.zeros((1, len(game.agents)), np.int64), np.ones((1, len(game.agents)), np.uint64)
    for value in (0.5, True, None, "0", range(1), {0}, [[0, 0]], 2**70, np.array([0.0])):
        action = value if parts == 1 else [value, 0, 0]
        played = PythonPolicy("x", lambda game, agent: lambda state, mask, rng: action)  # noqa: B023
        with pytest.raises(IllegalAction, match=r"illegal action=.* of agent_0: expected (an integer|3 integers)"):
            play_policies(game, states.copy(), [played], seats, words)
    greedy = PythonPolicy("x", lambda game, agent: lambda state, mask, rng: first_legal_action(mask, game.actions)[:parts])
    if parts > 1:
        play_policies(game, states.copy(), [greedy], seats, words)


def test_lists_of_arrays_are_actions() -> None:
    for actions in ([np.int64(0), 0], [np.array(0), np.uint8(0)], ([np.array([0])], [[0]])):
        assert VECTOR.batch.actions(actions).tolist() == [[[0]], [[0]]]
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(IllegalAction, match="invalid actions"):
        VECTOR.step(endless)


def test_errors_say_that_actions_are_integers() -> None:
    env = momagames.make("mo-pommerman-ffa-v0")
    env.reset(seed=0)
    with pytest.raises(
        IllegalAction, match=r"illegal action=4\.0 of agent_0: expected one of 6 legal actions; an action is an int"
    ):
        env.step(4.0)
    radio = momagames.make("mo-pommerman-radio-v0")
    radio.reset(seed=0)
    with pytest.raises(IllegalAction, match=r"illegal action=\[4\.0, 0, 0\] of agent_0: .*; an action is 3 integers"):
        radio.step([4.0, 0, 0])


@pytest.mark.parametrize("id", ["mo-pommerman-ffa-v0", "mo-breakthrough-v0"])
def test_policies_of_other_agents_return_actions(id: str) -> None:
    for action in (1e9, 10**9):
        env = momagames.make(id, "gymnasium", others=lambda state, mask, rng: action)  # noqa: B023
        _, info = env.reset(seed=0)
        with pytest.raises(IllegalAction, match="illegal action=1000000000"):
            env.step(first_legal(env, info["action_mask"]))
    env = momagames.make(id, "gymnasium", others=lambda state, mask, rng: np.flatnonzero(mask)[:1])
    _, info = env.reset(seed=0)
    env.step(first_legal(env, info["action_mask"]))


# ----------------------------------------------------------------------------------------------------------- PettingZoo


@pytest.mark.parametrize(("id", "dead"), pick_pairs(SIMULTANEOUS, ["default"]))
def test_conversions_of_simultaneous_games_see_the_masks_of_the_parallel_api(id: str, dead: str) -> None:
    params = SMALL[id][-1]
    converted, own = aec_to_parallel(momagames.make(id, **params)), momagames.make(id, "parallel", **params)
    seen, expected = converted.reset(seed=3)[0], own.reset(seed=3)[0]
    rng = np.random.default_rng(0)
    for _ in range(80):
        assert seen.keys() == expected.keys()
        for agent in seen:
            assert flatten(seen[agent]["action_mask"]) == flatten(expected[agent]["action_mask"])
        if not own.agents:
            break
        actions = {}
        for agent in own.agents:
            mask = expected[agent]["action_mask"]
            chosen = [int(rng.choice(np.flatnonzero(part))) for part in (mask if isinstance(mask, tuple) else (mask,))]
            actions[agent] = chosen[0] if len(chosen) == 1 else np.array(chosen)
        (seen, *_), (expected, *_) = converted.step(actions), own.step(actions)


def test_an_agent_has_acted_once_in_a_round() -> None:
    env = momagames.make("mo-pommerman-ffa-v0")
    env.reset(seed=0)
    for number in range(4):
        masks = [env.observe(agent)["action_mask"].any() for agent in env.possible_agents]
        assert masks == [i >= number for i in range(4)]
        env.step(0)
    assert all(env.observe(agent)["action_mask"].all() for agent in env.possible_agents)
