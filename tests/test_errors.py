"""Every bad call of the public surface: one MomagamesError that names what was given, what is allowed, the nearest right
thing; and nothing has changed."""

from __future__ import annotations

import copy
import inspect

import numpy as np
import pytest

import momagames
from momagames import errors
from momagames.baselines import batch_policy, method, policy, policy_options
from momagames.envs import mosame_game_v0
from momagames.errors import (
    IllegalAction,
    InvalidCall,
    InvalidParameter,
    MomagamesError,
    UnknownId,
    nearest,
    one_of,
)

SAME, BREAK = "mo-samegame-v0", "mo-breakthrough-v0"
SMALL = {"board_width": 4, "board_height": 3, "num_colors": 2}
BOARD = ["....", "12..", "1212"]  # of SMALL: the groups are the cells 4 and 8, and 5 and 9


def test_hints_precede_long_lists():
    names = [f"name-{i}" for i in range(50)]
    assert errors.invalid_value("name", "nam-7", one_of(names[:3]), nearest("nam-7", names)).endswith("did you mean 'name-7'?")
    assert errors.invalid_value("x: name", "nam-7", one_of(names), nearest("nam-7", names)).startswith(
        "x: invalid name='nam-7'; did you mean 'name-7'? Expected 'name-0', "
    )


@pytest.mark.parametrize("ask", [policy, batch_policy, policy_options])
def test_policies_by_the_id_of_a_game(ask):
    assert ask("greedy", SAME)
    with pytest.raises(UnknownId, match=f"did you mean '{SAME}'"):
        ask("greedy", "mo-samegam-v0")


def small(api="aec", **more):
    env = momagames.make(SAME, api=api, **SMALL, **more)
    env.reset(seed=0, options={"board": BOARD})
    return env


def batch(**more):
    envs = momagames.make_vec(SAME, 3, **SMALL, **more)
    envs.reset(seed=0, options={"board": BOARD})
    return envs


def breakthrough():
    env = momagames.make(BREAK, board_width=3, board_height=5)
    env.reset()
    return env


