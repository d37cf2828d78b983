"""Options that vector environments share with Gymnasium's: copies, lists of seeds, truncation and frames."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import momagames
from momagames.errors import InvalidCall, InvalidParameter
from momagames.wrappers import RecordEpisodeStatistics, Scalarize

ID, SMALL = "mo-samegame-v0", {"board_width": 5, "board_height": 4, "num_colors": 3}


def make(num_envs: int = 3, **options: Any) -> Any:
    return momagames.make_vec(ID, num_envs, **{**SMALL, **options})


def flatten(result: Any) -> list[np.ndarray]:
    """All arrays of a result."""
    if isinstance(result, np.ndarray):
        return [result]
    return [array for one in (result.values() if isinstance(result, dict) else result) for array in flatten(one)]


@pytest.mark.parametrize("autoreset", ["next_step", "same_step"])
def test_copies_do_not_change(autoreset: str) -> None:
    envs = make(copy=True, autoreset=autoreset)
    results = [envs.reset(seed=1)]
    stored = [[array.copy() for array in flatten(results[0])]]
    for _ in range(25):
        results.append(envs.step(envs.sample_actions()))
        stored.append([array.copy() for array in flatten(results[-1])])
    assert any("final_return" in result[-1] for result in results)
    for result, arrays in zip(results, stored, strict=True):
        for one, other in zip(flatten(result), arrays, strict=True):
            np.testing.assert_array_equal(one, other)


def test_without_copies_the_next_step_overwrites_them() -> None:
    envs = make()
    observation, _ = envs.reset(seed=1)
    assert envs.step(envs.sample_actions())[0] is observation


@pytest.mark.parametrize("board_width", [5, 20])  # masks of less and of more than a word
@pytest.mark.parametrize("illegal", ["next", "random", "forfeit"])
def test_a_step_ends_where_a_mask_is_empty(illegal: str, board_width: int) -> None:
    envs = make(illegal=illegal, board_width=board_width, copy=False)
    _, infos = envs.reset(seed=0)
    infos["action_mask"][1] = 0  # arrays that are not copies can be written to
    _, _, terminated, _, _ = envs.step(infos["action_mask"].argmax(axis=1))
    assert terminated.tolist() == [False, illegal == "forfeit", False]


def test_gymnasium_returns_copies() -> None:
    made = [gymnasium.make_vec(f"momagames/{ID}", 2, **SMALL), gymnasium.make_vec(f"momagames/{ID}", 2, copy=False, **SMALL)]
    scalar = gymnasium.make_vec(f"momagames/{ID}", 2, weights=[1, 1, 1], **SMALL)
    same = []
    for envs in (*made, scalar):
        first, _ = envs.reset(seed=1)
        same.append(envs.step(envs.unwrapped.sample_actions())[0] is first)
    assert same == [False, True, False]


def test_a_seed_for_each_environment() -> None:
    seeds, alone = [7, None, 5], []
    for seed in (7, 5):
        env = make(1)
        env.reset(seed=seed)
        alone.append(env.batch.states[0])
    envs = make()
    envs.reset(seed=[1, 2, 3])
    equal = make()
    equal.reset(seed=1)
    assert envs.batch.states.tobytes() == equal.batch.states.tobytes()
    envs.reset(seed=seeds)
    equal.reset()
    assert envs.batch.states[[0, 2]].tobytes() == b"".join(one.tobytes() for one in alone)
    assert envs.batch.states[1].tobytes() == equal.batch.states[1].tobytes()  # its stream continues
    sampled = envs.sample_actions().copy()
    envs.reset(seed=seeds)
    assert envs.sample_actions()[[0, 2]].tolist() == sampled[[0, 2]].tolist()
    start = {"state": envs.batch.states[0].copy()}
    envs.reset(seed=seeds, options=start)
    assert (envs.batch.states["rng"] == [7, start["state"]["rng"], 5]).all()
    envs.reset(seed=[1, 2, 3], options={"reset_mask": np.array([False, True, False])})
    equal.reset(seed=1)
    assert envs.batch.states[1].tobytes() == equal.batch.states[1].tobytes()
    with pytest.raises(InvalidParameter, match="2 seeds: expected 3, one for each environment"):
        envs.reset(seed=[1, 2])
    with pytest.raises(InvalidParameter, match="invalid seed=-1"):
        envs.reset(seed=[1, 2, -1])
    with pytest.raises(InvalidParameter, match=r"invalid seed=1\.5"):
        envs.reset(seed=np.array(1.5))


@pytest.mark.parametrize("autoreset", ["next_step", "same_step", "disabled"])
def test_max_cycles_truncates(autoreset: str) -> None:
    """After so many steps, as in the Parallel API; statistics see an episode of that length, and the next one counts anew."""
    envs = RecordEpisodeStatistics(make(2, max_cycles=3, autoreset=autoreset, board_width=15, board_height=15))
    envs.reset(seed=1)
    truncated, lengths = [], []
    for _ in range(8):
        _, _, terminations, truncations, infos = envs.step(envs.sample_actions())
        assert not terminations.any()
        truncated.append(bool(truncations.all()))
        lengths += infos.get("final_length", np.array([]))[:1].tolist()
        if truncated[-1]:
            assert infos["action_mask"].any(axis=1).all()
    expected = {
        "next_step": [False, False, True, False] * 2, "same_step": [False, False, True] * 2 + [False] * 2,
        "disabled": [False, False] + [True] * 6,
    }  # fmt: skip
    assert truncated == expected[autoreset]
    assert set(lengths) == {3}
    assert {episode["steps"] for episode in envs.episodes} == {3}
    with pytest.raises(InvalidParameter, match="max_cycles=0"):
        make(max_cycles=0)


@pytest.mark.parametrize("mode", ["rgb_array", "ansi", "svg"])
def test_frames_are_those_of_single_environments(mode: str) -> None:
    envs = Scalarize(make(2, render_mode=mode), [1, 1, 1])
    with pytest.raises(InvalidCall, match=r"render\(\) before reset"):
        envs.render()
    envs.reset(seed=1)
    singles = [momagames.make(ID, "gymnasium", render_mode=mode, **SMALL) for _ in range(2)]
    for i, env in enumerate(singles):
        env.reset(seed=1 + i)
    for step in range(3):
        for frame, env in zip(envs.render(), singles, strict=True):
            np.testing.assert_array_equal(frame, env.render())
        if step < 2:
            actions = envs.sample_actions().copy()
            envs.step(actions)
            for env, action in zip(singles, actions, strict=True):
                env.step(action)
    assert make().render() is None
    with pytest.raises(InvalidParameter, match="human"):
        make(render_mode="human")
