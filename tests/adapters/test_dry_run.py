"""`clone` and `peek` of Gymnasium environments: equal to the real step, without side effects."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest

import momagames
from momagames.adapters.gymnasium import SingleAgentEnv
from momagames.contract import Game
from momagames.engine.episode import random_legal
from momagames.errors import IllegalAction, InvalidCall
from tests import meteors
from tests.cases import GAMES, name_case

BREAKTHROUGH = {"board_width": 5, "board_height": 6}


def equal(one: Any, other: Any) -> bool:
    """Whether two results of a step are the same, with arrays in dicts and tuples, bit by bit."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and np.array_equal(one, other))
    return bool(one == other)


def everything(env: SingleAgentEnv) -> bytes:
    """All that an environment is, as bytes; without what only dry runs use."""
    return pickle.dumps(env)


def opened(id: str, params: dict[str, Any], **options: Any) -> SingleAgentEnv:
    env: SingleAgentEnv = momagames.make(id, api="gymnasium", **params, **options)
    return env


SIMPLE = momagames.spec("mo-pommerman-duel-v0", board_size=7)  # a policy of this name remembers
GREEDY = momagames.spec("mo-breakthrough-v0", **BREAKTHROUGH)


@pytest.mark.parametrize(
    ("game", "others"), [*((game, "random") for game in GAMES), (SIMPLE, "simple"), (GREEDY, "greedy")], ids=name_case
)
def test_peek_equals_step_and_changes_nothing(game: Game, others: str) -> None:
    env = SingleAgentEnv(game, others=others)
    seen, info = env.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(12):
        legal = np.hstack(info["action_mask"])
        before = everything(env)
        tried = [random_legal(legal, env.game.actions, rng) for _ in range(3)]
        peeked = [env.peek(action) for action in tried]
        assert everything(env) == before
        real = env.step(tried[1])
        assert equal(peeked[1], real)
        seen, _, terminated, truncated, info = real
        assert env.observation_space.contains(seen)
        if terminated or truncated:
            break


@pytest.mark.parametrize("game", GAMES, ids=name_case)
def test_a_clone_goes_the_same_way_or_its_own(game: Game) -> None:
    env = SingleAgentEnv(game)
    for seed in range(5, 100):  # the first step of a short game may be its last
        _, info = env.reset(seed=seed)
        if game.max_episode_steps == 1:
            break
        first = random_legal(np.hstack(info["action_mask"]), env.game.actions, np.random.default_rng(1))
        _, _, terminated, truncated, info = env.step(first)
        if not (terminated or truncated):
            break
    else:
        pytest.fail(f"{game.id}: in tests/games/*/cases.py, write parameters of longer games in SMALL")
    twin, other = env.clone(), env.clone()
    returns, position = env.episode.returns.copy(), env.get_state()
    assert np.array_equal(twin.episode.returns, returns)
    rng = np.random.default_rng(2)
    for _ in range(10):
        action = random_legal(np.hstack(info["action_mask"]), env.game.actions, rng)
        real = twin.step(action)
        assert env.get_state() == position
        assert np.array_equal(env.episode.returns, returns)
        assert equal(other.step(action), real)
        _, _, terminated, truncated, info = real
        if terminated or truncated:
            break
    assert twin.get_state() != position
    assert equal(twin.reset(), other.reset())  # the random streams of their resets continue equally
    assert env.get_state() == position


def test_copies_share_unseeded_random_states() -> None:
    """Without a seed the generator of an environment is made when it is first asked for."""
    env = opened("mo-breakthrough-v0", {})
    _, info = env.reset()
    action = int(info["action_mask"].argmax())
    twin, peeked, real = env.clone(), env.peek(action), env.step(action)
    assert equal(peeked, real)
    assert equal(twin.step(action), real)