# what is called -> the error, and what its message has to name
CASES = {
    # ids and parameters, in every API
    "unknown id": (lambda: momagames.make("mo-samgame-v0"), UnknownId, ["'mo-samgame-v0'", "did you mean 'mo-samegame-v0'"]),
    "unknown version": (lambda: momagames.make_vec("mo-samegame-v7", 2), UnknownId, ["'mo-samegame-v7'", "'mo-samegame-v0'"]),
    "a game in place of its id": (lambda: momagames.make(momagames.spec(SAME)), UnknownId, ["invalid id=", "'name-vN'"]),
    "no id at all": (lambda: momagames.spec("?"), UnknownId, ["'?'", "'mo-samegame-v0'", "'mo-breakthrough-v0'"]),
    "unknown api": (lambda: momagames.make(SAME, api="aecs"), InvalidParameter, ["'aecs'", "'parallel'", "did you mean 'aec'"]),
    "unknown parameter": (
        lambda: momagames.make(SAME, num_color=3),
        InvalidParameter,
        ["'num_color'", "did you mean 'num_colors'", SAME],
    ),
    "unknown parameter, parallel": (
        lambda: momagames.make(SAME, api="parallel", widht=3),
        InvalidParameter,
        ["'widht'", "'board_width'", SAME],
    ),
    "unknown parameter, gymnasium": (
        lambda: momagames.make(SAME, api="gymnasium", agents=3),
        InvalidParameter,
        ["'agents'", "did you mean 'num_agents'"],
    ),
    "unknown parameter, vector": (
        lambda: momagames.make_vec(SAME, 2, board_size=3),
        InvalidParameter,
        ["'board_size'", "'board_height'"],
    ),
    "unknown parameter, module": (
        lambda: mosame_game_v0.env(num_color=3),
        InvalidParameter,
        ["'num_color'", "did you mean 'num_colors'"],
    ),
    "out of range": (lambda: momagames.make(SAME, board_width=2), InvalidParameter, ["board_width=2", "3..30", SAME]),
    "not whole": (lambda: momagames.make(SAME, board_width=5.5), InvalidParameter, ["board_width=5.5", "an integer in 3..30"]),
    "not a number": (lambda: momagames.spec(SAME, clear_bonus="much"), InvalidParameter, ["clear_bonus='much'", "0..100000"]),
    "not a truth value": (lambda: momagames.spec(SAME, team_rewards=1), InvalidParameter, ["team_rewards=1", "True or False"]),
    "unknown objective": (
        lambda: momagames.spec(BREAK, objectives=("win", "sped")),
        InvalidParameter,
        ["'sped'", "did you mean 'speed'", "'losses'"],
    ),
    "objective twice": (lambda: momagames.spec(BREAK, objectives=("win", "win")), InvalidParameter, ["('win', 'win')", "once"]),
    "bad id": (lambda: momagames.register("my game", "a:b"), InvalidParameter, ["'my game'", "'name-vN'"]),
    "id taken": (lambda: momagames.register(SAME, "a:b"), InvalidParameter, [SAME, "is taken"]),
    # options of the APIs
    "illegal": (
        lambda: momagames.make(SAME, illegal="forfiet"),
        InvalidParameter,
        ["'forfiet'", "'raise'", "did you mean 'forfeit'"],
    ),
    "render mode": (
        lambda: momagames.make(SAME, render_mode="rgb"),
        InvalidParameter,
        ["'rgb'", "'ansi'", "did you mean 'rgb_array'"],
    ),
    "agent": (
        lambda: momagames.make(BREAK, api="gymnasium", agent="player_2"),
        InvalidParameter,
        ["'player_2'", "'player_0'", "did you mean"],
    ),
    "others": (
        lambda: momagames.make(BREAK, api="gymnasium", others="gredy"),
        UnknownId,
        ["'gredy'", "'random'", "did you mean 'greedy'"],
    ),
    "others, incomplete": (
        lambda: momagames.make(BREAK, api="gymnasium", others={}),
        InvalidParameter,
        ["others={}", "'player_1'"],
    ),
    "num_envs": (lambda: momagames.make_vec(SAME, 0), InvalidParameter, ["num_envs=0", "1 or more"]),
    "num_envs, kind": (lambda: momagames.make_vec(SAME, 2.5), InvalidParameter, ["num_envs=2.5", "an integer, 1 or more"]),
    "threads": (lambda: momagames.make_vec(SAME, 2, threads=0), InvalidParameter, ["threads=0", "1 or more"]),
    "threads, kind": (lambda: momagames.make_vec(SAME, 2, threads="all"), InvalidParameter, ["threads='all'", "1 or more"]),
    "autoreset": (
        lambda: momagames.make_vec(SAME, 2, autoreset="next"),
        InvalidParameter,
        ["'next'", "'disabled'", "did you mean 'next_step'"],
    ),
    "views": (lambda: momagames.make_vec(SAME, 2, views="al"), InvalidParameter, ["'al'", "'mover'", "did you mean 'all'"]),
    # order of calls
    "step first": (lambda: momagames.make(SAME).step(0), InvalidCall, ["step()", "reset("]),
    "step first, parallel": (lambda: momagames.make(SAME, api="parallel").step({}), InvalidCall, ["step()", "reset("]),
    "step first, gymnasium": (lambda: momagames.make(SAME, api="gymnasium").step(0), InvalidCall, ["step()", "reset("]),
    "step first, vector": (lambda: momagames.make_vec(SAME, 2).step([0, 0]), InvalidCall, ["step()", "reset("]),
    "unknown agent": (lambda: small().observe("agent_1"), InvalidParameter, ["'agent_1'", "'agent_0'"]),
    "unknown agent's space": (lambda: small().reward_space("agent_1"), InvalidParameter, ["'agent_1'", "'agent_0'"]),
    "unknown agent, parallel": (lambda: small("parallel").step({"agent_1": 4}), InvalidParameter, ["'agent_1'", "'agent_0'"]),
    # seeds and positions
    "seed": (lambda: small().reset(seed=-1), InvalidParameter, ["seed=-1", "an integer from 0"]),
    "seed, kind": (lambda: small().reset(seed="x"), InvalidParameter, ["seed='x'", "an integer from 0"]),
    "seed, gymnasium": (lambda: small("gymnasium").reset(seed=0.5), InvalidParameter, ["seed=0.5", "an integer from 0"]),
    "seed, vector": (lambda: batch().reset(seed=-1), InvalidParameter, ["seed=-1", "an integer from 0"]),
    "unknown option": (lambda: small().reset(options={"bord": BOARD}), MomagamesError, ["'bord'", "did you mean 'board'"]),
    "state and board": (lambda: small().reset(options={"state": {}, "board": BOARD}), InvalidParameter, ["'state'", "'board'"]),
    "positions, vector": (
        lambda: batch().reset(options={"state": [{"board": BOARD}] * 2}),
        InvalidParameter,
        ["2 positions", "expected 3"],
    ),
    "reset mask, vector": (
        lambda: batch().reset(options={"reset_mask": np.ones(2, bool)}),
        InvalidParameter,
        ["(2,)", "bool[3]"],
    ),
    # actions
    "illegal action": (lambda: small().step(10), IllegalAction, ["agent_0", "10", "one of 4 legal actions", "= 9"]),
    "action, gymnasium": (lambda: small("gymnasium").step(10), IllegalAction, ["agent_0", "10", "one of 4 legal actions"]),
    "action, parallel": (lambda: small("parallel").step({"agent_0": 10}), IllegalAction, ["agent_0", "10", "4 legal actions"]),
    "action missing, parallel": (
        lambda: small("parallel").step({}),
        IllegalAction,
        ["agent_0", "None", "one of 4 legal actions"],
    ),
    "action, vector": (
        lambda: batch().step([4, 4, 10]),
        IllegalAction,
        ["environment 2", "agent_0", "10", "one of 4 legal actions"],
    ),
    "actions, shape": (lambda: batch().step([4, 4]), IllegalAction, ["(2,)", "[3]"]),
    "actions, kind": (lambda: batch().step([4.0, 4.0, 4.0]), IllegalAction, ["float64", "integers"]),
    # baselines
    "unknown method": (lambda: method("beem"), UnknownId, ["'beem'", "'random'", "did you mean 'beam'"]),
    "unknown policy": (
        lambda: policy("rand", momagames.spec(SAME)),
        UnknownId,
        ["'rand'", "'greedy'", "did you mean 'random'"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_errors_of_invalid_calls(case):
    call, kind, named = CASES[case]
    with pytest.raises(MomagamesError) as caught:
        call()
    assert isinstance(caught.value, kind)
    message = str(caught.value)
    assert [part for part in named if part not in message] == [], message
    assert "\n" not in message


def test_a_step_after_the_end_is_rejected():
    env = small("gymnasium")
    env.step(4)
    while True:
        legal = np.flatnonzero(env.action_masks())
        if not len(legal):
            break
        env.step(int(legal[0]))
    with pytest.raises(InvalidCall, match="end of the episode"):
        env.step(0)


WRONG_RESETS = [
    {"seed": -1},
    {"options": {"board": ["....", "....", "1.12"]}},
    {"options": {"state": 7}},
    {"options": {"bord": 1}},
]


@pytest.mark.parametrize("wrong", WRONG_RESETS, ids=str)
@pytest.mark.parametrize("api", ["aec", "parallel", "gymnasium"])
def test_a_rejected_reset_changes_nothing(api, wrong):
    env = small(api)
    env.step({"agent_0": 4} if api == "parallel" else 4)
    before, returns = copy.deepcopy(env.get_state()), env.episode.returns.copy() if api == "gymnasium" else env.returns.copy()
    with pytest.raises(MomagamesError):
        env.reset(**wrong)
    assert env.get_state() == before
    assert np.array_equal(env.episode.returns if api == "gymnasium" else env.returns, returns)


@pytest.mark.parametrize("wrong", [*WRONG_RESETS, {"seed": 3, "options": {"reset_mask": np.ones(2, bool)}}], ids=str)
def test_a_rejected_reset_of_a_batch_changes_nothing(wrong):
    envs = batch()
    envs.step([4, 4, 8])
    before = envs.batch.states.copy(), envs.batch.observations.copy(), envs.batch.rewards.copy()
    with pytest.raises(MomagamesError):
        envs.reset(**wrong)
    after = envs.batch.states, envs.batch.observations, envs.batch.rewards
    assert all(old.tobytes() == new.tobytes() for old, new in zip(before, after, strict=True))


def test_a_rejected_action_changes_nothing():
    env = small()
    before = env.get_state()
    with pytest.raises(IllegalAction):
        env.step(10)
    assert env.get_state() == before
    envs = batch()
    states = envs.batch.states.copy()
    with pytest.raises(IllegalAction):
        envs.step([4, 4, 10])
    assert envs.batch.states.tobytes() == states.tobytes()


def test_every_error_is_one_of_ours_and_a_builtin_kind():
    """Who catches ValueError, KeyError, RuntimeError or ImportError catches ours too."""
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, MomagamesError)]
    assert len(kinds) >= 7
    builtin = (ValueError, KeyError, RuntimeError, ImportError)
    assert all(issubclass(kind, builtin) for kind in kinds if kind is not MomagamesError)
    assert all(kind.__doc__ for kind in kinds)


def test_helpers_of_messages():
    assert nearest("boad", ["board", "ply"]) == "; did you mean 'board'?"
    assert nearest("zzz", ["board", "ply"]) == ""
    assert one_of(["a"]) == "'a'"
    assert one_of(range(61)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... or 60 (61 in all)"
    assert one_of(["a", "b", "c"]) == "'a', 'b' or 'c'"


def test_choices_may_be_compared_with_anything():
    for given in (np.array(["a", "b"]), np.zeros(1, [("a", "u1")]), [1], None, "c", 3):
        with pytest.raises(InvalidParameter, match=r"invalid x=.*: expected 'a' or 1"):
            errors.check_choice("x", given, ("a", 1))
    errors.check_choice("x", np.int64(1), ("a", 1))
    with pytest.raises(InvalidParameter, match=r"invalid x=10{9}"):
        errors.check_range("x", 10**400, 0)
    errors.check_range("x", 10**400, 0, whole=True)
