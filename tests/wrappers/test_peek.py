"""`peek` and `clone` of wrapped Gymnasium environments: what step() returns through all wrappers."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from momagames.errors import IllegalAction, InvalidCall
from momagames.wrappers import (
    Centralize,
    FixedInstance,
    Flatten,
    HandleIllegal,
    MergeColors,
    NormalizeReward,
    RecordEpisodeStatistics,
    RecordReplay,
    Scalarize,
    SelectObjectives,
    SplitColors,
    TabularObservation,
)
from tests.adapters.test_dry_run import equal
from tests.games.gemwalk.naive import stated_front
from tests.wrappers.games import breakthrough, gemwalk, samegame

STACKS = {
    "Scalarize": lambda env: Scalarize(env, [1, 2]),
    "utility": lambda env: Scalarize(env, utility=lambda reward: float(reward.max())),
    "SelectObjectives": lambda env: SelectObjectives(env, [1, 0]),
    "MergeColors": MergeColors,
    "SplitColors": lambda env: SplitColors(MergeColors(env)),
    "NormalizeReward": NormalizeReward,
    "Flatten": Flatten,
    "TabularObservation": lambda env: TabularObservation(env, 1000),
    "FixedInstance": FixedInstance,
    "RecordEpisodeStatistics": RecordEpisodeStatistics,
    "time limit": lambda env: Scalarize(gymnasium.wrappers.TimeLimit(env, 3), [1, 2]),
    "stack": lambda env: Flatten(RecordEpisodeStatistics(Scalarize(NormalizeReward(SelectObjectives(env, [0, 1])), [2, 1]))),
}


@pytest.mark.parametrize("name", STACKS)
def test_peek_is_what_step_returns_and_changes_nothing(name: str) -> None:
    env = STACKS[name](samegame("gymnasium") if "Colors" in name else gemwalk("gymnasium"))
    rng = np.random.default_rng(0)
    for seed in range(2):
        env.reset(seed=seed)
        over = False
        while not over:
            legal = np.flatnonzero(env.action_masks())
            env.peek(int(legal[0]))  # computes what is cached
            before = pickle.dumps(env) if name != "utility" else b""
            tried = [int(action) for action in rng.choice(legal, 3)]
            peeked = [env.peek(action) for action in tried]
            if before:
                assert pickle.dumps(env) == before
            clone = env.clone()
            real = env.step(tried[2])
            assert equal(peeked[2], real)
            assert type(clone) is type(env)
            assert str(clone) == str(env)
            assert equal(clone.step(tried[2]), real)
            over = real[2] or real[3]


@pytest.mark.parametrize("how", ["random", "next", "forfeit"])
def test_illegal_actions(how: Any) -> None:
    env = Scalarize(HandleIllegal(breakthrough("gymnasium"), how), [1, 2, 3, 4])
    env.reset(seed=3)
    for _ in range(4):
        peeked, clone = [env.peek(-1) for _ in range(2)], env.clone()
        real = env.step(-1)
        assert equal(peeked, [real, real])
        assert equal(clone.step(-1), real)
        if real[2]:
            break
    strict = HandleIllegal(breakthrough("gymnasium", illegal="random"), "raise")
    strict.reset(seed=3)
    with pytest.raises(IllegalAction):
        strict.peek(-1)


def test_a_clone_is_independent_and_records_by_itself(tmp_path: Path) -> None:
    env = RecordEpisodeStatistics(RecordReplay(Scalarize(gemwalk("gymnasium"), [1, 2]), tmp_path))
    env.reset(seed=1)
    env.step(int(env.action_masks().argmax()))
    clone, state = env.clone(), env.get_state()
    while True:
        action = int(clone.action_masks().argmax())
        peeked, result = clone.peek(action), clone.step(action)
        assert equal(peeked, result)
        if result[2]:
            break
    assert env.get_state() == state
    assert len(env.episodes) == 0
    assert len(clone.episodes) == 1
    assert env.recorder.files == []
    (file,) = clone.recorder.files
    assert sorted(tmp_path.iterdir()) == [file]
    env.set_weights([0, 1])
    inner = clone
    while not hasattr(inner, "transform") or "transform" not in vars(inner):
        inner = inner.env
    np.testing.assert_array_equal(inner.transform.weights, [[1, 2]])


def test_peeks_record_nothing(tmp_path: Path) -> None:
    env = RecordReplay(gemwalk("gymnasium", max_cycles=1, render_mode="rgb_array"), tmp_path, ("json", "gif"))
    env.reset(seed=1)
    action = int(env.action_masks().argmax())
    peeked = env.peek(action)
    assert len(env.recorder.frames) == 1
    assert list(tmp_path.iterdir()) == []
    assert equal(peeked, env.step(action))
    assert len(env.recorder.files) == 2


def test_clear_refusals(tmp_path: Path) -> None:
    with pytest.raises(InvalidCall, match=r"peek\(\) before reset\(\)"):
        Scalarize(gemwalk("gymnasium"), [1, 2]).peek(0)
    joint = Scalarize(Centralize(gemwalk("parallel")), [1, 2])
    for call in (joint.clone, lambda: joint.peek(0)):
        with pytest.raises(
            InvalidCall, match=r'needs an environment made by momagames.make\(id, api="gymnasium"\), got Scalarize'
        ):
            call()
    pytest.importorskip("moviepy")
    video = gymnasium.wrappers.RecordVideo(gemwalk("gymnasium", render_mode="rgb_array"), str(tmp_path))
    with pytest.raises(InvalidCall, match=r"clone\(\) through RecordVideo"):
        Scalarize(video, [1, 2]).clone()


def test_no_front_of_other_rewards() -> None:
    env = gemwalk("gymnasium")
    env.reset(seed=0)
    assert sorted(map(tuple, env.pareto_front())) == stated_front(6)
    assert SelectObjectives(env, [0]).pareto_front() is None
