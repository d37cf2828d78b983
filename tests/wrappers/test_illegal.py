"""HandleIllegal does what the option `illegal` does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from momagames.adapters.options import find_next_legal
from momagames.errors import IllegalAction, InvalidCall, InvalidParameter
from momagames.wrappers import HandleIllegal, Scalarize, SelectObjectives
from tests.wrappers.games import breakthrough, breakthroughs, samegame, samegames


@pytest.mark.parametrize("made", ["raise", "forfeit", "random", "next"])
@pytest.mark.parametrize("how", ["forfeit", "random", "next"])
def test_aec_api(made: str, how: str) -> None:
    one, other = HandleIllegal(Scalarize(breakthrough(illegal=made), [1, 2, 3, 4]), how), breakthrough(illegal=how)
    for env in (one, other):
        env.reset(seed=7)
    plies = 0
    while other.agents:
        plies += 1
        dead = other.terminations[other.agent_selection]
        for env in (one, other):
            env.step(None if dead else -1)
        if not dead:
            for agent, reward in other.rewards.items():
                assert one.rewards[agent] == pytest.approx(reward @ np.array([1, 2, 3, 4.0]))
        assert one.terminations == other.terminations
    assert plies > 1
    assert not one.agents
    assert one.get_state() == other.get_state()
    assert one.unwrapped.illegal == made


def test_raise_is_an_error_of_the_environment_and_changes_nothing() -> None:
    env = HandleIllegal(samegame(illegal="random"), "raise")
    env.reset(seed=0)
    before = env.get_state()
    with pytest.raises(IllegalAction, match="illegal action=99 of agent_0"):
        env.step(99)
    assert env.get_state() == before
    assert env.unwrapped.illegal == "random"


@pytest.mark.parametrize("how", ["forfeit", "random", "next"])
def test_other_apis(how: str) -> None:
    one, other = HandleIllegal(breakthrough("parallel"), how), breakthrough("parallel", illegal=how)
    for env in (one, other):
        env.reset(seed=1)
        env.step({"player_0": -1})
    assert one.get_state() == other.get_state()
    assert one.agents == other.agents
    one, other = HandleIllegal(breakthrough("gymnasium"), how), breakthrough("gymnasium", illegal=how)
    results = []
    for env in (one, other):
        env.reset(seed=1)
        results.append(env.step(-1)[1:4])
    np.testing.assert_equal(*results)
    one, other = HandleIllegal(SelectObjectives(breakthroughs(), [0]), how), breakthroughs(illegal=how)
    received: list[Any] = []
    for env in (one, other):
        env.reset(seed=1)
        received.append(env.step(np.full(6, -1))[1].copy())
    np.testing.assert_array_equal(received[0][..., 0], received[1][..., 0])
    np.testing.assert_array_equal(one.batch.states, other.batch.states)


def after(env: Any, action: Any) -> Any:
    """The position after this action in the game of seed 3."""
    env.reset(seed=3)
    env.step(action)
    return env.get_state()


def test_next_is_the_first_legal_action_from_it_on() -> None:
    env = samegame("gymnasium", illegal="next")
    env.reset(seed=3)
    legal = np.flatnonzero(env.action_masks())
    illegal = np.flatnonzero(env.action_masks() == 0)
    assert illegal.size
    for action in illegal:
        played = next((later for later in legal if later > action), legal[0])
        assert after(env, action) == after(env, played)
    assert after(env, 10**6) == after(env, None) == after(env, -1) == after(env, float("nan")) == after(env, legal[0])
    batch = samegames(4, illegal="next")
    batch.reset(seed=3)
    batch.step(np.full(4, illegal[0]))
    assert env.game.codec.save(batch.batch.states[0]) == after(env, illegal[0])


def test_next_in_each_part_of_an_action() -> None:
    mask, parts = np.array([0, 1, 0, 1, 0, 0, 1, 0, 0], np.int8), (4, 3, 2)
    assert find_next_legal([2, 0, 1], mask, parts).tolist() == [3, 2, 0]
    assert find_next_legal([1, 2, 0], mask, parts).tolist() == [1, 2, 0]
    assert find_next_legal([4, -5, 0], mask, parts).tolist() == [1, 2, 0]
    assert find_next_legal([3], mask, parts).tolist() == find_next_legal("west", mask, parts).tolist() == [1, 2, 0]


def test_invalid_arguments() -> None:
    with pytest.raises(InvalidParameter, match=r"invalid policy='rise': expected .*did you mean 'raise'"):
        HandleIllegal(samegame(), "rise")  # type: ignore[arg-type]
    with pytest.raises(InvalidCall, match="already"):
        HandleIllegal(Scalarize(HandleIllegal(samegame(), "random"), [1, 1, 1]), "raise")
    env = HandleIllegal(samegames(illegal="random"))
    env.reset(seed=0)
    with pytest.raises(IllegalAction, match="illegal action=-1 of agent_0 in environment 0"):
        env.step(np.full(6, -1))
