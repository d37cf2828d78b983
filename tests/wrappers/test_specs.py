"""Specs of wrapped Gymnasium environments make the same environment again, also from JSON."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec

from momagames.errors import InvalidParameter, UnknownId
from momagames.wrappers import (
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
from tests.wrappers.games import steps


def least(reward: Any) -> float:
    return float(reward.min())


def is_even(episode: int) -> bool:
    return episode % 2 == 0


def made(**options: Any) -> Any:
    return gymnasium.make("momagames/mo-gemwalk-v0", **options)


def colored(**options: Any) -> Any:
    return gymnasium.make("momagames/mo-samegame-v0", board_width=4, board_height=4, **options)


def duel(**options: Any) -> Any:
    return gymnasium.make("momagames/mo-breakthrough-v0", board_width=3, board_height=5, **options)


def set_weights(env: Any) -> Any:
    env.set_weights([5, 0])
    return env


def freeze(env: Any) -> Any:
    list(steps(env, 5))
    env.freeze()
    return env


def load(env: Any) -> Any:
    other = NormalizeReward(made())
    list(steps(other, 5))
    env.load_state_dict(other.state_dict())
    return env


STACKS = {
    "set_weights": lambda folder: set_weights(Scalarize(made(), [1, 1])),
    "set_weights through a wrapper": lambda folder: set_weights(RecordEpisodeStatistics(Scalarize(made(), [1, 1]))),
    "weights as an array": lambda folder: Scalarize(made(), np.arange(2)),
    "weights by agent": lambda folder: Scalarize(made(), {"agent_0": np.arange(2)}),
    "a function": lambda folder: Scalarize(made(), utility=least),
    "a function set later": lambda folder: Scalarize(Scalarize(made(), np.ones(2)).env, least),
    "running statistics": lambda folder: load(NormalizeReward(made(), np.float32(0.5), objectives=["emeralds", "rubies"])),
    "loaded": lambda folder: load(NormalizeReward(made())),
    "frozen": lambda folder: Scalarize(freeze(NormalizeReward(made())), np.ones(2)),
    "objectives": lambda folder: SelectObjectives(made(), np.array([1]).tolist()),
    "colors": lambda folder: MergeColors(colored()),
    "instances": lambda folder: SplitColors(FixedInstance(colored(color_rewards=False), np.int64(3))),
    "numbers": lambda folder: RecordEpisodeStatistics(TabularObservation(made(), np.int64(50)), np.int64(3)),
    "flat": lambda folder: Flatten(HandleIllegal(made(), "next")),
    "replays": lambda folder: RecordReplay(made(), folder, ("json",), when=is_even, fps=8, frames=4),
    "array in the game": lambda folder: Scalarize(duel(objectives=np.array(["captures", "win"])), [1, 2]),
}


@pytest.mark.parametrize("way", ["spec", "json", "pickle", "deepcopy"])
@pytest.mark.parametrize("name", STACKS)
def test_specs_make_the_same_environment_again(name: str, way: str, tmp_path: Path) -> None:
    if name == "running statistics":
        env = NormalizeReward(made(), 0.5, objectives=["emeralds", "rubies"])
        list(steps(env, 5))
    else:
        env = STACKS[name](tmp_path)
    read = {
        "spec": lambda spec: spec,
        "json": lambda spec: EnvSpec.from_json(spec.to_json()),
        "pickle": lambda spec: pickle.loads(pickle.dumps(spec)),
        "deepcopy": copy.deepcopy,
    }[way]
    again = gymnasium.make(read(env.spec))
    assert str(again) == str(env)
    assert json.loads(again.spec.to_json()) == json.loads(env.spec.to_json())
    for one, other in zip(steps(copy.deepcopy(env), 7), steps(again, 7), strict=True):
        np.testing.assert_array_equal(one[1], other[1])
    if name == "replays":
        recorder, expected = again.recorder, env.recorder
        for option in ("between", "fps", "formats", "when", "name", "folder"):
            assert getattr(recorder, option) == getattr(expected, option)


def test_functions_without_a_name_are_a_clear_error_of_json(tmp_path: Path) -> None:
    env = Scalarize(made(), utility=lambda reward: float(reward[0]))
    assert gymnasium.make(env.spec).transform.rules == env.transform.rules
    with pytest.raises(InvalidParameter, match=r"invalid utility=<function .*<lambda>.*: expected .* imported as module:name"):
        env.spec.to_json()
    replays = RecordReplay(made(), tmp_path, when=lambda episode: True)
    with pytest.raises(InvalidParameter, match=r"to_json\(\) of RecordReplay: invalid when=<function"):
        gymnasium.wrappers.TimeLimit(replays, 3).spec.to_json()
    with pytest.raises(InvalidParameter, match=r"to_json\(\) of momagames/mo-breakthrough-v0: invalid others="):
        gymnasium.make("momagames/mo-breakthrough-v0", others=lambda *_: 0).spec.to_json()


def test_names_of_functions(tmp_path: Path) -> None:
    with pytest.raises(UnknownId, match=r"cannot load 'tests\.wrappers\.test_specs:most'"):
        Scalarize(made(), utility="tests.wrappers.test_specs:most")
    with pytest.raises(InvalidParameter, match=r"invalid utility='tests\.wrappers\.test_specs:STACKS': expected a function"):
        Scalarize(made(), utility="tests.wrappers.test_specs:STACKS")
    with pytest.raises(InvalidParameter, match="invalid when='even': expected a function"):
        RecordReplay(made(), tmp_path, when="even")
