"""Random states: without a seed they come from the operating system, a given seed comes before those of positions."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest

import momagames
from momagames.engine.batch import Batch
from momagames.errors import InvalidParameter
from momagames.wrappers import FixedInstance
from tests.cases import ONE_OF_EACH, SMALL

APIS = ("aec", "parallel", "gymnasium", "text")
COUNT = 4


def read_word(env: Any) -> int:
    """The random state of an environment, or of the game in it."""
    inner = getattr(env, "aec_env", env.unwrapped)
    return int(inner.episode.state["rng"])


def count_different(values: Any) -> int:
    return len({int(value) for value in values})


@pytest.mark.parametrize("id", ONE_OF_EACH)
def test_without_a_seed_every_environment_has_randomness_of_its_own(id: str) -> None:
    params = SMALL[id][0]
    for api in APIS:
        envs = [momagames.make(id, api, **params) for _ in range(COUNT)]
        pickled = pickle.dumps(envs[0])  # as it is sent to several workers
        envs += [pickle.loads(pickled), copy.deepcopy(envs[0])]
        for env in envs:
            env.reset()
        assert count_different(map(read_word, envs)) == len(envs), api
        before = read_word(envs[0])
        envs[0].reset()
        assert read_word(envs[0]) != before or envs[0].unwrapped.game.chance != "start"  # only steps may draw
    vectors = [momagames.make_vec(id, COUNT, **params), gymnasium.make_vec(f"momagames/{id}", COUNT, **params)]
    words = []
    for one in vectors:
        one.reset()
        words += one.unwrapped.batch.states["rng"].tolist()
    batch = Batch(momagames.spec(id, **params), COUNT)
    batch.reset()
    assert count_different([*words, *batch.states["rng"].tolist()]) == 3 * COUNT


def test_environments_of_other_libraries_start_from_different_positions() -> None:
    name = "momagames/mo-samegame-v0"
    sync = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make(name)] * COUNT)
    assert len({seen.tobytes() for seen in sync.reset()[0]}) == COUNT
    fixed = [FixedInstance(momagames.make("mo-samegame-v0"), None) for _ in range(COUNT)]  # type: ignore[arg-type]
    assert len({one.start.tobytes() for one in fixed}) == COUNT


@pytest.mark.long
def test_environments_in_processes_start_from_different_positions() -> None:
    envs = gymnasium.make_vec("momagames/mo-samegame-v0", COUNT, vectorization_mode="async")
    assert len({seen.tobytes() for seen in envs.reset()[0]}) == COUNT
    envs.close()


def test_text_games_without_a_seed() -> None:
    batches = [momagames.make_text_batch("mo-samegame-v0", COUNT, preference="random") for _ in range(2)]
    texts = [conversation[-1]["content"] for batch in batches for conversation in batch.reset(group_size=2)]
    assert len(set(texts)) == COUNT  # groups of two
    assert texts[::2] == texts[1::2]
    for batch in batches:
        batch.reset(seed=3)
    assert batches[0].reset() == batches[1].reset()  # the stream of a seed continues


def test_other_randomness_without_a_seed() -> None:
    """Random legal actions of vectors, and those in place of illegal ones, from one position."""
    source = momagames.make("mo-samegame-v0")
    source.reset(seed=1)
    start = {"state": source.record}
    sampled, replaced, single = set(), set(), set()
    for _ in range(3):
        envs = momagames.make_vec("mo-samegame-v0", 40, illegal="random")
        envs.reset(options=start)
        sampled.add(envs.sample_actions().tobytes())
        envs.step(np.full(40, 10**6))
        replaced.add(envs.batch.last_actions.tobytes())
        played = []
        env = momagames.make("mo-samegame-v0", illegal="random")
        env.reset(options=start)
        for _ in range(8):
            env.step(10**6)
            played.append(env.last_action)
        single.add(tuple(played))
    assert [len(found) for found in (sampled, replaced, single)] == [3, 3, 3]


@pytest.mark.parametrize("id", ONE_OF_EACH)
def test_a_stream_continues_without_a_seed(id: str) -> None:
    for api in APIS:
        words = []
        for _ in range(2):
            env = momagames.make(id, api, **SMALL[id][0])
            env.reset(seed=5)
            env.reset()
            words.append(read_word(env))
        assert words[0] == words[1]
    vectors = [momagames.make_vec(id, COUNT, **SMALL[id][0]) for _ in range(2)]
    for envs in vectors:
        envs.reset(seed=5)
        envs.reset()
    assert vectors[0].batch.states.tobytes() == vectors[1].batch.states.tobytes()


@pytest.mark.parametrize("id", ONE_OF_EACH)
def test_a_seed_comes_before_the_random_state_of_a_position(id: str) -> None:
    source = momagames.make(id, "gymnasium", **SMALL[id][0])
    source.reset(seed=3)
    own = read_word(source)
    forms = {"dict": source.get_state(), "record": source.state, "text": source.game.codec.show(source.state)}
    for form, position in forms.items():
        for api in APIS:
            env = momagames.make(id, api, **SMALL[id][0])
            env.reset(seed=7, options={"state": position})
            if not (api == "gymnasium" and env.game.sequential and env.episode.state["ply"]):
                assert read_word(env) == 7, (form, api)
            env.reset(seed=7, options={"state": position, "keep_rng": True})
            assert read_word(env) == own, (form, api)
            env.reset(options={"state": position})
            assert read_word(env) == own, (form, api)
        envs = momagames.make_vec(id, COUNT, **SMALL[id][0])
        for given in (position, [position] * COUNT):
            envs.reset(seed=7, options={"state": given})
            assert envs.batch.states["rng"].tolist() == [7, 8, 9, 10], form
            envs.reset(seed=7, options={"state": given, "keep_rng": True})
            assert set(envs.batch.states["rng"].tolist()) == {own}
            envs.reset(options={"state": given})
            assert set(envs.batch.states["rng"].tolist()) == {own}


def test_a_position_without_a_random_state_gets_one() -> None:
    given = {"board": ["112", "121", "211"]}
    params = {"board_width": 3, "board_height": 3, "num_colors": 2}
    envs = momagames.make_vec("mo-samegame-v0", COUNT, **params)
    envs.reset(options=given)
    assert count_different(envs.batch.states["rng"]) == COUNT
    singles = [momagames.make("mo-samegame-v0", **params) for _ in range(COUNT)]
    for env in singles:
        env.reset(options=given)
    assert count_different(map(read_word, singles)) == COUNT
    singles[0].reset(seed=6, options={**given, "keep_rng": True})
    assert read_word(singles[0]) == 6


def test_a_seed_and_a_mask_seed_the_chosen_environments_only() -> None:
    envs = momagames.make_vec("mo-samegame-v0", COUNT)
    envs.reset(seed=1)
    before = envs.batch.states["rng"].copy()
    envs.reset(seed=50, options={"reset_mask": np.array([True, False, False, True])})
    assert (envs.batch.states["rng"][1:3] == before[1:3]).all()
    again = momagames.make_vec("mo-samegame-v0", COUNT)
    again.reset(seed=50)
    assert (envs.batch.states[[0, 3]] == again.batch.states[[0, 3]]).all()


def test_options_are_checked() -> None:
    vector = momagames.make_vec("mo-samegame-v0", 2)
    singles = [momagames.make("mo-samegame-v0", api) for api in APIS]
    for env in (vector, *singles):
        env.reset(seed=0)
        for options, message in (
            ({"bord": []}, r"did you mean 'board'"),
            ({"keep_rgn": True}, r"did you mean 'keep_rng'"),
            ({"keep_rng": 1}, r"invalid keep_rng=1: expected True or False"),
        ):
            with pytest.raises(InvalidParameter, match=message):
                env.reset(options=options)
        env.reset(options={"unknown": 1})
    for name in ("reset_masks", "reset_mas", "rest_mask"):
        with pytest.raises(InvalidParameter, match=rf"invalid option '{name}' in reset\(\).*did you mean 'reset_mask'"):
            vector.reset(options={name: np.ones(2, np.bool_)})
    for env in singles:
        for name in ("reset_mask", "reset_masks"):
            with pytest.raises(InvalidParameter, match=rf"invalid option '{name}' .*: 'reset_mask' is an option of vector env"):
                env.reset(options={name: np.ones(1, np.bool_)})