class Counting:
    """A policy that remembers how often it was asked and plays accordingly; without the methods that say so."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, state: Any, mask: np.ndarray, rng: np.random.Generator) -> int:
        self.asked += 1
        legal = np.flatnonzero(mask)
        return int(legal[self.asked % len(legal)])


class Telling(Counting):
    """The same, with them; it must not be copied again for each dry run."""

    copies = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> Telling:
        Telling.copies += 1
        twin = Telling()
        twin.asked = self.asked
        return twin

    def get_state(self) -> int:
        return self.asked

    def set_state(self, memory: int) -> None:
        self.asked = memory


@pytest.mark.parametrize("kind", [Counting, Telling])
def test_what_the_others_remember_is_copied(kind: type[Counting]) -> None:
    policy, Telling.copies = kind(), 0
    env = opened("mo-breakthrough-v0", {}, others=policy)
    _, info = env.reset(seed=1)
    for turn in range(5):
        action = int(np.flatnonzero(info["action_mask"])[turn])
        peeked = [env.peek(action) for _ in range(3)]
        assert policy.asked == turn
        real = env.step(action)
        assert all(equal(one, real) for one in peeked)
        assert policy.asked == turn + 1
        info = real[-1]
    assert Telling.copies == (kind is Telling)


def test_one_policy_for_several_others_stays_one() -> None:
    policy = Counting()
    env = opened("mo-samegame-v0", {"num_agents": 3}, others=policy)
    _, info = env.reset(seed=2)
    for _ in range(4):
        action = int(np.flatnonzero(info["action_mask"])[-1])
        peeked, real = env.peek(action), env.step(action)
        assert equal(peeked, real)
        info = real[-1]
    assert policy.asked == 8


def test_a_policy_that_cannot_be_copied_is_named() -> None:
    policy = Counting()
    policy.lock = threading.Lock()  # type: ignore[attr-defined]
    env = opened("mo-breakthrough-v0", BREAKTHROUGH, others=policy)
    _, info = env.reset(seed=1)
    for call in (env.clone, lambda: env.peek(int(info["action_mask"].argmax()))):
        with pytest.raises(InvalidCall, match=r"others= cannot be copied \(TypeError: .*lock"):
            call()


def test_where_all_move_at_once() -> None:
    env = SingleAgentEnv(meteors.game("meteors-v0"), others="random")
    env.reset(seed=1)
    peeked = env.peek([2, 1])
    before = everything(env)
    assert equal(env.peek([2, 1]), peeked)
    assert everything(env) == before
    assert equal(env.step([2, 1]), peeked)


def test_illegal_actions_in_dry_runs() -> None:
    env = opened("mo-breakthrough-v0", BREAKTHROUGH)
    with pytest.raises(InvalidCall, match=r"peek\(\).*before reset"):
        env.peek(0)
    _, info = env.reset(seed=1)
    before = everything(env)
    with pytest.raises(IllegalAction, match="illegal action=0 of player_0"):
        env.peek(0)
    assert everything(env) == before
    legal = int(info["action_mask"].argmax())
    assert equal(env.peek(legal), env.step(legal))
    for illegal in ("random", "forfeit"):
        env = opened("mo-breakthrough-v0", BREAKTHROUGH, illegal=illegal)
        env.reset(seed=1)
        peeked = env.peek(0)
        assert env.episode.state["ply"] == 0
        assert equal(peeked, env.step(0))


def test_invalid_taps_in_dry_runs() -> None:
    env = opened("mo-tileblast-v0", {"level": 4})
    _, info = env.reset(seed=1)
    invalid = int(info["action_mask"].argmin())
    peeked = env.peek(invalid)
    assert env.get_state()["invalid_taps"] == 0
    assert equal(peeked, env.step(invalid))
    assert not peeked[-1]["valid"]


def test_games_that_are_left_and_begun_again() -> None:
    """The environment in which dry runs are played follows wherever the real one goes."""
    env = opened("mo-samegame-v0", BREAKTHROUGH)
    _, info = env.reset(seed=1)
    env.peek(int(info["action_mask"].argmax()))
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    with pytest.raises(InvalidCall, match="after the end"):
        env.peek(0)
    _, info = env.reset(seed=2)
    action = int(info["action_mask"].argmax())
    assert equal(env.peek(action), env.step(action))


def test_a_copy_has_no_window() -> None:
    pytest.importorskip("pygame")
    env = opened("mo-samegame-v0", BREAKTHROUGH, render_mode="human")
    _, info = env.reset(seed=1)
    twin = env.clone()
    assert twin.render_mode is None
    twin.step(int(info["action_mask"].argmax()))  # opens nothing
    assert opened("mo-samegame-v0", BREAKTHROUGH, render_mode="ansi").clone().render_mode == "ansi"


def test_render_options_of_a_copy_are_its_own() -> None:
    env = opened("mo-tileblast-v0", {}, render_mode="ansi", render_options={"groups": True})
    env.clone().render_options["groups"] = False
    assert env.render_options == {"groups": True}
